//! `WWW-Authenticate`: what a registry wants to see (spec 11 §2.2).

use std::collections::BTreeMap;

/// One challenge. Scheme and names of parameters are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) scheme: String,
    pub(crate) parameters: BTreeMap<String, String>,
}

/// Reads the value of one header line, which may hold several challenges. What cannot be
/// understood ends the reading; what was read before it counts.
pub(crate) fn parse(line: &str) -> Vec<Challenge> {
    let mut reader = Reader { rest: line };
    let mut challenges: Vec<Challenge> = Vec::new();
    loop {
        reader.skip(|c| c == ',' || c.is_whitespace());
        let Some(word) = reader.token() else { return challenges };
        reader.skip(char::is_whitespace);
        match challenges.last_mut() {
            Some(challenge) if reader.eat('=') => {
                reader.skip(char::is_whitespace);
                let Some(value) = reader.value() else { return challenges };
                challenge.parameters.insert(word.to_ascii_lowercase(), value);
            }
            // Without `=`, or as the first word of all, it begins a challenge.
            _ => challenges
                .push(Challenge { scheme: word.to_ascii_lowercase(), parameters: BTreeMap::new() }),
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(skipped);
    }

    fn eat(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A token of RFC 9110.
    fn token(&mut self) -> Option<&'a str> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let end = self.rest.find(|c| !is_token(c)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!token.is_empty()).then_some(token)
    }

    /// A quoted string with backslash escapes, or anything up to a comma or blank: URLs do
    /// occur without quotes.
    fn value(&mut self) -> Option<String> {
        if !self.eat('"') {
            let end = self.rest.find(|c: char| c == ',' || c.is_whitespace());
            let (value, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            return Some(value.to_owned());
        }
        let mut value = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(value);
                }
                '\\' => value.push(characters.next()?.1),
                c => value.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// `scheme{name=value, …}` of each challenge.
    fn told(line: &str) -> String {
        let challenges = parse(line).into_iter().map(|challenge| {
            let parameters: Vec<String> = challenge
                .parameters
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("{}{{{}}}", challenge.scheme, parameters.join(", "))
        });
        challenges.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn challenges_of_the_field() {
        #[rustfmt::skip]
        let rows = [
            (r#"Bearer realm="https://a/token",service="r",other=fun,slashed="he\"\l\lo""#,
             r#"bearer{other=fun, realm=https://a/token, service=r, slashed=he"llo}"#),
            (r#"Basic realm="x""#, "basic{realm=x}"),
            ("Basic", "basic{}"),
            ("Negotiate, Basic realm=x", "negotiate{} basic{realm=x}"),
            (r#"BEARER Realm = "https://a/t" , SERVICE="s", Basic realm="b, c""#,
             "bearer{realm=https://a/t, service=s} basic{realm=b, c}"),
            ("Bearer realm=https://a/token?x=1,service=s", "bearer{realm=https://a/token?x=1, service=s}"),
            (r#"Bearer realm="https://a/token",scope="repository:a/b:pull,push""#,
             "bearer{realm=https://a/token, scope=repository:a/b:pull,push}"),
            (r#"Bearer realm="open"#, "bearer{}"),
            (r#"Bearer realm="open\"#, "bearer{}"),
            ("", ""),
            ("=,=", ""),
            (", ,", ""),
        ];
        for (line, expected) in rows {
            assert_eq!(told(line), expected, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_to_its_end(line in "[ -~ü]{0,60}") {
            let _ = parse(&line);
        }
    }
}
