//! What `docker login` left for the present user: the file, and the helpers that it names.
//!
//! For a person at their own machine, who signed in already. A controller never looks there.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiu_core::registries::Endpoint;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::docker_config::{DOCKER_HUB, document, hosts};
use super::program::run;
use super::{CredentialError, Credentials, CredentialsId, DockerConfig, Login};
use crate::flights::{Flights, Landed};

/// Docker Hub's name in helpers.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";
/// The user whose "password" is a token of another protocol.
const TOKEN_USER: &str = "<token>";
/// Logins remembered.
const CAPACITY: usize = 1000;

/// The user's own logins.
pub struct Ambient {
    file: PathBuf,
    auths: Option<DockerConfig>,
    /// Names of helpers by host.
    helpers: BTreeMap<String, String>,
    /// The helper for all other hosts.
    store: Option<String>,
    /// Where helpers are, if not along `PATH`.
    programs: Option<PathBuf>,
    told: Flights<(String, String), Result<Option<Login>, Arc<CredentialError>>>,
}

/// A helper's answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

impl Ambient {
    /// Reads `config.json` in `$DOCKER_CONFIG`, else in `~/.docker`. Without one there are no
    /// logins.
    pub fn of_user() -> Result<Self, CredentialError> {
        let folder = std::env::var_os("DOCKER_CONFIG")
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".docker")));
        Self::read(&folder.unwrap_or_default().join("config.json"))
    }

    /// Reads a configuration file, if it is there.
    pub fn read(file: &Path) -> Result<Self, CredentialError> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => "{}".to_owned(),
            Err(error) => {
                let cause = format!("{}: {}", file.display(), error.kind());
                return Err(CredentialError::DockerConfigUnreadable(cause));
            }
        };
        let document = document(&text)?;
        let texts = |value: &Value| -> BTreeMap<String, String> {
            serde_json::from_value(value.clone()).unwrap_or_default()
        };
        let store = document.get("credsStore").and_then(Value::as_str);
        Ok(Self {
            file: file.to_owned(),
            auths: DockerConfig::of(&document).ok(),
            helpers: document.get("credHelpers").map(texts).unwrap_or_default(),
            store: store.filter(|name| !name.is_empty()).map(str::to_owned),
            programs: None,
            told: Flights::new(CAPACITY),
        })
    }

    /// Looks for helpers in `folder` instead of along `PATH`.
    #[must_use]
    pub fn helpers_in(mut self, folder: &Path) -> Self {
        self.programs = Some(folder.to_owned());
        self
    }

    /// The user's login for a repository; anonymous if they have none. A helper is asked once
    /// per registry and pass, as Docker would before it looks at the file's own entries.
    pub async fn credentials(
        &self,
        endpoint: &Endpoint,
        repository: &str,
        pass_started: Instant,
    ) -> Result<Credentials, Arc<CredentialError>> {
        let hosts = hosts(endpoint);
        let own = hosts.iter().find_map(|host| self.helper_of(host));
        if let Some(helper) = own.or(self.store.as_ref()) {
            let server = server_of(&hosts);
            if let Some(login) = self.ask(helper, server, pass_started).await? {
                return Ok(self.named(login));
            }
        }
        match self.auths.as_ref().map(|auths| auths.login(endpoint, repository)) {
            Some(Ok(login)) => Ok(self.named(login)),
            // An entry that says nothing stands for what is kept in a helper.
            None | Some(Err(CredentialError::NoEntry { .. } | CredentialError::Entry { .. })) => {
                Ok(Credentials::Anonymous)
            }
            Some(Err(error)) => Err(Arc::new(error)),
        }
    }

    fn helper_of(&self, host: &str) -> Option<&String> {
        self.helpers.get(host).or_else(|| {
            DOCKER_HUB.contains(&host).then(|| self.helpers.get(DOCKER_HUB_KEY)).flatten()
        })
    }

    async fn ask(
        &self,
        helper: &str,
        server: &str,
        pass_started: Instant,
    ) -> Result<Option<Login>, Arc<CredentialError>> {
        let name = format!("docker-credential-{helper}");
        let program = match &self.programs {
            Some(folder) => folder.join(name).display().to_string(),
            None => name,
        };
        let key = (program.clone(), server.to_owned());
        let accepts = |landed: &Landed<_>| landed.started >= pass_started;
        let ask = async |_| ask_helper(&program, server).await.map_err(Arc::new);
        self.told.get(&key, |_| true, accepts, ask).await
    }

    fn named(&self, login: Login) -> Credentials {
        let source = CredentialsId::new(&self.file.display().to_string());
        Credentials::Basic { source, user: login.user, password: login.password, origin: None }
    }
}

/// What helpers call the registry.
fn server_of<'a>(hosts: &[&'a str]) -> &'a str {
    match hosts.first() {
        Some(host) if DOCKER_HUB.contains(host) => DOCKER_HUB_KEY,
        Some(host) => host,
        None => "",
    }
}

/// Asks a helper; `None` if it knows no login.
async fn ask_helper(program: &str, server: &str) -> Result<Option<Login>, CredentialError> {
    // Helpers end badly when they know nothing, too, and say so where secrets may stand.
    let Ok(output) = run(program, &["get"], server).await else { return Ok(None) };
    let answer: HelperAnswer = serde_json::from_slice(&output)
        .map_err(|_| CredentialError::ScriptOutput(program.to_owned()))?;
    if answer.username == TOKEN_USER {
        let cause = "it keeps an identity token, which cannot be used here".to_owned();
        return Err(CredentialError::ScriptFailed { path: program.to_owned(), cause });
    }
    Ok(Some(Login { user: answer.username, password: answer.secret.into() }))
}
