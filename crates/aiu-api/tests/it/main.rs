//! The pure half of Kubernetes' shapes, against what the reference program answered.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which clippy does not take for tests")]

mod vectors;
