//! What can be set about git; the binary fills it from flags and environment.

use std::path::PathBuf;
use std::time::Duration;

use crate::credentials::AzureIdentity;
use crate::signing::Signing;

/// Where mirrors live and how long things may take.
#[derive(Clone, Debug)]
pub struct GitSettings {
    /// The folder of mirrors. Deleting it costs time only.
    pub cache: PathBuf,
    /// The program; a bare name is looked up in `PATH`.
    pub program: PathBuf,
    /// How long one git command may take (`ARGOCD_EXEC_TIMEOUT`, spec 30 §5.3).
    pub deadline: Duration,
    /// How long a command that is asked to end may still take
    /// (`ARGOCD_EXEC_FATAL_TIMEOUT`).
    pub grace: Duration,
    /// Whether `file://` and absolute paths are remotes too: in folder mode and in tests only,
    /// since in a cluster they would name the pod's own disk.
    pub local_remotes: bool,
    /// Larger files are not edited.
    pub max_file_bytes: u64,
    /// How many branches are pushed at the same time.
    pub pushes_at_once: usize,
    /// How long the first pause after a lost race may be; it doubles each time.
    pub retry_pause: Duration,
    /// When a mirror has grown too large.
    pub growth: Growth,
    /// The folder for a private one: a socket, and keys for the time of one command.
    pub private: PathBuf,
    /// This program, which git asks for passwords under its second name (spec 30 §3.4).
    pub askpass: PathBuf,
    /// How long a token of a GitHub App is used at most
    /// (`ARGOCD_GITHUB_APP_CREDS_EXPIRATION_DURATION`).
    pub app_token_lifetime: Duration,
    /// Who this pod is in Azure, for Secrets that ask for that.
    pub azure: Option<AzureIdentity>,
    /// With what commits are signed, if they are.
    pub signing: Option<Signing>,
}

/// A mirror is built afresh when it exceeds any of these: one fetch, about as large as the
/// first. It is never repacked: it lacks objects on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// How many times its first size.
    pub factor: u64,
    /// Below this many bytes size does not matter.
    pub floor: u64,
    /// How many packs; every fetch and every push adds one.
    pub packs: usize,
}

impl GitSettings {
    /// The defaults, with mirrors in `cache`.
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self {
            cache: cache.into(),
            program: "git".into(),
            deadline: Duration::from_secs(90),
            grace: Duration::from_secs(10),
            local_remotes: false,
            max_file_bytes: 4 << 20,
            pushes_at_once: 8,
            retry_pause: Duration::from_millis(200),
            growth: Growth { factor: 4, floor: 32 << 20, packs: 200 },
            private: std::env::temp_dir(),
            askpass: std::env::current_exe().unwrap_or_else(|_| "argocd-image-updater".into()),
            app_token_lifetime: Duration::from_hours(1),
            azure: None,
            signing: None,
        }
    }
}
