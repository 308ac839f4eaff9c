//! Choices that users of the original reported as wrong, by the numbers of
//! `docs/design/users-reports.md`.

use super::*;

fn verdict(asked: &Asked, list: &Arc<Shortlist>, current: &str) -> String {
    let current = running(current);
    decide(list, &asked.policy, &asked.image, Some(&current), &options()).verdict.to_string()
}

#[test]
fn versions_that_users_expected() {
    #[rustfmt::skip]
    let rows = [
        // report, image, allowTags, ignoreTags, current, tags listed, verdict
        ("B01", "app",          "", "", "",       "v1.0.0 v1.0.1-64.272fa09",  "update to v1.0.0"),
        ("B02", "app:~1.0.x",   "", "", "1.0.0",  "1.0.0 1.0.1 1.0.2-f3ba42e", "update to 1.0.1"),
        ("B02", "app:~1.0.x-0", "", "", "1.0.0",  "1.0.0 1.0.1 1.0.2-f3ba42e", "update to 1.0.2-f3ba42e"),
        ("B03", "app",          "", "", "v2.2.0", "v2.2.0 v2.3.0-rc.0.18.g1abb7b5dd-ppc64le", "up to date"),
        ("B03", "app:v2.x.x",   "", "", "v2.2.0", "v2.2.0 v2.3.0-rc.0.18.g1abb7b5dd-ppc64le", "up to date"),
        ("B04", "app:x-0",      "", "", "",       "v1.2.3 v1.2.4-rc1",         "update to v1.2.4-rc1"),
        ("B04", "app:*-0",      "", "", "",       "v1.2.3 v1.2.3-rc1",         "update to v1.2.3"),
        ("B04", "app:*-0",      "", "", "",       "v1.2 v1.2.3",               "update to v1.2.3"),
        ("B05", "app:6.x.x-0",  "regexp:^.*-alpine$", "", "6.2.5-alpine", "6.2.5-alpine 6.2.6 6.2.6-alpine 7.0.0-alpine", "update to 6.2.6-alpine"),
        ("B06", "app:~0.x",     "", "latest", "latest", "0.0.1 0.0.2 latest",  "update to 0.0.2"),
        ("B06", "app",          "", "latest", "latest", "0.0.1 0.0.2 latest",  "update to 0.0.2"),
        ("B07", "app:0.28.x-0", r"regexp:^0\.28\.[0-9]+-scratch-r[0-9]+$", "", "", "0.28.1-scratch-r0 0.28.1-scratch-r1 0.28.2-scratch-r0", "update to 0.28.2-scratch-r0"),
        ("B07", "app:0.28.x-0", r"regexp:^0\.28\.[0-9]+-scratch-r[0-9]+$", "", "", "0.28.1-scratch-r0 0.28.1-scratch-r1", "update to 0.28.1-scratch-r1"),
        ("B09", "app:*-0",      "regexp:^.*-devel$", "", "26-devel", "26-devel 225-devel 226-devel", "update to 226-devel"),
        ("B16", "app",          "", "", "",       "1.0 v1.0.0 1.0.0",          "update to v1.0.0"),
        ("B16", "app",          "", "", "1.0",    "1.0.0 1.0 v1.0.0",          "up to date"),
        ("B17", "app",          "", "", "1.0.1",  "",                          "no candidate: the repository has no tags"),
        ("B18", "app",          "", "", "1.0.1",  "main feature-x",            "no candidate: no tag is a semantic version"),
        ("B23", "app:~1.2",     "", "", "v1.2.2", "v1.2.2 v1.2.3-pre100",      "up to date"),
        ("B24", "app:*-0",      "", "", "0.1.0-unstable0001", "0.1.0-unstable0001 0.1.0-unstable0002", "update to 0.1.0-unstable0002"),
        ("B25", "app:*-0",      r"regexp:\.dev$", "", "1.0.0-rc.1.dev", "1.0.0-rc.1.dev 1.0.0-rc.2.dev 1.0.0-rc.3.dev 1.0.0-rc.3.stage", "update to 1.0.0-rc.3.dev"),
        ("B26", "app:*-0",      r"regexp:^[0-9]+\.[0-9]+-alpine$", "", "3.4-alpine", "3.5 3.5-alpine 3.5.1-alpine 3.6-alpine", "update to 3.6-alpine"),
        ("B27", "app",          r"regexp:^\d+\.\d+\.\d+$", "", "2023.11.0", "2023.11.0 2025.04.0", "update to 2025.04.0"),
        ("B29", "app:*-0",      "", "", "20220209-4", "20220209-4 20220209-22 20220208-99", "update to 20220209-22"),
        ("B30", "app",          "regexp:^20([0-9.]+)$", "", "2021.12.1", "4.3.2-1 2021.12.1 2022.4.0", "update to 2022.4.0"),
    ];
    for (report, image, allow, ignore, current, tags, expected) in rows {
        let asked = asked("semver", image, allow, ignore);
        let list = Arc::new(shortlist(&asked.policy, &listed(tags)));
        assert_eq!(verdict(&asked, &list, current), expected, "{report}: {image} of [{tags}]");
    }
}

#[test]
fn builds_that_users_expected() {
    #[rustfmt::skip]
    let rows = [
        // report, ignoreTags, current, tags listed, days on which they were built, verdict
        ("B15", "",       "07bfd2596", "07bfd2596 latest", "07bfd2596=1 latest=1", "update to latest"),
        ("B15", "",       "latest",    "latest 07bfd2596", "07bfd2596=1 latest=1", "up to date"),
        ("B21", "latest", "latest",    "latest a1",        "a1=1",                 "update to a1"),
    ];
    for (report, ignore, current, tags, told, expected) in rows {
        let asked = asked("newest-build", "app", "", ignore);
        let list = inspected(&asked, tags, told).unwrap();
        assert_eq!(verdict(&asked, &list, current), expected, "{report}: {current} of [{tags}]");
    }
}

/// B32 to B34: what other tags point to, and what runs under them, does not matter.
#[test]
fn each_alias_follows_its_own_tag() {
    #[rustfmt::skip]
    let rows = [
        ("B32", "app:latest-bookworm",  "latest-bookworm@sha256:d",  "latest-bookworm=sha256:d latest=sha256:d",   "up to date"),
        ("B32", "app:latest-bookworm",  "latest-bookworm",           "latest-bookworm=sha256:d latest=sha256:d",   "update to latest-bookworm@sha256:d"),
        ("B33", "app:develop",          "develop@sha256:d1",         "develop=sha256:d1 latest=sha256:d2",         "up to date"),
        ("B33", "app:develop-chromium", "develop-chromium@sha256:0", "develop-chromium=sha256:d2 latest=sha256:d2", "update to develop-chromium@sha256:d2"),
        ("B34", "app:alpine",           "alpine",                    "alpine=sha256:d1 master=sha256:d2",          "update to alpine@sha256:d1"),
        ("B34", "app:master",           "master",                    "alpine=sha256:d1 master=sha256:d2",          "update to master@sha256:d2"),
    ];
    for (report, image, current, told, expected) in rows {
        let asked = asked("digest", image, "", "");
        let tags: Vec<&str> = told.split([' ', '=']).step_by(2).collect();
        let list = inspected(&asked, &tags.join(" "), told).unwrap();
        assert_eq!(verdict(&asked, &list, current), expected, "{report}: {image}");
    }
}
