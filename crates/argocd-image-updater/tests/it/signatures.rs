//! Images that must be signed: what `cosign` signed is written, and nothing else is (spec 10
//! §10, 21 §4.2; SIG-025, SIG-026).

use std::fs;

use aiu_testkit::registry::Registry;
use tempfile::TempDir;

use crate::program::{Ran, pass, run};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A key of nobody in particular, by `openssl`.
const STRANGERS: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAExzSBrOQZhx3+ocRFFGEATj7ZVJKR
QirQjZHmifP2fZG03ovwPZicSMfNOqgVMcZ4gOQxGoyWP9uZoLVBEwXkUw==
-----END PUBLIC KEY-----
";

/// What cosign made; the same that the checks of `aiu-registry` are tested with.
macro_rules! made_by_cosign {
    ($name:literal) => {
        include_str!(concat!("../../../aiu-registry/tests/cosign/", $name))
    };
}

struct World {
    registry: Registry,
    folder: TempDir,
}

impl World {
    /// `web` has a signed newer tag, `job` an unsigned one. `spec` and `image` are added to the
    /// resource and to its image `web`.
    async fn new(spec: &str, image: &str) -> Self {
        let registry = Registry::start().await;
        let web = registry.repository("acme/web");
        web.tags(["1.0.0"]);
        let digest = web.push_raw("1.1.0", MANIFEST, made_by_cosign!("image.json"));
        web.push_blob(made_by_cosign!("payload.json").as_bytes());
        let signatures = made_by_cosign!("signatures.json");
        web.push_raw(&format!("{}.sig", digest.replace(':', "-")), MANIFEST, signatures);
        registry.repository("acme/job").tags(["1.0.0", "1.1.0"]);
        let folder = tempfile::tempdir().unwrap();
        let manifests = folder.path().join("manifests");
        fs::create_dir(&manifests).unwrap();
        let indented = |text: &str| text.replace('\n', "\n    ");
        let objects = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop, namespace: argocd}}
spec: {{source: {{repoURL: u, kustomize: {{images: ['registry.test/acme/web:1.0.0', 'registry.test/acme/job:1.0.0']}}}}}}
---
apiVersion: argocd-image-updater.argoproj.io/v1alpha1
kind: ImageUpdater
metadata: {{name: u, namespace: argocd}}
spec:
  {spec}
  applicationRefs:
  - namePattern: shop
    images:
    - {{alias: web, imageName: registry.test/acme/web{image}}}
    - {{alias: job, imageName: registry.test/acme/job, imagesVerification: {{enabled: false}}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: keys, namespace: argocd}}
stringData:
  ours: |
    {}
  theirs: |
    {}
  broken: no key
",
            indented(made_by_cosign!("cosign.pub")),
            indented(STRANGERS),
        );
        fs::write(manifests.join("all.yaml"), objects).unwrap();
        let conf = format!(
            "registries:\n- {{name: t, prefix: registry.test, api_url: '{}'}}\n",
            registry.url()
        );
        fs::write(folder.path().join("registries.conf"), conf).unwrap();
        Self { registry, folder }
    }

    fn run(&self) -> Ran {
        run(pass(self.folder.path()).args(["--loglevel", "debug"]))
    }
}

fn key(field: &str) -> String {
    format!("imagesVerification: {{cosignKey: {{secretName: keys, key: {field}}}}}")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_must_be_signed_is_written_only_if_it_is() {
    let image = |settings: String| format!(", {settings}");
    let ok = "argocd/shop  web    1.0.0  1.1.0  updated";
    let verified =
        "msg=\"Cosign signature verified successfully for registry.test/acme/web:1.1.0\"";
    let unverified =
        "level=error msg=\"Unable to verify image registry.test/acme/web:1.1.0 with public key: ";
    let left_out = "level=warning msg=\"Could not set images verification settings for image ";
    #[rustfmt::skip]
    let rows: [(String, String, &str, &str); 9] = [
        (key("ours"), String::new(), ok, verified),
        (String::new(), image(key("ours")), ok, verified),
        (key("theirs"), image(key("ours")), ok, verified),
        (key("theirs"), image("imagesVerification: {enabled: false}".to_owned()), ok, "updated"),
        (key("theirs"), String::new(), "failed: Unverified", unverified),
        (key("theirs"), String::new(), "failed: Unverified", "no matching signature found among 2 candidate(s)"),
        (key("missing"), String::new(), "left out: CredentialSecretMissing", left_out),
        (key("broken"), String::new(), "left out: Unverified", "unable to PEM decode public key"),
        ("imagesVerification: {}".to_owned(), String::new(), "left out: Unverified", "cosignKey is required when verification is enabled"),
    ];
    for (spec, image, result, line) in rows {
        let world = World::new(&spec, &image).await;
        let ran = world.run();
        let shown = format!("{spec} {image}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(result), "{shown}");
        assert!(ran.err.contains(line) || ran.out.contains(line), "no `{line}`: {shown}");
        assert!(ran.out.contains("job    1.0.0  1.1.0  updated"), "others go on: {shown}");
        let text = fs::read_to_string(world.folder.path().join("manifests/all.yaml")).unwrap();
        assert_eq!(text.contains("acme/web:1.1.0'"), result == ok, "{shown}");
    }
}

/// The check is made for what would be written, once for all, and not again and again.
#[tokio::test(flavor = "multi_thread")]
async fn checks_cost_requests_only_where_something_changes() {
    let world = World::new(&key("ours"), "").await;
    assert_eq!(world.run().code, Some(0));
    let counts = world.registry.counts();
    // Listings of both; the tag before and after; referrers; two tags; one payload, a layer each.
    let told = (
        counts.listings,
        counts.manifest_heads,
        counts.referrers,
        counts.manifest_gets,
        counts.blobs,
    );
    assert_eq!(told, (2, 2, 1, 2, 2));
    world.registry.reset_counts();
    assert_eq!(world.run().code, Some(0));
    let counts = world.registry.counts();
    assert_eq!((counts.all, counts.listings), (2, 2), "what is written already is not checked");
}
