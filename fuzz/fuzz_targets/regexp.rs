//! `EXPRESSION NUL TEXT`: an expression is read or refused, and matches in bounded time; a group
//! around it changes nothing.

#![no_main]

use aiu_core::regexp::GoRegexp;
use fuzz::parts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([expression, text]) = parts::<2>(data) else { return };
    let Ok(regexp) = GoRegexp::new(expression) else { return };
    assert_eq!(regexp.as_str(), expression);
    let found = regexp.is_match(text);
    // A quotation without end would swallow the parenthesis.
    if !expression.contains("\\Q")
        && let Ok(grouped) = GoRegexp::new(&format!("(?:{expression})"))
    {
        assert_eq!(grouped.is_match(text), found);
    }
});
