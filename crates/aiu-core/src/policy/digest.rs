//! One tag, followed by its digest (spec 10 §9).

use super::{Merit, Reason};
use crate::image::Tag;

/// Only the followed tag takes part; its digest is still to be learnt.
pub(super) fn judge(followed: &Tag, tag: &Tag) -> Result<Merit, Reason> {
    if tag == followed { Ok(Merit::Digest(None)) } else { Err(Reason::NotTheTag) }
}
