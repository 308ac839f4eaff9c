//! The command line: names and defaults of the established flags (spec 22 §3, 40).

#![expect(clippy::doc_markdown, reason = "the comments of arguments are their help texts")]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Keeps container images of Argo CD Applications up to date.
#[derive(Debug, Parser)]
#[command(
    name = "argocd-image-updater",
    disable_version_flag = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check images and write what is new
    Run(Run),
    /// Show, for every image, which tag is chosen and why each other tag is not
    Explain(Explain),
    /// Show to which tag an image would go, given a policy
    Test(Box<Test>),
    /// Print the version
    Version(Version),
}

#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub shared: Shared,
    /// Make one pass, then exit: 0 if all went well, 1 if anything failed
    #[arg(long)]
    pub once: bool,
    /// Check, but write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Author and committer of commits (env GIT_COMMIT_USER, default: argocd-image-updater)
    #[arg(long, value_name = "NAME")]
    pub git_commit_user: Option<String>,
    /// Address of author and committer (env GIT_COMMIT_EMAIL, default: noreply@argoproj.io)
    #[arg(long, value_name = "ADDRESS")]
    pub git_commit_email: Option<String>,
    /// Template file of commit messages; a missing or empty one means the default message
    /// (default: /app/config/commit.template)
    #[arg(long, value_name = "FILE")]
    pub git_commit_message_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Explain {
    #[command(flatten)]
    pub shared: Shared,
    /// Only this Application, as NAMESPACE/NAME or NAME
    #[arg(value_name = "NS/APP")]
    pub application: Option<String>,
}

/// What every command that looks at Applications takes.
#[derive(Debug, Args)]
pub struct Shared {
    /// Read Applications, ImageUpdaters and settings from the manifests in this folder
    /// (env IMAGE_UPDATER_MANIFESTS)
    #[arg(long, value_name = "DIR")]
    pub manifests: Option<PathBuf>,
    /// The registries file; empty for the built-in registries only
    /// (default: /app/config/registries.conf)
    #[arg(long, value_name = "FILE")]
    pub registries_conf_path: Option<PathBuf>,
    /// Namespace of objects whose manifest names none, and of Applications with the short
    /// override file name (env ARGOCD_NAMESPACE, default: argocd)
    #[arg(long, value_name = "NAMESPACE")]
    pub argocd_namespace: Option<String>,
    /// How many registries are asked at once (env MAX_CONCURRENT_APPS, default: 10)
    #[arg(long, value_name = "N")]
    pub max_concurrent_apps: Option<usize>,
    /// Let an image go down when its running version is gone from the registry
    /// (env IMAGE_UPDATER_ALLOW_DOWNGRADE)
    #[arg(long)]
    pub allow_downgrade: bool,
    /// Whether annotations count without an ImageUpdater that says so
    /// (env IMAGE_UPDATER_ANNOTATION_MODE, default: auto)
    #[arg(long, value_enum)]
    pub annotation_mode: Option<Annotations>,
    /// Whether an image counts as in use only if Argo CD reports that it runs, where it reports
    /// anything (env IMAGE_UPDATER_REQUIRE_LIVE, default: true)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub require_live: Option<bool>,
    /// Folder for copies of git repositories; caches, which may be deleted at any time
    /// (env IMAGE_UPDATER_CACHE_DIR, default: argocd-image-updater in the user's cache folder)
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
    /// trace, debug, info, warn or error (env IMAGE_UPDATER_LOGLEVEL, default: info)
    #[arg(long, value_name = "LEVEL")]
    pub loglevel: Option<String>,
    /// text or json (env IMAGE_UPDATER_LOGFORMAT, default: text)
    #[arg(long, value_name = "FORMAT")]
    pub logformat: Option<String>,
}

