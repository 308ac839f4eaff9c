//! An authority of nobody's, and the certificates that it gives.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::files::write;

/// Signs certificates. Nobody trusts it who is not told to.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate, as text.
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Result<Self> {
        let key = KeyPair::generate().context("cannot make a key")?;
        let mut parameters = named(name, Vec::new())?;
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).context("cannot sign a certificate")?;
        let pem = pem("CERTIFICATE", certificate.der());
        Ok(Self { issuer: Issuer::new(parameters, key), pem })
    }

    /// Writes `NAME.crt` and `NAME.key` of a server on loopback into the folder.
    pub(crate) fn server(&self, name: &str, folder: &Path) -> Result<[PathBuf; 2]> {
        let key = KeyPair::generate().context("cannot make a key")?;
        let certificate = named(name, ["127.0.0.1", "localhost"].map(str::to_owned).to_vec())?
            .signed_by(&key, &self.issuer)
            .context("cannot sign a certificate")?;
        let files = [format!("{name}.crt"), format!("{name}.key")];
        write(folder, &files[0], &pem("CERTIFICATE", certificate.der()))?;
        write(folder, &files[1], &pem("PRIVATE KEY", &key.serialize_der()))?;
        Ok(files.map(|file| folder.join(file)))
    }
}

fn named(name: &str, hosts: Vec<String>) -> Result<CertificateParams> {
    let mut parameters = CertificateParams::new(hosts).context("not the name of a host")?;
    parameters.distinguished_name.push(DnType::CommonName, name);
    Ok(parameters)
}

/// The text form of what these bytes are.
pub(crate) fn pem(kind: &str, bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let lines: String = lines.map(|line| [&line, "\n"].concat()).collect();
    format!("-----BEGIN {kind}-----\n{lines}-----END {kind}-----\n")
}
