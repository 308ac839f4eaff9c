//! Regular expressions in RE2 syntax as Go reads it (spec 10 §5.3).
