//! Who may ask: credentials from every source, at a registry that checks them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::super::same;
use super::{Site, Stand, application};
use crate::files::{read, write};
use crate::peers::registries::{Guarded, Tokens};

/// A registry under Azure's domain, as the program knows it by name; a proxy leads there.
const ACR: &str = "acme.azurecr.io";
/// Who shows a refresh token there.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";
const TOKEN: &str = "refresh-token-of-today";

/// What a script of the field does, and a line for each of its runs.
const SCRIPT: &str = r#"#!/bin/sh
set -e
echo run >> "$(dirname "$0")/runs"
echo "00000000-0000-0000-0000-000000000000:$(cat "$AZURE_FEDERATED_TOKEN_FILE")"
"#;

/// A registry that wants tokens, under Azure's name, and a folder with a script that signs in.
struct Azure<'w> {
    tokens: Tokens,
    registry: Guarded,
    site: Site<'w>,
    /// The path of the script.
    script: String,
}

impl<'w> Azure<'w> {
    async fn prepare(stand: &Stand<'w>, name: &str) -> Result<Self> {
        let tokens = Tokens::start(&stand.folder).await?;
        tokens.allow(NOBODY, TOKEN);
        let registry = stand.guarded(&format!("{name}-registry"), &tokens.section()).await?;
        let mut site = stand.site(name)?;
        let script = site.folder.join("auth/auth.sh");
        write(&site.folder, "auth/auth.sh", SCRIPT)?;
        may_run(&script, 0o755)?;
        write(&site.folder, "token", TOKEN)?;
        site.set("AZURE_FEDERATED_TOKEN_FILE", &site.folder.join("token").display().to_string());
        // Names are the proxy's to find, and it is the registry; its token service is beside it.
        site.set("HTTP_PROXY", registry.url());
        site.set("NO_PROXY", "127.0.0.1");
        site.keep_secret(TOKEN);
        let script = script.display().to_string();
        site.registries(&[&format!(
            "{{name: acme, api_url: 'http://{ACR}', prefix: {ACR}, default: true, credentials: 'ext:{script}', credsexpire: 1h}}"
        )])?;
        Ok(Self { tokens, registry, site, script })
    }

    /// How often the script ran.
    fn runs(&self) -> Result<usize> {
        Ok(read(&self.site.folder, "auth/runs")?.lines().count())
    }
}

fn may_run(file: &Path, mode: u32) -> Result<()> {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(file, permissions).context("cannot change the mode of a file")
}

/// Spec 00 S0.1, the registry's side, for two images.
pub(super) async fn script(stand: &Stand<'_>) -> Result<()> {
    for repository in ["script/web", "script/job"] {
        stand.push(repository, &["1.0.0", "1.1.0", "1.2.0"]).await?;
    }
    let azure = Azure::prepare(stand, "script").await?;
    let site = &azure.site;
    site.manifest("all.yaml", WEB_AND_JOB)?;
    let pass = site.pass("first").await?;
    pass.updated(&[("web", "web"), ("job", "job")], "1.2.0")?;
    for line in [
        "Setting new image to acme.azurecr.io/script/web:1.2.0",
        "Successfully updated image 'acme.azurecr.io/script/web:1.0.0' to 'acme.azurecr.io/script/web:1.2.0', but pending spec update (dry run=false)",
        "Successfully updated the live application spec",
        "Processing results: applications=2 images_considered=2 images_skipped=0 images_updated=2 errors=0",
        "found 3 from 3 tags eligible for consideration",
    ] {
        ensure!(pass.log.contains(line), "no `{line}` in {}", pass.log);
    }
    let written = site.text("all.yaml")?;
    same("all.yaml", &written, &WEB_AND_JOB.replace(":1.0.0", ":1.2.0"))?;

    ensure!(azure.runs()? == 1, "the script ran {} times", azure.runs()?);
    let mut scopes: Vec<String> = azure.tokens.told().into_iter().map(|told| told.scope).collect();
    scopes.sort();
    let scope = |name: &str| format!("repository:script/{name}:pull,metadata_read,content_read");
    ensure!(scopes == [scope("job"), scope("web")], "{scopes:?}");
    let users = azure.tokens.told();
    ensure!(users.iter().all(|told| told.user == NOBODY && told.status == 200), "{users:?}");
    same("asked", &azure.registry.asked(3).await?.shown(), "2 tags 200, 1 tags 401")?;

    let pass = site.pass("second").await?;
    ensure!(pass.of("web", "web")? == "upToDate" && pass.code == Some(0), "{}", pass.log);
    same("all.yaml after a pass with nothing to do", &site.text("all.yaml")?, &written)?;
    #[rustfmt::skip]
    let explain = [
        "explain", "--manifests", "manifests", "--registries-conf-path", "registries.conf",
        "--cache-dir=cache", "--loglevel", "trace",
    ];
    let run = site.run("explain", &explain).await?;
    ensure!(run.code == Some(0) && run.said.contains("script/web"), "{}", run.said);
    ensure!(azure.runs()? == 3, "three runs of the program, {} of the script", azure.runs()?);
    Ok(())
}

