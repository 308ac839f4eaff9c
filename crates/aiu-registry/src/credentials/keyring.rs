//! Credentials of variables and scripts: fetched once for all who need them, kept as long as
//! the registry's entry says.

use std::sync::Arc;
use std::time::Duration;

use aiu_core::registries::{CredentialPlace, CredentialSource};
use tokio::time::Instant;

use super::{CredentialError, Credentials, Login, script};
use crate::flights::{Flights, Landed};

/// Sources that are remembered.
const CAPACITY: usize = 1000;

type Fetched = Result<Credentials, Arc<CredentialError>>;

/// Fetches credentials, each source once at a time (spec 11 §5.2).
pub struct Keyring {
    fetched: Flights<CredentialPlace, Fetched>,
}

/// How old credentials may be.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// How long good ones are kept.
    pub kept: Kept,
    /// When the present pass began. A source that fails is not tried again within a pass.
    pub pass_started: Instant,
    /// If a registry refused some: when it was asked. Those are not given out again (spec 11
    /// §5.3, G21).
    pub refused: Option<Instant>,
}

/// How long good credentials are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// For one pass: the sources that images name themselves.
    OnePass,
    /// For so long: `credsexpire` of a registry's entry.
    For(Duration),
    /// Until a registry refuses them.
    UntilRefused,
}

impl Freshness {
    fn accepts(&self, landed: &Landed<Fetched>) -> bool {
        if !self.joins(landed.started) {
            return false;
        }
        match (&landed.value, self.kept) {
            (Err(_), _) | (Ok(_), Kept::OnePass) => landed.started >= self.pass_started,
            (Ok(_), Kept::For(life)) => Instant::now() < landed.at + life,
            (Ok(_), Kept::UntilRefused) => true,
        }
    }

    fn joins(&self, started: Instant) -> bool {
        self.refused.is_none_or(|refused| started >= refused)
    }
}

impl Default for Keyring {
    fn default() -> Self {
        Self::new()
    }
}

impl Keyring {
    /// A keyring that holds nothing yet.
    pub fn new() -> Self {
        Self { fetched: Flights::new(CAPACITY) }
    }

    /// The credentials of a source that this program can read by itself.
    pub async fn credentials(
        &self,
        source: &CredentialSource,
        freshness: Freshness,
    ) -> Result<Credentials, Arc<CredentialError>> {
        let joins = |started| freshness.joins(started);
        let accepts = |landed: &Landed<Fetched>| freshness.accepts(landed);
        let fetch = async |_| fetch(source).await.map_err(Arc::new);
        self.fetched.get(&source.place, joins, accepts, fetch).await
    }
}

async fn fetch(source: &CredentialSource) -> Result<Credentials, CredentialError> {
    let login = match &source.place {
        CredentialPlace::Env(name) => {
            let value = std::env::var_os(&**name).unwrap_or_default();
            Login::from_variable(name, &value.to_string_lossy())?
        }
        CredentialPlace::Script(path) => script::fetch(path).await?,
        CredentialPlace::Secret { .. } | CredentialPlace::PullSecret { .. } => {
            return Err(CredentialError::NotHere(source.to_string()));
        }
    };
    Ok(login.named(source))
}
