use super::*;

/// What `read` gives with one variable or flag set, and what is told.
fn read<T>(
    flag: Option<(&str, &str)>,
    variable: Option<(&str, &str)>,
    read: impl Fn(&mut Reader<'_>) -> T,
) -> (T, Vec<String>) {
    let words = flag.map(|(name, value)| format!("--{name}={value}"));
    let words = ["run".to_owned()].into_iter().chain(words).map(Into::into);
    let line = Line::parse(words).ok().expect("a command line");
    let env = match variable {
        Some(variable) => Environment::of([variable]),
        None => Environment::of([]),
    };
    let none = BTreeMap::new();
    let mut reader = Reader::new(&line, &env, &none);
    let value = read(&mut reader);
    (value, reader.into_warnings())
}

/// Spec 22 §2, conformance table of `MAX_CONCURRENT_APPS`.
#[test]
fn numbers_out_of_range_are_the_default_with_a_warning() {
    let name = "MAX_CONCURRENT_APPS";
    #[rustfmt::skip]
    let rows = [
        ("", 10, ""),
        ("0", 10, "Value in MAX_CONCURRENT_APPS is 0, which is less than minimum 1 allowed"),
        ("-1", 10, "Value in MAX_CONCURRENT_APPS is -1, which is less than minimum 1 allowed"),
        ("101", 10, "Value in MAX_CONCURRENT_APPS is 101, which is greater than maximum 100 allowed"),
        ("999999", 10, "Value in MAX_CONCURRENT_APPS is 999999, which is greater than maximum 100 allowed"),
        ("abc", 10, "Could not parse 'abc' as a number from environment MAX_CONCURRENT_APPS"),
        ("5.5", 10, "Could not parse '5.5' as a number from environment MAX_CONCURRENT_APPS"),
        ("1", 1, ""),
        ("50", 50, ""),
        ("100", 100, ""),
    ];
    for (text, expected, told) in rows {
        let number = |r: &mut Reader<'_>| r.number("max-concurrent-apps").unwrap();
        let (value, warnings) = read(None, Some((name, text)), number);
        assert_eq!((value, warnings.join("\n").as_str()), (expected, told), "{text}");
    }
    let (value, told) = read(None, None, |r| r.number("max-concurrent-apps").unwrap());
    assert_eq!((value, told.len()), (10, 0));
    // A flag may be above what variables may, as in the reference; it is told.
    let (value, told) = read(Some(("max-concurrent-apps", "200")), None, |r| {
        r.number("max-concurrent-apps").unwrap()
    });
    assert_eq!((value, told.len()), (200, 1));
}

/// Spec 22 §2, "other kinds"; and §14: what is no boolean is told.
#[test]
fn switches_know_two_words_in_any_case_and_else_the_default() {
    let told = "Value in X is neither true nor false; it counts as not set, which means ";
    #[rustfmt::skip]
    let rows = [
        ("true", Some(true)), ("TRUE", Some(true)), ("False", Some(false)), ("false", Some(false)),
        ("1", None), ("yes", None), ("0", None), ("", None),
    ];
    for (text, known) in rows {
        for (name, variable, default) in [
            ("git-commit-sign-off", "GIT_COMMIT_SIGN_OFF", false),
            ("webhook-require-secret", "WEBHOOK_REQUIRE_SECRET", true),
        ] {
            let (value, warnings) = read(None, Some((variable, text)), |r| r.switch(name).unwrap());
            assert_eq!(value, known.unwrap_or(default), "{variable}={text}");
            let expected = format!("{}{default}", told.replace('X', variable));
            let is_told = known.is_none() && !text.is_empty();
            assert_eq!(warnings, if is_told { vec![expected] } else { vec![] }, "{text}");
        }
    }
}

/// Spec 22 §2, durations.
#[test]
fn durations_that_are_none_are_the_default_with_a_warning() {
    #[rustfmt::skip]
    let rows = [
        ("1m", "1m0s", ""), ("0", "0s", ""), ("", "2m0s", ""),
        ("bad format", "2m0s", "Invalid duration format 'bad format' for environment variable 'IMAGE_UPDATER_INTERVAL'. Using default value: 2m0s"),
        ("5", "2m0s", "Invalid duration format '5' for environment variable 'IMAGE_UPDATER_INTERVAL'. Using default value: 2m0s"),
    ];
    for (text, expected, told) in rows {
        let (value, warnings) = read(None, Some(("IMAGE_UPDATER_INTERVAL", text)), |r| {
            r.duration("interval").unwrap().to_string()
        });
        assert_eq!((value.as_str(), warnings.join("\n").as_str()), (expected, told), "{text}");
    }
}

/// Spec 22 §14, first row.
#[test]
fn the_switch_for_events_is_told_to_say_the_opposite() {
    let switch = |r: &mut Reader<'_>| r.switch("disable-kube-events").unwrap();
    #[rustfmt::skip]
    let rows = [
        ("IMAGE_UPDATER_KUBE_EVENTS", "true", true, 1),
        ("IMAGE_UPDATER_KUBE_EVENTS", "false", false, 0),
        ("IMAGE_UPDATER_DISABLE_KUBE_EVENTS", "true", true, 0),
    ];
    for (name, text, disabled, told) in rows {
        let (value, warnings) = read(None, Some((name, text)), switch);
        assert_eq!((value, warnings.len()), (disabled, told), "{name}={text}");
    }
    let (value, warnings) = read(Some(("disable-kube-events", "true")), None, switch);
    assert_eq!((value, warnings.len()), (true, 0));
}

#[test]
fn lists_are_read_from_several_flags_and_by_commas() {
    let list = |r: &mut Reader<'_>| r.list("allow-image-credential-sources").unwrap();
    let (value, _) = read(Some(("allow-image-credential-sources", "env, ext,")), None, list);
    assert_eq!(value, ["env", "ext"]);
    let name = "IMAGE_UPDATER_ALLOW_IMAGE_CREDENTIAL_SOURCES";
    assert_eq!(read(None, Some((name, "aws")), list).0, ["aws"]);
    assert_eq!(read(None, None, list).0, Vec::<String>::new());
}
