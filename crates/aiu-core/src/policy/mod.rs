//! The five ways to order tags, and the filters before them (spec 10 §5).
