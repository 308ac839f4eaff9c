use super::*;

fn repository(text: &str) -> Repository {
    text.parse().unwrap()
}

/// `prefix api_url path` of the registry that answers for an image.
fn asked(registries: &Registries, image: &str) -> String {
    let repository = repository(image);
    let endpoint = registries.endpoint_for(&repository);
    format!("{} {} {}", endpoint.prefix, endpoint.api_url, endpoint.wire_path(&repository))
}

/// A file from lines such as `name prefix key: value, key: value`.
fn file(items: &[(&str, &str, &str)]) -> String {
    let items = items.iter().map(|(name, prefix, more)| {
        let more = if more.is_empty() { String::new() } else { format!(", {more}") };
        format!("- {{ name: {name}, prefix: {prefix}, api_url: https://{name}.test{more} }}\n")
    });
    format!("registries:\n{}", items.collect::<String>())
}

#[test]
fn the_registry_of_an_image() {
    let builtin = "";
    let harbor = &file(&[("harbor", "harbor.corp", "default: true")]);
    let hub = &file(&[("mirror", "docker.io", "")]);
    let alias = &file(&[("mirror", "registry-1.docker.io", "defaultns: x")]);
    let nested = &file(&[
        ("deep", "foo.bar/a/b", ""),
        ("host", "foo.bar", "defaultns: apps"),
        ("team", "docker.io/team", ""),
    ]);
    #[rustfmt::skip]
    let rows = [
        // file, image, prefix of the registry, its API, name on the wire
        (builtin, "nginx",                  "docker.io https://registry-1.docker.io library/nginx"),
        (builtin, "docker.io/nginx",        "docker.io https://registry-1.docker.io library/nginx"),
        (builtin, "docker.io/library/nginx", "docker.io https://registry-1.docker.io library/nginx"),
        (builtin, "index.docker.io/nginx",  "docker.io https://registry-1.docker.io library/nginx"),
        (builtin, "registry-1.docker.io/org/app", "docker.io https://registry-1.docker.io org/app"),
        (builtin, "org/app",                "docker.io https://registry-1.docker.io org/app"),
        (builtin, "gcr.io/x/app",           "gcr.io https://gcr.io x/app"),
        (builtin, "r.test:5000/app",        "r.test:5000 https://r.test:5000 app"),
        (harbor,  "nginx",                  "harbor.corp https://harbor.test nginx"),
        (harbor,  "docker.io/nginx",        "docker.io https://registry-1.docker.io library/nginx"),
        (harbor,  "HARBOR.corp/a/b",        "harbor.corp https://harbor.test a/b"),
        (harbor,  "harbor.corp:443/a/b",    "harbor.corp:443 https://harbor.corp:443 a/b"),
        (hub,     "nginx",                  "docker.io https://mirror.test library/nginx"),
        (alias,   "nginx",                  "registry-1.docker.io https://mirror.test x/nginx"),
        (nested,  "foo.bar/a/b/c",          "foo.bar/a/b https://deep.test a/b/c"),
        (nested,  "foo.bar/a/bc",           "foo.bar https://host.test a/bc"),
        (nested,  "foo.bar/a",              "foo.bar https://host.test apps/a"),
        (nested,  "foo.barx/a/b/c",         "foo.barx https://foo.barx a/b/c"),
        (nested,  "team/app",               "docker.io/team https://team.test team/app"),
        (nested,  "docker.io/team/app",     "docker.io/team https://team.test team/app"),
    ];
    for (text, image, expected) in rows {
        let registries = Registries::parse(text).unwrap();
        assert_eq!(asked(&registries, image), expected, "{image} with {text}");
    }
}

/// Report B101.
#[test]
fn a_slash_at_the_end_of_an_api_url_is_none_of_it() {
    for url in ["https://reg.example", "https://reg.example/"] {
        let text = format!("registries: [{{ name: r, prefix: r.test, api_url: '{url}' }}]");
        let endpoint = Registries::parse(&text).unwrap().endpoint_for(&repository("r.test/app"));
        assert_eq!(&*endpoint.api_url, "https://reg.example");
    }
}

#[test]
fn images_without_registry_are_those_of_the_default() {
    #[rustfmt::skip]
    let rows = [
        (String::new(), "docker.io"),
        (file(&[("h", "harbor.corp", "default: true")]), "harbor.corp"),
        (file(&[("h", "harbor.corp", "")]), "docker.io"),
        (file(&[("m", "docker.io", "")]), "docker.io"),
        (file(&[("m", "index.docker.io", "default: true")]), "docker.io"),
    ];
    for (text, expected) in rows {
        let registries = Registries::parse(&text).unwrap();
        assert_eq!(registries.default_registry().as_str(), expected, "{text}");
        let defaults = registries.endpoints().iter().filter(|endpoint| endpoint.default);
        assert_eq!(defaults.count(), 1, "{text}");
    }
}

#[test]
fn settings_and_their_defaults() {
    let parse = |more| Registries::parse(&file(&[("r", "r.test", more)])).unwrap();
    let endpoint = |more| parse(more).endpoint_for(&repository("r.test/app"));

    let plain = endpoint("");
    assert_eq!((plain.limit, plain.tag_sort, plain.credentials_expire), (20, None, None));
    assert_eq!((plain.inferred, plain.default, &plain.tls), (false, false, &Tls::default()));
    let full = endpoint(
        "limit: 0, tagsortmode: Latest-First, credsexpire: 1h, insecure: yes, credentials: 'env:X'",
    );
    assert_eq!((full.limit, full.tag_sort), (0, Some(ListOrder::LatestFirst)));
    assert_eq!(full.credentials_expire, Some(Duration::from_hours(1)));
    assert_eq!((full.tls.insecure, full.credentials.as_deref()), (true, Some("env:X")));
    assert_eq!(endpoint("credsexpire: -1h").credentials_expire, None);

    let inferred = Registries::builtin().endpoint_for(&repository("r.test/app"));
    assert_eq!((inferred.limit, inferred.inferred), (20, true));
    assert_eq!(Registries::builtin().endpoint_for(&repository("app")).limit, 10);
}

