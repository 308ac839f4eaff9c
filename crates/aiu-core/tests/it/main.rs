//! Tests of the core from the outside: the reference's answers, edits, and laws.

#[cfg(test)]
mod allocations;
#[cfg(test)]
mod choice;
#[cfg(test)]
mod edit;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod vectors;
