//! One module per command.

pub mod explain;
pub mod run;
pub mod session;
pub mod version;

/// What a command has to say, and whether anything failed.
pub struct Answer {
    /// For standard output.
    pub text: String,
    /// Exit code 1 instead of 0.
    pub failed: bool,
}

impl Answer {
    /// An answer without any failure.
    pub fn done(text: String) -> Self {
        Self { text, failed: false }
    }
}
