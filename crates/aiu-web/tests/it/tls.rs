use std::fs;
use std::sync::Arc;

use aiu_web::{Certificates, Limits, Transport};
use axum::Router;
use axum::routing::get;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::client::{Server, parts, start};
use crate::pair;

/// Takes any certificate, as scrapers of a self-made one are told to.
#[derive(Debug)]
struct Any(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Any {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

/// The certificate that was shown, the protocol that was agreed on, and an answer by HTTP/1.1.
struct Seen {
    certificate: Vec<u8>,
    protocol: Option<Vec<u8>>,
    status: u16,
}

async fn connect(server: &Server, protocols: &[&str]) -> TlsStream<TcpStream> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let any = Any(provider.signature_verification_algorithms);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(any))
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(server.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

async fn look(server: &Server, protocols: &[&str]) -> Seen {
    let mut stream = connect(server, protocols).await;
    let (_, session) = stream.get_ref();
    let certificate = session.peer_certificates().unwrap()[0].to_vec();
    let protocol = session.alpn_protocol().map(<[u8]>::to_vec);
    let mut text = Vec::new();
    if protocol.as_deref() != Some(b"h2") {
        let request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let _ = stream.read_to_end(&mut text).await;
    }
    let status = parts(&String::from_utf8_lossy(&text)).0;
    Seen { certificate, protocol, status }
}

async fn server(certificates: Certificates, http2: bool) -> Server {
    let routes = Router::new().route("/", get(async || "here"));
    start(routes, Transport::Tls { certificates, http2 }, Limits::default()).await
}

#[tokio::test]
async fn a_certificate_is_made_and_http2_is_off_unless_allowed() {
    #[rustfmt::skip]
    let rows: [(bool, &[&str], Option<&[u8]>); 5] = [
        (false, &["h2", "http/1.1"], Some(b"http/1.1")),
        (false, &[], None),
        (true, &["h2", "http/1.1"], Some(b"h2")),
        (true, &["http/1.1"], Some(b"http/1.1")),
        (true, &[], None),
    ];
    for (http2, offered, agreed) in rows {
        let server = server(Certificates::self_signed().unwrap(), http2).await;
        let seen = look(&server, offered).await;
        assert_eq!(seen.protocol.as_deref(), agreed, "{http2} {offered:?}");
        if agreed != Some(b"h2") {
            assert_eq!(seen.status, 200);
        }
    }
}

/// A server with HTTP/2 allowed speaks it: the preface is answered by a settings frame.
#[tokio::test]
async fn http2_is_spoken_where_it_was_agreed_on() {
    let server = server(Certificates::self_signed().unwrap(), true).await;
    let mut stream = connect(&server, &["h2"]).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], 4, "a settings frame");
}

#[tokio::test]
async fn plain_http_gets_no_answer_from_a_tls_server() {
    let server = server(Certificates::self_signed().unwrap(), false).await;
    let said = crate::client::answer(server.address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(!said.contains("here"), "{said}");
}

#[tokio::test]
async fn a_certificate_from_files_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = pair::write(folder.path());
    let server = server(Certificates::of_folder(folder.path()).unwrap(), false).await;
    let seen = look(&server, &[]).await;
    assert_eq!((seen.status, seen.certificate), (200, certificate));
}

#[test]
fn files_that_make_no_certificate_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let told = || Certificates::of_folder(folder.path()).unwrap_err().to_string();
    let path = |name: &str| folder.path().join(name).display().to_string();
    assert!(told().starts_with(&format!("cannot read {}: ", path("tls.crt"))), "{}", told());
    pair::write(folder.path());
    fs::write(folder.path().join("tls.key"), "nonsense").unwrap();
    assert!(told().starts_with(&format!("cannot read {}: ", path("tls.key"))), "{}", told());
    pair::write(folder.path());
    let other = fs::read(folder.path().join("tls.crt")).unwrap();
    pair::write(folder.path());
    fs::write(folder.path().join("tls.crt"), other).unwrap();
    assert!(told().contains("and its key do not make a certificate"), "{}", told());
    fs::write(folder.path().join("tls.crt"), "").unwrap();
    assert!(told().contains("tls.crt"), "{}", told());
}
