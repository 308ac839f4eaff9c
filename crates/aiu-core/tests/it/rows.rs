//! The rows of the specification's chapter on images and tags, by their numbers, as they stand
//! there; where a row's fault is not reproduced, with what is right (docs/design/conformance-choosing.md).

mod choosing;

use aiu_core::image::{ConfiguredImage, Tag};
use aiu_core::policy::TagFilter;
use aiu_core::version::{Version, VersionConstraint};

/// `registry|path|alias|constraint|digest`, or `refused`.
fn parts(text: &str) -> String {
    let Ok(image) = text.parse::<ConfiguredImage>() else { return "refused".to_owned() };
    let registry = image.repository.registry().map(|registry| registry.as_str().to_owned());
    let alias = image.alias.as_ref().map(|alias| alias.as_str().to_owned());
    let digest = image.digest.as_ref().map(|digest| digest.as_str().to_owned());
    let path = image.repository.path().to_owned();
    let constraint = image.constraint.as_deref().unwrap_or_default().to_owned();
    let parts = [registry.unwrap_or_default(), path, alias.unwrap_or_default(), constraint];
    format!("{}|{}", parts.join("|"), digest.unwrap_or_default())
}

/// IMG-001 to IMG-055; F1 to F4 where upstream is wrong (IMG-023, -026, -032 to -034, -036, -054).
#[test]
fn images_by_number() {
    #[rustfmt::skip]
    let rows = [
        ("IMG-001", "jannfis/test-image:0.1", "|jannfis/test-image||0.1|"),
        ("IMG-002", "test-image", "|test-image|||"),
        ("IMG-003", "library/test-image", "|library/test-image|||"),
        ("IMG-004", "harbor.example.com/library/test-image:0.1", "harbor.example.com|library/test-image||0.1|"),
        ("IMG-005", "harbor.example.com/library/nested/test-image:0.1", "harbor.example.com|library/nested/test-image||0.1|"),
        ("IMG-006", "gcr.io/jannfis/test-image:0.1", "gcr.io|jannfis/test-image||0.1|"),
        ("IMG-007", "docker.io/jannfis/test-image:0.1", "docker.io|jannfis/test-image||0.1|"),
        ("IMG-008", "gcr.io/jannfis/test-image@sha256:abcde", "gcr.io|jannfis/test-image|||sha256:abcde"),
        ("IMG-009", "gcr.io/jannfis/test-image:test-tag@sha256:abcde", "gcr.io|jannfis/test-image||test-tag|sha256:abcde"),
        ("IMG-010", "gcr.io/jannfis/test-image:latest-bookworm@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "gcr.io|jannfis/test-image||latest-bookworm|sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("IMG-011", "gcr.io/jannfis/test-image@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "gcr.io|jannfis/test-image|||sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("IMG-012", "jannfis/orig-image=gcr.io/jannfis/test-image:0.1", "gcr.io|jannfis/test-image|jannfis/orig-image|0.1|"),
        ("IMG-013", "ghcr.io:4567/jannfis/orig-image=gcr.io:1234/jannfis/test-image:0.1", "gcr.io:1234|jannfis/test-image|ghcr.io:4567/jannfis/orig-image|0.1|"),
        ("IMG-014", "jannfis/orig-image=gcr.io/jannfis/test-image", "gcr.io|jannfis/test-image|jannfis/orig-image||"),
        ("IMG-015", "classic-web=registry:5000/classic-web", "registry:5000|classic-web|classic-web||"),
        ("IMG-016", "invalid==foo", "|=foo|invalid||"),
        ("IMG-017", "nginx:1.2.x-0", "|nginx||1.2.x-0|"),
        ("IMG-018", "nginx:~1.26", "|nginx||~1.26|"),
        ("IMG-019", "nginx:*", "|nginx||*|"),
        ("IMG-020", "a=nginx:>=1.0, <2.0", "|nginx|a|>=1.0, <2.0|"),
        ("IMG-021", "a=nginx:1.2 - 1.4", "|nginx|a|1.2 - 1.4|"),
        ("IMG-022", "a=nginx:~1.2 || ~1.4", "|nginx|a|~1.2 || ~1.4|"),
        ("IMG-023", "nginx:>=1.0", "|nginx||>=1.0|"),
        ("IMG-024", "docker.io/nginx:1.25", "docker.io|nginx||1.25|"),
        ("IMG-025", "docker.io/library/nginx:1.25", "docker.io|nginx||1.25|"),
        ("IMG-026", "docker.io/library/nginx:~1.25", "docker.io|nginx||~1.25|"),
        ("IMG-027", "index.docker.io/foo/bar:1", "|foo/bar||1|"),
        ("IMG-028", "index.docker.io/library/nginx", "|nginx|||"),
        ("IMG-029", "registry-1.docker.io/library/nginx:1", "registry-1.docker.io|library/nginx||1|"),
        ("IMG-030", "localhost/foo:1", "localhost|foo||1|"),
        ("IMG-031", "localhost:5000/foo:1", "localhost:5000|foo||1|"),
        ("IMG-032", "localhost/foo:~1", "localhost|foo||~1|"),
        ("IMG-033", "localhost:5000/foo:~1", "localhost:5000|foo||~1|"),
        ("IMG-034", "registry:5000/foo:^1", "registry:5000|foo||^1|"),
        ("IMG-035", "registry.example.com:5000/foo:^1", "registry.example.com:5000|foo||^1|"),
        ("IMG-036", "registry:5000/foo@sha256:abc", "registry:5000|foo|||sha256:abc"),
        ("IMG-037", "Foo/bar:1", "Foo|bar||1|"),
        ("IMG-038", "Foo/Bar:1", "|Foo/Bar||1|"),
        ("IMG-039", "foo/Bar:1", "|foo/Bar||1|"),
        ("IMG-040", "GCR.IO/foo/bar:1", "GCR.IO|foo/bar||1|"),
        ("IMG-041", "gcr.io/Foo/bar:1", "gcr.io|Foo/bar||1|"),
        ("IMG-042", "foo.bar:1", "|foo.bar||1|"),
        ("IMG-043", "foo:5000", "|foo||5000|"),
        ("IMG-044", "=foo/bar:1", "|foo/bar||1|"),
        ("IMG-045", "a=b=c:1", "|b=c|a|1|"),
        ("IMG-046", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "|0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef|||"),
        ("IMG-047", "foo/bar@sha512:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "|foo/bar|||sha512:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("IMG-048", "foo/bar:v1+build", "|foo/bar||v1+build|"),
        ("IMG-049", "foo/bar:", "|foo/bar|||"),
        ("IMG-050", "[::1]:5000/foo:1", "[::1]:5000|foo||1|"),
        ("IMG-051", "10.0.0.1/foo:1", "10.0.0.1|foo||1|"),
        ("IMG-052", "https://gcr.io/foo/bar:1", "refused"),
        ("IMG-053", "", "refused"),
        ("IMG-054", "docker.io/library/a/b:1", "docker.io|library/a/b||1|"),
        ("IMG-055", "foo//bar:1", "|foo//bar||1|"),
    ];
    assert_eq!(rows.len(), 55);
    for (id, text, expected) in rows {
        assert_eq!(parts(text), expected, "{id}: {text}");
    }
}

/// VER-001 to VER-020; an empty answer is no version.
#[test]
fn versions_by_number() {
    #[rustfmt::skip]
    let rows = [
        ("VER-001", "1", "1.0.0"),
        ("VER-001", "v1", "1.0.0"),
        ("VER-002", "1.2", "1.2.0"),
        ("VER-002", "v1.2", "1.2.0"),
        ("VER-003", "V1", ""),
        ("VER-004", "1.2.3.4", ""),
        ("VER-005", "1.2.3-", ""),
        ("VER-005", "1.2.", ""),
        ("VER-005", " 1.2", ""),
        ("VER-005", "-1.2", ""),
        ("VER-006", "1.2.3-rc.1", "1.2.3-rc.1"),
        ("VER-007", "1.2.3-01", ""),
        ("VER-007", "1.2.3-1.02", ""),
        ("VER-008", "1.2.3-0", "1.2.3-0"),
        ("VER-009", "1.2.3+b", "1.2.3+b"),
        ("VER-010", "1.2.3_b", ""),
        ("VER-010", "1.2.3-a_b", ""),
        ("VER-010", "1.2.3-a..b", ""),
        ("VER-011", "01.02.03", "1.2.3"),
        ("VER-012", "2024.01.15", "2024.1.15"),
        ("VER-013", "20240115", "20240115.0.0"),
        ("VER-013", "1234567", "1234567.0.0"),
        ("VER-014", "2024-01-15", "2024.0.0-01-15"),
        ("VER-015", "1-alpine", "1.0.0-alpine"),
        ("VER-016", "1.2.3-alpine3.18", "1.2.3-alpine3.18"),
        ("VER-017", "v2.3.0-rc.0.18.g1abb7b5dd-ppc64le", "2.3.0-rc.0.18.g1abb7b5dd-ppc64le"),
        ("VER-018", "latest", ""),
        ("VER-018", "v", ""),
        ("VER-018", "1.x", ""),
        ("VER-018", "abcdef1", ""),
        ("VER-018", "12345e7", ""),
        ("VER-018", "release-1.2", ""),
        ("VER-018", "", ""),
        ("VER-019", "18446744073709551615", "18446744073709551615.0.0"),
        ("VER-020", "18446744073709551616", ""),
    ];
    for (id, text, expected) in rows {
        let told = Version::parse(text).map(|version| version.to_string()).unwrap_or_default();
        assert_eq!(told, expected, "{id}: {text}");
    }
}

/// CON-001 to CON-046: constraints, what they accept, what they reject.
#[test]
fn constraints_by_number() {
    #[rustfmt::skip]
    let rows: [(&str, &[&str], &str, &str); 47] = [
        ("CON-001", &["*"], "0.0.3 1.0.0 12.0.0", "2.0.0-rc1"),
        ("CON-002", &["1", "v1", "1.x", "1.*", "~1", "^1"], "1.0.0 1.9.9", "0.3.0 2.0.0 1.2.3-rc1"),
        ("CON-003", &["1.2", "1.2.x", "=1.2", "~1.2", "~v1.2", "~>1.2"], "1.2.0 1.2.9", "1.3.0 1.2.4-rc1"),
        ("CON-004", &["1.2.3", "=1.2.3", "= 1.2.3"], "1.2.3", "1.2.9"),
        ("CON-005", &["1.2.3+a"], "1.2.3 1.2.3+b", ""),
        ("CON-006", &["!=1.2", "!=1.2.x"], "1.1.2 1.3.0 2.0.0", "1.2.0 1.2.9"),
        ("CON-007", &["!=1.x"], "0.3.0 2.0.0", "1.0.0"),
        ("CON-008", &[">1"], "2.0.0", "1.9.9"),
        ("CON-009", &["> 1.2", ">1.2.x"], "1.3.0", "1.2.9"),
        ("CON-010", &[">11"], "12.0.0", "11.1.0"),
        ("CON-011", &[">=1.2", "=>1.2"], "1.2.0 2.0.0", "1.1.2 2.0.0-rc1"),
        ("CON-012", &["<=1", "<=1.x"], "1.9.9", "2.0.0"),
        ("CON-013", &["<=1.2", "=<1.2"], "1.2.9", "1.3.0"),
        ("CON-014", &["<=1.2.3"], "1.2.3", "1.2.9"),
        ("CON-015", &["<1.2.x"], "1.1.9", "1.2.0"),
        ("CON-016", &["~1.2.3"], "1.2.3 1.2.9", "1.2.0 1.3.0"),
        ("CON-017", &["^1.2"], "1.2.0 1.9.9", "1.1.2 2.0.0"),
        ("CON-018", &["^0"], "0.0.3 0.3.0", "1.0.0"),
        ("CON-019", &["^0.2", "^0.2.3"], "0.2.3 0.2.9", "0.3.0"),
        ("CON-020", &["^0.0"], "0.0.3", "0.1.0"),
        ("CON-021", &["^0.0.3"], "0.0.3", "0.0.4"),
        ("CON-022", &["^*"], "0.0.0", "0.0.1 1.0.0"),
        ("CON-023", &["~0.0.0"], "0.0.3 12.0.0", ""),
        ("CON-024", &["~0.0"], "0.0.0 0.0.9", "0.1.0"),
        ("CON-025", &["1.2 - 1.3"], "1.2.0 1.3.0 ", "1.9.9"),
        ("CON-026", &["1.2.3 - 2"], "1.2.3 2.5.0", "3.0.0"),
        ("CON-027", &["1 - 2 || 4 - 5"], "1.5.0 4.5.0", "3.0.0"),
        ("CON-028", &["1.2-1.3"], "1.2.0 1.2.9 1.2.3-rc1", "1.3.0"),
        ("CON-029", &[">=1.2 <2", ">=1.2, <2", ">=1.2,<2", ">=1.2 , <2"], "1.2.0 1.9.9", "2.0.0"),
        ("CON-030", &["^1,!=1.3.0", "^1 !=1.3.0"], "1.2.9 1.9.9", "1.3.0"),
        ("CON-031", &["~1.2||~2.0"], "1.2.9 2.0.0", "2.1.0"),
        ("CON-032", &["2.x-0"], "2.0.0-rc1 2.0.0 2.1.0", "3.0.0-alpha"),
        ("CON-033", &["*-0"], "0.0.1 1.0.0-rc1 3.0.0-alpha 12.0.0", ""),
        ("CON-034", &[">=1.2.3-0 <2"], "1.2.3-rc1 1.9.9 2.0.0-rc1", "2.0.0"),
        ("CON-035", &[">=1.2 <2.0.0-0"], "1.2.3-rc1 1.9.9", "2.0.0-rc1"),
        ("CON-036", &["^1.2.0 || 2.0.0-rc1"], "1.3.0 2.0.0-rc1", "1.3.0-rc1 2.0.0"),
        ("CON-037", &["~1.2.3-beta.2"], "1.2.3-beta.4 1.2.4-beta.2 1.2.3", "1.2.3-beta.1 1.3.0"),
        ("CON-038", &["1.2-alpine", "1.2.x-alpine"], "1.2.5-alpine 1.2.5-debian 1.2.5", "1.2.0-aaa 1.3.0-alpine"),
        ("CON-039", &["1.2.3-alpine"], "1.2.3-alpine", "1.2.3"),
        ("CON-040", &["v1.x"], "1.0 v1.9.9", "2.0"),
        ("CON-041", &["1.x"], "v1.0", ""),
        ("CON-042", &["1.x.3"], "1.9.9", "2.0.0"),
        ("CON-042", &["x.2.3"], "7.0.0", ""),
        ("CON-042", &["01.2"], "1.2.9", "1.3.0"),
        ("CON-043", &["2024.x"], "2024.01.15", "2025.01.01 20240101"),
        ("CON-046", &["1234567"], "1234567.0.0", ""),
        ("CON-033", &["*-0"], "0.0.0 2.0.0-rc1", ""),
    ];
    for (id, constraints, accepted, rejected) in rows {
        for text in constraints {
            let constraint: VersionConstraint =
                text.parse().unwrap_or_else(|e| panic!("{id}: {e}"));
            let admits = |version: &str| constraint.admits(&Version::parse(version).unwrap());
            for version in accepted.split_whitespace() {
                assert!(admits(version), "{id}: {text} accepts {version}");
            }
            for version in rejected.split_whitespace() {
                assert!(!admits(version), "{id}: {text} rejects {version}");
            }
        }
    }
}

/// CON-044 and CON-045: what is no constraint, and how its error begins.
#[test]
fn constraints_that_are_none_by_number() {
    #[rustfmt::skip]
    let rows: [(&str, &str, &[&str]); 2] = [
        ("CON-044", "improper constraint", &["", "latest", "stable", "main", "abc1234", "~", "^", ">=", "1.2.3.4", "==1.2", "1.2,", "1.2,,1.3", "1.2;1.3", "V1.2", "1.2.x.x", "!1.2", ">=1.0 foo", "1.2.3 || ", "1.2.3 -1.9.9"]),
        ("CON-045", "constraint parser error", &["1xx", "1|2", "~2024-01"]),
    ];
    for (id, expected, texts) in rows {
        for text in texts {
            let error = text.parse::<VersionConstraint>().expect_err(text).to_string();
            assert!(error.starts_with(expected), "{id}: {text}: {error}");
        }
    }
}

/// FLT-001 to FLT-014: what `allowTags` lets through.
#[test]
fn allowed_tags_by_number() {
    #[rustfmt::skip]
    let rows = [
        ("FLT-001", "", "any-tag", true),
        ("FLT-002", "any", "x", true),
        ("FLT-002", "ANY", "x", true),
        ("FLT-003", "regexp:b", "abc", true),
        ("FLT-003", "RegExp:b", "abc", true),
        ("FLT-004", "other", "other", false),
        ("FLT-005", "not-regexp:a-z", "a-z", false),
        ("FLT-006", "regexp:[aA-zZ", "a", false),
        ("FLT-007", "regexp:[a-z]+", "lemon", true),
        ("FLT-007", "regexp:[a-z]+", "31337", false),
        ("FLT-008", "regexp:[aA-zZ]", "MatchFuncRegexp-tag-name", true),
        ("FLT-008", "regexp:[aA-zZ]", "123", false),
        ("FLT-009", "regexp:^[0-9a-f]{7}$", "a5fb3d3", true),
        ("FLT-009", "regexp:^[0-9a-f]{7}$", "latest", false),
        ("FLT-010", "regexp:1.19", "x1a19y", true),
        ("FLT-011", "regexp:", "x", true),
        ("FLT-012", "regexp:a_b", "xa_by", true),
        ("FLT-013", "regexp:^(?!dev)", "x", false),
        ("FLT-014", r"^1\.19", "1.19", false),
    ];
    for (id, allow, tag, expected) in rows {
        let filter = TagFilter::new(Some(allow), []);
        let tag: Tag = tag.parse().unwrap();
        assert_eq!(filter.judge(&tag).is_ok(), expected, "{id}: {allow} on {tag}");
    }
}

/// FLT-020 to FLT-032: what `ignoreTags` drops.
#[test]
fn ignored_tags_by_number() {
    #[rustfmt::skip]
    let rows: [(&str, &[&str], &str, bool); 19] = [
        ("FLT-020", &["tag1", "tag2"], "tag1", true),
        ("FLT-020", &["tag1", "tag2"], "tag2", true),
        ("FLT-020", &["tag1", "tag2"], "tag3", false),
        ("FLT-021", &["tag?", "foo"], "tag1", true),
        ("FLT-021", &["tag?", "foo"], "foo", true),
        ("FLT-021", &["tag?", "foo"], "tag10", false),
        ("FLT-022", &["*"], "anything", true),
        ("FLT-023", &["v1.*"], "v1.2.3", true),
        ("FLT-023", &["v1.*"], "v1", false),
        ("FLT-024", &["*-rc*"], "1.0-rc1", true),
        ("FLT-025", &["[^a-c]*"], "beta", false),
        ("FLT-026", &["[!a-c]*"], "beta", true),
        ("FLT-026", &["[!a-c]*"], "dev", false),
        ("FLT-027", &["{a,b}"], "a", false),
        ("FLT-028", &["[", "[a", "[a-]", "[]a]"], "a", false),
        ("FLT-029", &["\\*"], "star", false),
        ("FLT-030", &["Latest"], "latest", false),
        ("FLT-031", &[" latest"], "latest", false),
        ("FLT-032", &[""], "x", false),
    ];
    for (id, patterns, tag, expected) in rows {
        let filter = TagFilter::new(None, patterns.iter().copied());
        let tag: Tag = tag.parse().unwrap();
        assert_eq!(filter.judge(&tag).is_err(), expected, "{id}: {patterns:?} on {tag}");
    }
}
