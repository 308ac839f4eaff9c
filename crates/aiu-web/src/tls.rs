//! Certificates of servers: one made at start, or files that somebody else renews.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::time::Instant;
use tracing::warn;

/// How often files are looked at for a newer certificate.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Where the certificate comes from.
#[derive(Clone, Debug)]
pub struct Certificates(Arc<Source>);

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("cannot make a certificate: {0}")]
    Made(rcgen::Error),
    #[error("cannot read {}: {cause}; it shall hold {what} as PEM", path.display())]
    Unreadable { path: PathBuf, what: &'static str, cause: rustls::pki_types::pem::Error },
    #[error("{} and its key do not make a certificate: {cause}", path.display())]
    Unusable { path: PathBuf, cause: rustls::Error },
}

#[derive(Debug)]
enum Source {
    Made(Arc<CertifiedKey>),
    Files { folder: PathBuf, read: Mutex<ReadFiles> },
}

/// What was read last, and what the files looked like then.
#[derive(Debug)]
struct ReadFiles {
    key: Arc<CertifiedKey>,
    changed: Option<SystemTime>,
    looked: Instant,
}

impl Certificates {
    /// A certificate that nobody vouches for, as the original makes one at start.
    pub fn self_signed() -> Result<Self, CertificateError> {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])
            .map_err(CertificateError::Made)?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let key = certified(vec![made.cert.der().clone()], key.into()).map_err(|cause| {
            CertificateError::Unusable { path: "the certificate".into(), cause }
        })?;
        Ok(Self(Arc::new(Source::Made(key))))
    }

    /// The files `tls.crt` and `tls.key` of a folder, read again when they change. A newer pair
    /// that cannot be used is told, and the last one stays.
    pub fn of_folder(folder: &Path) -> Result<Self, CertificateError> {
        let key = of_files(folder)?;
        let read = ReadFiles { key, changed: changed(folder), looked: Instant::now() };
        let read = Mutex::new(read);
        Ok(Self(Arc::new(Source::Files { folder: folder.to_owned(), read })))
    }

    pub(crate) fn server_config(&self, http2: bool) -> Arc<ServerConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the usual versions")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.0) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if http2 {
            config.alpn_protocols.insert(0, b"h2".to_vec());
        }
        Arc::new(config)
    }
}

impl ResolvesServerCert for Source {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        match self {
            Self::Made(key) => Some(Arc::clone(key)),
            Self::Files { folder, read } => Some(newest(folder, &mut read.lock())),
        }
    }
}

/// The certificate of the files, read again if they changed since.
fn newest(folder: &Path, read: &mut ReadFiles) -> Arc<CertifiedKey> {
    if read.looked.elapsed() >= LOOK_AGAIN {
        read.looked = Instant::now();
        let changed = changed(folder);
        if changed != read.changed {
            read.changed = changed;
            match of_files(folder) {
                Ok(key) => read.key = key,
                Err(error) => warn!("{error}; the last certificate stays in use"),
            }
        }
    }
    Arc::clone(&read.key)
}

fn changed(folder: &Path) -> Option<SystemTime> {
    let time = |name| std::fs::metadata(folder.join(name)).and_then(|data| data.modified()).ok();
    time("tls.crt").max(time("tls.key"))
}

fn of_files(folder: &Path) -> Result<Arc<CertifiedKey>, CertificateError> {
    let (path, key_path) = (folder.join("tls.crt"), folder.join("tls.key"));
    let unreadable = |path: &Path, what, cause| CertificateError::Unreadable {
        path: path.to_owned(),
        what,
        cause,
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&path).and_then(Iterator::collect);
    let chain = chain.map_err(|cause| unreadable(&path, "a certificate", cause))?;
    let key = PrivateKeyDer::from_pem_file(&key_path)
        .map_err(|cause| unreadable(&key_path, "its private key", cause))?;
    certified(chain, key).map_err(|cause| CertificateError::Unusable { path, cause })
}

fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<CertifiedKey>, rustls::Error> {
    CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider()).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair;

    fn shown(folder: &Path, read: &mut ReadFiles) -> Vec<u8> {
        newest(folder, read).cert[0].to_vec()
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewed_certificate_is_read_and_a_broken_one_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let first = pair::write(folder);
        let age = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        // File systems tell times apart by ticks; the test does not wait for one.
        let touch = |seconds| {
            let file = std::fs::File::options().write(true).open(folder.join("tls.key")).unwrap();
            file.set_modified(SystemTime::now() + Duration::from_secs(seconds)).unwrap();
        };
        let (key, looked) = (of_files(folder).unwrap(), Instant::now());
        let mut read = ReadFiles { key, changed: Some(age(0)), looked };
        let second = pair::write(folder);
        assert_eq!(shown(folder, &mut read), first, "not looked at again so soon");
        tokio::time::advance(LOOK_AGAIN).await;
        assert_eq!(shown(folder, &mut read), second);
        std::fs::write(folder.join("tls.key"), "nonsense").unwrap();
        touch(10);
        tokio::time::advance(LOOK_AGAIN).await;
        assert_eq!(shown(folder, &mut read), second, "a broken pair changes nothing");
        let third = pair::write(folder);
        touch(20);
        tokio::time::advance(LOOK_AGAIN).await;
        assert_eq!(shown(folder, &mut read), third);
    }
}
