//! Commit messages and branch names from Go templates (spec 30 §2.4, §5.1).
