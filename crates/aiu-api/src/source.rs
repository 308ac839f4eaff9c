//! Which source of an Application is meant, and which tool renders it (spec 21 §6.1, 30 §2.1).

use std::fmt;

use aiu_core::edit::SourceRef;

use crate::application::{Application, Source};
use crate::write_back::TargetSetting;

/// The tool that renders a source, as far as we care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceType {
    /// `helm` settings, or a chart.
    Helm,
    /// `kustomize` settings, or a kustomization file.
    Kustomize,
    /// A config management plugin.
    Plugin,
    /// Plain manifests.
    Directory,
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Helm => "Helm",
            Self::Kustomize => "Kustomize",
            Self::Plugin => "Plugin",
            Self::Directory => "Directory",
        })
    }
}

/// A source of an Application, chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen<'a> {
    /// Where it stands in the Application.
    pub at: SourceRef,
    /// Its settings.
    pub source: &'a Source,
    /// Its type; `None` where only the repository's content could tell, which is the case for
    /// Applications without a status.
    pub source_type: Option<SourceType>,
}

/// The source that is read and written, given the write-back target. `None` for an
/// Application without any source.
pub fn choose<'a>(app: &'a Application, target: &TargetSetting) -> Option<Chosen<'a>> {
    let source_type = source_type(app, target);
    let (at, source) = if let Some(hydrator) = &app.spec.source_hydrator {
        (SourceRef::DrySource, &hydrator.dry_source)
    } else if app.spec.sources.is_empty() {
        (SourceRef::Single, app.spec.source.as_ref()?)
    } else {
        let index = index_among(app, source_type);
        (SourceRef::Multi(index), &app.spec.sources[index])
    };
    Some(Chosen { at, source, source_type: source_type.or_else(|| declared(source)) })
}

/// The rules of 21 §6.1, in their order.
fn source_type(app: &Application, target: &TargetSetting) -> Option<SourceType> {
    match target {
        TargetSetting::Kustomization { .. } => return Some(SourceType::Kustomize),
        TargetSetting::HelmValues { .. } => return Some(SourceType::Helm),
        TargetSetting::Manifests { .. } => return Some(SourceType::Directory),
        TargetSetting::File(path) if !is_override_file(path) => return Some(SourceType::Helm),
        TargetSetting::File(_) | TargetSetting::Override => {}
    }
    if let Some(hydrator) = &app.spec.source_hydrator {
        return declared(&hydrator.dry_source).or(Some(SourceType::Directory));
    }
    let status = app.status.as_ref();
    if !app.spec.sources.is_empty() {
        let types = &status?.source_types;
        return types
            .iter()
            .filter_map(|word| from_word(word))
            .find(|found| *found != SourceType::Directory)
            .or((!types.is_empty()).then_some(SourceType::Directory));
    }
    status?.source_type.as_deref().and_then(from_word)
}

fn from_word(word: &str) -> Option<SourceType> {
    match word {
        "Helm" => Some(SourceType::Helm),
        "Kustomize" => Some(SourceType::Kustomize),
        "Plugin" => Some(SourceType::Plugin),
        "Directory" => Some(SourceType::Directory),
        _ => None,
    }
}

/// What the source itself says: a settings block, or the name of a chart.
fn declared(source: &Source) -> Option<SourceType> {
    if source.helm || source.chart.is_some() {
        Some(SourceType::Helm)
    } else if source.kustomize {
        Some(SourceType::Kustomize)
    } else if source.plugin {
        Some(SourceType::Plugin)
    } else if source.directory.is_some() {
        Some(SourceType::Directory)
    } else {
        None
    }
}

/// Whether `path` is named like an override file.
pub(crate) fn is_override_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with(".argocd-source-")
}

