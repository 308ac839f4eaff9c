//! Signatures that the real `cosign` makes, as [the guide](../../../../docs/guides/signatures.md)
//! tells.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::super::guide::Guide;
use super::super::same;
use super::{Site, Stand};
use crate::files::subfolder;
use crate::peers::registries::{Cosign, Guarded};
use crate::push::Image;

const WEB: &str = "acme/web";

/// A registry, the program that signs there, and a folder that wants signatures.
struct Given<'w> {
    registry: Guarded,
    cosign: Cosign,
    guide: Guide,
    site: Site<'w>,
}

pub(super) async fn by_the_guide(stand: &Stand<'_>) -> Result<()> {
    let given = Given::prepare(stand).await?;
    given.tags().await?;
    given.digests().await
}

impl<'w> Given<'w> {
    async fn prepare(stand: &Stand<'w>) -> Result<Self> {
        let data = stand.folder.join("signed");
        let registry = Guarded::start("signed", &stand.folder, &data, &[], "").await?;
        let (cosign, guide) = (Cosign::get().await?, Guide::read("signatures.md")?);
        let site = stand.site("signatures")?;
        let keys = guide.command("cosign generate-key-pair")?;
        ensure!(keys.is_empty(), "the guide has arguments for keys: {keys:?}");
        for folder in [&site.folder, &subfolder(&site.folder, "stranger")?] {
            cosign.run(&["generate-key-pair"], folder).await?;
        }
        let url = registry.url();
        site.registries(&[
            &format!("{{name: GitHub, prefix: ghcr.io, api_url: '{url}'}}"),
            &format!("{{name: Hub, prefix: docker.io, api_url: '{url}', defaultns: library, default: true}}"),
        ])?;
        let secret = guide.command("kubectl")?;
        let file = "--from-file=cosign.pub";
        let path = format!("{file}={}", site.folder.join("cosign.pub").display());
        let mut words: Vec<&str> = Vec::new();
        words.extend(secret.iter().map(|word| if word == file { &path } else { word.as_str() }));
        ensure!(words.contains(&path.as_str()), "the guide makes the Secret from {secret:?}");
        words.extend(["--dry-run=client", "-o", "yaml"]);
        site.manifest("secret.yaml", &stand.world.peers.kubernetes.kubectl_do(&words).await?)?;
        Ok(Self { registry, cosign, guide, site })
    }

    async fn push(&self, repository: &str, tag: &str, created: &str) -> Result<String> {
        self.registry.push(repository, Image { created, ..Image::new(tag) }).await
    }

    /// Signs as the guide says, with the key in the folder, at this registry, without the public
    /// log.
    async fn sign(&self, digest: &str, folder: &Path) -> Result<()> {
        let words = self.guide.command("cosign sign")?;
        let host = self.registry.url().trim_start_matches("http://");
        let image = format!("{host}/{WEB}@{digest}");
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let last = words.last_mut().filter(|word| word.starts_with("ghcr.io/acme/web@sha256:"));
        *last.context("the guide signs an image by digest")? = &image;
        let local = ["--yes", "--tlog-upload=false", "--allow-http-registry"];
        let words = [&["sign"], &local[..], &words].concat();
        self.cosign.run(&words, folder).await.map(drop)
    }

    /// The guide's `ImageUpdater`, over versions.
    async fn tags(&self) -> Result<()> {
        let site = &self.site;
        let (ours, stranger) = (site.folder.clone(), site.folder.join("stranger"));
        self.push(WEB, "1.0.0", "2026-01-01T00:00:00Z").await?;
        let signed = self.push(WEB, "1.1.0", "2026-01-02T00:00:00Z").await?;
        for tag in ["1.24.0", "1.25.0"] {
            self.push("library/nginx", tag, "2026-01-01T00:00:00Z").await?;
        }
        self.sign(&signed, &ours).await?;
        site.manifest("updater.yaml", self.guide.block("yaml", "kind: ImageUpdater")?)?;
        site.manifest("app.yaml", APPLICATION)?;
        let pass = site.pass("signed").await?;
        pass.updated(&[("shop-web", "web")], "1.1.0")?;
        pass.updated(&[("shop-web", "proxy")], "1.25.0")?;
        let line = "Cosign signature verified successfully for ghcr.io/acme/web:1.1.0";
        ensure!(pass.log.contains(line), "{}", pass.log);

        // Not signed at all, signed by a stranger, signed by both.
        let written = site.text("app.yaml")?;
        let newer = self.push(WEB, "1.2.0", "2026-01-03T00:00:00Z").await?;
        let unsigned = "no cosign signature found in OCI referrers or tag-based fallback";
        site.pass("unsigned").await?.failed("shop-web", "web", "Unverified", &[unsigned])?;
        same("manifest", &site.text("app.yaml")?, &written)?;
        self.sign(&newer, &stranger).await?;
        let strangers = "signature does not match public key";
        site.pass("strangers").await?.failed("shop-web", "web", "Unverified", &[strangers])?;
        same("manifest", &site.text("app.yaml")?, &written)?;
        self.sign(&newer, &ours).await?;
        site.pass("both").await?.updated(&[("shop-web", "web")], "1.2.0")
    }

    /// A tag that moves: what is written is the digest that was signed.
    async fn digests(&self) -> Result<()> {
        let site = &self.site;
        let updater = self.guide.block("yaml", "kind: ImageUpdater")?;
        let digest = "commonUpdateSettings: {updateStrategy: digest}";
        let updater = updater
            .replace("ghcr.io/acme/web:^1}", &format!("ghcr.io/acme/web:stable, {digest}}}"));
        ensure!(updater.contains(digest), "the guide's image is another one: {updater}");
        site.manifest("updater.yaml", &updater)?;
        site.manifest("app.yaml", &APPLICATION.replace("web:1.0.0", "web:stable"))?;
        for (day, round) in [(4, "first"), (5, "second")] {
            let before = site.text("app.yaml")?;
            let digest = self.push(WEB, "stable", &format!("2026-01-0{day}T00:00:00Z")).await?;
            let pass = site.pass(&format!("{round}-unsigned")).await?;
            pass.failed("shop-web", "web", "Unverified", &[])?;
            let image = |text: &str| {
                text.lines().find(|line| line.contains("acme/web")).unwrap_or_default().to_owned()
            };
            same("image", &image(&site.text("app.yaml")?), &image(&before))?;
            self.sign(&digest, &site.folder).await?;
            site.pass(&format!("{round}-signed")).await?;
            let found = image(&site.text("app.yaml")?);
            let expected = format!("ghcr.io/acme/web:stable@{digest}");
            ensure!(found.contains(&expected), "{found}, not {expected}");
        }
        Ok(())
    }
}

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop-web, namespace: argocd}
spec:
  source:
    repoURL: u
    kustomize:
      images:
      - ghcr.io/acme/web:1.0.0
      - nginx:1.24.0
";
