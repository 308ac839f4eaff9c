//! The one table of flags (spec 22 §3, §4, §6 to §8, §10, §11; 40). Help, reference page, parsing,
//! environment, ConfigMap and warnings are functions of it.

use super::Verb;

/// A flag, the variable and the key that stand in for it, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    pub name: &'static str,
    pub kind: Kind,
    /// As a user would write it.
    pub default: &'static str,
    /// Variables that give the default, the first that is set.
    pub env: &'static [&'static str],
    /// The key in the ConfigMap, or of secrets in the Secret; empty if there is none.
    pub key: &'static str,
    /// The commands that take it.
    pub on: &'static [Verb],
    pub group: Group,
    pub help: &'static str,
    /// What this version does with another value than the default.
    pub built: Built,
}

/// What values a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `--flag`, `--flag=true`, `--flag=false`.
    Switch,
    Text,
    /// Text that must not be shown.
    Secret,
    /// A number, and what is expected of it: the limits hold for variables and for flags.
    Number {
        least: i64,
        most: i64,
    },
    /// As Go writes durations: `2m`, `1h30m`, `0`.
    Duration,
    /// Several, one by one or separated by commas.
    List,
    /// Several, one by one.
    Repeated,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// Sections of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    What,
    When,
    Cluster,
    Commits,
    Servers,
    Webhook,
    Program,
}

/// Whether this version honours a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    Yes,
    /// Without it things are only later or fewer: accepted, and told. The sentence completes
    /// "--flag has no effect in this version: …".
    Without(&'static str),
    /// Ignoring it would do what the user forbade: refused. The sentence completes "--flag
    /// cannot be honoured by this version: …".
    Refused(&'static str),
}

const fn flag(name: &'static str, kind: Kind, default: &'static str) -> Flag {
    Flag {
        name,
        kind,
        default,
        env: &[],
        key: "",
        on: &[Verb::Run],
        group: Group::What,
        help: "",
        built: Built::Yes,
    }
}

impl Flag {
    const fn env(mut self, env: &'static [&'static str]) -> Self {
        self.env = env;
        self
    }

    const fn key(mut self, key: &'static str) -> Self {
        self.key = key;
        self
    }

    const fn on(mut self, on: &'static [Verb]) -> Self {
        self.on = on;
        self
    }

    const fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    const fn without(mut self, sentence: &'static str) -> Self {
        self.built = Built::Without(sentence);
        self
    }

    const fn refused(mut self, sentence: &'static str) -> Self {
        self.built = Built::Refused(sentence);
        self
    }

    /// Whether this command takes it.
    pub fn is_on(&self, verb: Verb) -> bool {
        self.on.contains(&verb)
    }

    /// Whether a word of its own follows it.
    pub fn takes_word(&self) -> bool {
        self.kind != Kind::Switch
    }
}

impl Group {
    /// All, in the order of the help.
    pub const ALL: [Self; 7] = [
        Self::What,
        Self::When,
        Self::Cluster,
        Self::Commits,
        Self::Servers,
        Self::Webhook,
        Self::Program,
    ];

    /// Its heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::What => "What is updated",
            Self::When => "When, and how much at once",
            Self::Cluster => "Cluster",
            Self::Commits => "Commits",
            Self::Servers => "Probes, metrics, pages",
            Self::Webhook => "Webhooks",
            Self::Program => "Program",
        }
    }
}

/// The row of a flag: that of the command, else the first of the name, whose variable and
/// default hold for commands that do not take the flag.
pub fn row(verb: Verb, name: &str) -> &'static Flag {
    let mut rows = FLAGS.iter().filter(|flag| flag.name == name);
    let first = rows.clone().next();
    rows.find(|flag| flag.is_on(verb)).or(first).expect("a flag that is read has a row")
}

/// The flags of a command, in the order of the table.
pub fn of(verb: Verb) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(move |flag| flag.is_on(verb))
}

use Group::{Cluster, Commits, Program, Servers, Webhook, When};
use Kind::{Choice, Duration, List, Number, Repeated, Secret, Switch, Text};
use Verb as V;

/// Commands that update.
const SERVE: &[Verb] = &[V::Run, V::Webhook];
/// Commands that look at Applications.
const LOOK: &[Verb] = &[V::Run, V::Webhook, V::Plan, V::Explain];
/// Commands that look at a folder of manifests.
const FOLDER: &[Verb] = &[V::Run, V::Plan, V::Explain];
/// Commands that would or do make commits.
const COMMIT: &[Verb] = &[V::Run, V::Webhook, V::Plan];
const MOST: i64 = i32::MAX as i64;
const LEVELS: Kind = Choice(&["trace", "debug", "info", "warn", "error"]);
const NO_HOOKS: &str = "webhooks are not received yet; images are checked at every interval";

