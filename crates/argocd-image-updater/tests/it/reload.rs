//! Passes of one process, between which the operator changes something: no restart is needed, and
//! nothing that works is lost to a mistake (spec 00 S3.4, S3.5; 40 B14).

use std::fs;
use std::sync::Arc;

use aiu_controller::cluster::files::Manifests;
use aiu_controller::registries::RegistriesFile;
use aiu_controller::report::CycleReport;
use aiu_controller::unlock::Keys;
use aiu_core::outcome::Outcome;
use aiu_core::registries::Registries;
use aiu_testkit::registry::{Access, Registry};
use argocd_image_updater::commands::session::{Services, services};
use argocd_image_updater::settings::{Commits, Settings};
use tempfile::TempDir;

struct World {
    registry: Registry,
    folder: TempDir,
    services: Services,
}

impl World {
    /// One Application with an image of a registry that `registries.conf` names.
    async fn new(access: Access, credentials: &str) -> Self {
        // Whoever comes first in this process installs it.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let registry = Registry::start().await;
        registry.repository("acme/web").tags(["1.0.0", "1.1.0"]);
        registry.require(access);
        let folder = tempfile::tempdir().unwrap();
        let manifests = folder.path().join("manifests");
        fs::create_dir(&manifests).unwrap();
        let app = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  annotations:
    argocd-image-updater.argoproj.io/image-list: web=registry.test/acme/web
spec: {source: {repoURL: u, kustomize: {images: ['registry.test/acme/web:1.0.0']}}}
";
        fs::write(manifests.join("app.yaml"), app).unwrap();
        let conf = conf(&registry, credentials);
        let path = folder.path().join("registries.conf");
        fs::write(&path, &conf).unwrap();
        let registries = Arc::new(Registries::parse(&conf).unwrap());
        let settings = Settings::for_folder(manifests, folder.path().join("cache"));
        let commits = Commits::with_default_message(&settings);
        let keys = Keys::without_user(folder.path());
        let registries = RegistriesFile::at(&path, registries);
        let services = services(registries, &settings, &commits, keys, true).unwrap();
        Self { registry, folder, services }
    }

    fn secret(&self, login: &str) {
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: creds, namespace: argocd}}\nstringData: {{login: '{login}'}}\n"
        );
        fs::write(self.folder.path().join("manifests/secret.yaml"), text).unwrap();
    }

    fn conf(&self, text: &str) {
        fs::write(self.folder.path().join("registries.conf"), text).unwrap();
    }

    async fn pass(&self) -> CycleReport {
        let manifests = Manifests::load(&self.folder.path().join("manifests"), "argocd").unwrap();
        self.services.session.pass(manifests).await
    }

    /// `updated`, or the reason.
    async fn told(&self) -> String {
        match &self.pass().await.images[0].outcome {
            Outcome::Updated(change) => format!("to {}", change.to),
            Outcome::Failed(failure) => failure.reason.to_owned(),
            other => format!("{other:?}"),
        }
    }
}

fn conf(registry: &Registry, credentials: &str) -> String {
    format!(
        "registries:\n- {{name: t, prefix: registry.test, api_url: '{}'{credentials}}}\n",
        registry.url()
    )
}

const UPDATED: &str = "to registry.test/acme/web:1.1.0";

/// Spec 00 S3.5.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_comes_later_needs_no_restart() {
    let secret = ", credentials: 'secret:argocd/creds#login', credsexpire: 1h";
    let world = World::new(Access::basic("alice", "first"), secret).await;
    assert_eq!(world.told().await, "CredentialSecretMissing");
    assert_eq!(world.registry.counts().all, 0, "nobody asks without the credentials meant for it");
    world.secret("alice:first");
    assert_eq!(world.told().await, UPDATED);
}

/// Spec 00 S3.4: a Secret is read in each pass, so that not even one request is refused for a
/// password that was replaced; a token that went with it is fetched anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_replaced_counts_at_once() {
    let secret = ", credentials: 'secret:argocd/creds#login', credsexpire: 1h";
    for access in [Access::basic, Access::bearer_for] {
        let world = World::new(access("alice", "first"), secret).await;
        world.secret("alice:first");
        assert_eq!(world.told().await, UPDATED);
        world.registry.require(access("alice", "second"));
        world.registry.revoke_tokens();
        world.registry.reset_counts();
        world.secret("alice:second");
        assert_eq!(world.told().await, UPDATED);
        assert!(world.registry.counts().unauthorized <= 1, "{:?}", world.registry.counts());
    }
}

/// Spec 40 B14: the file is looked at before each pass.
#[tokio::test(flavor = "multi_thread")]
async fn the_registries_file_counts_from_the_next_pass_on() {
    let world = World::new(Access::Open, "").await;
    assert_eq!(world.told().await, UPDATED);
    let other = Registry::start().await;
    other.repository("acme/web").tags(["1.0.0", "1.1.0", "1.2.0"]);
    world.conf("registries: [{name: t, prefix: registry.test, api_url");
    assert_eq!(world.told().await, UPDATED, "a broken version leaves the old one in use");
    world.conf(&conf(&other, ""));
    assert_eq!(world.told().await, "to registry.test/acme/web:1.2.0");
}
