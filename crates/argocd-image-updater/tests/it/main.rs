//! Whole-system tests: scenarios as text, and the built binary.

#[cfg(test)]
mod binary;
mod clouds;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod commits;
#[cfg(test)]
mod git_access;
#[cfg(test)]
mod hold;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod monorepo;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod program;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod registry_counts;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod repeated;
#[cfg(test)]
mod reports;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod signatures;
#[cfg(test)]
mod start;
#[cfg(test)]
mod test_command;
#[cfg(test)]
mod test_in_cluster;
