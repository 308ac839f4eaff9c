//! Kubernetes shapes and what they resolve to.
//!
//! Wire types ([`image_updater`], [`application`]) hold what users wrote, as raw strings.
//! [`select`] says which Applications a resource means, [`resolve`] turns both into a
//! [`plan::WorkPlan`] of checked types; past that point nobody reads a raw setting again.
//! Like the core, this crate computes: no client, no clock, no file.

#![warn(missing_docs)]

pub mod annotations;
pub mod application;
pub mod crd;
pub mod image_updater;
pub mod origin;
pub mod patch;
pub mod plan;
pub mod resolve;
pub mod select;
pub mod source;
pub mod status;
pub mod write_back;

/// The prefix of every annotation and of the resource's group (spec 10 §6.2, 20 §1).
pub const PREFIX: &str = "argocd-image-updater.argoproj.io";
