use super::*;
use crate::line::flags::{self, FLAGS};
use crate::line::{Unusable, VERBS};

fn line(text: &str) -> Line {
    match Line::parse(text.split_whitespace().map(Into::into)) {
        Ok(line) => line,
        Err(Unusable::Help(text) | Unusable::Usage { problem: text, .. }) => panic!("{text}"),
    }
}

fn settings<const N: usize>(text: &str, variables: [(&str, &str); N]) -> Result<Settings> {
    Settings::read(&line(text), &Environment::of(variables), &BTreeMap::new())
}

/// Spec 22 §3, §4, §8: every default, as the reference's own flag tests have them.
#[test]
fn defaults_are_those_of_the_reference() {
    #[rustfmt::skip]
    let rows = [
        // run
        (Verb::Run, "metrics-bind-address", "0", ""),
        (Verb::Run, "metrics-secure", "true", ""),
        (Verb::Run, "health-probe-bind-address", ":8081", ""),
        (Verb::Run, "enable-http2", "false", ""),
        (Verb::Run, "leader-election", "true", ""),
        (Verb::Run, "leader-election-namespace", "", ""),
        (Verb::Run, "dry-run", "false", ""),
        (Verb::Run, "interval", "2m0s", "IMAGE_UPDATER_INTERVAL"),
        (Verb::Run, "loglevel", "info", "IMAGE_UPDATER_LOGLEVEL"),
        (Verb::Run, "logformat", "text", "IMAGE_UPDATER_LOGFORMAT"),
        (Verb::Run, "kubeconfig", "", ""),
        (Verb::Run, "once", "false", ""),
        (Verb::Run, "registries-conf-path", "/app/config/registries.conf", ""),
        (Verb::Run, "max-concurrent-apps", "10", "MAX_CONCURRENT_APPS"),
        (Verb::Run, "max-concurrent-reconciles", "1", "MAX_CONCURRENT_RECONCILES"),
        (Verb::Run, "argocd-namespace", "", "ARGOCD_NAMESPACE"),
        (Verb::Run, "watch-namespaces", "", "IMAGE_UPDATER_WATCH_NAMESPACES"),
        (Verb::Run, "warmup-cache", "true", ""),
        (Verb::Run, "disable-kube-events", "false", "IMAGE_UPDATER_KUBE_EVENTS"),
        (Verb::Run, "git-commit-user", "argocd-image-updater", "GIT_COMMIT_USER"),
        (Verb::Run, "git-commit-email", "noreply@argoproj.io", "GIT_COMMIT_EMAIL"),
        (Verb::Run, "git-commit-signing-key", "", "GIT_COMMIT_SIGNING_KEY"),
        (Verb::Run, "git-commit-signing-method", "openpgp", "GIT_COMMIT_SIGNING_METHOD"),
        (Verb::Run, "git-commit-sign-off", "false", "GIT_COMMIT_SIGN_OFF"),
        (Verb::Run, "git-commit-message-path", "/app/config/commit.template", ""),
        (Verb::Run, "git-commit-method", "git", "GIT_COMMIT_METHOD"),
        (Verb::Run, "enable-webhook", "false", "ENABLE_WEBHOOK"),
        (Verb::Run, "webhook-port", "8082", "WEBHOOK_PORT"),
        // webhook
        (Verb::Webhook, "webhook-port", "8080", "WEBHOOK_PORT"),
        (Verb::Webhook, "webhook-require-secret", "true", "WEBHOOK_REQUIRE_SECRET"),
        (Verb::Webhook, "docker-webhook-secret", "", "DOCKER_WEBHOOK_SECRET"),
        (Verb::Webhook, "ghcr-webhook-secret", "", "GHCR_WEBHOOK_SECRET"),
        (Verb::Webhook, "quay-webhook-secret", "", "QUAY_WEBHOOK_SECRET"),
        (Verb::Webhook, "harbor-webhook-secret", "", "HARBOR_WEBHOOK_SECRET"),
        (Verb::Webhook, "aliyun-acr-webhook-secret", "", "ALIYUN_ACR_WEBHOOK_SECRET"),
        (Verb::Webhook, "acr-webhook-secret", "", "ACR_WEBHOOK_SECRET"),
        (Verb::Webhook, "cloudevents-webhook-secret", "", "CLOUDEVENTS_WEBHOOK_SECRET"),
        (Verb::Webhook, "webhook-ratelimit-allowed", "0", "WEBHOOK_RATELIMIT_ALLOWED"),
        (Verb::Webhook, "disable-tls", "false", "DISABLE_TLS"),
        (Verb::Webhook, "tlsminversion", "1.3", "TLS_MIN_VERSION"),
        (Verb::Webhook, "tlsmaxversion", "1.3", "TLS_MAX_VERSION"),
        (Verb::Webhook, "tlsciphers", "", "TLS_CIPHERS"),
        (Verb::Webhook, "enable-http2", "false", ""),
        (Verb::Webhook, "max-concurrent-updaters", "1", "MAX_CONCURRENT_UPDATERS"),
        (Verb::Webhook, "max-concurrent-apps", "10", "MAX_CONCURRENT_APPS"),
        (Verb::Webhook, "loglevel", "info", "IMAGE_UPDATER_LOGLEVEL"),
        (Verb::Webhook, "kubeconfig", "", ""),
        (Verb::Webhook, "registries-conf-path", "/app/config/registries.conf", ""),
        (Verb::Webhook, "argocd-namespace", "", "ARGOCD_NAMESPACE"),
        (Verb::Webhook, "disable-kube-events", "false", "IMAGE_UPDATER_KUBE_EVENTS"),
        (Verb::Webhook, "git-commit-user", "argocd-image-updater", "GIT_COMMIT_USER"),
        (Verb::Webhook, "git-commit-email", "noreply@argoproj.io", "GIT_COMMIT_EMAIL"),
        (Verb::Webhook, "git-commit-signing-key", "", "GIT_COMMIT_SIGNING_KEY"),
        (Verb::Webhook, "git-commit-signing-method", "openpgp", "GIT_COMMIT_SIGNING_METHOD"),
        (Verb::Webhook, "git-commit-sign-off", "false", "GIT_COMMIT_SIGN_OFF"),
        (Verb::Webhook, "git-commit-message-path", "/app/config/commit.template", ""),
        (Verb::Webhook, "git-commit-method", "git", "GIT_COMMIT_METHOD"),
        // test
        (Verb::Test, "semver-constraint", "", ""),
        (Verb::Test, "allow-tags", "", ""),
        (Verb::Test, "ignore-tags", "", ""),
        (Verb::Test, "update-strategy", "semver", ""),
        (Verb::Test, "registries-conf-path", "", ""),
        (Verb::Test, "loglevel", "debug", ""),
        (Verb::Test, "kubeconfig", "", ""),
        (Verb::Test, "credentials", "", ""),
        (Verb::Test, "platforms", "", ""),
        (Verb::Test, "rate-limit", "20", ""),
        // Additions (spec 40).
        (Verb::Run, "annotation-mode", "auto", "IMAGE_UPDATER_ANNOTATION_MODE"),
        (Verb::Run, "manifests", "", "IMAGE_UPDATER_MANIFESTS"),
        (Verb::Run, "allow-image-credential-sources", "", "IMAGE_UPDATER_ALLOW_IMAGE_CREDENTIAL_SOURCES"),
        (Verb::Run, "ui-bind-address", "0", "IMAGE_UPDATER_UI_BIND_ADDRESS"),
        (Verb::Run, "require-live", "true", "IMAGE_UPDATER_REQUIRE_LIVE"),
        (Verb::Run, "hold-reverted", "false", "IMAGE_UPDATER_HOLD_REVERTED"),
        (Verb::Run, "close-superseded-requests", "false", "IMAGE_UPDATER_CLOSE_SUPERSEDED_REQUESTS"),
        (Verb::Run, "commit-per", "application", "IMAGE_UPDATER_COMMIT_PER"),
        (Verb::Run, "allow-downgrade", "false", "IMAGE_UPDATER_ALLOW_DOWNGRADE"),
    ];
    for (verb, name, default, variable) in rows {
        let flag = flags::row(verb, name);
        assert!(flag.is_on(verb), "--{name} of {}", verb.row().name);
        assert_eq!(flag.default, default, "--{name} of {}", verb.row().name);
        let is_known = flag.env.contains(&variable) || (variable.is_empty() && flag.env.is_empty());
        assert!(is_known, "--{name}: {:?}", flag.env);
    }
}

