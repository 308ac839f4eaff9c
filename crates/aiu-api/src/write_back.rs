//! How and where a result is written: method, branch and target, from their texts
//! (spec 30 §1.2, §2.3, §4.1, §4.2).

use std::fmt;
use std::sync::Arc;

use aiu_core::batch::{AppName, FilePath, InvalidPath};
use aiu_core::report::{Finding, Severity};

use crate::annotations::distance;
use crate::image_updater::{GitConfig, WriteBackConfig};

/// The write-back of one Application, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteBack {
    /// Patch the Application itself.
    Application,
    /// Commit to git.
    Git(GitWriteBack),
}

/// The git method's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitWriteBack {
    /// Where credentials come from.
    pub credentials: GitCredentials,
    /// The repository, if it is not the source's.
    pub repository: Option<Arc<str>>,
    /// The branch that is read.
    pub base: Option<Arc<str>>,
    /// The branch that is pushed, a template, if it is not the base.
    pub push: Option<Arc<str>>,
    /// What is edited.
    pub target: TargetSetting,
}

/// Where git credentials come from (spec 30 §1.2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitCredentials {
    /// Argo CD's repository Secrets; in a folder of manifests the user's own git.
    RepoCreds,
    /// A named Secret, as written behind `secret:`.
    Secret(Arc<str>),
}

/// The target as users write it (spec 30 §4.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetSetting {
    /// Nothing written: the override file.
    #[default]
    Override,
    /// `kustomization[:path]`.
    Kustomization {
        /// Relative to the source's path, or to the root with a leading `/`.
        path: Option<Arc<str>>,
    },
    /// `helmvalues[:path]`.
    HelmValues {
        /// Relative to the source's path, or to the root with a leading `/`.
        path: Option<Arc<str>>,
    },
    /// `manifests[:path]`: image fields of plain manifests (spec 40 B3).
    Manifests {
        /// Relative to the source's path, or to the root with a leading `/`.
        path: Option<Arc<str>>,
    },
    /// A file, relative to the repository's root.
    File(Arc<str>),
}

/// Why write-back settings cannot be used. The texts are the reference's where it has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWriteBack {
    /// Neither `argocd` nor `git`.
    #[error("invalid update mechanism: {0}")]
    Method(String),
    /// Behind `git:` stands no known source of credentials.
    #[error(
        "invalid git credentials source: unexpected credentials format. Expected 'repocreds', 'secret:<secret>' or 'secret:<namespace>/<secret>' but got '{0}'"
    )]
    Credentials(String),
    /// More than one colon.
    #[error("invalid format for git-branch: {0}")]
    Branch(String),
    /// Override parameters would replace a kustomization's content.
    #[error(
        "git write-back target {0:?} looks like a standard kustomization file; writing image parameter overrides to it would discard its existing content. Use kustomization:{1} instead"
    )]
    LooksLikeKustomization(String, String),
    /// A word that is almost one of the two known ones, and would become the name of a file.
    #[error(
        "git write-back target {0:?} is taken for the name of a file that nothing reads; write {1}"
    )]
    Misspelt(String, String),
    /// The target leaves the repository.
    #[error("git write-back target: {0}")]
    Path(#[from] InvalidPath),
    /// Pull requests are not opened yet, and pushing past one would skip a review.
    #[error(
        "pullRequest is not supported by this version yet; nothing is pushed. Remove it to commit to the branch directly"
    )]
    PullRequest,
}

/// Names that belong to a kustomization.
const KUSTOMIZATION_NAMES: [&str; 3] = aiu_core::edit::KUSTOMIZATION_NAMES;

