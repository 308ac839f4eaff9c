//! Globs and regular expressions: literal text means itself, and no pattern does harm.

use aiu_core::glob::{Glob, specificity};
use aiu_core::regexp::GoRegexp;
use proptest::prelude::*;

use super::few_cases;

/// Characters with and without meaning in patterns.
const PIECES: &str = "([ab/.-]|\\*|\\?|\\[[^]a-]?[ab]\\]|\\[\\^a\\]|[\\[\\]\\\\^{}!é]){0,12}";
const REGEXP_PIECES: &str = "([ab1.é-]|\\*|\\+|\\?|\\||\\(|\\)|\\(\\?:|\\(\\?i\\)|\\[|\\]|\\^|\\$|\\\\[dwbsQE]|\\{2\\}|\\{1,3\\}){0,16}";

/// Puts a `\` before every character that could have a meaning.
fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_ascii_punctuation() { vec!['\\', c] } else { vec![c] })
        .collect()
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn an_escaped_text_matches_itself_alone(text in "[ -~é]{0,16}", other in "[ -~é]{0,16}") {
        let glob = Glob::new(&escaped(&text)).unwrap();
        prop_assert!(glob.matches(&text));
        prop_assert_eq!(glob.matches(&other), text == other);

        let regexp = GoRegexp::new(&escaped(&text)).unwrap();
        prop_assert_eq!(regexp.is_match(&other), other.contains(&text));
    }

    #[test]
    fn a_star_stands_for_anything_but_slashes(before in "[a-c]{0,4}", middle in "[a-c/]{0,6}", after in "[a-c]{0,4}") {
        let glob = Glob::new(&format!("{before}*{after}")).unwrap();
        let text = format!("{before}{middle}{after}");
        prop_assert_eq!(glob.matches(&text), !middle.contains('/'));
    }

    #[test]
    fn any_glob_is_read_or_refused(pattern in PIECES, text in "[ab/é]{0,12}") {
        specificity(&pattern, None);
        if let Ok(glob) = Glob::new(&pattern) {
            glob.matches(&text);
            prop_assert_eq!(glob.as_str(), pattern);
        }
    }

    #[test]
    fn any_regexp_is_read_or_refused(expression in REGEXP_PIECES, text in "[ab1é]{0,12}") {
        if let Ok(regexp) = GoRegexp::new(&expression) {
            regexp.is_match(&text);
            prop_assert_eq!(regexp.as_str(), expression);
        }
    }

    /// An alternative more can only add matches, a group around all changes none.
    #[test]
    fn regexps_compose(a in REGEXP_PIECES, b in REGEXP_PIECES, text in "[ab1é]{0,12}") {
        if let (Ok(left), Ok(right)) = (GoRegexp::new(&a), GoRegexp::new(&b))
            && !a.contains("\\Q") && !a.contains("(?i)")
        {
            let either = GoRegexp::new(&format!("{a}|{b}")).unwrap();
            prop_assert_eq!(either.is_match(&text), left.is_match(&text) || right.is_match(&text));
            let grouped = GoRegexp::new(&format!("(?:{a})")).unwrap();
            prop_assert_eq!(grouped.is_match(&text), left.is_match(&text));
        }
    }

    #[test]
    fn hostile_globs_cost_no_more_than_pattern_times_text(stars in 1_usize..60, length in 1_usize..2_000) {
        let glob = Glob::new(&format!("{}b", "a*".repeat(stars))).unwrap();
        prop_assert!(!glob.matches(&"a".repeat(length)));
    }
}
