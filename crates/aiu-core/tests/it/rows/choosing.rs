//! Rows about which image runs, which tag of it is chosen, and whether that is news.

use std::collections::BTreeMap;
use std::sync::Arc;

use aiu_core::decide::{
    Current, CurrentSource, DecideOptions, ImageMeta, Inspection, Metadata, TagList, Verdict,
    decide, find_live, needs_update, reselect_live, shortlist,
};
use aiu_core::image::{
    ConfiguredImage, Digest, ImageReference, KustomizeImage, Platform, Registry, Repository, Tag,
    TagRef,
};
use aiu_core::policy::{DateSource, TagFilter, UpdatePolicy, UpdateStrategy};

fn images(text: &str) -> Vec<ImageReference> {
    text.split_whitespace().map(|image| image.parse().unwrap()).collect()
}

/// TAG-001 to TAG-005, in both directions.
#[test]
fn equal_tags_by_number() {
    let rows = [
        ("TAG-001", "v1.0.0", "v1.0.0", true),
        ("TAG-002", "v1.0.0", "v1.0.1", false),
        ("TAG-003", "v1.0.0@abcdef", "v1.0.0-variant2@abcdef", true),
        ("TAG-004", "v1.0.0@abc", "v1.0.0@def", false),
        ("TAG-005", "v1.0.0@abc", "v1.0.0", false),
    ];
    for (id, left, right, equal) in rows {
        let (left, right): (TagRef, TagRef) = (left.parse().unwrap(), right.parse().unwrap());
        assert_eq!((left.same_as(&right), right.same_as(&left)), (equal, equal), "{id}");
    }
}

/// TAG-006 to TAG-008.
#[test]
fn lists_and_labels_by_number() {
    let listed: TagList =
        ["1.0", "1.0"].map(|tag| tag.parse::<Tag>().unwrap()).into_iter().collect();
    assert_eq!(listed.len(), 1, "TAG-006");
    let mut given = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
    let image = ImageMeta { labels: given.clone(), ..ImageMeta::default() };
    given.clear();
    assert_eq!(image.labels.len(), 1, "TAG-007");
    assert!(ImageMeta::default().labels.is_empty(), "TAG-008");
}

/// MAT-001 to MAT-004, and MAT-010 to MAT-013 as one question each; F5: no registry is the
/// default one (MAT-004, MAT-013).
#[test]
fn running_images_by_number() {
    const THREE: &str = "a/a:0.1 a/b:1.2 foo.bar/a/c:0.23";
    #[rustfmt::skip]
    let rows = [
        // configured image, its kustomize name, what runs, which of it is meant
        ("MAT-001", "a/a:0.1",             "",        THREE.to_owned(),              Some(0)),
        ("MAT-001", "a/b:1.2",             "",        THREE.to_owned(),              Some(1)),
        ("MAT-001", "x/y=foo.bar/a/c:0.23", "",       THREE.to_owned(),              Some(2)),
        ("MAT-002", "foo/bar",             "",        THREE.to_owned(),              None),
        ("MAT-003", "k1/k2:k3",            "a/a",     format!("k1/k2:k3 {THREE}"),   Some(1)),
        ("MAT-003", "k1/k2:k3",            "no/no",   format!("{THREE} k1/k2:k3"),   Some(3)),
        ("MAT-004", "docker.io/nginx",     "",        "nginx:1".to_owned(),          Some(0)),
        ("MAT-010", "x/foo:2",             "",        "x/foo:1".to_owned(),          Some(0)),
        ("MAT-012", "x/bar:1",             "",        "x/foo:1".to_owned(),          None),
        ("MAT-013", "docker.io/x/bar:1",   "",        "x/bar:1".to_owned(),          Some(0)),
    ];
    for (id, image, kustomize, running, expected) in rows {
        let image: ConfiguredImage = image.parse().unwrap();
        let kustomize = kustomize.parse().ok();
        let hub = Registry::docker_hub();
        let found = find_live(&image, kustomize.as_ref(), &images(&running), &hub);
        assert_eq!(found, expected, "{id}");
    }
    let [one, two]: [TagRef; 2] = [":1", ":2"].map(|tag| tag[1..].parse().unwrap());
    assert!(!one.same_as(&two), "MAT-011: with the version they differ");
}

