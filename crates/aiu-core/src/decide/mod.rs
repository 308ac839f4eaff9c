//! The choice of a tag, in two steps, with a reason for every tag that lost.
