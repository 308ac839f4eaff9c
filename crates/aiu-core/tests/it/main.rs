//! Tests of the core from the outside: the reference's answers, edits, and laws.

#[cfg(test)]
mod edit;
#[cfg(test)]
mod vectors;
