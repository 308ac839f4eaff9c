//! Places where a test may end the process as if by `kill -9`.
//!
//! The kill tests name one of them in `AIU_CRASH_AT`; release builds hold none of this.

/// Ends the process at once, without unwinding or flushing, if a test asked for it here.
#[cfg(debug_assertions)]
pub fn point(name: &str) {
    if std::env::var_os("AIU_CRASH_AT").is_some_and(|at| at == name) {
        std::process::abort();
    }
}

/// Nothing: release builds do not crash on request.
#[cfg(not(debug_assertions))]
pub fn point(_name: &str) {}
