//! Credentials of variables, scripts and clouds: fetched once for all who need them, kept as long
//! as the registry's entry and the cloud say, and fetched anew when a registry refuses them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aiu_core::registries::{CredentialPlace, CredentialSource, Endpoint};
use tokio::time::Instant;

use super::cloud::{self, Clouds};
use super::{CredentialError, Credentials, Login, script};
use crate::Scanner;
use crate::flights::{Flights, Landed};

/// Sources that are remembered.
const CAPACITY: usize = 1000;

type Fetched = Result<Credentials, Arc<CredentialError>>;

/// What is fetched: a source, and for a cloud's sign-in the place that is signed in to.
type Key = (CredentialPlace, String);

/// Fetches credentials, each source once at a time (spec 11 §5.2). Clones share what they hold.
#[derive(Clone)]
pub struct Keyring(Arc<Inner>);

struct Inner {
    fetched: Flights<Key, Fetched>,
    clouds: Arc<Clouds>,
    /// How many fetches were begun; each fetch has its number, and later ones a higher one.
    fetches: AtomicU64,
}

/// Where credentials came from, and which fetch brought them: enough to get newer ones.
#[derive(Clone)]
pub struct Origin {
    keyring: Keyring,
    source: CredentialSource,
    /// The registry that they are for.
    endpoint: Arc<Endpoint>,
    number: u64,
    /// For how long they are good, if their source says so.
    life: Option<Duration>,
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
        let within = |life: Duration| Instant::now() < landed.at + life;
        let Ok(credentials) = &landed.value else { return landed.started >= self.pass_started };
        match (credentials.origin().and_then(|origin| origin.life), self.kept) {
            (Some(life), Kept::For(limit)) => within(limit.min(life)),
            // A cloud says itself for how long its tokens are good.
            (Some(life), Kept::OnePass | Kept::UntilRefused) | (None, Kept::For(life)) => {
                within(life)
            }
            (None, Kept::OnePass) => landed.started >= self.pass_started,
            (None, Kept::UntilRefused) => true,
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
        Self::over(Arc::default())
    }

    /// A keyring that holds nothing yet, and signs in to clouds as the scanner does: within the
    /// same limits of hosts, with the same certificates.
    pub fn beside(scanner: &Scanner) -> Self {
        Self::over(Arc::clone(scanner.clouds()))
    }

    fn over(clouds: Arc<Clouds>) -> Self {
        let fetched = Flights::new(CAPACITY);
        Self(Arc::new(Inner { fetched, clouds, fetches: AtomicU64::new(0) }))
    }

    /// The credentials for a registry, of a source that this program can read by itself.
    pub async fn credentials(
        &self,
        source: &CredentialSource,
        endpoint: &Arc<Endpoint>,
        freshness: Freshness,
    ) -> Result<Credentials, Arc<CredentialError>> {
        let accepts = |landed: &Landed<Fetched>| freshness.accepts(landed);
        self.get(source, endpoint, freshness, accepts).await
    }

    async fn get(
        &self,
        source: &CredentialSource,
        endpoint: &Arc<Endpoint>,
        freshness: Freshness,
        accepts: impl Fn(&Landed<Fetched>) -> bool,
    ) -> Fetched {
        let fetch = async |_| {
            let number = self.0.fetches.fetch_add(1, Ordering::Relaxed);
            let (login, life) = fetch(source, endpoint, &self.0.clouds).await.map_err(Arc::new)?;
            let origin = Origin {
                keyring: self.clone(),
                source: source.clone(),
                endpoint: Arc::clone(endpoint),
                number,
                life,
                freshness,
            };
            Ok(login.named(source).with_origin(origin))
        };
        let key = key(source, endpoint)?;
        let fetched = self.0.fetched.get(&key, |_| true, accepts, fetch).await?;
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
        let key = key(&self.source, &self.endpoint).ok()?;
        let landed = self.keyring.0.fetched.landed(&key)?;
        landed.value.ok().and_then(|credentials| self.in_place(credentials))
    }

    /// What a later fetch brings. Credentials that this very pass fetched are as new as any:
    /// who is refused with them lacks a permission, and asking again for each repository would
    /// not give it.
    pub(super) async fn renewed(&self) -> Result<Option<Credentials>, Arc<CredentialError>> {
        let accepts = |landed: &Landed<Fetched>| landed.started >= self.freshness.pass_started;
        let found = self.keyring.get(&self.source, &self.endpoint, self.freshness, accepts).await?;
        Ok(self.in_place(found))
    }

    /// `found` in place of what this origin gave, if it is newer.
    fn in_place(&self, found: Credentials) -> Option<Credentials> {
        let origin = found.origin().filter(|origin| origin.number > self.number)?.clone();
        Some(found.with_origin(Origin { freshness: self.freshness, ..origin }))
    }

    /// Which fetch brought them, if they are kept for longer than a pass.
    pub(super) fn kept(&self) -> Option<u64> {
        (self.life.is_some() || self.freshness.kept != Kept::OnePass).then_some(self.number)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fetch {} of {}", self.number, self.source)
    }
}

fn key(source: &CredentialSource, endpoint: &Endpoint) -> Result<Key, CredentialError> {
    Ok((source.place.clone(), cloud::place_of(&source.place, endpoint)?))
}

/// A login, and for how long it is good if that is known.
async fn fetch(
    source: &CredentialSource,
    endpoint: &Endpoint,
    clouds: &Clouds,
) -> Result<(Login, Option<Duration>), CredentialError> {
    Ok(match &source.place {
        CredentialPlace::Env(name) => {
            let value = std::env::var_os(&**name).unwrap_or_default();
            (Login::from_variable(name, &value.to_string_lossy())?, None)
        }
        CredentialPlace::Script(path) => (script::fetch(path).await?, None),
        CredentialPlace::Cloud { cloud, identity } => {
            // Boxed, since it is large, seldom needed, and part of every pass.
            let pass = Box::pin(clouds.sign_in(*cloud, identity.as_deref(), endpoint)).await?;
            (pass.login, Some(pass.life))
        }
        CredentialPlace::Secret { .. } | CredentialPlace::PullSecret { .. } => {
            return Err(CredentialError::NotHere(source.to_string()));
        }
    })
}
