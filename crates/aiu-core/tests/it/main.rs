//! Tests of the core from the outside: the reference's answers, and laws.

#[cfg(test)]
mod allocations;
#[cfg(test)]
mod choice;
#[cfg(test)]
mod vectors;
