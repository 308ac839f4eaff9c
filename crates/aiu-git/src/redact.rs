//! Takes passwords out of texts that people will see (spec 30 F16).

/// What stands where a secret stood.
const HIDDEN: &str = "***";

/// A remote's URL as people may see it, without its login.
pub fn shown_url(url: &str) -> String {
    redact(url, &[])
}

/// `text` without the logins of URLs in it and without `secrets`.
///
/// Of web addresses the whole login goes, since tokens are also written as the user's name;
/// of others only the password: the user of an SSH address is no secret.
pub(crate) fn redact(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, HIDDEN);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(|c: char| c == '/' || c.is_whitespace() || "'\"<>".contains(c));
        let authority = &after[..end.unwrap_or(after.len())];
        rest = &after[authority.len()..];
        out.push_str(&without_login(authority, before.ends_with("ssh://")));
    }
    out.push_str(rest);
    out
}

/// `host` of `user:password@host`, with `***` for what is hidden.
fn without_login(authority: &str, ssh: bool) -> String {
    let Some((login, host)) = authority.rsplit_once('@') else {
        return authority.to_owned();
    };
    match login.split_once(':') {
        Some((user, _)) if ssh => format!("{user}:{HIDDEN}@{host}"),
        None if ssh => authority.to_owned(),
        _ => format!("{HIDDEN}@{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn logins_of_urls_and_known_secrets_disappear() {
        #[rustfmt::skip]
        let rows = [
            ("fatal: 'https://u:p@h/o/r' x", "fatal: 'https://***@h/o/r' x"),
            ("https://ghp_token@h/r",        "https://***@h/r"),
            ("ssh://git@h/r ssh://a:b@h/r",  "ssh://git@h/r ssh://a:***@h/r"),
            ("https://u:p@ss@h/r",           "https://***@h/r"),
            ("git@h:o/r.git",                "git@h:o/r.git"),
            ("https://h/o/r@v1",             "https://h/o/r@v1"),
            ("it said hunter2",              "it said ***"),
        ];
        for (text, expected) in rows {
            assert_eq!(redact(text, &["hunter2", ""]), expected, "given {text}");
        }
    }
}
