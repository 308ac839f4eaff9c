use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};

use super::{GitSecret, GitSources, REPOSITORY, TEMPLATE, begins_with, named_secret};
use crate::credentials::{GitAccess, GitLogin, SignIn};

/// `field=value field=value`.
fn secret(name: &str, kind: &str, fields: &str) -> GitSecret {
    let fields = fields.split(' ').filter_map(|pair| pair.split_once('='));
    let fields = fields.map(|(field, value)| (field.to_owned(), SecretString::from(value)));
    GitSecret {
        namespace: "argocd".into(),
        name: name.into(),
        secret_type: kind.to_owned(),
        fields: fields.collect::<BTreeMap<_, _>>(),
    }
}

/// What a login comes to, in one line.
fn shown(login: &GitLogin) -> String {
    let mut text = match &login.sign_in {
        SignIn::Nobody => "nobody".to_owned(),
        SignIn::Password { user, password, unasked } => {
            let unasked = if *unasked { " unasked" } else { "" };
            format!("https {user}:{}{unasked}", password.expose_secret())
        }
        SignIn::Bearer(token) => format!("bearer {}", token.expose_secret()),
        SignIn::Ssh(key) => format!("ssh {}", key.expose_secret()),
        SignIn::GitHubApp(app) => {
            let base = app.base_url.as_deref().unwrap_or("-");
            let key = app.key.expose_secret();
            format!("app {} {} {key} {base}", app.app, app.installation)
        }
        SignIn::Google(key) => format!("google {}", key.expose_secret()),
        SignIn::Azure => "azure".to_owned(),
    };
    if login.tls.insecure {
        text.push_str(" insecure");
    }
    if let Some((certificate, key)) = &login.tls.client {
        text = format!("{text} cert {}/{}", certificate.expose_secret(), key.expose_secret());
    }
    if let Some(proxy) = &login.proxy {
        text = format!("{text} via {}", proxy.expose_secret());
    }
    text
}

fn told(access: Result<GitAccess, super::SecretError>) -> String {
    match access {
        Ok(GitAccess::Login(login)) => format!("{}, {}", login.name, shown(&login)),
        Ok(GitAccess::Ambient) => "ambient".to_owned(),
        Err(error) => format!("{}: {error}", error.reason()),
    }
}

/// Spec 30 §3.1.
#[test]
fn the_secret_of_the_repository_is_found_by_url_and_project() {
    let sources = GitSources {
        secrets: vec![
            secret("any", REPOSITORY, "url=https://GIT.test/o/App.git username=any password=1"),
            secret(
                "team",
                REPOSITORY,
                "url=https://git.test/o/app project=team username=team password=2",
            ),
            secret("other", REPOSITORY, "url=https://git.test/o/own project=other password=3"),
            secret(
                "bare",
                REPOSITORY,
                "url=https://git.test/bare/x insecure=true proxy=http://p:1 forceHttpBasicAuth=true",
            ),
            secret("odd", REPOSITORY, "url=https://git.test/odd/x password=1 insecure=maybe"),
            secret(
                "azure",
                REPOSITORY,
                "url=https://git.test/azure/x useAzureWorkloadIdentity=true",
            ),
            secret("ssh", REPOSITORY, "url=git@git.test:o/app.git sshPrivateKey=KEY"),
            secret("all", TEMPLATE, "url=https://git.test username=all password=4 insecure=true"),
            secret(
                "org",
                TEMPLATE,
                "url=https://git.test/bare username=org password=5 forceHttpBasicAuth=false",
            ),
            secret("plain", "", "url=https://git.test/o/app password=6"),
        ],
        ..GitSources::default()
    };
    #[rustfmt::skip]
    let rows = [
        ("https://git.test/o/app",      "team",    "repository Secret argocd/team, https team:2"),
        ("https://git.test/O/APP.git",  "default", "repository Secret argocd/any, https any:1"),
        ("https://git.test/o/app",      "",        "repository Secret argocd/any, https any:1"),
        // Another project's is never used; a template is for everybody.
        ("https://git.test/o/own",      "team",    "repo-creds Secret argocd/all, https all:4"),
        ("https://git.test/bare/x",     "team",    "repo-creds Secret argocd/org, https org:5 insecure via http://p:1"),
        ("https://git.test/new",        "team",    "repo-creds Secret argocd/all, https all:4"),
        ("https://git.test.evil.org/x", "team",    "GitCredentialsMissing: credentials for 'https://git.test.evil.org/x' are not configured in Argo CD settings; make a Secret labelled argocd.argoproj.io/secret-type: repository whose url is this repository, or name one with git:secret:NAMESPACE/NAME"),
        ("git@git.test:o/app",          "team",    "repository Secret argocd/ssh, ssh KEY"),
        ("https://git.test/odd/x",      "team",    "GitCredentialsMissing: could not get creds for repo 'https://git.test/odd/x': repository Secret argocd/odd: field insecure is neither true nor false"),
        ("https://git.test/azure/x",    "team",    "repository Secret argocd/azure, azure"),
    ];
    for (repo, project, expected) in rows {
        assert_eq!(told(sources.repocreds(repo, project)), expected, "{repo} for {project}");
    }
}