/// Understands the merged settings of one Application.
pub fn parse(config: &WriteBackConfig) -> Result<WriteBack, InvalidWriteBack> {
    let method = config.method.as_deref().map_or("argocd", str::trim);
    if method == "argocd" || method.is_empty() {
        return Ok(WriteBack::Application);
    }
    let (word, credentials) = match method.split_once(':') {
        Some((word, rest)) if !word.is_empty() => (word, rest),
        _ => (method, "repocreds"),
    };
    if word != "git" {
        return Err(InvalidWriteBack::Method(method.to_owned()));
    }
    let credentials = match credentials.split_once(':') {
        None if credentials == "repocreds" => GitCredentials::RepoCreds,
        Some(("secret", name)) if !name.is_empty() => GitCredentials::Secret(name.into()),
        _ => return Err(InvalidWriteBack::Credentials(credentials.to_owned())),
    };
    let git = config.git_config.clone().unwrap_or_default();
    if git.pull_request.is_some() {
        return Err(InvalidWriteBack::PullRequest);
    }
    let (base, push) = branch(&git)?;
    Ok(WriteBack::Git(GitWriteBack {
        credentials,
        repository: blank_is_none(git.repository.as_deref()),
        base,
        push,
        target: target(git.write_back_target.as_deref())?,
    }))
}

/// What is set for the git method while the method is another: the field reports expect commits
/// then (spec 00 S2.4a).
pub fn method_not_set(config: &WriteBackConfig) -> Option<Finding> {
    let git = config.git_config.as_ref()?;
    let said = [
        ("git-repository", &git.repository),
        ("git-branch", &git.branch),
        ("write-back-target", &git.write_back_target),
    ];
    let said = said.into_iter().filter(|(_, value)| blank_is_none(value.as_deref()).is_some());
    let keys: Vec<&str> = said.map(|(key, _)| key).collect();
    if keys.is_empty() || parse(config) != Ok(WriteBack::Application) {
        return None;
    }
    Some(Finding {
        severity: Severity::Warning,
        reason: "WriteBackNotSet",
        found: format!("{} set for git, and the write-back method is argocd", Are(&keys)),
        fix: "write-back-method: git (in an ImageUpdater: writeBackConfig.method: git)".to_owned(),
    })
}

/// `a is` or `a, b are`.
struct Are<'a>(&'a [&'a str]);

impl fmt::Display for Are<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.0.len() == 1 { "is" } else { "are" };
        write!(f, "{} {verb}", self.0.join(", "))
    }
}

fn blank_is_none(text: Option<&str>) -> Option<Arc<str>> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(Arc::from)
}

/// `base`, `base:push` or `:push` (spec 30 §2.3).
fn branch(git: &GitConfig) -> Result<(Option<Arc<str>>, Option<Arc<str>>), InvalidWriteBack> {
    let text = git.branch.as_deref().map_or("", str::trim);
    let mut parts = text.split(':');
    let (base, push, more) = (parts.next(), parts.next(), parts.next());
    if more.is_some() {
        return Err(InvalidWriteBack::Branch(text.to_owned()));
    }
    Ok((blank_is_none(base), blank_is_none(push)))
}

/// The forms of spec 30 §4.1; a prefix counts only as the whole word or before `:` (F5).
fn target(text: Option<&str>) -> Result<TargetSetting, InvalidWriteBack> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(TargetSetting::Override);
    };
    let (word, path) = match text.split_once(':') {
        Some((word, path)) => (word, blank_is_none(Some(path))),
        None => (text, None),
    };
    match word {
        "kustomization" => Ok(TargetSetting::Kustomization { path }),
        "helmvalues" => Ok(TargetSetting::HelmValues { path }),
        "manifests" => Ok(TargetSetting::Manifests { path }),
        _ => {
            let (folder, name) = text.rsplit_once('/').unwrap_or((".", text));
            if KUSTOMIZATION_NAMES.contains(&name) {
                return Err(InvalidWriteBack::LooksLikeKustomization(
                    text.to_owned(),
                    format!("/{}", folder.trim_start_matches(['.', '/'])),
                ));
            }
            match misspelt(word) {
                Some(meant) => {
                    let path = path.map(|path| format!(":{path}")).unwrap_or_default();
                    Err(InvalidWriteBack::Misspelt(text.to_owned(), format!("{meant}{path}")))
                }
                None => Ok(TargetSetting::File(text.into())),
            }
        }
    }
}

