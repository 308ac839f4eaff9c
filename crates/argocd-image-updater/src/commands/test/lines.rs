//! The log lines of `test` (spec 22 §8; 11 §2.7). Users match on these texts.

use aiu_core::decide::{Decision, Reason, Shortlist, Verdict};
use aiu_core::image::{ConfiguredImage, ImageReference, Repository, TagRef};
use aiu_core::policy::{AllowTags, TagFilter, UpdatePolicy, UpdateStrategy};
use aiu_core::registries::Endpoint;
use aiu_core::report::{Finding, Severity};
use tracing::{debug, error, info, trace, warn};

/// Writes lines that carry the fields of one image.
#[derive(Default)]
pub(super) struct Lines {
    registry: Option<String>,
    name: Option<String>,
    alias: Option<String>,
    tag: Option<String>,
    digest: Option<String>,
}

/// One line at a level, with the image's fields.
macro_rules! line {
    ($level:ident, $lines:expr, $($more:tt)*) => {
        $level!(
            image_registry = $lines.registry.as_deref(),
            image_name = $lines.name.as_deref(),
            image_alias = $lines.alias.as_deref(),
            image_tag = $lines.tag.as_deref(),
            image_digest = $lines.digest.as_deref(),
            $($more)*
        )
    };
}

impl Lines {
    /// Lines about this image.
    pub(super) fn about(image: &ConfiguredImage) -> Self {
        Self {
            registry: Some(host(&image.repository).to_owned()),
            name: Some(image.repository.path().to_owned()),
            alias: image.alias.as_ref().map(ToString::to_string),
            tag: image.constraint.as_deref().map(str::to_owned),
            digest: image.digest.as_ref().map(ToString::to_string),
        }
    }

    pub(super) fn fatal(&self, message: &str) {
        line!(error, self, fatal = true, "{message}");
    }

    pub(super) fn info(&self, message: &str) {
        line!(info, self, "{message}");
    }

    pub(super) fn warn(&self, message: &str) {
        line!(warn, self, "{message}");
    }

    fn debug(&self, message: &str) {
        line!(debug, self, "{message}");
    }

    /// An expression that allows nothing is told before anything else (spec 11 CLI-016).
    pub(super) fn filter(&self, filter: &TagFilter) {
        if let AllowTags::Broken(fault) = filter.allow() {
            self.warn(&fault.to_string());
        }
    }

    /// How the registry was found.
    pub(super) fn endpoint(&self, endpoint: &Endpoint, repository: &Repository) {
        let (prefix, path) = (&endpoint.prefix, repository.path());
        self.debug(&format!("Try to find endpoint by image: {}/{path}", host(repository)));
        if endpoint.inferred {
            let api = &endpoint.api_url;
            self.debug(&format!("Inferred registry from prefix {prefix} to use API {api}"));
        }
        if endpoint.limit > 0 {
            self.debug(&format!("setting rate limit to {} requests per second", endpoint.limit));
        } else {
            self.debug("rate limiting is disabled");
        }
        self.debug(&format!("Selected registry: '{prefix}' (last selection in log - final)"));
        let wire = endpoint.wire_path(repository);
        if *wire != *path {
            self.debug(&format!("Using canonical image name '{wire}' for image '{path}'"));
        }
    }

    /// What is left of the listing.
    pub(super) fn listed(&self, list: &Shortlist) {
        for rejection in &list.rejected {
            let tag = &rejection.tag;
            match rejection.reason {
                Reason::NotAllowed | Reason::Ignored | Reason::NotTheTag => line!(
                    trace,
                    self,
                    "Removing tag {tag} because it either didn't match defined pattern or is ignored"
                ),
                Reason::WrongPlatform => {
                    let name = self.name.as_deref().unwrap_or_default();
                    self.debug(&format!("No metadata found for {name}:{tag}"));
                }
                _ => {}
            }
        }
        self.info(&format!("Found {} tags in registry", list.considered()));
    }

    /// What a person should know; what is only worth knowing, at level debug.
    pub(super) fn findings(&self, findings: &[Finding]) {
        for Finding { severity, reason, found, fix } in findings {
            match severity {
                Severity::Error => line!(error, self, reason, "{found}; {fix}"),
                Severity::Warning => line!(warn, self, reason, "{found}; {fix}"),
                Severity::Note => line!(debug, self, reason, "{found}; {fix}"),
            }
        }
    }

    /// The end of the choice.
    pub(super) fn chosen(
        &self,
        image: &ConfiguredImage,
        policy: &UpdatePolicy,
        decision: &Decision,
    ) {
        let list = &decision.shortlist;
        let (eligible, all) = (list.candidates.len(), list.considered());
        if eligible > 0 {
            self.debug(&format!("found {eligible} from {all} tags eligible for consideration"));
        }
        if let Some(tag) = winner(decision) {
            let shown = displayed(image, Some(tag));
            self.info(&format!("latest image according to constraint is {shown}"));
        } else {
            self.warn(&nothing(image, policy, list));
            self.info("no newer version of image found");
        }
        if let Verdict::Held(why) = &decision.verdict {
            self.warn(&why.to_string());
        }
    }
}

/// The best tag, whether or not it is there already.
pub(super) fn winner(decision: &Decision) -> Option<TagRef> {
    let chosen = decision.chosen.as_ref()?;
    let candidate = decision.shortlist.candidates.iter().find(|c| c.tag == *chosen)?;
    Some(candidate.tag_ref())
}

/// As images are shown (spec 10 §1.4, "display string").
pub(super) fn displayed(image: &ConfiguredImage, tag: Option<TagRef>) -> String {
    let reference = ImageReference { repository: image.repository.clone(), tag };
    match &image.alias {
        Some(alias) => format!("{alias}={reference}"),
        None => reference.to_string(),
    }
}

/// Why there is no winner (spec 10 §5.5).
fn nothing(image: &ConfiguredImage, policy: &UpdatePolicy, list: &Shortlist) -> String {
    let name = displayed(&ConfiguredImage { alias: None, ..image.clone() }, None);
    let sorted_out = |reason| list.rejected.iter().any(|rejection| rejection.reason == reason);
    let within = [Reason::OutsideConstraint, Reason::PreRelease].into_iter().any(sorted_out);
    match &policy.strategy {
        _ if list.considered() == 0 => format!("no tags found for image {name} in registry"),
        UpdateStrategy::Semver(range) if within => {
            format!("no tags for image {name} matched constraint \"{range}\"")
        }
        strategy => {
            format!("no tags for image {name} matched by the {} strategy", strategy.name())
        }
    }
}

/// The host as written; empty where the user wrote none.
fn host(repository: &Repository) -> &str {
    repository.registry().map_or("", aiu_core::image::Registry::as_str)
}
