//! The token service of a registry: who may do what, signed, so that the registry checks it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::listener::{Listener, read_head};
use crate::authority::pem;
use crate::files::write;

const SERVICE: &str = "e2e";

/// Registries of the distribution project take a token for so long after its end.
const LEEWAY: Duration = Duration::from_mins(1);

/// A service that gives tokens. Dropping it ends it.
pub(crate) struct Tokens {
    desk: Arc<Desk>,
    listener: Listener,
    certificate: PathBuf,
}

/// What was asked, and whether it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// Nobody if it is empty.
    pub(crate) user: String,
    pub(crate) scope: String,
    pub(crate) status: u16,
}

struct Desk {
    key: EcdsaKeyPair,
    certificate: String,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    /// Who is known, by which password, and what each may have of an image.
    users: BTreeMap<String, (String, Right)>,
    told: Vec<Told>,
    /// How long tokens last, and how many more last only a moment.
    lifetime: Duration,
    short: usize,
    given: Vec<String>,
}

/// What a user may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    /// Whatever is asked for.
    All,
    /// Nothing: the service says so, as GitHub's does.
    Denied,
}

impl Tokens {
    /// A service that knows nobody yet; tokens last five minutes.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let key = KeyPair::generate().context("cannot make a key")?;
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, "e2e tokens");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).context("cannot sign a certificate")?;
        write(folder, "tokens.crt", &pem("CERTIFICATE", certificate.der()))?;
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let key = EcdsaKeyPair::from_pkcs8(algorithm, &key.serialize_der());
        let key = key.map_err(|error| anyhow::anyhow!("not a key: {error}"))?;
        let book = Book { lifetime: Duration::from_mins(5), ..Book::default() };
        let certificate = STANDARD.encode(certificate.der());
        let desk = Arc::new(Desk { key, certificate, book: Mutex::new(book) });
        let served = Arc::clone(&desk);
        let listener = Listener::start(move |client| serve(client, Arc::clone(&served))).await?;
        Ok(Self { desk, listener, certificate: folder.join("tokens.crt") })
    }

    /// The section of a registry's configuration that asks for its tokens.
    pub(crate) fn section(&self) -> String {
        format!(
            "auth: {{token: {{realm: '{}/token', service: {SERVICE}, issuer: {SERVICE}, rootcertbundle: '{}'}}}}\n",
            self.listener.url(),
            self.certificate.display()
        )
    }

    /// From now on this user is known, by this password.
    pub(crate) fn allow(&self, user: &str, password: &str) {
        self.know(user, password, Right::All);
    }

    /// From now on this user is known, and may have nothing.
    pub(crate) fn deny(&self, user: &str, password: &str) {
        self.know(user, password, Right::Denied);
    }

    fn know(&self, user: &str, password: &str, right: Right) {
        let mut book = self.desk.book.lock().expect("nobody panics while it is held");
        book.users.insert(user.to_owned(), (password.to_owned(), right));
    }

    /// The next token is worth something for two to three seconds more, whatever is said of it.
    pub(crate) fn next_is_short(&self) {
        self.desk.book.lock().expect("nobody panics while it is held").short = 1;
    }

    /// What was asked of it so far.
    pub(crate) fn told(&self) -> Vec<Told> {
        self.desk.book.lock().expect("nobody panics while it is held").told.clone()
    }

    /// Every token that was given.
    pub(crate) fn given(&self) -> Vec<String> {
        self.desk.book.lock().expect("nobody panics while it is held").given.clone()
    }
}

/// Answers one question.
async fn serve(mut client: TcpStream, desk: Arc<Desk>) -> Result<()> {
    let head = read_head(&mut client).await?;
    let (status, body) = desk.answer(&head)?;
    let body = body.to_string();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} \r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    client.write_all(answer.as_bytes()).await?;
    Ok(client.shutdown().await?)
}

/// User and password of a Basic sign-in.
fn signed_in(head: &str) -> Option<(String, String)> {
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let (_, value) = headers.find(|(name, _)| name.eq_ignore_ascii_case("authorization"))?;
    let pair = STANDARD.decode(value.strip_prefix("Basic ")?).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    pair.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
}

impl Desk {
    /// What is answered to whom, with which status.
    fn answer(&self, head: &str) -> Result<(u16, Value)> {
        let target = head.split(' ').nth(1).context("a question names what it is for")?;
        let url = Url::parse("http://desk")?.join(target)?;
        let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let (user, password) = signed_in(head).unwrap_or_default();
        let scope = query.get("scope").cloned().unwrap_or_default();
        let mut book = self.book.lock().expect("nobody panics while it is held");
        let right = book.users.get(&user).filter(|(known, _)| *known == password);
        let right = right.map(|(_, right)| *right);
        let (status, body) = match right {
            _ if query.get("service").is_none_or(|service| service != SERVICE) => {
                (400, json!({"details": "another service is meant"}))
            }
            None => (401, json!({"details": "incorrect username or password"})),
            Some(Right::Denied) => {
                let message = "permission_denied: the token lacks a scope";
                (403, json!({"errors": [{"code": "DENIED", "message": message}]}))
            }
            Some(Right::All) => {
                let token = self.token(&user, &scope, &mut book);
                book.given.push(token.clone());
                (200, json!({"token": token, "expires_in": book.lifetime.as_secs()}))
            }
        };
        book.told.push(Told { user, scope, status });
        Ok((status, body))
    }

    /// A JSON web token in the form that the registry reads, with its certificate in the header.
    fn token(&self, user: &str, scope: &str, book: &mut Book) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let past = now.saturating_sub(LEEWAY);
        let end = match book.short {
            0 => now + book.lifetime,
            _ => past + Duration::from_secs(3),
        };
        book.short = book.short.saturating_sub(1);
        let access: Vec<Value> = scope.split_whitespace().filter_map(right).collect();
        let claims = json!({
            "iss": SERVICE, "aud": SERVICE, "sub": user, "access": access,
            "iat": now.as_secs(), "nbf": past.as_secs(), "exp": end.as_secs(),
            "jti": now.as_nanos().to_string(),
        });
        let head = json!({"typ": "JWT", "alg": "ES256", "x5c": [self.certificate]});
        let encode = |part: &[u8]| URL_SAFE_NO_PAD.encode(part);
        let content = format!(
            "{}.{}",
            encode(head.to_string().as_bytes()),
            encode(claims.to_string().as_bytes())
        );
        let signature = self.key.sign(&SystemRandom::new(), content.as_bytes());
        let signature = signature.expect("a key of this kind signs any text");
        format!("{content}.{}", encode(signature.as_ref()))
    }
}

/// `repository:name:pull,push` as a claim.
fn right(scope: &str) -> Option<Value> {
    let (kind, rest) = scope.split_once(':')?;
    let (name, actions) = rest.rsplit_once(':')?;
    let actions: Vec<&str> = actions.split(',').collect();
    Some(json!({"type": kind, "name": name, "actions": actions}))
}
