//! A certificate and its key, as cert-manager or `kubectl create secret tls` leave them.

use std::fs;
use std::path::Path;

use base64::Engine as _;

/// Writes a new pair; gives the certificate.
pub(crate) fn write(folder: &Path) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let pem = |label: &str, der: &[u8]| {
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
    };
    let key = made.signing_key.serialize_der();
    fs::write(folder.join("tls.crt"), pem("CERTIFICATE", made.cert.der())).unwrap();
    fs::write(folder.join("tls.key"), pem("PRIVATE KEY", &key)).unwrap();
    made.cert.der().to_vec()
}
