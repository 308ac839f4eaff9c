//! TLS with an authority of one's own.

use anyhow::Result;

use super::{Stand, application};
use crate::authority::Authority;
use crate::files::write;
use crate::peers::registries::Guarded;

pub(super) async fn trust(stand: &Stand<'_>) -> Result<()> {
    stand.push("tls/web", &["1.0.0", "1.1.0"]).await?;
    let (ours, other) = (Authority::new("ours")?, Authority::new("another")?);
    let [certificate, key] = ours.server("tls", &stand.folder)?;
    let line =
        format!("tls: {{certificate: '{}', key: '{}'}}", certificate.display(), key.display());
    let registry = Guarded::start("tls", &stand.folder, &stand.data, &[&line], "").await?;
    let site = stand.site("tls")?;
    write(&site.folder, "ours.crt", &ours.pem)?;
    write(&site.folder, "other.crt", &other.pem)?;
    let inline = |pem: &str| {
        let lines: String = pem.lines().map(|line| ["\n    ", line].concat()).collect();
        format!("ca_data: |{lines}")
    };
    let untrusted = [
        "no trusted TLS connection (invalid peer certificate: UnknownIssuer)",
        "give its CA as ca_file or ca_data",
    ];
    let ca_file = |name: &str| format!("ca_file: {}", site.folder.join(name).display());
    #[rustfmt::skip]
    let rows = [
        // what the entry says, and what is told; nothing where it works
        (ca_file("ours.crt"), &[][..]),
        (inline(&ours.pem), &[]),
        ("insecure: true".to_owned(), &[]),
        ("limit: 1000".to_owned(), &untrusted),
        (ca_file("other.crt"), &untrusted),
        (inline(&other.pem), &untrusted),
        (ca_file("none.crt"), &["could not read CA file", "none.crt: no such file or directory"]),
        ("ca_data: no certificate".to_owned(), &["ca_data does not contain a valid PEM certificate"]),
    ];
    let images = [("web", "r.example/tls/web", "1.0.0")];
    for (number, (line, words)) in rows.iter().enumerate() {
        let url = registry.url();
        site.registries(&[&format!("name: r\n  prefix: r.example\n  api_url: {url}\n  {line}")])?;
        site.manifest("app.yaml", &application("shop", &images, &[]))?;
        let pass = site.pass(&format!("pass-{number}")).await?;
        match words {
            [] => pass.updated(&[("shop", "web")], "1.1.0")?,
            words => pass.failed("shop", "web", "RegistryUnreachable", words)?,
        }
    }
    Ok(())
}
