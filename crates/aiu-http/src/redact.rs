//! URLs as they may be shown.

use url::Url;

/// `url` as messages may show it: without user, password, query and fragment, all of which
/// carry credentials in the field (signed storage URLs above all).
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Fails only for URLs that cannot have a user, and so have none to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Host and, where it is not the scheme's own, port.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_carries_credentials_is_shown() {
        #[rustfmt::skip]
        let rows = [
            ("https://user:pass@h.example/v2/a?sig=secret#f", "https://h.example/v2/a", "h.example"),
            ("http://h.example:5000/v2/",                     "http://h.example:5000/v2/", "h.example:5000"),
            ("https://h.example:443/",                        "https://h.example/", "h.example"),
            ("http://[::1]:5000/x",                           "http://[::1]:5000/x", "[::1]:5000"),
        ];
        for (url, expected, host) in rows {
            let url: Url = url.parse().unwrap();
            assert_eq!(shown(&url), expected);
            assert_eq!(host_of(&url), host);
        }
    }
}