/// Spec 00 S0.3.
pub(super) async fn laptop(stand: &Stand<'_>) -> Result<()> {
    stand.push("laptop/web", &["1.0.0", "1.1.0", "1.2.0"]).await?;
    let azure = Azure::prepare(stand, "laptop").await?;
    let image = format!("{ACR}/laptop/web");
    let arguments =
        ["test", &image, "--registries-conf-path", "registries.conf", "--loglevel", "info"];
    let run = azure.site.run("test", &arguments).await?;
    let words = format!("latest image according to constraint is {image}:1.2.0");
    ensure!(run.code == Some(0) && run.said.contains(&words), "{:?}{}", run.code, run.said);

    may_run(Path::new(&azure.script), 0o644)?;
    let run = azure.site.run("test-denied", &arguments).await?;
    let words = format!("error executing {}: ", azure.script);
    let told = run.said.contains(&words) && run.said.contains("permission denied");
    ensure!(run.code == Some(1) && told, "{:?}{}", run.code, run.said);
    Ok(())
}

const PASSWORD: &str = "s3cret-of-alice";
/// `alice` and the password, hashed as `htpasswd -B` does.
const USERS: &str = "alice:$2b$04$abcdefghijklmnopqrstuu.nAnwVQSlYbksAEpmghvBEUhZkyFlcy\n";

/// Spec 00 S2.3a, S2.3c and S4.6, beside all that works.
pub(super) async fn sources(stand: &Stand<'_>) -> Result<()> {
    stand.push("sources/web", &["1.0.0", "1.1.0"]).await?;
    write(&stand.folder, "users", USERS)?;
    let users = stand.folder.join("users").display().to_string();
    let section = format!("auth: {{htpasswd: {{realm: e2e, path: '{users}'}}}}\n");
    let registry = stand.guarded("basic", &section).await?;
    let mut site = stand.site("sources")?;
    site.keep_secret(PASSWORD);
    site.keep_secret(&format!("alice:{PASSWORD}"));
    site.set("LOGIN", &format!("alice:{PASSWORD}"));
    site.set("WRONG", &format!("alice:not-{PASSWORD}"));
    let script = site.folder.join("login.sh");
    write(&site.folder, "login.sh", "#!/bin/sh\necho \"$LOGIN\"\n")?;
    may_run(&script, 0o755)?;
    site.manifest("secrets.yaml", &secrets()?)?;
    let ext = format!("ext:{}", script.display());
    let host = registry.url().trim_start_matches("http://").to_owned();
    let refused = |source: &str| {
        format!("{host} does not show 'sources/web' to the credentials from '{source}'")
    };
    let (wrong, anonymous) =
        (refused("env:WRONG"), format!("{host} does not show 'sources/web' without credentials"));
    let (ok, unauthorized) = ("", "RegistryUnauthorized");
    #[rustfmt::skip]
    let rows = [
        // credentials; the reason and words of its sentence; what the registry was asked
        ("pullsecret:argocd/pull", ok, vec![], "1 tags 200, 1 tags 401"),
        ("secret:argocd/login#login", ok, vec![], "1 tags 200, 1 tags 401"),
        ("env:LOGIN", ok, vec![], "1 tags 200, 1 tags 401"),
        (&ext, ok, vec![], "1 tags 200, 1 tags 401"),
        ("env:WRONG", unauthorized, vec![&*wrong, "check that they are right and may pull it"], "2 tags 401"),
        ("", unauthorized, vec![&*anonymous, "give credentials for this registry"], "1 tags 401"),
        ("pullsecret:argocd/elsewhere", "PullSecretNoEntry", vec!["which has entries for other.example, third.example"], ""),
        ("pullsecret:argocd/none", "CredentialSecretMissing", vec!["none"], ""),
        ("env:NOWHERE", "CredentialSecretMissing", vec!["NOWHERE"], ""),
        ("ext:/no/such/script", "CredentialScriptFailed", vec!["/no/such/script"], ""),
    ];
    let images = [("web", "r.example/sources/web", "1.0.0")];
    let mut before = registry.asked(0).await?;
    let mut expected = 0;
    for (number, (source, reason, words, asked)) in rows.into_iter().enumerate() {
        let credentials = format!(", credentials: '{source}'");
        let credentials = if source.is_empty() { "" } else { &credentials };
        site.registries(&[&format!(
            "{{name: r, prefix: r.example, api_url: '{}'{credentials}}}",
            registry.url()
        )])?;
        site.manifest("app.yaml", &application("shop", &images, &[]))?;
        let pass = site.pass(&format!("pass-{number}")).await?;
        match reason {
            "" => pass.updated(&[("shop", "web")], "1.1.0")?,
            reason => {
                pass.failed("shop", "web", reason, &words).context(source.to_owned())?;
                let line = format!("reason={reason}");
                let error = |line: &str| line.contains("level=error");
                let told = pass.log.lines().any(|said| error(said) && said.contains(&line));
                ensure!(told, "{source}: no error in {}", pass.log);
            }
        }
        let counts =
            asked.split(", ").filter_map(|part| part.split(' ').next()?.parse::<usize>().ok());
        expected += counts.sum::<usize>();
        let now = registry.asked(expected).await?;
        same(&format!("asked for '{source}'"), &now.since(&before).shown(), asked)?;
        before = now;
    }
    Ok(())
}

