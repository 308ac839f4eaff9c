//! What passes ask of a registry, counted: 200 Applications with three images each over 60
//! repositories of 400 tags, behind a token sign-in.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use aiu_controller::cluster::files::Manifests;
use aiu_controller::registries::RegistriesFile;
use aiu_controller::unlock::Keys;
use aiu_core::outcome::Outcome;
use aiu_core::registries::Registries;
use aiu_testkit::registry::{Access, Image, Registry};
use argocd_image_updater::commands::session::{Services, services};
use argocd_image_updater::settings::{Commits, Settings};
use tempfile::TempDir;

const APPLICATIONS: usize = 200;
const IMAGES: usize = 3;
const REPOSITORIES: usize = 60;
const TAGS: usize = 400;

struct World {
    registry: Registry,
    folder: TempDir,
    services: Services,
}

impl World {
    /// Applications whose images are `acme/app-N` in turn. `more` are further annotations.
    async fn new(applications: usize, images: usize, repositories: usize, more: &str) -> Self {
        // Whoever comes first in this process installs it.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let registry = Registry::start().await;
        let folder = tempfile::tempdir().unwrap();
        let manifests = folder.path().join("manifests");
        fs::create_dir(&manifests).unwrap();
        let mut text = String::new();
        for app in 0..applications {
            let own = (0..images).map(|image| (app * images + image) % repositories);
            let names: Vec<String> = own.map(|n| format!("registry.test/acme/app-{n}")).collect();
            let list: Vec<String> =
                names.iter().zip(0..).map(|(name, at)| format!("i{at}={name}TAG")).collect();
            let kustomize: Vec<String> =
                names.iter().map(|name| format!("'{name}:1.0.0'")).collect();
            let _ = write!(
                text,
                "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: app-{app}\n  annotations:\n    argocd-image-updater.argoproj.io/image-list: '{}'\n{more}spec: {{source: {{repoURL: u, kustomize: {{images: [{}]}}}}}}\n",
                list.join(","),
                kustomize.join(", "),
            );
        }
        let tag = if more.contains("digest") { ":stable" } else { "" };
        fs::write(manifests.join("all.yaml"), text.replace("TAG", tag)).unwrap();
        let conf = format!(
            "registries:\n- {{name: t, prefix: registry.test, api_url: '{}', limit: 0}}\n",
            registry.url()
        );
        let registries = RegistriesFile::from(Arc::new(Registries::parse(&conf).unwrap()));
        let settings = Settings::for_folder(manifests, folder.path().join("cache"));
        let commits = Commits::with_default_message(&settings);
        let keys = Keys::without_user(folder.path());
        let services = services(registries, &settings, &commits, keys, true).unwrap();
        Self { registry, folder, services }
    }

    /// A pass that writes nothing, with the counts of its own; how many images it would update.
    async fn pass(&self) -> usize {
        self.registry.reset_counts();
        let manifests = Manifests::load(&self.folder.path().join("manifests"), "argocd").unwrap();
        let report = self.services.session.pass(manifests).await;
        let failed = report.images.iter().find(|i| matches!(i.outcome, Outcome::Failed(_)));
        assert!(failed.is_none(), "{failed:?}");
        report.images.iter().filter(|i| matches!(i.outcome, Outcome::Updated(_))).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_costs_a_listing_and_a_token_for_each_repository_and_the_next_one_moves_nothing() {
    let world = World::new(APPLICATIONS, IMAGES, REPOSITORIES, "").await;
    world.registry.require(Access::bearer());
    world.registry.offer_etags();
    for number in 0..REPOSITORIES {
        let tags = (0..TAGS).map(|minor| format!("1.{minor}.0"));
        world.registry.repository(&format!("acme/app-{number}")).tags(tags);
    }
    assert_eq!(world.pass().await, APPLICATIONS * IMAGES);
    let counts = world.registry.counts();
    // One of the 61 listings is the one by which it is learned how to sign in.
    assert_eq!((counts.listings, counts.tokens), (REPOSITORIES + 1, REPOSITORIES));
    assert_eq!((counts.unauthorized, counts.pings), (1, 0));
    assert_eq!(counts.all, 2 * REPOSITORIES + 1);

    assert_eq!(world.pass().await, APPLICATIONS * IMAGES);
    let counts = world.registry.counts();
    assert_eq!((counts.all, counts.not_modified), (REPOSITORIES, REPOSITORIES));
}

#[tokio::test(flavor = "multi_thread")]
async fn following_a_digest_costs_one_look_at_each_tag_and_no_listing() {
    let more = "    argocd-image-updater.argoproj.io/update-strategy: digest\n";
    let world = World::new(40, 3, 12, more).await;
    for number in 0..12 {
        world.registry.repository(&format!("acme/app-{number}")).push("stable", &Image::new());
    }
    for pass in ["cold", "warm"] {
        assert_eq!(world.pass().await, 120, "{pass}");
        let counts = world.registry.counts();
        assert_eq!(counts.listings, 0, "{pass}");
        // Cold, one manifest and one config each tell the platform; both are kept by digest.
        let looks = counts.manifest_heads + counts.manifest_gets;
        assert_eq!(looks, 12, "{pass}: {counts:?}");
        assert_eq!(counts.manifest_heads == 12, pass == "warm", "{counts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_build_costs_listings_alone_where_nothing_is_new() {
    let more = "    argocd-image-updater.argoproj.io/update-strategy: newest-build\n";
    let world = World::new(40, 3, 12, more).await;
    for number in 0..12 {
        let repository = world.registry.repository(&format!("acme/app-{number}"));
        for day in 1..=20 {
            repository.push(
                &format!("b{day}"),
                &Image::new().created(&format!("2024-01-{day:02}T00:00:00Z")),
            );
        }
    }
    assert_eq!(world.pass().await, 120);
    let counts = world.registry.counts();
    assert_eq!((counts.listings, counts.manifest_gets, counts.manifest_heads), (12, 240, 0));
    assert_eq!(world.pass().await, 120);
    assert_eq!((world.registry.counts().all, world.registry.counts().listings), (12, 12));
}