/// All flags. A name stands twice where commands differ in its default.
#[rustfmt::skip]
pub const FLAGS: &[Flag] = &[
    // What is updated.
    flag("manifests", Text, "").env(&["IMAGE_UPDATER_MANIFESTS"]).on(FOLDER)
        .help("Work on the manifests in this folder, instead of a cluster"),
    flag("manifests", Text, "").on(&[V::Test])
        .help("Read Secrets and settings from the manifests in this folder, and use your own Docker logins where nothing else is said"),
    flag("dry-run", Switch, "false").on(SERVE).help("Check, but write nothing"),
    flag("annotation-mode", Choice(&["auto", "always", "never"]), "auto")
        .env(&["IMAGE_UPDATER_ANNOTATION_MODE"]).key("annotation-mode").on(LOOK)
        .help("Whether annotations count without an ImageUpdater that says so: as long as there is none, always, or never"),
    flag("require-live", Switch, "true").env(&["IMAGE_UPDATER_REQUIRE_LIVE"]).key("require-live").on(LOOK)
        .help("An image counts as in use only if Argo CD reports that it runs, where it reports anything"),
    flag("allow-downgrade", Switch, "false").env(&["IMAGE_UPDATER_ALLOW_DOWNGRADE"]).key("allow-downgrade").on(LOOK)
        .help("Let an image go down when its running version is gone from the registry"),
    flag("hold-reverted", Switch, "false").env(&["IMAGE_UPDATER_HOLD_REVERTED"]).key("hold-reverted").on(COMMIT)
        .help("Leave alone what a person has taken back, until a newer tag wins"),
    flag("registries-conf-path", Text, "/app/config/registries.conf").on(LOOK)
        .help("The registries file; empty for the built-in registries only"),
    flag("registries-conf-path", Text, "").on(&[V::Test])
        .help("The registries file; empty for the one at /app/config/registries.conf if there is one, else the built-in registries"),
    flag("allow-image-credential-sources", List, "").env(&["IMAGE_UPDATER_ALLOW_IMAGE_CREDENTIAL_SOURCES"]).key("allow-image-credential-sources").on(LOOK)
        .help("Credential sources that resources and annotations may name besides Secrets: env, ext, aws, azure, gcp"),

    // When, and how much at once.
    flag("interval", Duration, "2m0s").env(&["IMAGE_UPDATER_INTERVAL"]).key("interval").group(When)
        .help("Time between checks; 0 for one check of each ImageUpdater, below 0 for none"),
    flag("once", Switch, "false").group(When)
        .help("Make one pass, then exit: 0 if all went well, 1 if anything failed. Means an interval of 0, no probes, and warm-up"),
    flag("warmup-cache", Switch, "true").group(When)
        .help("Ask registries before the first check, and be ready only then"),
    flag("max-concurrent-apps", Number { least: 1, most: 100 }, "10").env(&["MAX_CONCURRENT_APPS"]).key("max_concurrent_apps").on(LOOK).group(When)
        .help("How many requests and patches are under way at once, for each ImageUpdater"),
    flag("max-concurrent-reconciles", Number { least: 1, most: 10 }, "1").env(&["MAX_CONCURRENT_RECONCILES"]).key("max_concurrent_reconciles").group(When)
        .help("How many ImageUpdaters are checked at once"),
    flag("max-concurrent-updaters", Number { least: 1, most: 10 }, "1").env(&["MAX_CONCURRENT_UPDATERS"]).on(&[V::Webhook]).group(When)
        .help("How many ImageUpdaters are checked at once after an event"),

    // Cluster.
    flag("kubeconfig", Text, "").on(&[V::Run, V::Webhook, V::Test, V::Plan, V::Explain]).group(Cluster)
        .help("Client configuration file; empty for KUBECONFIG, the pod's own account, or ~/.kube/config"),
    flag("argocd-namespace", Text, "").env(&["ARGOCD_NAMESPACE"]).key("argocd.namespace").on(LOOK).group(Cluster)
        .help("Namespace of Argo CD: its settings, repository credentials, and Applications with the short override file name. Empty for the client's own, and argocd in a folder"),
    flag("watch-namespaces", Text, "").env(&["IMAGE_UPDATER_WATCH_NAMESPACES"]).key("watch.namespaces").on(LOOK).group(Cluster)
        .help("Namespaces whose ImageUpdaters and Applications are seen, separated by commas; * for all, empty for the controller's own"),
    flag("leader-election", Switch, "true").group(Cluster)
        .help("Let one replica work and the others wait"),
    flag("leader-election-namespace", Text, "").group(Cluster)
        .help("Namespace of the lease; empty for the pod's, must be given outside of a cluster"),
    flag("disable-kube-events", Switch, "false").env(&["IMAGE_UPDATER_DISABLE_KUBE_EVENTS", "IMAGE_UPDATER_KUBE_EVENTS"]).key("kube.events").on(SERVE).group(Cluster)
        .help("Send no events to Kubernetes"),

    // Commits.
    flag("git-commit-user", Text, "argocd-image-updater").env(&["GIT_COMMIT_USER"]).key("git.user").on(COMMIT).group(Commits)
        .help("Author and committer"),
    flag("git-commit-email", Text, "noreply@argoproj.io").env(&["GIT_COMMIT_EMAIL"]).key("git.email").on(COMMIT).group(Commits)
        .help("Address of author and committer"),
    flag("git-commit-signing-key", Text, "").env(&["GIT_COMMIT_SIGNING_KEY"]).key("git.commit-signing-key").on(COMMIT).group(Commits)
        .help("What signs: the id of a GnuPG key or the path of its file, or the path of an SSH key"),
    flag("git-commit-signing-method", Choice(&["openpgp", "ssh"]), "openpgp").env(&["GIT_COMMIT_SIGNING_METHOD"]).key("git.commit-signing-method").on(COMMIT).group(Commits)
        .help("How commits are signed"),
    flag("git-commit-sign-off", Switch, "false").env(&["GIT_COMMIT_SIGN_OFF"]).key("git.commit-sign-off").on(COMMIT).group(Commits)
        .help("Add Signed-off-by to messages"),
    flag("git-commit-message-path", Text, "/app/config/commit.template").on(COMMIT).group(Commits)
        .help("Template file of messages; a missing or empty one means the default message"),
    flag("git-commit-method", Choice(&["git", "api"]), "git").env(&["GIT_COMMIT_METHOD"]).key("git.commit-method").on(COMMIT).group(Commits)
        .refused("commits are made by git alone, and the forge would not vouch for them")
        .help("By whom commits are made: git, or the forge's API"),
    flag("commit-per", Choice(&["application", "branch"]), "application").env(&["IMAGE_UPDATER_COMMIT_PER"]).key("commit-per").on(COMMIT).group(Commits)
        .help("What shares one commit"),
    flag("close-superseded-requests", Switch, "false").env(&["IMAGE_UPDATER_CLOSE_SUPERSEDED_REQUESTS"]).key("close-superseded-requests").on(COMMIT).group(Commits)
        .without("pull requests are not made yet")
        .help("Close pull requests that a newer one replaces"),
    flag("cache-dir", Text, "").env(&["IMAGE_UPDATER_CACHE_DIR"]).on(LOOK).group(Commits)
        .help("Folder for copies of git repositories, which may be deleted at any time; empty for argocd-image-updater in the user's cache folder"),

    // Probes, metrics, pages.
    flag("metrics-bind-address", Text, "0").group(Servers)
        .help("Address of /metrics, such as :8443; 0 for none"),
    flag("metrics-secure", Switch, "true").group(Servers)
        .help("Serve metrics by HTTPS, and only to accounts that the cluster allows to get /metrics"),
    flag("metrics-cert-dir", Text, "").env(&["IMAGE_UPDATER_METRICS_CERT_DIR"]).group(Servers)
        .help("Folder with tls.crt and tls.key for metrics; empty for a certificate made at start"),
    flag("health-probe-bind-address", Text, ":8081").group(Servers)
        .help("Address of /healthz and /readyz; 0 for none"),
    flag("ui-bind-address", Text, "0").env(&["IMAGE_UPDATER_UI_BIND_ADDRESS"]).key("ui-bind-address").group(Servers)
        .without("the status page is not served yet")
        .help("Address of the status page; 0 for none"),
    flag("enable-http2", Switch, "false").on(SERVE).group(Servers)
        .help("Allow HTTP/2 on metrics and webhooks"),

    // Webhooks.
    flag("enable-webhook", Switch, "false").env(&["ENABLE_WEBHOOK"]).key("webhook.enable").group(Webhook)
        .without(NO_HOOKS)
        .help("Receive push events of registries"),
    flag("webhook-port", Number { least: 0, most: 65535 }, "8082").env(&["WEBHOOK_PORT"]).key("webhook.port").group(Webhook)
        .help("Port of the webhook server; 0 for none"),
    flag("webhook-port", Number { least: 0, most: 65535 }, "8080").env(&["WEBHOOK_PORT"]).on(&[V::Webhook]).group(Webhook)
        .help("Port of the webhook server; 0 for a free one"),
    flag("webhook-require-secret", Switch, "true").env(&["WEBHOOK_REQUIRE_SECRET"]).key("webhook.require-secret").on(SERVE).group(Webhook)
        .help("Receive only events of registries whose secret is known"),
    flag("docker-webhook-secret", Secret, "").env(&["DOCKER_WEBHOOK_SECRET"]).key("webhook.docker-secret").on(SERVE).group(Webhook)
        .help("Secret of events from Docker Hub"),
    flag("ghcr-webhook-secret", Secret, "").env(&["GHCR_WEBHOOK_SECRET"]).key("webhook.ghcr-secret").on(SERVE).group(Webhook)
        .help("Secret of events from GitHub"),
    flag("quay-webhook-secret", Secret, "").env(&["QUAY_WEBHOOK_SECRET"]).key("webhook.quay-secret").on(SERVE).group(Webhook)
        .help("Secret of events from Quay"),
    flag("harbor-webhook-secret", Secret, "").env(&["HARBOR_WEBHOOK_SECRET"]).key("webhook.harbor-secret").on(SERVE).group(Webhook)
        .help("Secret of events from Harbor"),
    flag("aliyun-acr-webhook-secret", Secret, "").env(&["ALIYUN_ACR_WEBHOOK_SECRET"]).key("webhook.aliyun-acr-secret").on(SERVE).group(Webhook)
        .help("Secret of events from Alibaba Cloud"),
    flag("acr-webhook-secret", Secret, "").env(&["ACR_WEBHOOK_SECRET"]).key("webhook.acr-secret").on(SERVE).group(Webhook)
        .help("Secret of events from Azure"),
    flag("cloudevents-webhook-secret", Secret, "").env(&["CLOUDEVENTS_WEBHOOK_SECRET"]).key("webhook.cloudevents-secret").on(SERVE).group(Webhook)
        .help("Secret of CloudEvents"),
    flag("webhook-ratelimit-allowed", Number { least: 0, most: MOST }, "0").env(&["WEBHOOK_RATELIMIT_ALLOWED"]).key("webhook.ratelimit-allowed").on(SERVE).group(Webhook)
        .help("Events allowed in an hour; 0 for any number"),
    flag("disable-tls", Switch, "false").env(&["DISABLE_TLS"]).key("disable-tls").on(SERVE).group(Webhook)
        .help("Receive webhooks by plain HTTP"),
    flag("tlsminversion", Choice(&["1.1", "1.2", "1.3"]), "1.3").env(&["TLS_MIN_VERSION"]).key("tls.min-version").on(SERVE).group(Webhook)
        .help("Lowest version of TLS for webhooks"),
    flag("tlsmaxversion", Choice(&["1.1", "1.2", "1.3"]), "1.3").env(&["TLS_MAX_VERSION"]).key("tls.max-version").on(SERVE).group(Webhook)
        .help("Highest version of TLS for webhooks"),
    flag("tlsciphers", Text, "").env(&["TLS_CIPHERS"]).key("tls.ciphers").on(SERVE).group(Webhook)
        .help("Cipher suites for webhooks, separated by colons"),

    // One image.
    flag("semver-constraint", Text, "").on(&[V::Test]).help("Only versions in this range"),
    flag("allow-tags", Text, "").on(&[V::Test]).help("Only these tags: 'regexp:' and an expression, or 'any'"),
    flag("ignore-tags", Repeated, "").on(&[V::Test]).help("Not the tags that this pattern covers; may be repeated"),
    flag("update-strategy", Text, "semver").on(&[V::Test]).help("semver, newest-build, alphabetical or digest"),
    flag("credentials", Text, "").on(&[V::Test]).help("Where credentials come from, such as env:LOGIN or secret:ns/name#field"),
    flag("platforms", List, "").on(&[V::Test]).help("The platforms wanted, as os/arch or os/arch/variant; empty for the present one"),
    flag("rate-limit", Number { least: -MOST, most: MOST }, "20").on(&[V::Test]).group(When)
        .help("Requests per second, 0 for no limit; that of the registry where it is not given"),
    flag("check", Switch, "false").on(&[V::Test]).help("End with 3 if another tag than the one in IMAGE wins"),

    // Program.
    flag("loglevel", LEVELS, "info").env(&["IMAGE_UPDATER_LOGLEVEL"]).key("log.level").on(LOOK).group(Program)
        .help("How much is logged"),
    flag("loglevel", Text, "debug").on(&[V::Test]).group(Program)
        .help("How much is logged: trace, debug, info, warn or error"),
    flag("logformat", Choice(&["text", "json"]), "text").env(&["IMAGE_UPDATER_LOGFORMAT"]).key("log.format").on(LOOK).group(Program)
        .help("What log lines look like"),
    flag("output", Choice(&["text", "json"]), "text").on(FOLDER).group(Program)
        .help("What goes to standard output: a table for people, or one JSON document"),
    flag("output", Choice(&["text", "json"]), "").on(&[V::Test]).group(Program)
        .help("Print each tag with the reason why it won or lost, as a table or as one JSON document"),
    flag("short", Switch, "false").on(&[V::Version]).group(Program)
        .help("One line only"),
];
