//! `PATTERN NUL TEXT`: a pattern is read or refused, and matches in bounded time; between two stars
//! it still matches what it matched.

#![no_main]

use aiu_core::glob::{Glob, specificity};
use fuzz::parts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([pattern, text]) = parts::<2>(data) else { return };
    specificity(pattern, None);
    let Ok(glob) = Glob::new(pattern) else { return };
    assert_eq!(glob.as_str(), pattern);
    // Sets match a slash that stars do not, and the first place that fits decides, as in Go.
    if glob.matches(text) && !text.contains('/') {
        let wider = Glob::new(&format!("*{pattern}*")).expect("stars may stand anywhere");
        assert!(wider.matches(text));
    }
});
