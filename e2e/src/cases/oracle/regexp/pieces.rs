//! What random expressions are put together from. Pairs are an expression and a text that it finds
//! in most of the places where it may come to stand.

/// Errors to make: openers without their ends, what other dialects have, limits.
pub(super) const ERRORS: &[&str] = &[
    "*", "+", "?", "??", "*?", "{", "}", "{2}", "{2,}", "{,2}", "{0,3}", "{3,1}", "{1001}", "{0}",
    "{01}", "{2}{3}", "{99999999999}", "(", ")", "(?", "(?:", "(?i)", "(?s:", "(?-m)", "(?P<a>",
    "(?<a>", "(?P=a)", "(?=", "(?!", "(?#", "(?x)", "(?U)", "(?iU-s:", "(?i-)", "|", "||", ".", "^",
    "$", "[", "]", "[]", "[^", "[^]", "[:alpha:]", "[[:alpha:]]", "[[:^digit:]]", "[:foo:]", "&&",
    "--", "-", "~~", "\\", "\\\\", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\A",
    "\\z", "\\Z", "\\G", "\\C", "\\h", "\\R", "\\Q", "\\E", "\\pL", "\\PL", "\\p", "\\p{", "\\p{Lu}",
    "\\p{^Lu}", "\\pé", "\\p{Greek}", "\\x", "\\x4", "\\x41", "\\x{41}", "\\x{}", "\\x{110000}",
    "\\x{d800}", "\\0", "\\01", "\\1", "\\12", "\\123", "\\777", "\\8", "\\a", "\\e", "\\n",
    "\\u0041", "\\-", "\\é", "\\ ", "a", "Z", "_", "0", "é", "ſ", "K", "٣", "日", "😀", "\n", "\r",
    "\u{85}", "\u{2028}", "\0", "\u{7f}", "\u{10ffff}", "\u{fffd}", " ", "#", ",", ":", "<", ">",
    "=", "!",
];

/// Characters that mean themselves, or nearly: those with unusual cases and classes first of all.
pub(super) const CHARACTERS: &[&str] = &[
    "a", "b", "c", "z", "A", "K", "S", "0", "1", "9", ".", "-", "_", " ", "\n", "\t", "é", "É", "ſ",
    "K", "ß", "ẞ", "σ", "ς", "Σ", "٣", "１", "日", "😀", "ǅ", "\u{345}", "ι", "\u{1fbe}", "İ", "ı",
    "v1.2.3", "rc", "alpine", "\u{b}", "\u{85}", "\u{2028}", "\u{10400}", "\u{10428}",
];

pub(super) const FLAGS: &[&str] = &["(?i)", "(?s)", "(?m)", "(?U)", "(?im)", "(?i-s)"];

pub(super) const STARTS: &[&str] = &["^", "\\A", "\\b", "(?m:^)"];

pub(super) const ENDS: &[&str] = &["$", "\\z", "\\b", "\\B", "(?m:$)"];

/// Pieces that take no character.
pub(super) const EMPTY: &[&str] = &["\\b", "\\B", "^", "$", "(?i)", "(?-i)", "()", "(|a)"];

pub(super) const OPENERS: &[&str] =
    &["(", "(", "(?:", "(?i:", "(?s-i:", "(?m:", "(?P<n>", "(?<n1>", "(?-s:"];

pub(super) const ESCAPES: &[(&str, &str)] = &[
    ("\\.", "."), ("\\-", "-"), ("\\_", "_"), ("\\[", "["), ("\\{", "{"), ("\\x41", "A"),
    ("\\x{e9}", "é"), ("\\x{1F600}", "😀"), ("\\101", "A"), ("\\0", "\0"), ("\\n", "\n"),
    ("\\t", "\t"), ("\\v", "\u{b}"), ("\\a", "\u{7}"), ("\\x{17f}", "ſ"), ("\\x{d800}", ""),
    ("\\07", "\u{7}"), ("\\1234", "S4"), ("\\x{0000041}", "A"), ("\\/", "/"), ("\\\"", "\""),
];