/// Spec 22 §10, §11, and the keys that 40 and §14 add.
#[test]
fn keys_of_config_map_and_secret_are_those_of_the_reference() {
    #[rustfmt::skip]
    let rows = [
        ("argocd.namespace", "ARGOCD_NAMESPACE"),
        ("watch.namespaces", "IMAGE_UPDATER_WATCH_NAMESPACES"),
        ("interval", "IMAGE_UPDATER_INTERVAL"),
        ("log.level", "IMAGE_UPDATER_LOGLEVEL"),
        ("log.format", "IMAGE_UPDATER_LOGFORMAT"),
        ("max_concurrent_apps", "MAX_CONCURRENT_APPS"),
        ("max_concurrent_reconciles", "MAX_CONCURRENT_RECONCILES"),
        ("git.user", "GIT_COMMIT_USER"),
        ("git.email", "GIT_COMMIT_EMAIL"),
        ("git.commit-signing-key", "GIT_COMMIT_SIGNING_KEY"),
        ("git.commit-signing-method", "GIT_COMMIT_SIGNING_METHOD"),
        ("git.commit-sign-off", "GIT_COMMIT_SIGN_OFF"),
        ("git.commit-method", "GIT_COMMIT_METHOD"),
        ("kube.events", "IMAGE_UPDATER_KUBE_EVENTS"),
        ("webhook.enable", "ENABLE_WEBHOOK"),
        ("webhook.require-secret", "WEBHOOK_REQUIRE_SECRET"),
        ("webhook.port", "WEBHOOK_PORT"),
        ("webhook.ratelimit-allowed", "WEBHOOK_RATELIMIT_ALLOWED"),
        ("disable-tls", "DISABLE_TLS"),
        ("tls.min-version", "TLS_MIN_VERSION"),
        ("tls.max-version", "TLS_MAX_VERSION"),
        ("tls.ciphers", "TLS_CIPHERS"),
        ("webhook.docker-secret", "DOCKER_WEBHOOK_SECRET"),
        ("webhook.ghcr-secret", "GHCR_WEBHOOK_SECRET"),
        ("webhook.harbor-secret", "HARBOR_WEBHOOK_SECRET"),
        ("webhook.quay-secret", "QUAY_WEBHOOK_SECRET"),
        ("webhook.aliyun-acr-secret", "ALIYUN_ACR_WEBHOOK_SECRET"),
        ("webhook.acr-secret", "ACR_WEBHOOK_SECRET"),
        ("webhook.cloudevents-secret", "CLOUDEVENTS_WEBHOOK_SECRET"),
    ];
    for (key, variable) in rows {
        assert!(
            FLAGS.iter().any(|flag| flag.key == key && flag.env.contains(&variable)),
            "{key} {variable}"
        );
    }
    // Spec 40: the flag's name in capitals is the variable, and the name the key.
    let added = FLAGS.iter().filter(|flag| {
        flag.env.first().is_some_and(|name| {
            name.strip_prefix("IMAGE_UPDATER_") == Some(&flag.name.replace('-', "_").to_uppercase())
        })
    });
    assert!(added.count() >= 12);
}

