//! Whole-system tests: scenarios as text, and the built binary.

#[cfg(test)]
mod scenarios;
