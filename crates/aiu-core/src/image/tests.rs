use super::*;

/// `registry|path|alias|constraint|digest` of a configured image, or why it is refused.
fn parts(text: &str) -> String {
    match text.parse::<ConfiguredImage>() {
        Err(error) => format!("refused: {error}"),
        Ok(image) => [
            image.repository.registry().map(Registry::as_str).unwrap_or_default(),
            image.repository.path(),
            image.alias.as_ref().map(Alias::as_str).unwrap_or_default(),
            image.constraint.as_deref().unwrap_or_default(),
            image.digest.as_ref().map(Digest::as_str).unwrap_or_default(),
        ]
        .join("|"),
    }
}

/// Spec 10 §1.5. Where a fault is named, the row says what is right, not what upstream does.
#[test]
fn configured_images_are_read() {
    const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    #[rustfmt::skip]
    let rows = [
        ("IMG-001", "jannfis/test-image:0.1",              "|jannfis/test-image||0.1|"),
        ("IMG-003", "library/test-image",                  "|library/test-image|||"),
        ("IMG-004", "harbor.example.com/library/test-image:0.1", "harbor.example.com|library/test-image||0.1|"),
        ("IMG-008", "gcr.io/jannfis/test-image@sha256:abcde", "gcr.io|jannfis/test-image|||sha256:abcde"),
        ("IMG-009", "gcr.io/jannfis/test-image:test-tag@sha256:abcde", "gcr.io|jannfis/test-image||test-tag|sha256:abcde"),
        ("IMG-012", "jannfis/orig-image=gcr.io/jannfis/test-image:0.1", "gcr.io|jannfis/test-image|jannfis/orig-image|0.1|"),
        ("IMG-013", "ghcr.io:4567/jannfis/orig-image=gcr.io:1234/jannfis/test-image:0.1", "gcr.io:1234|jannfis/test-image|ghcr.io:4567/jannfis/orig-image|0.1|"),
        ("IMG-015", "classic-web=registry:5000/classic-web", "registry:5000|classic-web|classic-web||"),
        ("IMG-016", "invalid==foo",                        "|=foo|invalid||"),
        ("IMG-021", "a=nginx:1.2 - 1.4",                   "|nginx|a|1.2 - 1.4|"),
        ("IMG-022", "a=nginx:~1.2 || ~1.4",                "|nginx|a|~1.2 || ~1.4|"),
        ("F1",      "nginx:>=1.0",                         "|nginx||>=1.0|"),
        ("F1",      "a=nginx:>=1.0, <2.0",                 "|nginx|a|>=1.0, <2.0|"),
        ("IMG-025", "docker.io/library/nginx:1.25",        "docker.io|nginx||1.25|"),
        ("F2",      "docker.io/library/nginx:~1.25",       "docker.io|nginx||~1.25|"),
        ("F2",      "index.docker.io/library/nginx:~1.25", "|nginx||~1.25|"),
        ("IMG-029", "registry-1.docker.io/library/nginx:1", "registry-1.docker.io|library/nginx||1|"),
        ("F3",      "localhost/foo:~1",                    "localhost|foo||~1|"),
        ("F3",      "localhost:5000/foo:~1",               "localhost:5000|foo||~1|"),
        ("F3",      "registry:5000/foo@sha256:abc",        "registry:5000|foo|||sha256:abc"),
        ("IMG-037", "Foo/bar:1",                           "Foo|bar||1|"),
        ("IMG-038", "Foo/Bar:1",                           "|Foo/Bar||1|"),
        ("IMG-041", "gcr.io/Foo/bar:1",                    "gcr.io|Foo/bar||1|"),
        ("IMG-042", "foo.bar:1",                           "|foo.bar||1|"),
        ("IMG-043", "foo:5000",                            "|foo||5000|"),
        ("IMG-044", "=foo/bar:1",                          "|foo/bar||1|"),
        ("IMG-045", "a=b=c:1",                             "|b=c|a|1|"),
        ("IMG-046", HEX,                                   "|0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef|||"),
        ("IMG-049", "foo/bar:",                            "|foo/bar|||"),
        ("IMG-050", "[::1]:5000/foo:1",                    "[::1]:5000|foo||1|"),
        ("IMG-052", "https://gcr.io/foo/bar:1",            "refused: 'https://gcr.io/foo/bar:1' is a URL; write the image without the scheme"),
        ("IMG-052", "docker://nginx",                      "refused: 'docker://nginx' is a URL; write the image without the scheme"),
        ("IMG-053", "",                                    "refused: the image name is empty"),
        ("F4",      "docker.io/library/a/b:1",             "docker.io|library/a/b||1|"),
        ("IMG-055", "foo//bar:1",                          "|foo//bar||1|"),
        ("a port that is none", "registry:abc/foo:1",      "|registry||abc/foo:1|"),
        ("only a path can hold _", "host_name.x/foo:1",    "|host_name.x/foo||1|"),
        ("a range was cut", "<2",                          "refused: '<2' is no image but the rest of a range: a comma ends an image, so part the bounds of a range by a blank, as in '>=1.0 <2'"),
        ("a comma is missing", "a=nginx\nb=redis",         "refused: 'a=nginx\nb=redis' spans two lines: a comma is missing between two images"),
    ];
    for (id, text, expected) in rows {
        assert_eq!(parts(text), expected, "{id}: {text}");
    }
}

