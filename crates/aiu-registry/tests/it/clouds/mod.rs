//! Signing in to clouds, against stand-ins that speak their protocols (spec 11 §6.7).

mod aws;
mod azure;
mod gcp;
mod push_dates;

use std::sync::Arc;

use aiu_core::registries::{Endpoint, Registries};
use aiu_registry::{
    CredentialError, Credentials, Freshness, HttpSettings, Kept, Keyring, Proxies, Scanner,
    ScannerSettings, Variables,
};
use secrecy::ExposeSecret as _;
use tokio::time::Instant;

/// A program in given surroundings, and the registry that it signs in to.
struct Site {
    scanner: Scanner,
    keyring: Keyring,
    endpoint: Arc<Endpoint>,
    /// Parts of messages that differ from run to run, and what stands for them.
    shown: Vec<(String, &'static str)>,
}

impl Site {
    fn new(prefix: &str, api_url: &str, variables: &[(&str, &str)]) -> Self {
        Self::of(prefix, &format!("api_url: '{api_url}'"), variables)
    }

    /// The same, with more in the registry's entry.
    fn of(prefix: &str, entry: &str, variables: &[(&str, &str)]) -> Self {
        let http = HttpSettings { proxies: Proxies::Off, ..HttpSettings::default() };
        let variables = Variables::given(variables.iter().copied());
        let file = format!("registries: [{{ name: test, prefix: '{prefix}', limit: 0, {entry} }}]");
        let registries = Registries::parse(&file).expect("a good file");
        let endpoint = registries.endpoints().iter().find(|known| *known.prefix == *prefix);
        let scanner = Scanner::new(ScannerSettings { http, ca_folder: None, variables });
        Self {
            keyring: Keyring::beside(&scanner),
            scanner,
            endpoint: Arc::clone(endpoint.expect("the entry above")),
            shown: Vec::new(),
        }
    }

    fn showing(mut self, text: &str, as_what: &'static str) -> Self {
        self.shown.push((text.replace("http://", ""), as_what));
        self
    }

    /// Logins are forgotten; what they were made from is not.
    fn forget_logins(&mut self) {
        self.keyring = Keyring::beside(&self.scanner);
    }

    async fn credentials(
        &self,
        source: &str,
        freshness: Freshness,
    ) -> Result<Credentials, Arc<CredentialError>> {
        let source = source.parse().expect("a good source");
        self.keyring.credentials(&source, &self.endpoint, freshness).await
    }

    /// `user/password`, or the reason and the sentence.
    async fn told_with(&self, source: &str, freshness: Freshness) -> String {
        let told = match self.credentials(source, freshness).await {
            Ok(Credentials::Basic { user, password, .. }) => {
                format!("{user}/{}", password.expose_secret())
            }
            Ok(Credentials::Anonymous) => "anonymous".to_owned(),
            Err(error) => {
                let told = format!("{}: {error}", error.reason());
                // Whoever sees a failure, in whatever form, sees no secret; names may be seen.
                let all = format!("{told}{error:?}").replace("AWS_SECRET_ACCESS_KEY", "");
                assert!(!all.contains("SECRET"), "{error:?}");
                told.replace("could not fetch credentials: ", "")
            }
        };
        self.shown.iter().fold(told, |told, (text, what)| told.replace(text, what))
    }

    async fn told(&self, source: &str) -> String {
        self.told_with(source, now()).await
    }
}

fn now() -> Freshness {
    Freshness { kept: Kept::UntilRefused, pass_started: Instant::now() }
}

/// A file with this content.
fn file(content: &str) -> (tempfile::NamedTempFile, String) {
    use std::io::Write as _;
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(content.as_bytes()).expect("room on the disk");
    let path = file.path().display().to_string();
    (file, path)
}