#[test]
fn every_command_can_read_all_settings() {
    for row in VERBS {
        let none = BTreeMap::new();
        let read = Settings::read(&Line::bare(row.verb), &Environment::of([]), &none);
        let settings = read.map_err(|error| format!("{}: {error}", row.name)).unwrap();
        assert_eq!(settings.warnings, Vec::<String>::new());
        // Lists that only `test` reads.
        let line = Line::bare(row.verb);
        let env = Environment::of([]);
        let mut reader = Reader::new(&line, &env, &none);
        for name in ["ignore-tags", "platforms"] {
            assert_eq!(reader.list(name).unwrap(), Vec::<String>::new());
        }
    }
}

#[test]
fn flags_come_before_variables_and_these_before_the_folder() {
    let map = BTreeMap::from([("interval".to_owned(), "3m".to_owned())]);
    let variable = [("IMAGE_UPDATER_INTERVAL", "5m")];
    #[rustfmt::skip]
    let rows = [
        ("run --interval 7m", &variable[..], &map, 420),
        ("run", &variable, &map, 300),
        ("run", &[("IMAGE_UPDATER_INTERVAL", "")], &map, 180),
        ("run", &[], &BTreeMap::new(), 120),
    ];
    for (text, variables, map, seconds) in rows {
        let env = match variables {
            [one] => Environment::of([*one]),
            _ => Environment::of([]),
        };
        let settings = Settings::read(&line(text), &env, map).unwrap();
        assert_eq!(settings.interval, Interval::Every(Duration::from_secs(seconds)), "{text}");
    }
}

