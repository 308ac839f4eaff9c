//! What a cycle did, as data.
