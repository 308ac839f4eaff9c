//! A line at the foot of the terminal, below the log.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

/// A line that tells how far a long command has come, redrawn in place below the log. Only on
/// a terminal: elsewhere nothing could take it back.
pub struct Progress(());

/// What stands at the foot of the terminal now.
static FOOT: Mutex<Option<String>> = Mutex::new(None);

/// Back to the start of the line, and nothing on it.
pub(super) const ERASE: &str = "\r\x1b[K";

impl Progress {
    /// A line to be drawn on, if standard error is a terminal.
    pub fn on_terminal() -> Option<Self> {
        std::io::stderr().is_terminal().then_some(Self(()))
    }

    /// Shows this text instead of the last one.
    pub fn show(&self, text: String) {
        let mut foot = foot();
        // Nobody is left to tell if standard error is gone.
        let _ = write!(std::io::stderr().lock(), "{ERASE}{text}");
        *foot = Some(text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if foot().take().is_some() {
            let _ = write!(std::io::stderr().lock(), "{ERASE}");
        }
    }
}

/// A panic while it is drawn leaves it as it is.
pub(super) fn foot() -> std::sync::MutexGuard<'static, Option<String>> {
    FOOT.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
