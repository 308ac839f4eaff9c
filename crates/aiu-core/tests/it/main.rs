//! Tests of the core from the outside: the reference's answers, and laws.

#[cfg(test)]
mod laws;
#[cfg(test)]
mod vectors;
