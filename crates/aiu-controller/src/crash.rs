//! Places where a test may end the process as if by `kill -9`, or let a pass panic.
//!
//! The kill tests name one of them in `AIU_CRASH_AT`, others a resource in `AIU_PANIC_IN`;
//! release builds hold none of this.

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

/// Panics, if a test asked for it in the pass of this resource (`NAMESPACE/NAME`).
#[cfg(debug_assertions)]
pub fn panic_in(resource: &aiu_core::batch::AppName) {
    let planted = std::env::var("AIU_PANIC_IN").is_ok_and(|name| name == resource.to_string());
    assert!(!planted, "planted in the pass of {resource}");
}

/// Nothing: release builds do not panic on request.
#[cfg(not(debug_assertions))]
pub fn panic_in(_resource: &aiu_core::batch::AppName) {}