/// Spec 30 §3.1, "Kind of credentials, first match", table.
#[test]
fn the_fields_decide_the_kind() {
    #[rustfmt::skip]
    let rows = [
        ("username=u password=p",                    "https u:p"),
        ("password=p sshPrivateKey=K",               "https :p"),
        ("username=u password=p forceHttpBasicAuth=true", "https u:p unasked"),
        ("username=u sshPrivateKey=K",               "ssh K"),
        ("sshPrivateKey=K insecureIgnoreHostKey=true", "ssh K insecure"),
        ("githubAppPrivateKey=K githubAppID=123 githubAppInstallationID=456 githubAppEnterpriseBaseUrl=https://ghe/api/v3 tlsClientCertData=C tlsClientCertKey=D insecure=true proxy=http://p:1",
         "app 123 456 K https://ghe/api/v3 insecure cert C/D via http://p:1"),
        ("githubAppPrivateKey=K githubAppID=123",    "nobody"),
        ("username=u gcpServiceAccountKey={}",       "google {}"),
        ("bearerToken=T",                            "bearer T"),
        ("username=u",                               "nobody"),
        ("tlsClientCertData=C tlsClientCertKey=D",   "nobody cert C/D"),
    ];
    for (fields, expected) in rows {
        let fields = format!("url=https://h/r {fields}");
        let secrets = vec![secret("s", REPOSITORY, &fields)];
        let sources = GitSources { secrets, ..GitSources::default() };
        let expected = format!("repository Secret argocd/s, {expected}");
        assert_eq!(told(sources.repocreds("https://h/r", "p")), expected, "{fields}");
    }
}