/// Secrets in the forms that `kubectl create secret` gives.
fn secrets() -> Result<String> {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let entry =
        |host: &str, login: &str| serde_json::json!({"auths": {host: {"auth": encode(login)}}});
    let login = format!("alice:{PASSWORD}");
    let mut elsewhere = entry("other.example", &login);
    elsewhere["auths"]["third.example"] = serde_json::json!({"auth": encode(&login)});
    let pull = |name: &str, config: &serde_json::Value| {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson",
            "metadata": {"name": name, "namespace": "argocd"},
            "data": {".dockerconfigjson": encode(&config.to_string())},
        })
    };
    let field = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "argocd"},
        "data": {"login": encode(&login)},
    });
    let secrets = [pull("pull", &entry("r.example", &login)), pull("elsewhere", &elsewhere), field];
    let texts: Result<Vec<String>, _> = secrets.iter().map(serde_json::to_string).collect();
    Ok(texts?.join("\n---\n"))
}

/// Spec 00 S2.3b: whoever is known and may not is told what is missing; GitHub's registry calls it
/// a scope.
pub(super) async fn denied(stand: &Stand<'_>) -> Result<()> {
    stand.push("denied/web", &["1.0.0", "1.1.0"]).await?;
    let tokens = Tokens::start(&stand.folder).await?;
    tokens.deny("bob", "b0bs-pa55");
    let registry = stand.guarded("denied", &tokens.section()).await?;
    let mut site = stand.site("denied-site")?;
    site.set("HTTP_PROXY", registry.url());
    site.set("NO_PROXY", "127.0.0.1");
    site.set("LOGIN", "bob:b0bs-pa55");
    site.keep_secret("b0bs-pa55");
    let images = [("a", "ghcr.io/denied/web", "1.0.0"), ("b", "r.example/denied/web", "1.0.0")];
    site.registries(&[
        "{name: GitHub, prefix: ghcr.io, api_url: 'http://ghcr.io', credentials: 'env:LOGIN'}",
        "{name: r, prefix: r.example, api_url: 'http://r.example', credentials: 'env:LOGIN'}",
    ])?;
    site.manifest("app.yaml", &application("shop", &images, &[]))?;
    let pass = site.pass("pass").await?;
    let reason = "RegistryUnauthorized";
    let said = "the token lacks a scope";
    pass.failed("shop", "a", reason, &["'env:LOGIN'", said, "read:packages"])?;
    pass.failed("shop", "b", reason, &["'env:LOGIN'", said, "may pull it"])?;
    let told = tokens.told();
    ensure!(told.iter().all(|told| told.status == 403 && told.user == "bob"), "{told:?}");
    Ok(())
}

const WEB_AND_JOB: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source:
    repoURL: u
    kustomize:
      images:
      - acme.azurecr.io/script/web=acme.azurecr.io/script/web:1.0.0
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: job, namespace: argocd}
spec:
  source:
    repoURL: u
    kustomize:
      images:
      - acme.azurecr.io/script/job=acme.azurecr.io/script/job:1.0.0
---
apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {name: web, namespace: argocd}
spec:
  writeBackConfig: {method: argocd}
  applicationRefs:
    - namePattern: web
      images:
        - alias: web
          imageName: acme.azurecr.io/script/web
          commonUpdateSettings: {updateStrategy: semver}
          manifestTargets: {kustomize: {name: acme.azurecr.io/script/web}}
    - namePattern: job
      images:
        - alias: job
          imageName: acme.azurecr.io/script/job
          commonUpdateSettings: {updateStrategy: semver}
          manifestTargets: {kustomize: {name: acme.azurecr.io/script/job}}
";