#[test]
fn names_that_no_registry_can_hold_are_kept_and_told() {
    let rows = [
        ("nginx", None),
        ("registry.example.com:5000/a/b-c__d.e", None),
        ("Foo/Bar", Some("'Foo' in 'Foo/Bar' is not a valid part")),
        ("foo//bar", Some("'' in 'foo//bar' is not a valid part")),
        ("foo/../bar", Some("'..' in 'foo/../bar' is not a valid part")),
        ("foo/b___ar", Some("'b___ar' in 'foo/b___ar' is not a valid part")),
        ("foo/bar-", Some("'bar-' in 'foo/bar-' is not a valid part")),
        ("-x.io/foo", Some("'-x.io' in '-x.io/foo' is not a host")),
    ];
    for (text, expected) in rows {
        let repository: Repository = text.parse().unwrap();
        let told = repository.irregularity().map(|irregularity| irregularity.to_string());
        match expected {
            None => assert_eq!(told, None, "{text}"),
            Some(start) => assert!(told.is_some_and(|told| told.starts_with(start)), "{text}"),
        }
        assert_eq!(repository.to_string(), text, "printed as written");
    }
}

/// What runs must not be lost, however odd it looks.
#[test]
fn live_references_are_printed_as_written() {
    for text in [
        "nginx",
        "docker.io/nginx:1.25",
        "gcr.io/Foo/bar:1",
        "foo/Bar@sha256:abc",
        "foo/bar:1@sha512:abcdef",
        "registry:5000/foo@blake3:00ff",
    ] {
        assert_eq!(text.parse::<ImageReference>().unwrap().to_string(), text);
    }
    let cut: ImageReference = "foo/bar:@".parse().unwrap();
    assert_eq!((cut.to_string().as_str(), cut.tag), ("foo/bar", None));
}

#[test]
fn references_without_name_or_with_an_impossible_tag_are_refused() {
    let rows = [
        ("", "the image name is empty"),
        ("@sha256:abc", "the image name is empty"),
        ("docker.io/", "the image name is empty"),
        ("https://a.b/c:1", "'https://a.b/c:1' is a URL; write the image without the scheme"),
        ("foo:1+b", "in 'foo:1+b': a tag cannot contain '+' at position 1"),
        ("foo:1:2", "in 'foo:1:2': a tag cannot contain ':' at position 1"),
    ];
    for (text, expected) in rows {
        let refused = text.parse::<ImageReference>().unwrap_err();
        assert_eq!(refused.to_string(), expected, "{text}");
    }
}

#[test]
fn tag_values_are_read_and_written() {
    #[rustfmt::skip]
    let rows = [
        // value, as a tag value, behind a name, in messages
        ("1.2",               "1.2",               ":1.2",              "1.2"),
        ("1.2@sha256:abc",    "1.2@sha256:abc",    ":1.2@sha256:abc",   "sha256:abc"),
        ("@sha256:abc",       "latest@sha256:abc", "@sha256:abc",       "sha256:abc"),
        ("sha256:abc",        "latest@sha256:abc", "@sha256:abc",       "sha256:abc"),
        ("1.2@",              "1.2",               ":1.2",              "1.2"),
    ];
    for (text, value, appended, short) in rows {
        let tag: TagRef = text.parse().unwrap();
        assert_eq!((tag.as_tag_value().as_str(), tag.to_string().as_str()), (value, appended));
        assert_eq!(tag.short(), short, "{text}");
    }
    for refused in ["", "@", "a b", "md5:abc"] {
        assert!(refused.parse::<TagRef>().is_err(), "{refused}");
    }
}

/// Spec 10 F5 and F25: what "no registry" means is told, not assumed.
#[test]
fn no_registry_means_the_default_one() {
    let hub = Registry::docker_hub();
    let own = Registry::trusted("registry.example.com");
    #[rustfmt::skip]
    let rows = [
        ("nginx",       "docker.io/library/nginx",    &hub, true),
        ("nginx",       "index.docker.io/nginx",      &hub, true),
        ("nginx",       "registry.example.com/nginx", &hub, false),
        ("nginx",       "registry.example.com/nginx", &own, true),
        ("nginx",       "docker.io/nginx",            &own, false),
        ("library/nginx", "nginx",                    &hub, false),
        ("gcr.io/x",    "GCR.IO/x",                   &hub, false),
    ];
    for (left, right, default, same) in rows {
        let (l, r): (Repository, Repository) = (left.parse().unwrap(), right.parse().unwrap());
        assert_eq!(l.same_as(&r, default), same, "{left} and {right}, default {default}");
        assert_eq!(r.same_as(&l, default), same, "{right} and {left}, default {default}");
    }
}

/// Spec 10 F18.
#[test]
fn an_alias_with_a_slash_has_two_spellings_in_keys() {
    let spellings = |text| {
        let alias = Alias::new(text).unwrap();
        alias.key_spellings().map(|spelling| spelling.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(spellings("web"), ["web"]);
    assert_eq!(spellings("org/web/a"), ["org/web/a", "org_web_a"]);
}

/// Spec 10 F20: a port is part of the repository.
#[test]
fn kustomize_entries_are_told_apart_by_repository() {
    let rows = [
        ("registry:5000/a:1", "registry:5000/b:1", false),
        ("registry:5000/a:1", "registry:5000/a", true),
        ("a@sha256:00", "a:1", true),
    ];
    for (entry, query, same) in rows {
        assert_eq!(KustomizeImage::is_same_entry(entry, query), same, "{entry} and {query}");
    }
}

/// What a listing may hold and a registry should not: it ends at the border.
#[test]
fn tags_that_no_registry_can_hold_are_refused() {
    let long = "a".repeat(129);
    for text in ["", "a\0b", "\u{202e}1.0", "1.0\u{200f}", " 1.0", "1.0\n", ".1", "-1", "ü", &long]
    {
        assert!(text.parse::<Tag>().is_err(), "{text:?}");
    }
    assert!("a".repeat(128).parse::<Tag>().is_ok());
}