#[test]
fn what_the_author_should_know() {
    #[rustfmt::skip]
    let rows = [
        ("registries: [{ name: a, api_url: 'https://u:p@a.test:5000/v2', ping: no }]",
         "the option 'ping' of registries has no effect
          registry a has no prefix and gets that of its API, 'a.test:5000'; name the prefix if another is meant"),
        ("registries: [{ name: a, api_url: https://a.test, prefix: a.test, tagsortmode: latest-last }]",
         "Registry https://a.test has tag sort mode set to latest-last, meta data retrieval will be disabled for this registry."),
        ("registries: [{ name: a, api_url: https://a.test, prefix: a.test }, { name: b, api_url: https://b.test, prefix: A.test }]",
         "the prefix 'A.test' stands twice in the registries; the later one counts"),
        ("registries: [{ name: a, api_url: https://a.test, prefix: docker.io, tagsortmode: none }]", ""),
    ];
    for (text, expected) in rows {
        let notices = Registries::parse(text).unwrap().notices().to_vec();
        let told: Vec<String> = notices.iter().map(ToString::to_string).collect();
        let expected: Vec<&str> = expected.lines().map(str::trim).collect();
        assert_eq!(told, expected, "{text}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once_and_no_secret_with_it() {
    #[rustfmt::skip]
    let rows = [
        ("registries:
- api_url: https://a.test
- name: B
  credentials: env:SECRET
- name: C
  api_url: https://c.test
  prefix: c.test
  tagsortmode: newest
  default: true
- name: D
  api_url: https://d.test
  default: true
",
         "registry name is missing for entry 1
          API URL must be specified for registry B
          unknown tag sort mode for registry C: newest (known are latest-first, latest-last, none)
          there must be only one default registry (already is B), D needs a prefix
          cannot set registry D as default - only one default registry allowed, currently set to c.test"),
        ("registries:
- name: A
  ping: \"yes\"
  limit: many
  limit: 5
  credsexpire: SECRET
  ca_data: [SECRET]
  user: SECRET
other: 1
",
         "line 3: true or false is expected
          line 4: a whole number is expected
          line 5: the key 'limit' again
          line 6: a duration such as 5h or 1h30m is expected
          line 7: a text is expected
          line 8: unknown key 'user'
          line 9: unknown key 'other'"),
        ("registries:
- {name: A, api_url: 'https://acme.azurecr.io', prefix: acme.azurecr.io, credentials: azure, dates: pushed}
- {name: B, api_url: 'https://000011112222.dkr.ecr.eu-north-1.amazonaws.com', prefix: b, credentials: 'env:SECRET', dates: pushed}
- {name: C, api_url: 'https://public.ecr.aws', prefix: public.ecr.aws, credentials: aws, dates: pushed}
- {name: D, api_url: 'https://d.test', prefix: d.test, dates: today}
- {name: E, api_url: 'https://000011112222.dkr.ecr.eu-north-1.amazonaws.com:443/', prefix: e, credentials: aws, dates: pushed}
- {name: F, api_url: 'http://127.0.0.1:5000', prefix: 000011112222.dkr.ecr.eu-north-1.amazonaws.com/team, credentials: aws, dates: pushed}
- {name: G, api_url: 'https://g.test', prefix: g.test, dates: built}
",
         "registry A cannot tell push dates: 'dates: pushed' is for private registries of ECR with 'credentials: aws'
          registry B cannot tell push dates: 'dates: pushed' is for private registries of ECR with 'credentials: aws'
          registry C cannot tell push dates: 'dates: pushed' is for private registries of ECR with 'credentials: aws'
          unknown dates for registry D: today (known are built, pushed)"),
        ("registries: SECRET", "line 1: a list of registries is expected"),
        ("registries: []\nregistries: []", "line 2: the key 'registries' again"),
        ("SECRET", "line 1: a mapping with the key 'registries' is expected"),
        ("registries: [SECRET]", "line 1: a mapping that describes a registry is expected"),
        ("? [SECRET]\n: 1", "it is no YAML: line 1: a key must be a text"),
    ];
    for (text, expected) in rows {
        let error = Registries::parse(text).unwrap_err();
        let told: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
        let expected: Vec<&str> = expected.lines().map(str::trim).collect();
        assert_eq!(told, expected, "{text}");
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }
}

#[test]
fn aliases_repeat_values_within_bounds() {
    let text = "registries:\n- &a { name: A, api_url: https://a.test, prefix: a.test }\n- *a\n";
    assert_eq!(Entry::read_all(text).unwrap().len(), 2);

    let levels = (1..9).map(|level| {
        let below = format!("*x{}, ", level - 1).repeat(10);
        format!("- &x{level} [{below}]\n")
    });
    let first = "registries:\n- &x0 [a, a, a, a, a, a, a, a, a, a]\n".to_owned();
    let bomb = first + &levels.collect::<String>();
    let error = Registries::parse(&bomb).unwrap_err();
    assert!(error.to_string().contains("too many values"), "{error}");
}
