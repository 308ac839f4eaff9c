//! The steps of a pass, one module each, in the order of ARCHITECTURE.md's data flow.
//!
//! Every image is a [`Row`]. A step looks at the rows that have no outcome yet; what fails
//! for one image becomes its outcome and stays there.

pub mod batch;
pub mod choose;
pub mod confirm;
pub mod contend;
pub mod hold;
pub mod inspect;
pub mod label;
pub mod manifests;
pub mod observe;
pub mod plan;
pub mod read;
pub mod scan;
pub mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_api::plan::TrackedImage;
use aiu_core::batch::FilePath;
use aiu_core::decide::{Current, Decision};
use aiu_core::edit::Keys;
use aiu_core::image::ImageReference;
use aiu_core::outcome::{Failure, Outcome, Stage};
use aiu_core::report::Finding;
use aiu_git::GitAccess;
use aiu_registry::{CosignKey, Credentials, ScanRequest};

/// One image on its way through the pass.
#[derive(Debug)]
pub struct Row {
    /// What is wanted.
    pub image: TrackedImage,
    /// What its registry is asked, and by whom.
    pub request: ScanRequest,
    /// Who reads and pushes where it is written; `None` if that is not git.
    pub git: Option<GitAccess>,
    /// The key that it must be signed with, if it must be.
    pub key: Option<CosignKey>,
    /// What it is at.
    pub current: Option<Current>,
    /// The keys under which its target holds it; known once the target's shape is.
    pub keys: Option<Keys>,
    /// The image fields of plain manifests that hold it, where those are its target.
    pub fields: Vec<Field>,
    /// What was decided.
    pub decision: Option<Decision>,
    /// Labels of the image that won, where the message of commits asks for them.
    pub labels: BTreeMap<String, String>,
    /// What a person should know about the decision.
    pub findings: Vec<Finding>,
    /// What came of it; `None` while it is still on its way.
    pub outcome: Option<Outcome>,
}

/// An image field of a plain manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The file.
    pub file: FilePath,
    /// What it says.
    pub image: ImageReference,
}

impl Row {
    /// A row at its start.
    pub fn new(image: TrackedImage, credentials: Credentials) -> Self {
        let request = ScanRequest {
            endpoint: Arc::clone(&image.endpoint),
            path: Arc::clone(&image.wire_path),
            credentials,
        };
        Self {
            image,
            request,
            git: None,
            key: None,
            current: None,
            keys: None,
            fields: Vec::new(),
            decision: None,
            labels: BTreeMap::new(),
            findings: Vec::new(),
            outcome: None,
        }
    }

    /// Ends this row with a failure.
    pub fn fail(&mut self, stage: Stage, reason: &'static str, message: String) {
        self.outcome = Some(Outcome::Failed(Failure { stage, reason, message }));
    }

    /// Whether the row is still on its way.
    pub fn is_open(&self) -> bool {
        self.outcome.is_none()
    }
}