#[test]
fn zero_and_less_are_intervals_of_their_own() {
    for (text, expected) in
        [("0", Interval::Once), ("0s", Interval::Once), ("-1s", Interval::Never)]
    {
        let settings = settings(&format!("run --interval {text}"), []).unwrap();
        assert_eq!(settings.interval, expected);
    }
}

/// Spec 21 §2.3: `--once` overrides what was given.
#[test]
fn once_means_one_pass_without_probes() {
    let given = "run --once --interval 5m --health-probe-bind-address :9 --warmup-cache=false";
    let settings = settings(given, []).unwrap();
    assert_eq!(settings.interval, Interval::Once);
    assert!(settings.servers.probes.is_none() && settings.warm_up);
}

/// Spec 21 §1, conformance table.
#[test]
fn the_watch_scope_is_read_as_in_the_reference() {
    let these = |names: &[&str]| {
        Ok(WatchScope::These(names.iter().map(|name| (*name).to_owned()).collect()))
    };
    #[rustfmt::skip]
    let rows = [
        ("", Ok(WatchScope::Own)),
        ("  ", Ok(WatchScope::Own)),
        ("*", Ok(WatchScope::All)),
        (" * ", Ok(WatchScope::All)),
        ("argocd,qa,dev", these(&["argocd", "qa", "dev"])),
        (" argocd , qa ", these(&["argocd", "qa"])),
        ("argocd", these(&["argocd"])),
        (" , , ", Err("--watch-namespaces flag provided but no valid namespaces specified".to_owned())),
    ];
    for (text, expected) in rows {
        assert_eq!(watch_scope(text).map_err(|error| error.to_string()), expected, "{text:?}");
    }
}

/// Spec 22 §3: the Deployment's own words.
#[test]
fn addresses_are_read_and_0_is_none() {
    let settings = settings("--metrics-bind-address=:8443 run", []).unwrap();
    assert_eq!(settings.servers.metrics.unwrap().to_string(), ":8443");
    assert_eq!(settings.servers.probes.unwrap().to_string(), ":8081");
    assert!(settings.servers.metrics_secure && !settings.servers.http2);
    let error = self::settings("run --metrics-bind-address 8443", []).err().unwrap();
    assert!(format!("{error:#}").starts_with("--metrics-bind-address: '8443' is no address"));
}

/// Spec 22 §3: `--git-commit-method` "" ok, `git` ok, `API` refused, `graphql` refused.
#[test]
fn methods_of_commits_are_two_words() {
    for (text, is_fine) in [("", true), ("git", true), ("API", false), ("graphql", false)] {
        let read = settings("run", [("GIT_COMMIT_METHOD", text)]);
        assert_eq!(read.is_ok(), is_fine, "{text}");
    }
    let error = settings("run", [("GIT_COMMIT_METHOD", "API")]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "invalid value \"API\" for --git-commit-method: must be 'git' or 'api' (from GIT_COMMIT_METHOD)"
    );
}

