//! One module per command.

mod cluster;
pub mod completion;
pub mod explain;
pub mod generate;
pub mod plan;
pub mod run;
pub mod session;
mod signals;
pub mod template;
pub mod test;
pub mod version;

/// What a command has to say, and how it ends.
pub struct Answer {
    /// For standard output.
    pub text: String,
    /// The exit code's meaning.
    pub end: End,
}

/// How a command ends (ARCHITECTURE.md, "Errors").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Exit code 0.
    Done,
    /// Something failed: exit code 1.
    Failed,
    /// All is well, and there is an update that was not written: exit code 3.
    UpdateAvailable,
}

impl Answer {
    /// An answer without any failure.
    pub fn done(text: String) -> Self {
        Self { text, end: End::Done }
    }

    /// An answer that tells of failures, or of none.
    pub fn new(text: String, failed: bool) -> Self {
        Self { text, end: if failed { End::Failed } else { End::Done } }
    }
}

impl End {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::UpdateAvailable => 3,
        }
    }
}