/// MAT-020 to MAT-025.
#[test]
fn reselected_images_by_number() {
    #[rustfmt::skip]
    let rows = [
        ("MAT-020", "x:develop", "x:develop@new x:develop@old", "new", Some("x:develop@old")),
        ("MAT-021", "x:tag-a",   "x:tag-b@x x:tag-a@old",       "new", Some("x:tag-a@old")),
        ("MAT-022", "x:tag-b",   "x:tag-a@new x:tag-b@x",       "x",   Some("x:tag-b@x")),
        ("MAT-023", "x:develop", "x@old",                       "new", Some("x@old")),
        ("MAT-024", "x:develop", "y:develop@old",               "new", None),
        ("MAT-025", "x:develop", "x:other@new",                 "new", None),
    ];
    for (id, image, running, newest, expected) in rows {
        let (image, running) = (image.parse().unwrap(), images(running));
        let hub = Registry::docker_hub();
        let selected = reselect_live(&image, &running, &Digest::new(newest), &hub);
        assert_eq!(selected.map(|at| running[at].to_string()).as_deref(), expected, "{id}");
    }
}

/// MAT-030 to MAT-034: which images a push is news for. F25: one without registry is of the default
/// one, not of any (MAT-030).
#[test]
fn pushes_by_number() {
    let rows = [
        ("MAT-030", "nginx:1.21.0", "ghcr.io/nginx", false),
        ("MAT-030", "nginx:1.21.0", "docker.io/nginx", true),
        ("MAT-031", "nginx:1.21.0", "ghcr.io/redis", false),
        ("MAT-032", "quay.io/dexidp/dex:v1.23.0", "ghcr.io/dexidp/dex", false),
        ("MAT-033", "ghcr.io/myorg/app:1.0", "ghcr.io/myorg/app", true),
        ("MAT-034", "nginx", "ghcr.io/myorg/app", false),
        ("MAT-034", "redis", "ghcr.io/myorg/app", false),
    ];
    for (id, image, pushed, kept) in rows {
        let (image, pushed): (ConfiguredImage, Repository) =
            (image.parse().unwrap(), pushed.parse().unwrap());
        assert_eq!(image.repository.same_as(&pushed, &Registry::docker_hub()), kept, "{id}");
    }
}

/// KUS-001 to KUS-010: which entry of a list a query is about.
#[test]
fn kustomize_entries_by_number() {
    const LIST: &str =
        "a/b:1.0 a/b@sha256:aabb a/b:latest@sha256:aabb x/y=busybox x/y=foo.bar/a/c:0.23";
    #[rustfmt::skip]
    let rows = [
        ("KUS-001", "foo=1",    "bar=1",       None),
        ("KUS-002", "foo=1",    "bar:1",       None),
        ("KUS-003", "foobar:2", "foo:2",       None),
        ("KUS-004", "foobar@2", "foo@2",       None),
        ("KUS-005", "foo=1",    "foo=2",       Some(0)),
        ("KUS-006", "foo:1",    "foo:2",       Some(0)),
        ("KUS-007", "foo@1",    "foo@2",       Some(0)),
        ("KUS-008", "nginx",    "nginx",       Some(0)),
        ("KUS-009", LIST,       "a/b",         Some(0)),
        ("KUS-009", LIST,       "a/b:2",       Some(0)),
        ("KUS-009", LIST,       "x/y=foo.bar", Some(3)),
        ("KUS-010", LIST,       "x",           None),
        ("KUS-010", LIST,       "x/y",         None),
    ];
    for (id, list, query, expected) in rows {
        let found =
            list.split_whitespace().position(|entry| KustomizeImage::is_same_entry(entry, query));
        assert_eq!(found, expected, "{id}: {query}");
    }
}

fn policy(strategy: &str, image: &ConfiguredImage, allow: &str) -> UpdatePolicy {
    let dates = DateSource::ImageConfig;
    let (strategy, _) = UpdateStrategy::from_parts(image, Some(strategy), dates).unwrap();
    UpdatePolicy::new(strategy, TagFilter::new(Some(allow), []), Vec::new())
}

/// `tag=DAY` for an image built on that day, `tag=sha256:…` for one of that digest.
fn answers(told: &str) -> Metadata {
    let answer = |pair: &str| {
        let (tag, told) = pair.split_once('=').unwrap_or((pair, "1"));
        let created = told.parse::<u8>().map(|day| format!("2024-03-{:02}T00:00:00Z", day + 1));
        let image = ImageMeta {
            created: created.ok().map(|date| date.parse().unwrap()),
            digest: told.starts_with("sha256:").then(|| Digest::new(told)),
            ..ImageMeta::default()
        };
        (tag.parse().unwrap(), Inspection::Image(image))
    };
    told.split_whitespace().map(answer).collect()
}

