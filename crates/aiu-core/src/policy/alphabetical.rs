//! Tags by the bytes of their names, the last one first (spec 10 §5.5).
//!
//! Every tag that passes the filters takes part; a constraint has no effect (spec 10 §5.1).

use super::Merit;

/// Names are all there is to compare, and they break every tie anyway.
pub(super) fn judge() -> Merit {
    Merit::Name
}
