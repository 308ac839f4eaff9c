use super::{RemoteUrl, is_https, normalise, ssh_user};

#[test]
fn ssh_and_https_are_told_apart_as_in_spec_30_3_5() {
    #[rustfmt::skip]
    let rows = [
        // address, SSH user, https?
        ("git@GITHUB.com:o/r.git",       Some("git"),          false),
        ("ssh://git@h:o/r",              Some("git"),          false),
        ("john@doe.org@h:29418/p",       Some("john@doe.org"), false),
        ("git://h/o/r.git",              None,                 false),
        ("https://h/o/r",                None,                 true),
        ("https://u:p@h/o/r",            None,                 true),
        ("http://h/o/r",                 None,                 false),
        ("ftp://h/r",                    None,                 false),
        ("",                             None,                 false),
        ("ssh://git@h/o/r",              Some("git"),          false),
    ];
    for (address, user, https) in rows {
        assert_eq!(ssh_user(address), user, "given {address}");
        assert_eq!(is_https(address), https, "given {address}");
    }
}

#[test]
fn secrets_and_applications_meet_by_the_normalised_url() {
    let rows = [
        ("git@GITHUB.COM:o/r.git", Some("git@github.com/o/r")),
        ("ssh://git@github.com/o/r", Some("git@github.com/o/r")),
        ("  git@github.com:o/r  ", Some("git@github.com/o/r")),
        ("https://GITHUB.COM/O/r.git", Some("https://github.com/o/r")),
        ("https://h:4443/o/r.git", Some("https://h:4443/o/r")),
        ("https://dev.azure.com/o/p/_git/r", Some("https://dev.azure.com/o/p/_git/r")),
        ("ssh://bitbucket.org:org/repo", None),
    ];
    for (address, expected) in rows {
        assert_eq!(normalise(address).as_deref(), expected, "given {address}");
    }
}

#[test]
fn spellings_of_one_remote_share_a_mirror_and_others_do_not() {
    #[rustfmt::skip]
    let rows = [
        ("git@GITHUB.COM:o/r.git",          "git@github.com/o/r"),
        ("ssh://git@github.com/o/r/",       "git@github.com/o/r"),
        ("ssh://git@h:29418/o/r",           "git@h:29418/o/r"),
        ("https://GITHUB.COM/O/r.git",      "https://github.com/O/r"),
        ("HTTPS://github.com:443/o/r",      "https://github.com/o/r"),
        ("https://h:4443/o/r.git",          "https://h:4443/o/r"),
        ("https://u:p@h/o/r",               "https://u@h/o/r"),
        ("https://h/o/r.git/",              "https://h/o/r"),
        ("/srv/Git/r.git",                  "/srv/Git/r"),
        ("file:///srv/Git/r.git/",          "/srv/Git/r"),
    ];
    for (address, expected) in rows {
        let remote = RemoteUrl::parse(address, true).expect(address);
        assert_eq!(remote.id().as_str(), expected, "given {address}");
    }
}

#[test]
fn what_git_would_run_or_misread_is_refused() {
    #[rustfmt::skip]
    let rows = [
        ("",                                 "it is empty"),
        ("--upload-pack=touch x",            "it would be read as an option"),
        ("-oProxyCommand=x:y",               "it would be read as an option"),
        ("git@-oProxyCommand=x:y",           "it would be read as an option"),
        ("ssh://-oProxyCommand=x/y",         "it would be read as an option"),
        ("ext::sh -c x",                     "it contains a blank or a control character"),
        ("ext::sh",                          "remote helpers (`ext::`) are not allowed; use https or ssh"),
        ("fd::17",                           "remote helpers (`fd::`) are not allowed; use https or ssh"),
        ("https::https://h/r",               "remote helpers (`https::`) are not allowed; use https or ssh"),
        ("ftp://h/r",                        "the scheme 'ftp' is not supported; use https or ssh"),
        ("file:///srv/r",                    "paths of the local disk are not allowed here"),
        ("/srv/r",                           "paths of the local disk are not allowed here"),
        ("../r",                             "it is no URL; a path must be absolute"),
        ("github.com/o/r",                   "it is no URL; a path must be absolute"),
        ("ssh://bitbucket.org:org/repo",     "it cannot be parsed (invalid port number)"),
        ("https:///o/r\nx",                  "it contains a blank or a control character"),
    ];
    for (address, expected) in rows {
        let error = RemoteUrl::parse(address, false).expect_err(address);
        assert_eq!(error.to_string(), expected, "given {address}");
    }
}

#[test]
fn a_password_leaves_the_url_and_is_decoded() {
    let remote = RemoteUrl::parse("https://bob:p%40ss%2fword@h:8443/o/r.git", false).unwrap();
    assert_eq!(remote.url(), "https://h:8443/o/r.git");
    assert_eq!(remote.to_string(), "https://h:8443/o/r.git");
    let (user, password) = remote.login().unwrap();
    assert_eq!((user, secrecy::ExposeSecret::expose_secret(password)), ("bob", "p@ss/word"));
    assert!(!format!("{remote:?}").contains("p@ss"));
}

#[test]
fn a_user_alone_stays_for_the_helpers_to_see_but_is_not_shown() {
    let remote = RemoteUrl::parse("https://org@dev.azure.com/org/p/_git/r", false).unwrap();
    assert_eq!(remote.url(), "https://org@dev.azure.com/org/p/_git/r");
    assert_eq!(remote.to_string(), "https://***@dev.azure.com/org/p/_git/r");
}

#[test]
fn counters_go_by_host_without_user_and_path() {
    #[rustfmt::skip]
    let rows = [
        ("https://u:p@h.test:8443/o/r.git", "h.test:8443"),
        ("https://h.test/o/r",              "h.test"),
        ("ssh://git@h.test:22/o/r",         "h.test:22"),
        ("git@h.test:o/r.git",              "h.test"),
        ("/srv/git/r.git",                  "local"),
        ("file:///srv/git/r.git",           "local"),
    ];
    for (address, host) in rows {
        assert_eq!(RemoteUrl::parse(address, true).unwrap().host(), host, "{address}");
    }
}
