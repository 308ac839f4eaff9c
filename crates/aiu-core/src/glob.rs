//! Shell-style patterns with the meaning of Go's `path.Match` (spec 10 §5.3, 21 §3.2).
