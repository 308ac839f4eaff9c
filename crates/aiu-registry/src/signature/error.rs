//! Why an image does not count as signed.

use std::sync::Arc;

use aiu_core::image::{Digest, Tag};
use aiu_core::outcome::Remedy;

use crate::ScanError;

/// Why an image does not count as signed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SignatureError {
    /// The registry gave no usable answer.
    #[error("{0}")]
    Scan(Arc<ScanError>),
    /// The tag has no manifest any more.
    #[error("error fetching image manifest for tag \"{tag}\": it is gone")]
    NoManifest {
        /// The tag.
        tag: Tag,
    },
    /// The digest to be checked is none.
    #[error("invalid manifest digest \"{digest}\"")]
    Digest {
        /// The digest.
        digest: Digest,
    },
    /// Nothing was found that could be a signature.
    #[error(
        "no cosign signature found in OCI referrers or tag-based fallback for image tag \"{tag}\" (digest {digest}){}; sign it with 'cosign sign --key'", of_no_use(.skipped)
    )]
    Missing {
        /// The tag.
        tag: Tag,
        /// What it means.
        digest: Digest,
        /// What was found and could not be used.
        skipped: Vec<String>,
    },
    /// Nothing was found, and it could not be looked for everywhere.
    #[error("failed to fetch OCI referrers for digest {digest}: {cause}")]
    Referrers {
        /// The digest.
        digest: Digest,
        /// Why.
        cause: String,
    },
    /// There are signatures, and the key made none of them.
    #[error("{}", unmatched(.image, *.candidates))]
    NoMatch {
        /// The image.
        image: String,
        /// How many signatures there are.
        candidates: usize,
    },
    /// The one signature that there is cannot be read.
    #[error("signature verification failed for image {image}: {cause}")]
    Unreadable {
        /// The image.
        image: String,
        /// Why.
        cause: String,
    },
    /// The tag was pushed again while its signature was checked.
    #[error(
        "the tag {tag} meant {checked} when its signature was checked, and means {now} now; it is checked again in the next pass"
    )]
    Moved {
        /// The tag.
        tag: Tag,
        /// What was checked.
        checked: Digest,
        /// What it means now.
        now: Digest,
    },
}

impl SignatureError {
    /// Stable word (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Scan(error) => error.reason(),
            Self::NoManifest { .. } => "NoManifest",
            Self::Referrers { .. } => "RegistryUnreachable",
            Self::Digest { .. }
            | Self::Missing { .. }
            | Self::NoMatch { .. }
            | Self::Unreadable { .. }
            | Self::Moved { .. } => "Unverified",
        }
    }

    /// What it asks for.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Scan(error) => error.remedy(),
            _ => Remedy::AwaitChange,
        }
    }
}

fn of_no_use(causes: &[String]) -> String {
    match causes {
        [] => String::new(),
        [one] => format!("; found, and of no use: {one}"),
        [first, rest @ ..] => format!("; found, and of no use: {first}, and {} more", rest.len()),
    }
}

fn unmatched(image: &str, candidates: usize) -> String {
    let start = format!("signature verification failed for image {image}");
    match candidates {
        1 => format!("{start}: signature does not match public key"),
        n => format!("{start}: no matching signature found among {n} candidate(s)"),
    }
}
