//! Which certificates a registry may show: its settings, and a folder of discovered ones.

use std::io::ErrorKind;
use std::path::Path;

use aiu_core::registries::Endpoint;
use aiu_http::TlsProfile;

/// Reads what `endpoint` trusts. Files are read each time, so that renewed certificates count
/// without a restart (spec 11 §1.6, G22). The error is a cause in words.
pub(crate) async fn profile(
    endpoint: &Endpoint,
    host: &str,
    folder: Option<&Path>,
) -> Result<TlsProfile, String> {
    if endpoint.tls.insecure {
        return Ok(TlsProfile::Unverified);
    }
    let mut roots = Vec::new();
    if let Some(data) = &endpoint.tls.ca_data {
        TlsProfile::with_roots(data.as_bytes()).map_err(|cause| format!("ca_data {cause}"))?;
        roots.extend_from_slice(data.as_bytes());
        roots.push(b'\n');
    }
    if let Some(file) = &endpoint.tls.ca_file {
        let Some(found) = read(Path::new(&**file)).await? else {
            return Err(format!("could not read CA file {file}: no such file or directory"));
        };
        roots.extend(found);
    } else if let Some(folder) = folder
        && let Some(found) = read(&folder.join(host)).await?
    {
        roots.extend(found);
    }
    if roots.is_empty() {
        return Ok(TlsProfile::System);
    }
    TlsProfile::with_roots(&roots).map_err(|cause| cause.to_string())
}

/// The certificates in a file; `None` if there is no file.
async fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let shown = path.display();
    match tokio::fs::read(path).await {
        Ok(found) => match TlsProfile::with_roots(&found) {
            Ok(_) => Ok(Some(found)),
            Err(cause) => Err(format!("{shown} {cause}")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("could not read CA file {shown}: {}", error.kind())),
    }
}
