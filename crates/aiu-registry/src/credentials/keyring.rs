//! Credentials of variables and scripts: fetched once for all who need them, kept as long as
//! the registry's entry says, and fetched anew when a registry refuses them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aiu_core::registries::{CredentialPlace, CredentialSource};
use tokio::time::Instant;

use super::{CredentialError, Credentials, Login, script};
use crate::flights::{Flights, Landed};

/// Sources that are remembered.
const CAPACITY: usize = 1000;

type Fetched = Result<Credentials, Arc<CredentialError>>;

/// Fetches credentials, each source once at a time (spec 11 §5.2). Clones share what they hold.
#[derive(Clone)]
pub struct Keyring(Arc<Inner>);

struct Inner {
    fetched: Flights<CredentialPlace, Fetched>,
    /// How many fetches were begun; each fetch has its number, and later ones a higher one.
    fetches: AtomicU64,
}

/// Where credentials came from, and which fetch brought them: enough to get newer ones.
#[derive(Clone)]
pub struct Origin {
    keyring: Keyring,
    source: CredentialSource,
    number: u64,
    /// By the wish of whoever asked for them.
    freshness: Freshness,
}

/// How old credentials may be.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// How long good ones are kept.
    pub kept: Kept,
    /// When the present pass began. A source that fails is not tried again within a pass.
    pub pass_started: Instant,
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
        match (&landed.value, self.kept) {
            (Err(_), _) | (Ok(_), Kept::OnePass) => landed.started >= self.pass_started,
            (Ok(_), Kept::For(life)) => Instant::now() < landed.at + life,
            (Ok(_), Kept::UntilRefused) => true,
        }
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
        Self(Arc::new(Inner { fetched: Flights::new(CAPACITY), fetches: AtomicU64::new(0) }))
    }

    /// The credentials of a source that this program can read by itself.
    pub async fn credentials(
        &self,
        source: &CredentialSource,
        freshness: Freshness,
    ) -> Result<Credentials, Arc<CredentialError>> {
        let accepts = |landed: &Landed<Fetched>| freshness.accepts(landed);
        self.get(source, freshness, accepts).await
    }

    async fn get(
        &self,
        source: &CredentialSource,
        freshness: Freshness,
        accepts: impl Fn(&Landed<Fetched>) -> bool,
    ) -> Fetched {
        let fetch = async |_| {
            let number = self.0.fetches.fetch_add(1, Ordering::Relaxed);
            let fetched = fetch(source).await.map_err(Arc::new)?;
            let source = source.clone();
            let origin = Origin { keyring: self.clone(), source, number, freshness };
            Ok(fetched.with_origin(origin))
        };
        let fetched = self.0.fetched.get(&source.place, |_| true, accepts, fetch).await?;
        // Whoever asked for them has a pass of its own.
        Ok(match fetched.origin().cloned() {
            Some(origin) => fetched.with_origin(Origin { freshness, ..origin }),
            None => fetched,
        })
    }
}

impl Origin {
    /// What a later fetch brought, if there was one.
    pub(super) fn newer(&self) -> Option<Credentials> {
        let landed = self.keyring.0.fetched.landed(&self.source.place)?;
        landed.value.ok().and_then(|credentials| self.in_place(credentials))
    }

    /// What a later fetch brings. Credentials that this very pass fetched are as new as any:
    /// who is refused with them lacks a permission, and asking again for each repository would
    /// not give it.
    pub(super) async fn renewed(&self) -> Result<Option<Credentials>, Arc<CredentialError>> {
        let accepts = |landed: &Landed<Fetched>| landed.started >= self.freshness.pass_started;
        let found = self.keyring.get(&self.source, self.freshness, accepts).await?;
        Ok(self.in_place(found))
    }

    /// `found` in place of what this origin gave, if it is newer.
    fn in_place(&self, found: Credentials) -> Option<Credentials> {
        let origin = found.origin().filter(|origin| origin.number > self.number)?.clone();
        Some(found.with_origin(Origin { freshness: self.freshness, ..origin }))
    }

    /// Which fetch brought them, if they are kept for longer than a pass.
    pub(super) fn kept(&self) -> Option<u64> {
        (self.freshness.kept != Kept::OnePass).then_some(self.number)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fetch {} of {}", self.number, self.source)
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
