//! Which certificates a registry may show: its settings, and a folder of discovered ones.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiu_core::registries::Endpoint;
use aiu_http::TlsProfile;
use parking_lot::Mutex;

/// The files with certificates. They are read each time, so that renewed ones count without a
/// restart; a version that cannot be used is told once, and the one before it stays (spec 11
/// §1.6, G22; 40 B14).
pub(crate) struct CaFiles {
    folder: Option<Arc<Path>>,
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// What a file held.
struct Known {
    good: Vec<u8>,
    /// Why what it holds now is not used, as far as that was told.
    refused: Option<String>,
}

impl CaFiles {
    /// Files that registries name, and those in `folder` by the name of the host.
    pub(crate) fn new(folder: Option<Arc<Path>>) -> Self {
        Self { folder, known: Mutex::default() }
    }

    /// What `endpoint` trusts. The error is a cause in words.
    pub(crate) async fn profile(
        &self,
        endpoint: &Endpoint,
        host: &str,
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
            let path = Path::new(&**file);
            let missing = || format!("could not read CA file {file}: no such file or directory");
            let read = read(path).await.and_then(|found| found.ok_or_else(missing));
            roots.extend(self.usable(path, read)?);
        } else if let Some(folder) = &self.folder {
            let path = folder.join(host);
            // One that is taken away is not wanted any more: nothing names it.
            match read(&path).await.transpose() {
                Some(read) => roots.extend(self.usable(&path, read)?),
                None => drop(self.known.lock().remove(&path)),
            }
        }
        if roots.is_empty() {
            return Ok(TlsProfile::System);
        }
        TlsProfile::with_roots(&roots).map_err(|cause| cause.to_string())
    }

    /// What was read, else what was good before.
    fn usable(&self, path: &Path, read: Result<Vec<u8>, String>) -> Result<Vec<u8>, String> {
        let mut known = self.known.lock();
        match (read, known.get_mut(path)) {
            (Ok(good), _) => {
                known.insert(path.to_owned(), Known { good: good.clone(), refused: None });
                Ok(good)
            }
            (Err(cause), Some(before)) => {
                if before.refused.as_ref() != Some(&cause) {
                    tracing::warn!("{cause}; the certificates that it held before stay in use");
                    before.refused = Some(cause);
                }
                Ok(before.good.clone())
            }
            (Err(cause), None) => Err(cause),
        }
    }
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