/// What this version lacks is refused where ignoring it would do harm, else told.
#[test]
fn what_is_not_built_yet_is_refused_or_told() {
    for flag in FLAGS.iter().filter(|flag| flag.is_on(Verb::Run)) {
        let other = match flag.kind {
            flags::Kind::Switch if flag.default == "true" => "false",
            flags::Kind::Switch => "true",
            flags::Kind::Choice(words) => words.iter().find(|word| **word != flag.default).unwrap(),
            _ => ":1",
        };
        let read = || settings(&format!("run --{}={other}", flag.name), []);
        match flag.built {
            flags::Built::Yes => {}
            flags::Built::Without(why) => {
                let told = read().unwrap().warnings;
                assert_eq!(told, [format!("--{} has no effect in this version: {why}", flag.name)]);
            }
            flags::Built::Refused(why) => {
                let error = read().err().expect(flag.name).to_string();
                assert_eq!(
                    error,
                    format!(
                        "--{} cannot be honoured by this version: {why}; leave it out",
                        flag.name
                    )
                );
            }
        }
        if let (flags::Built::Refused(_), Some(variable)) = (flag.built, flag.env.first()) {
            let error = settings("run", [(variable, other)]).err().expect(flag.name).to_string();
            assert!(error.starts_with(&format!("{variable} cannot be honoured")), "{error}");
        }
    }
}

#[test]
fn secrets_of_webhooks_are_kept_and_never_shown() {
    let read = settings("run --docker-webhook-secret=s3cret", [("GHCR_WEBHOOK_SECRET", "t0p")]);
    let webhook = read.unwrap().webhook;
    let kinds: Vec<&str> = webhook.secrets.keys().copied().collect();
    assert_eq!(kinds, ["docker", "ghcr"]);
    assert!(!format!("{:?}", webhook.secrets).contains("s3cret"));
}

#[test]
fn what_is_left_of_the_0_x_line_is_named_once() {
    let map = BTreeMap::from([("argocd.insecure".to_owned(), "true".to_owned())]);
    let env = Environment::of([("ARGOCD_TOKEN", "s3cret")]);
    let told = Settings::read(&line("run"), &env, &map).unwrap().warnings;
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("argocd.insecure, ARGOCD_TOKEN: of the 0.x line"), "{}", told[0]);
}

/// Spec 22 §5, conformance table: the files of the common setup.
#[test]
fn files_that_are_missing_or_empty_are_no_fault_and_broken_ones_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let missing = "/nonexistent/file";
    let (no_keys, env) = (BTreeMap::new(), Environment::of([]));
    let own = file("own", "own {{ .AppName }}");
    let not_found = "commit message template not found, using default";
    let default = "Using default Git commit message template";
    #[rustfmt::skip]
    let templates = [
        ("", Some("build: automatic"), None),
        (missing, Some("build: automatic"), Some(not_found)),
        (&*own, Some("own "), None),
        (&*file("empty", ""), Some("build: automatic"), Some(default)),
        (&*file("broken", "{{ .AppName "), None, None),
    ];
    for (path, starts, told) in templates {
        let line = line(&format!("run --git-commit-message-path={path}"));
        let settings = Settings::read(&line, &env, &no_keys).unwrap();
        let read = Commits::read(&settings, &mut Reader::new(&line, &env, &no_keys));
        match (read, starts) {
            (Ok((commits, note)), Some(starts)) => {
                assert!(commits.message.as_str().starts_with(starts), "{path}");
                assert_eq!(note.map(|note| note.text), told, "{path}");
            }
            (Err(error), None) => {
                let text = format!("{error:#}");
                assert!(text.starts_with("could not parse commit message template: "), "{text}");
            }
            (read, _) => panic!("{path}: {:?}", read.map(|(_, note)| note)),
        }
    }
    let gone = "Registry configuration not found or is a directory, using default configuration";
    let directory = folder.path().display().to_string();
    #[rustfmt::skip]
    let registries = [
        ("", true, None),
        (missing, true, Some(gone)),
        (&*directory, true, Some(gone)),
        (&*file("none", ""), true, None),
        (&*file("invalid", "registries: ["), false, None),
    ];
    for (path, is_fine, told) in registries {
        let line = line(&format!("run --registries-conf-path={path}"));
        let read = super::registries(&mut Reader::new(&line, &env, &no_keys));
        assert_eq!(read.is_ok(), is_fine, "{path}");
        match read {
            Ok((_, note)) => assert_eq!(note.map(|note| note.text), told, "{path}"),
            Err(error) => {
                let text = format!("{error:#}");
                let start = format!("could not load registry configuration: {path}: ");
                assert!(text.starts_with(&start), "{text}");
            }
        }
    }
}
