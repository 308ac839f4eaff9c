//! A certificate for the loopback interface, and the authority that signed it.
//!
//! Both are good for a hundred years and protect nothing: the key is here for everyone to read.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The authority, as PEM: whoever trusts it trusts the registry on `localhost` and `127.0.0.1`.
pub const AUTHORITY: &str = include_str!("tls/ca.pem");

const CERTIFICATE: &str = include_str!("tls/certificate.pem");
const KEY: &str = include_str!("tls/key.pem");

pub(super) fn acceptor() -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes());
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider knows the usual versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.expect("a certificate that lies here")],
            key.expect("a key that lies here"),
        )
        .expect("a certificate that belongs to the key");
    TlsAcceptor::from(Arc::new(config))
}