/// SEL-001 to SEL-020. What is chosen, or why nothing is; the whole order where the row names
/// one. SEL-019 lowers, since the constraint leaves the running version out.
#[test]
fn selections_by_number() {
    const VERSIONS: &str = "0.1 0.5.1 0.9 1.0 1.0.1 1.1.2 2.0.3";
    const WORDS: &str = "zz=0 bb=1 yy=2 cc=3 aa=5 ll=6";
    #[rustfmt::skip]
    let rows = [
        // strategy, image, allowTags, current, tags listed and what they are, chosen
        ("SEL-001", "semver",       "app",        "",         "1.0",    VERSIONS, "2.0.3"),
        ("SEL-002", "semver",       "app:^1.0",   "",         "1.0",    VERSIONS, "1.1.2"),
        ("SEL-003", "semver",       "app:~1.0",   "",         "1.0",    VERSIONS, "1.0.1"),
        ("SEL-004", "semver",       "app:^1.0",   "",         "latest", VERSIONS, "1.1.2"),
        ("SEL-005", "semver",       "app",        "",         "latest", VERSIONS, "2.0.3"),
        ("SEL-006", "semver",       "app",        "",         "",       "v2.2.0 v2.3.0-rc.0.18.g1abb7b5dd-ppc64le", "v2.2.0"),
        ("SEL-007", "semver",       "app:~1.0",   "",         "",       "0.1 0.5.1 0.9 2.0.3", "none: OutsideConstraint"),
        ("SEL-008", "semver",       "app:latest", "",         "",       "0.1 0.5.1 0.9 2.0.3", "error: ConstraintInvalid"),
        ("SEL-009", "semver",       "app:~1.0",   "",         "",       "", "none: NoTags"),
        ("SEL-010", "newest-build", "app",        "",         "",       WORDS, "ll"),
        ("SEL-011", "semver",       "app",        "",         "",       WORDS, "none: NotSemver"),
        ("SEL-012", "alphabetical", "app",        "",         "",       WORDS, "zz"),
        ("SEL-013", "digest",       "app:latest", "",         "",       "latest=sha256:d", "latest@sha256:d"),
        ("SEL-017", "semver",       "app:latest", "",         "",       WORDS, "none: NotSemver"),
        ("SEL-018", "semver",       "app",        "",         "",       "1.0.0 v1.0.0", "v1.0.0"),
        ("SEL-019", "semver",       "app:1.x",    "",         "2.0.0",  "1.0.0", "1.0.0"),
        ("SEL-020", "semver",       "app",        "regexp:x", "",       "1.2.0 1.2.1 1.2.2", "none: NotAllowed"),
    ];
    for (id, strategy, image, allow, current, told, expected) in rows {
        let image: ConfiguredImage = image.parse().unwrap();
        let policy = policy(strategy, &image, allow);
        let reference = (!current.is_empty()).then(|| format!("app:{current}").parse().unwrap());
        let current = Current { reference, source: CurrentSource::Live };
        let verdict = verdict(&policy, &image, &current, told);
        let got = match verdict {
            Verdict::UpdateTo(tag) => tag.as_tag_value(),
            Verdict::NoCandidate(why) if why.is_failure() => format!("error: {}", why.reason()),
            Verdict::NoCandidate(why) => format!("none: {}", why.reason()),
            other => other.to_string(),
        };
        assert_eq!(got, expected, "{id}");
    }
    #[rustfmt::skip]
    let orders = [
        ("SEL-014", "newest-build", "v2.0.2=4 v1.0=1 v1.0.1=0 v2.0.3=3 v2.0=2", "v1.0.1 v1.0 v2.0 v2.0.3 v2.0.2"),
        ("SEL-015", "newest-build", "v2.0.2=1 v1.0=1 v1.0.1=1 v2.0.3=1 v2.0=1", "v1.0 v1.0.1 v2.0 v2.0.2 v2.0.3"),
        ("SEL-016", "alphabetical", "wohoo bazar alpha jesus zebra",            "alpha bazar jesus wohoo zebra"),
    ];
    for (id, strategy, told, ascending) in orders {
        let answers = answers(told);
        let tags: TagList = answers.keys().cloned().collect();
        let list = shortlist(&policy(strategy, &"app".parse().unwrap(), ""), &tags);
        let list = list.inspected(&answers).unwrap();
        let order: Vec<_> = list.candidates.iter().rev().map(|c| c.tag.as_str()).collect();
        assert_eq!(order.join(" "), ascending, "{id}");
    }
}

