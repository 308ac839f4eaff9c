//! A folder whose registry is signed in to as the identity of this program in a cloud: one word
//! in `registries.conf`, and nothing secret in what is said, at any level.

use std::fs;
use std::process::Command;

use aiu_testkit::cloud::{Aws, Google, pod_token};
use aiu_testkit::registry::{Access, Registry};
use tempfile::TempDir;

use crate::program::{Ran, command, pass, run};

const ECR: &str = "000011112222.dkr.ecr.eu-north-1.amazonaws.com";
const ROLE: &str = "arn:aws:iam::000011112222:role/pull";
const SUBJECT: &str = "system:serviceaccount:argocd:argocd-image-updater";

/// A folder with two Applications that use images of the host.
fn folder(host: &str, api_url: &str, entry: &str, strategy: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manifests = folder.path().join("manifests");
    fs::create_dir(&manifests).expect("a fresh folder");
    for name in ["web", "job"] {
        let app = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  annotations:
    argocd-image-updater.argoproj.io/image-list: app={host}/acme/{name}
    argocd-image-updater.argoproj.io/app.update-strategy: {strategy}
    argocd-image-updater.argoproj.io/app.allow-tags: regexp:.
spec: {{source: {{repoURL: u, kustomize: {{images: ['{host}/acme/{name}:1.0.0']}}}}}}
"
        );
        fs::write(manifests.join(format!("{name}.yaml")), app).expect("room on the disk");
    }
    let conf = format!(
        "registries:\n- {{name: t, prefix: {host}, api_url: '{api_url}', limit: 0, {entry}}}\n"
    );
    fs::write(folder.path().join("registries.conf"), conf).expect("room on the disk");
    folder
}

async fn registry(user: &str, password: &str) -> Registry {
    let registry = Registry::start().await;
    for name in ["acme/web", "acme/job"] {
        registry.repository(name).tags(["1.0.0", "1.1.0"]);
    }
    registry.require(Access::bearer_for(user, password));
    registry
}

/// Runs it and sees to it that nothing secret is said.
fn ran(command: &mut Command) -> Ran {
    let ran = run(command.env("IMAGE_UPDATER_LOGLEVEL", "trace"));
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains("SECRET"), "{text}");
    }
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn one_word_signs_in_to_ecr() {
    let registry = registry("AWS", "SECRET-ecr-1").await;
    let aws = Aws::start().await;
    aws.trust(ROLE, SUBJECT);
    let folder = folder(ECR, &registry.url(), "credentials: aws", "semver");
    let token = folder.path().join("token");
    fs::write(&token, pod_token(SUBJECT)).unwrap();
    let mut command = pass(folder.path());
    command.env("AWS_ENDPOINT_URL", aws.url()).env("AWS_ROLE_ARN", ROLE);
    let without = ran(&mut command);
    assert!(without.out.contains("failed: IdentityMissing"), "{}", without.out);
    let sentence = "AWS_ROLE_ARN is set, and AWS_WEB_IDENTITY_TOKEN_FILE is not; EKS sets both";
    assert!(format!("{}{}", without.out, without.err).contains(sentence), "{}", without.err);

    let with = ran(command.env("AWS_WEB_IDENTITY_TOKEN_FILE", &token));
    assert_eq!(with.code, Some(0), "{}{}", with.out, with.err);
    assert_eq!(with.out.matches("1.1.0  updated").count(), 2, "{}", with.out);
    assert_eq!(aws.asked().join(" "), "AssumeRoleWithWebIdentity GetAuthorizationToken");
    let counts = registry.counts();
    assert_eq!((counts.listings - counts.unauthorized, counts.tokens), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn push_dates_decide_and_are_told_as_such() {
    let registry = registry("AWS", "SECRET-ecr-1").await;
    let aws = Aws::start().await;
    aws.know("AKIAENV");
    let digest = format!("sha256:{}", "0".repeat(64));
    for name in ["acme/web", "acme/job"] {
        // Pushed in another order than built and named.
        aws.push(name, "1.1.0", &digest, 1_700_000_000.0);
        aws.push(name, "1.0.0", &digest, 1_600_000_000.0);
    }
    let entry = "credentials: aws, dates: pushed";
    let folder = folder(ECR, &registry.url(), entry, "newest-build");
    let mut command = command(&[
        "explain",
        "--manifests",
        "manifests",
        "--registries-conf-path",
        "registries.conf",
    ]);
    command.current_dir(folder.path()).env("AWS_ENDPOINT_URL", aws.url());
    command.env("AWS_ACCESS_KEY_ID", "AKIAENV").env("AWS_SECRET_ACCESS_KEY", "SECRET");
    let told = ran(&mut command);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    let line = "1.1.0 [pushed 2023-11-14T22:13:20Z] is chosen";
    assert_eq!(told.out.matches(line).count(), 2, "{}", told.out);
    assert_eq!(registry.counts().manifest_gets, 0, "no image is looked at");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_word_signs_in_to_artifact_registry() {
    let registry = registry("oauth2accesstoken", "SECRET-google-1").await;
    let google = Google::start().await;
    google.run_as("pull@acme.iam.gserviceaccount.com", true);
    let host = "europe-docker.pkg.dev";
    let folder = folder(host, &registry.url(), "credentials: gcp", "semver");
    let mut command = pass(folder.path());
    let with = ran(command.env("GCE_METADATA_HOST", google.host()));
    assert_eq!(with.code, Some(0), "{}{}", with.out, with.err);
    assert_eq!(with.out.matches("1.1.0  updated").count(), 2, "{}", with.out);
    assert_eq!(google.asked().join(" "), "email token");
}
