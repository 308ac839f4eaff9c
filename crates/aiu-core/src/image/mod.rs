//! Names of images, checked once on the way in (spec 10 §1–§3).
//!
//! Past this module no `String` stands for a registry, a repository, a tag or a digest.

mod configured;
mod digest;
mod kustomize;
mod long_form;
mod platform;
mod reference;
mod repository;
mod tag;
#[cfg(test)]
mod tests;
mod written;

pub use configured::{Alias, ConfiguredImage, InvalidConfiguredImage};
pub use digest::Digest;
pub use kustomize::KustomizeImage;
pub use long_form::split_long_form;
pub use platform::{InvalidPlatform, Platform};
pub use reference::{ImageReference, InvalidReference, TagRef};
pub use repository::{InvalidRepository, Registry, Repository};
pub use tag::{InvalidTag, Tag};