fn verdict(
    policy: &UpdatePolicy,
    image: &ConfiguredImage,
    current: &Current,
    told: &str,
) -> Verdict {
    let answers = answers(told);
    let tags: TagList = told
        .split_whitespace()
        .map(|pair| pair.split('=').next().unwrap_or_default().parse::<Tag>().unwrap())
        .collect();
    let list = Arc::new(shortlist(policy, &tags).inspected(&answers).unwrap());
    let options = DecideOptions {
        default_registry: Registry::docker_hub(),
        kustomize_name: false,
        allow_downgrade: false,
    };
    decide(&list, policy, image, Some(current), &options).verdict
}

/// UPD-014 to UPD-017, whose digests a scenario cannot give; the others, with their counters, are
/// `tests/scenarios/decisions-by-number.yaml`.
#[test]
fn followed_digests_by_number() {
    #[rustfmt::skip]
    let rows = [
        ("UPD-014", "gcr.io/org/job-image:latest", "",       "latest=sha256:d", "update to latest@sha256:d"),
        ("UPD-015", "docker.io/library/nginx:latest-bookworm", "docker.io/library/nginx:latest-bookworm", "latest-bookworm=sha256:d", "update to latest-bookworm@sha256:d"),
        ("UPD-016", "docker.io/library/nginx:latest-bookworm", "docker.io/library/nginx:latest-bookworm@sha256:d", "latest-bookworm=sha256:d", "up to date"),
        ("UPD-017", "docker.io/library/nginx:latest-bookworm", "docker.io/library/nginx:latest@sha256:d", "latest=sha256:d latest-bookworm=sha256:d", "up to date"),
    ];
    for (id, image, current, told, expected) in rows {
        let image: ConfiguredImage = image.parse().unwrap();
        let policy = policy("digest", &image, "");
        let reference: Option<ImageReference> = current.parse().ok();
        let running = reference.as_ref().and_then(|reference| reference.tag.clone());
        let current = Current { reference, source: CurrentSource::Live };
        let verdict = verdict(&policy, &image, &current, told);
        assert_eq!(verdict.to_string(), expected, "{id}");
        let wanted = "latest-bookworm@sha256:d".parse().unwrap();
        let news = needs_update(&policy.strategy, running.as_ref(), &wanted, false);
        assert_eq!(news, expected != "up to date", "{id}");
    }
}

/// PLT-001 to PLT-011. No platforms named: those of the program (PLT-008), or none where they are
/// not looked at (PLT-009).
#[test]
fn platforms_by_number() {
    #[rustfmt::skip]
    let rows = [
        ("PLT-001", "",                          "windows/amd64 linux/arm/v7",        true),
        ("PLT-002", "linux/arm/v7",              "linux/arm/v7",                      true),
        ("PLT-003", "linux/arm/v7 linux/arm/v8", "linux/arm/v6 linux/arm linux/ linux/amd64/v7 darwin/arm/v7", false),
        ("PLT-004", "linux/arm linux/arm/v7",    "linux/arm/v8 linux/arm/v7 linux/arm", true),
        ("PLT-005", "linux/arm64/v8",            "linux/arm64/invalid",               false),
        ("PLT-006", "linux/arm/v6",              "linux/arm",                         false),
        ("PLT-008", "linux/amd64",               "linux/amd64 linux/amd64/anything",  true),
        ("PLT-009", "",                          "windows/amd64",                     true),
    ];
    let platforms = |text: &str| -> Vec<Platform> {
        text.split_whitespace().map(|platform| platform.parse().unwrap()).collect()
    };
    for (id, wanted, offered, expected) in rows {
        for offered in platforms(offered) {
            assert_eq!(offered.is_wanted(&platforms(wanted)), expected, "{id}: {offered}");
        }
    }
    let told = "invalid".parse::<Platform>().unwrap_err().to_string();
    assert_eq!(told, "could not parse platform identifier 'invalid': invalid format", "PLT-007");
    let keys: Vec<_> =
        platforms("linux/arm/v6 linux/amd64").iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["linux/arm/v6", "linux/amd64"], "PLT-010");
    let image = "app".parse().unwrap();
    let (strategy, filter) =
        (policy("newest-build", &image, "").strategy, TagFilter::new(None, []));
    let sorted = UpdatePolicy::new(strategy, filter, platforms("linux/arm/v6 linux/amd64"));
    assert_eq!(sorted.platforms, platforms("linux/amd64 linux/arm/v6"), "PLT-011");
}
