//! Tags by the age of their images, the youngest first (spec 10 §5.4).
//!
//! Every tag that passes the filters takes part; a constraint has no effect (spec 10 §5.1).

use std::fmt;

use super::Merit;

/// Where the age of an image is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateSource {
    /// `created` of the image's configuration: the build date.
    ImageConfig,
    /// The order of the listing, for registries whose `tagsortmode` says they sort by age.
    ListOrder(ListOrder),
    /// The date of the push, as the registry's own listing gives it (spec 40 B13).
    PushDate,
}

/// How a registry sorts its listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListOrder {
    /// The youngest tag stands first.
    LatestFirst,
    /// The youngest tag stands last.
    LatestLast,
}

impl fmt::Display for DateSource {
    /// What the dates of this source are, for explanations.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ImageConfig => "build dates",
            Self::ListOrder(_) => "the registry's own order",
            Self::PushDate => "push dates",
        })
    }
}

/// What is known of a tag's age from its place among `count` listed ones.
pub(super) fn judge(dates: DateSource, place: usize, count: usize) -> Merit {
    match dates {
        DateSource::ListOrder(ListOrder::LatestFirst) => Merit::Place(count - place),
        DateSource::ListOrder(ListOrder::LatestLast) => Merit::Place(place + 1),
        DateSource::ImageConfig => Merit::Date(None),
        DateSource::PushDate => Merit::Pushed(None),
    }
}