pub(super) const NAMED_CLASSES: &[(&str, &str)] = &[
    ("\\d", "7"), ("\\D", "x"), ("\\w", "_"), ("\\W", "é"), ("\\s", "\t"), ("\\S", "\u{b}"),
    ("[[:alpha:]]", "k"), ("[[:^alpha:]]", "é"), ("[[:space:]]", "\u{b}"), ("[[:word:]]", "_"),
    ("[[:punct:]]", "~"), ("[[:upper:]]", "K"), ("[[:ascii:]]", "\u{7f}"), ("[[:xdigit:]-]", "-"),
    ("[^[:lower:]]", "K"), ("[\\d\\-x]", "x"), ("[^\\W]", "s"),
];

pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("L", "é"), ("Lu", "É"), ("Ll", "ſ"), ("Lt", "ǅ"), ("N", "٣"), ("Nd", "１"), ("Zs", " "),
    ("Greek", "σ"), ("Han", "日"), ("Latin", "K"), ("Cyrillic", "a"), ("Any", "a"), ("M", "a"),
    ("So", "😀"), ("Cs", ""), ("C", "\0"), ("Cn", "a"), ("Co", "\u{e000}"), ("LC", "a"),
    ("letter", "a"), ("greek", "Σ"), ("Old_Italic", "a"), ("olditalic", "a"), ("ASCII", "a"),
    ("Grek", "a"), ("White_Space", " "), ("isGreek", "a"), ("Deseret", "\u{10400}"), ("", ""),
    ("Lowercase_Letter", "a"), ("Script=Greek", "a"), ("Inherited", "a"), ("Assigned", "a"),
    ("Common", "1"), ("Zyyy", "1"), ("punct", "-"), ("cntrl", "\0"), ("digit", "1"), ("Nko", "a"),
];

pub(super) const PROPERTY_OPENERS: &[&str] =
    &["\\p{", "\\p{", "\\P{", "\\p{^", "[\\p{", "[^\\p{", "[a\\P{"];

pub(super) const MEMBERS: &[&str] = &[
    "a", "b", "z", "A", "K", "s", "0", "9", "-", "^", "&&", "[", "]", "\\]", "\\-", "\\d", "\\s",
    "é", "ſ", "日", "σ", "~", "--", "\\x41", "\\n", "\\pL", "[:alpha:]", "\\Q", ".", "*", "|",
];

pub(super) const RANGES: &[(&str, &str)] = &[
    ("a-c", "b"), ("0-9", "5"), ("A-Z", "K"), ("a-zA-Z", "q"), ("+--", ","), (" -~", "x"),
    ("é-ü", "ö"), ("\\x00-\\x7f", "k"), ("z-a", ""), ("a-\\d", ""), ("!-/", "-"),
    ("\\x{d7ff}-\\x{e000}", "\u{d7ff}"), ("日-龍", "曜"), ("A-z", "_"), ("k-s", "ſ"),
];

/// A repetition, and one of the numbers of times that it stands for.
pub(super) const REPETITIONS: &[(&str, usize)] = &[
    ("*", 0), ("*", 3), ("+", 1), ("+", 2), ("?", 0), ("?", 1), ("*?", 2), ("+?", 1), ("??", 1),
    ("{2}", 2), ("{0,2}", 2), ("{1,}", 1), ("{3,4}?", 3),
];

/// Zero and large counts, counts that are literal, and repetitions of repetitions.
pub(super) const ODD_REPETITIONS: &[(&str, usize)] = &[
    ("{0}", 0), ("{,3}", 1), ("{10}", 10), ("{2,1}", 2), ("{02}", 2), ("{1001}", 1), ("**", 1),
    ("++", 1), ("*+", 1), ("{2}{3}", 6), ("{2}*", 2), ("{", 1), ("{a}", 1),
    ("{1,2", 1), ("??*", 1), ("{0,}", 0),
];