/// Shows to which tag an image would go, given a policy. Reads only.
///
/// The tag in IMAGE is no constraint; --check compares it with the winner.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argocd-image-updater test nginx
  argocd-image-updater test nginx --semver-constraint 1.17.X
  argocd-image-updater test nginx --allow-tags 'regexp:^1\\.19' --ignore-tags '*-alpine'
  argocd-image-updater test nginx --update-strategy newest-build --platforms linux/arm64
  argocd-image-updater test ghcr.io/acme/web:1.2.0 --check --credentials env:LOGIN")]
pub struct Test {
    /// The image, such as nginx or ghcr.io/acme/web:1.2.0
    #[arg(value_name = "IMAGE")]
    pub image: Vec<String>,
    /// Only versions in this range
    #[arg(
        long,
        value_name = "RANGE",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub semver_constraint: String,
    /// Only these tags: 'regexp:' and an expression, or 'any'
    #[arg(
        long,
        value_name = "MATCH",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub allow_tags: String,
    /// Not the tags that this pattern covers; may be repeated
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    pub ignore_tags: Vec<String>,
    /// semver, newest-build, alphabetical or digest
    #[arg(long, value_name = "STRATEGY", default_value = "semver")]
    pub update_strategy: String,
    /// The registries file (default: /app/config/registries.conf if it is there)
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub registries_conf_path: String,
    /// trace, debug, info, warn or error
    #[arg(long, value_name = "LEVEL", default_value = "debug")]
    pub loglevel: String,
    /// The kubeconfig to read Secrets with
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub kubeconfig: String,
    /// Read Secrets and settings from the manifests in this folder, and use your own Docker
    /// logins where nothing else is said
    #[arg(long, value_name = "DIR")]
    pub manifests: Option<PathBuf>,
    /// Where credentials come from, such as env:LOGIN or secret:ns/name#field
    #[arg(long, value_name = "SOURCE", default_value = "", hide_default_value = true)]
    pub credentials: String,
    /// The platforms wanted, as os/arch or os/arch/variant (default: the present one)
    #[arg(long, value_name = "PLATFORM", value_delimiter = ',')]
    pub platforms: Vec<String>,
    /// Requests per second, 0 for no limit (default: that of the registry, mostly 20)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub rate_limit: Option<i64>,
    /// End with 3 if another tag than the one in IMAGE wins
    #[arg(long)]
    pub check: bool,
    /// Print each tag with the reason why it won or lost, as a table or as one JSON document
    #[arg(long, value_enum)]
    pub output: Option<Output>,
}

#[derive(Debug, Args)]
pub struct Version {
    /// One line only
    #[arg(long)]
    pub short: bool,
}

/// When annotations count by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// As long as there is no ImageUpdater.
    Auto,
    /// For every annotated Application that no ImageUpdater selects.
    Always,
    /// Never, as in the original.
    Never,
}

/// The form of an answer on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// A table for people.
    Text,
    /// One JSON document.
    Json,
}

/// Brings the command to the front: flags may stand before it (spec 22 §1).
pub fn command_first(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = arguments.into_iter().collect();
    let is_command = |word: &OsString| {
        word.to_str()
            .is_some_and(|word| matches!(word, "run" | "explain" | "test" | "version" | "help"))
    };
    if let Some(at) = words.iter().skip(1).position(is_command).map(|at| at + 1) {
        words[1..=at].rotate_right(1);
    }
    words
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    /// Spec 22 §1, "Flags may stand before the sub-command".
    #[test]
    fn flags_may_stand_before_the_command() {
        #[rustfmt::skip]
        let rows = [
            ("p run --once", "p run --once"),
            ("p --dry-run run", "p run --dry-run"),
            ("p --loglevel debug --dry-run run --once", "p run --loglevel debug --dry-run --once"),
            ("p --help", "p --help"),
            ("p", "p"),
        ];
        for (given, expected) in rows {
            let words = command_first(given.split(' ').map(OsString::from));
            let shown: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
            assert_eq!(shown.join(" "), expected);
        }
    }
}
