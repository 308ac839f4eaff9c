//! The field's lenient semantic versions and their ranges (spec 10 §4).
