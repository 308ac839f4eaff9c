//! Long lists: as many requests as the registry gives pages.

use std::path::Path;

use anyhow::{Context, Result};

use super::super::same;
use super::{Stand, application};
use crate::files::write;
use crate::peers::registries::{Guarded, distribution};
use crate::push::Image;

const TAGS: usize = 5000;

/// Five of a thousand; behind a full one the registry always promises another, here an empty one.
pub(super) const PAGES: usize = 6;

pub(super) async fn thousands(stand: &Stand<'_>) -> Result<()> {
    five_thousand(stand, "pages/web").await?;
    let paged =
        Guarded::of(&distribution().await?, "paged", &stand.folder, &stand.data, &[], "").await?;
    let whole = stand.guarded("whole", "").await?;
    let site = stand.site("pages")?;
    // Debian's gives all at once, whatever is asked for.
    for (registry, tags) in [(&paged, PAGES), (&whole, 1)] {
        let entry = format!("{{name: r, prefix: r.example, api_url: '{}'}}", registry.url());
        site.registries(&[&entry])?;
        let images = [("web", "r.example/pages/web", "1.0.0")];
        site.manifest("app.yaml", &application("shop", &images, &[]))?;
        let pass = site.pass(&format!("pages-{tags}")).await?;
        pass.updated(&[("shop", "web")], &format!("1.{}.0", TAGS - 1))?;
        same("asked", &registry.asked(tags).await?.shown(), &format!("{tags} tags 200"))?;
    }
    Ok(())
}

/// Gives one image the tags `1.0.0`, `1.1.0` and so on, straight in the registry's files: pushing
/// takes a hundred times as long.
pub(super) async fn five_thousand(stand: &Stand<'_>, repository: &str) -> Result<()> {
    let digest = stand.open.push(repository, Image::new("1.0.0")).await?;
    let hex = digest.strip_prefix("sha256:").context("a digest of SHA-256")?;
    let tags = format!("docker/registry/v2/repositories/{repository}/_manifests/tags");
    for minor in 1..TAGS {
        let tag = Path::new(&tags).join(format!("1.{minor}.0"));
        for link in ["current/link".to_owned(), format!("index/sha256/{hex}/link")] {
            write(&stand.data, &tag.join(link).display().to_string(), &digest)?;
        }
    }
    Ok(())
}