/// Spec 30 §3.2, tables.
#[test]
fn a_named_secret_needs_the_fields_for_its_url() {
    const GIT: &str = "git@h:o/r.git";
    const HTTPS: &str = "https://h/o/r";
    let app = "githubAppID=789 githubAppInstallationID=101 githubAppPrivateKey=K";
    #[rustfmt::skip]
    let rows = [
        (GIT,   "sshPrivateKey=K".to_owned(), "ssh K"),
        (GIT,   "sshPrivateKey=K insecure=true".to_owned(), "ssh K insecure"),
        (GIT,   "username=u".to_owned(), "invalid secret foo1/bar1: does not contain field sshPrivateKey (it has username)"),
        (HTTPS, app.to_owned(), "app 789 101 K -"),
        (HTTPS, format!("{app} insecure=maybe"), "app 789 101 K -"),
        (HTTPS, format!("{app} insecure=true proxy=http://p:1 githubAppEnterpriseBaseUrl=https://ghe tlsClientCertData=C tlsClientCertKey=D"), "app 789 101 K https://ghe insecure cert C/D via http://p:1"),
        (HTTPS, "githubAppID=1".to_owned(), "invalid secret foo1/bar1: does not contain field githubAppInstallationID (it has githubAppID)"),
        (HTTPS, "githubAppID=1 githubAppInstallationID=2".to_owned(), "invalid secret foo1/bar1: does not contain field githubAppPrivateKey (it has githubAppID, githubAppInstallationID)"),
        (HTTPS, "githubAppID=abc githubAppInstallationID=2".to_owned(), "invalid value in field githubAppID: it is no number"),
        (HTTPS, "githubAppID=1 githubAppInstallationID=abc".to_owned(), "invalid value in field githubAppInstallationID: it is no number"),
        (HTTPS, "githubAppInstallationID=101".to_owned(), "invalid repository credentials in secret foo1/bar1: does not contain githubAppID or username (it has githubAppInstallationID)"),
        (HTTPS, "username=u password=p".to_owned(), "https u:p"),
        (HTTPS, "username=u password=p insecure=true".to_owned(), "https u:p insecure"),
        (HTTPS, "username=u".to_owned(), "invalid secret foo1/bar1: does not contain field password (it has username)"),
        (HTTPS, "bearerToken=T".to_owned(), "bearer T"),
        (HTTPS, String::new(), "invalid repository credentials in secret foo1/bar1: does not contain githubAppID or username (it has none)"),
        ("http://h/o/r", "username=u password=p".to_owned(), "unknown repository type; with a named Secret the URL begins with https:// or is an SSH address"),
        ("ftp://h/o/r", "username=u password=p".to_owned(), "unknown repository type; with a named Secret the URL begins with https:// or is an SSH address"),
    ];
    for (repo, fields, expected) in rows {
        let access = GitSources::default().named(repo, "foo1/bar1", &secret("s", "", &fields));
        let told = match access {
            Ok(GitAccess::Login(login)) => shown(&login),
            other => told(other),
        };
        let wrapped =
            format!("GitCredentialsMissing: could not get creds for repo '{repo}': {expected}");
        assert!(told == expected || told == wrapped, "{repo} {fields}: {told}");
    }
}

#[test]
fn a_named_secret_is_of_the_applications_own_namespace() {
    #[rustfmt::skip]
    let rows = [
        ("creds",      Ok(("team", "creds"))),
        ("team/creds", Ok(("team", "creds"))),
        ("other/creds", Err("CredentialSourceForbidden: could not get creds for repo 'https://***@h/r': secret namespace 'other' differs from app namespace 'team'; use a Secret of the Application's own namespace")),
        ("a/b/c",      Err("GitCredentialsMissing: could not get creds for repo 'https://***@h/r': wrong writeBackConfig.method format specified git:secret: 'a/b/c'")),
        ("/c",         Err("GitCredentialsMissing: could not get creds for repo 'https://***@h/r': wrong writeBackConfig.method format specified git:secret: '/c'")),
    ];
    for (reference, expected) in rows {
        let found = named_secret("https://u:p@h/r", reference, "team");
        let found = found.as_ref().map(|(namespace, name)| (&**namespace, &**name));
        let found = found.map_err(|error| format!("{}: {error}", error.reason()));
        assert_eq!(found, expected.map_err(str::to_owned), "{reference}");
    }
}

#[test]
fn a_prefix_never_ends_inside_of_a_hosts_name() {
    #[rustfmt::skip]
    let rows = [
        ("https://h.io/o/r",     "https://h.io",     true),
        ("https://h.io/o/r",     "https://h.io/",    true),
        ("https://h.io:8443/o",  "https://h.io",     true),
        ("https://h.io/org/r",   "https://h.io/o",   true),
        ("https://h.io.evil/o",  "https://h.io",     false),
        ("git@h.io/o/r",         "git@h.io",         true),
        ("git@h.io.evil/o/r",    "git@h.io",         false),
        ("https://h.io/o",       "https://h.io/o/r", false),
    ];
    for (wanted, prefix, expected) in rows {
        assert_eq!(begins_with(wanted, prefix), expected, "{wanted} {prefix}");
    }
}