/// 21 §6.1, "multi-source": the block of the type, the status' position, any block, the first.
fn index_among(app: &Application, source_type: Option<SourceType>) -> usize {
    let sources = &app.spec.sources;
    let has_block = |source: &Source| match source_type {
        Some(SourceType::Helm) => source.helm,
        Some(SourceType::Kustomize) => source.kustomize,
        Some(SourceType::Plugin) => source.plugin,
        Some(SourceType::Directory) => source.directory.is_some(),
        None => false,
    };
    let by_status = || {
        source_type?;
        let types = &app.status.as_ref()?.source_types;
        (types.len() == sources.len())
            .then(|| types.iter().position(|word| from_word(word) == source_type))?
    };
    (sources.iter().position(has_block))
        .or_else(by_status)
        .or_else(|| plain(sources).filter(|_| source_type == Some(SourceType::Directory)))
        .or_else(|| sources.iter().position(|s| s.helm || s.kustomize || s.plugin))
        .unwrap_or(0)
}

/// A source that nothing says is rendered by a tool.
fn plain(sources: &[Source]) -> Option<usize> {
    sources.iter().position(|source| declared(source).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(text: &str) -> Application {
        serde_saphyr::from_str(&format!("metadata: {{name: a}}\n{text}")).unwrap()
    }

    fn shown(app: &Application, target: &TargetSetting) -> String {
        let chosen = choose(app, target).unwrap();
        let source_type = chosen.source_type.map_or("?".to_owned(), |t| t.to_string());
        format!("{source_type} from {}", chosen.source.repo_url)
    }

    /// Spec 21 §6.1 and 30 §2.1, tables.
    #[test]
    fn the_source_and_its_type_follow_the_target_then_the_status() {
        let kustomize_helm =
            "spec: {sources: [{repoURL: K, kustomize: {}}, {repoURL: H, helm: {}}]}
status: {sourceTypes: [Kustomize, Helm]}";
        let implicit = "spec: {sources: [{repoURL: A, path: x}, {repoURL: B, chart: c, helm: {}}, {repoURL: C}]}
status: {sourceTypes: [Kustomize, Helm, Directory]}";
        let file = |path: &str| TargetSetting::File(path.into());
        let manifests = || TargetSetting::Manifests { path: None };
        let kustomization = || TargetSetting::Kustomization { path: None };
        let hydrated = |block: &str| {
            format!(
                "spec: {{sourceHydrator: {{drySource: {{repoURL: D, {block}}}}}}}
status: {{sourceType: Directory}}"
            )
        };
        #[rustfmt::skip]
        let rows = [
            ("spec: {source: {repoURL: S}}\nstatus: {sourceType: Helm}", TargetSetting::Override, "Helm from S"),
            ("spec: {source: {repoURL: S}}\nstatus: {sourceType: Plugin}", kustomization(), "Kustomize from S"),
            ("spec: {source: {repoURL: S}}\nstatus: {sourceType: Directory}", TargetSetting::Override, "Directory from S"),
            ("spec: {source: {repoURL: S, kustomize: {}}}", TargetSetting::Override, "Kustomize from S"),
            ("spec: {source: {repoURL: S, chart: c}}", TargetSetting::Override, "Helm from S"),
            ("spec: {source: {repoURL: S}}", TargetSetting::Override, "? from S"),
            (kustomize_helm, file("charts/v.yaml"), "Helm from H"),
            (kustomize_helm, file("values.yml"), "Helm from H"),
            (kustomize_helm, kustomization(), "Kustomize from K"),
            (kustomize_helm, file(".argocd-source-x.yaml"), "Kustomize from K"),
            (implicit, kustomization(), "Kustomize from A"),
            ("spec: {sources: [{repoURL: A}, {repoURL: B}]}", TargetSetting::Override, "? from A"),
            (implicit, manifests(), "Directory from C"),
            ("spec: {sources: [{repoURL: A, helm: {}}, {repoURL: B}]}", manifests(), "Directory from B"),
            ("spec: {sources: [{repoURL: A}, {repoURL: B, directory: {recurse: true}}]}", manifests(), "Directory from B"),
            ("spec: {source: {repoURL: S}}", manifests(), "Directory from S"),
            (&hydrated("helm: {}"), TargetSetting::Override, "Helm from D"),
            (&hydrated("kustomize: {}"), TargetSetting::Override, "Kustomize from D"),
            (&hydrated("path: x"), TargetSetting::Override, "Directory from D"),
        ];
        for (text, target, expected) in rows {
            assert_eq!(shown(&app(text), &target), expected, "{text}");
        }
        assert_eq!(choose(&app("spec: {}"), &TargetSetting::Override), None);
    }
}
