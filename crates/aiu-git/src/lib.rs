//! Mirrors, commits and pushes through the installed `git`.
//!
//! [`Mirrors`] reads files at the tips of branches, [`Writers`] writes them; both share one
//! warm bare partial clone per remote. What the files should say is the core's business, and
//! where credentials come from is the caller's. No other module than `command` starts `git`.

#![warn(missing_docs)]

mod answer;
pub mod askpass;
mod command;
mod commit;
mod counts;
pub mod credentials;
mod error;
mod listing;
mod mirror;
mod object;
mod private;
mod push;
mod redact;
pub mod remote;
mod settings;
mod signing;
mod snapshot;
mod stack;
mod tree;
mod writer;

pub use commit::{Identity, Signature};
pub use counts::{GitCounts, PushStats};
pub use credentials::{AccessId, GitAccess};
pub use error::{GitError, WriteError};
pub use mirror::{BranchRead, BranchTexts, FileText, Messages, Mirrors, Wanted};
pub use object::ObjectId;
pub use redact::shown_url;
pub use settings::{GitSettings, Growth};
pub use signing::{Signing, SigningMethod};
pub use stack::ChangedFile;
pub use tree::FileProblem;
pub use writer::{BranchWork, BranchWritten, CommitWritten, Message, WriteOrder, Writers, Written};