/// The word that was probably meant. What has a folder or an ending is a file; other words have
/// to come close.
fn misspelt(word: &str) -> Option<&'static str> {
    if word.contains(['/', '.']) {
        return None;
    }
    if word.starts_with("kustomiz") {
        return Some("kustomization");
    }
    ["kustomization", "helmvalues", "manifests"]
        .into_iter()
        .find(|known| distance(word, known) <= 2)
}

/// The file or folder that a target means, given the source's path (spec 30 §4.1, §4.2).
/// `short_names_in` is the namespace whose Applications have the short override name.
pub fn target_path(
    target: &TargetSetting,
    source_path: &str,
    app: &AppName,
    short_names_in: &str,
) -> Result<FilePath, InvalidPath> {
    match target {
        TargetSetting::Kustomization { path } | TargetSetting::Manifests { path } => {
            FilePath::join(source_path, path.as_deref().unwrap_or("."))
        }
        TargetSetting::HelmValues { path } => {
            FilePath::join(source_path, path.as_deref().unwrap_or("values.yaml"))
        }
        TargetSetting::File(path) => FilePath::join("", path),
        TargetSetting::Override => {
            let AppName { namespace, name } = app;
            let short = namespace.is_empty()
                || **namespace == *short_names_in
                || short_names_in == "default";
            let name = if short {
                format!(".argocd-source-{name}.yaml")
            } else {
                format!(".argocd-source-{namespace}_{name}.yaml")
            };
            FilePath::join(source_path, &name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_updater::PullRequest;

    fn config(method: &str, branch: &str, target: &str) -> WriteBackConfig {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        WriteBackConfig {
            method: text(method),
            git_config: Some(GitConfig {
                branch: text(branch),
                write_back_target: text(target),
                ..GitConfig::default()
            }),
        }
    }

    fn shown(config: &WriteBackConfig) -> String {
        let app = AppName { namespace: "argocd-test".into(), name: "my-app".into() };
        match parse(config) {
            Ok(WriteBack::Application) => "argocd".to_owned(),
            Ok(WriteBack::Git(git)) => {
                let path = target_path(&git.target, "some/path", &app, "argocd");
                let path = path.map_or_else(|error| error.to_string(), |path| path.to_string());
                let name = |text: &Option<Arc<str>>| text.as_deref().unwrap_or("-").to_owned();
                format!("{path} on {} to {}", name(&git.base), name(&git.push))
            }
            Err(error) => error.to_string(),
        }
    }

    /// Spec 00 S2.4a.
    #[test]
    fn keys_of_git_without_its_method_are_told() {
        #[rustfmt::skip]
        let rows = [
            ("",       "main", "kustomization", Some("git-branch, write-back-target are set")),
            ("argocd", "main", "",              Some("git-branch is set")),
            ("git",    "main", "kustomization", None),
            ("nonsense", "main", "",            None),
            ("",       " ",    "",              None),
        ];
        for (method, branch, target, expected) in rows {
            let finding = method_not_set(&config(method, branch, target));
            let found = finding.as_ref().map(|finding| finding.found.as_str());
            let fits = match (found, expected) {
                (Some(found), Some(expected)) => found.starts_with(expected),
                (found, expected) => found == expected,
            };
            assert!(fits, "{method} {branch} {target}: {found:?}");
        }
        assert_eq!(method_not_set(&WriteBackConfig::default()), None);
    }

    /// Spec 21 §4.4 and 30 §1.2, §2.3, tables.
    #[test]
    fn settings_become_a_method_a_branch_and_a_path() {
        #[rustfmt::skip]
        let rows = [
            ("", "", "", "argocd"),
            (" argocd ", "main:x", "helmvalues", "argocd"),
            ("git", "", "", "some/path/.argocd-source-argocd-test_my-app.yaml on - to -"),
            (" git ", "main", "", "some/path/.argocd-source-argocd-test_my-app.yaml on main to -"),
            ("git:repocreds", "", "helmvalues", "some/path/values.yaml on - to -"),
            ("git:secret:creds", "main:feature-branch", "helmvalues:another/values.yaml",
             "some/path/another/values.yaml on main to feature-branch"),
            ("git", ":mytargetbranch", "kustomization", "some/path on - to mytargetbranch"),
            ("git", "main:", "kustomization:overlays/prod", "some/path/overlays/prod on main to -"),
            ("git", "", "kustomization:/foo", "foo on - to -"),
            ("git", "", "kustomization:../baz", "some/baz on - to -"),
            ("git", "", "target/folder/app.yaml", "target/folder/app.yaml on - to -"),
            ("git", "", "helmvalues:/../x.yaml", "the path '../x.yaml' leaves the repository on - to -"),
            ("git", "", "helmvalues-prod.yaml", "helmvalues-prod.yaml on - to -"),
            ("git", "", "kustomizatio", "git write-back target \"kustomizatio\" is taken for the name of a file that nothing reads; write kustomization"),
            ("git", "", "kustomize:overlays/prod", "git write-back target \"kustomize:overlays/prod\" is taken for the name of a file that nothing reads; write kustomization:overlays/prod"),
            ("git", "", "helm-values", "git write-back target \"helm-values\" is taken for the name of a file that nothing reads; write helmvalues"),
            ("git", "", "values", "values on - to -"),
            ("git", "a:b:c", "", "invalid format for git-branch: a:b:c"),
            ("unknown", "", "", "invalid update mechanism: unknown"),
            ("git:error:ns/creds", "", "", "invalid git credentials source: unexpected credentials format. Expected 'repocreds', 'secret:<secret>' or 'secret:<namespace>/<secret>' but got 'error:ns/creds'"),
            ("git", "", "overlays/prod/kustomization.yaml", "git write-back target \"overlays/prod/kustomization.yaml\" looks like a standard kustomization file; writing image parameter overrides to it would discard its existing content. Use kustomization:/overlays/prod instead"),
            ("git", "", "./kustomization.yml", "git write-back target \"./kustomization.yml\" looks like a standard kustomization file; writing image parameter overrides to it would discard its existing content. Use kustomization:/ instead"),
            ("git", "", "Kustomization", "git write-back target \"Kustomization\" looks like a standard kustomization file; writing image parameter overrides to it would discard its existing content. Use kustomization:/ instead"),
        ];
        for (method, branch, target, expected) in rows {
            assert_eq!(
                shown(&config(method, branch, target)),
                expected,
                "{method} {branch} {target}"
            );
        }
    }

    /// Spec 30 §4.2, table.
    #[test]
    fn override_files_carry_the_namespace_only_outside_the_own_one() {
        #[rustfmt::skip]
        let rows = [
            ("argocd", "argocd", ".argocd-source-testapp.yaml"),
            ("testNS", "argocd", ".argocd-source-testNS_testapp.yaml"),
            ("any", "default", ".argocd-source-testapp.yaml"),
            ("", "argocd", ".argocd-source-testapp.yaml"),
        ];
        for (namespace, own, expected) in rows {
            let app = AppName { namespace: namespace.into(), name: "testapp".into() };
            let path = target_path(&TargetSetting::Override, "", &app, own).unwrap();
            assert_eq!(path.as_str(), expected);
        }
    }

    #[test]
    fn a_pull_request_is_refused_rather_than_pushed_past() {
        let mut wished = config("git", "main", "");
        wished.git_config.as_mut().unwrap().pull_request = Some(PullRequest::default());
        assert_eq!(parse(&wished), Err(InvalidWriteBack::PullRequest));
    }
}
