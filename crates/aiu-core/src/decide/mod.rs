//! The choice of a tag, in two steps, with a reason for every tag that lost.
//!
//! [`shortlist`] turns a listing and a policy into candidates, best first, and says what it
//! must still be told; [`Shortlist::inspected`] takes that in. Neither knows what runs, so all
//! images that ask the same share the result. [`decide`] then holds it against what one image
//! runs. Nothing is thrown away: [`explain`] answers "why not that tag?" from the decision.
//!
//! Order of tags and filters: [`policy`](crate::policy). Fetching: the registry adapter.

mod decision;
mod explain;
mod findings;
mod inspect;
mod live;
mod shape;
mod shortlist;
mod tag_list;
#[cfg(test)]
mod tests;

pub use crate::policy::{Merit, Reason};
pub use decision::{
    Current, CurrentSource, DecideOptions, Decision, HoldReason, NoCandidate, Verdict, decide,
    needs_update,
};
pub use explain::{Explanation, Fate, Line, explain};
pub use findings::findings;
pub use inspect::{ImageMeta, Inspection, Metadata, Unanswered};
pub use live::{find_live, reselect_live};
pub use shortlist::{Candidate, Needs, Rejection, Shortlist, shortlist};
pub use tag_list::TagList;
