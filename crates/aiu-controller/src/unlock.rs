//! The credentials that a plan names, each looked up once.
//!
//! Registries are asked anonymously and git with the user's own set-up; a plan that names any
//! other source is refused for the images concerned, never served without it.

use std::collections::BTreeMap;

use aiu_api::plan::{Target, TrackedImage, WorkPlan};
use aiu_api::write_back::GitCredentials;
use aiu_core::outcome::{Failure, ImageKey, Stage};
use aiu_git::GitAccess;

/// What the images of a plan may use, by image.
#[derive(Debug, Default)]
pub struct Access {
    refused: BTreeMap<ImageKey, Failure>,
}

/// Looks at every source of credentials that the plan names.
pub fn unlock(plan: &WorkPlan) -> Access {
    let refused = plan.images.iter().filter_map(|image| {
        refusal(image).map(|message| {
            let failure =
                Failure { stage: Stage::Scanned, reason: "CredentialSourceUnsupported", message };
            (image.key.clone(), failure)
        })
    });
    Access { refused: refused.collect() }
}

/// Why the credentials of an image cannot be had.
fn refusal(image: &TrackedImage) -> Option<String> {
    let registry = &image.endpoint.name;
    if let Some(source) = image.pull_secret.as_deref().or(image.endpoint.credentials.as_deref()) {
        let kind = source.split(':').next().unwrap_or_default();
        return Some(format!(
            "the registry '{registry}' is to be asked with credentials from '{kind}:', which this version cannot read yet; only registries that answer without sign-in can be used"
        ));
    }
    match &image.target {
        Target::File(git) if matches!(git.credentials, GitCredentials::Secret(_)) => Some(
            "write-back-method names a Secret, which this version cannot read yet; with 'git' alone your own git configuration signs in".to_owned(),
        ),
        _ => None,
    }
}

impl Access {
    /// Why an image may not go on, if it may not.
    pub fn refused(&self, key: &ImageKey) -> Option<&Failure> {
        self.refused.get(key)
    }

    /// How git signs in: in a folder of manifests, as the user does.
    pub fn git(&self) -> GitAccess {
        GitAccess::Ambient
    }
}
