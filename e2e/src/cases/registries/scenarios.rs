//! What users report, where no other file of these cases has its place.

use anyhow::{Context, Result, ensure};

use super::{Stand, application};
use crate::push::Image;

/// Spec 00 S3.8: no tag is for the platform that the program runs on.
pub(super) async fn other_platform(stand: &Stand<'_>) -> Result<()> {
    for (day, tag) in [(1, "build-1"), (2, "build-2")] {
        let created = format!("2026-02-0{day}T12:00:00Z");
        let image = Image { tag, created: &created, architecture: "s390x" };
        stand.open.push("platform/web", image).await?;
    }
    let site = stand.site("platform")?;
    let url = stand.open.url();
    site.registries(&[&format!("{{name: r, prefix: r.example, api_url: '{url}'}}")])?;
    let images = [("app", "r.example/platform/web", "build-1")];
    let strategy = "app.update-strategy: latest";
    site.manifest("app.yaml", &application("shop", &images, &[strategy]))?;
    let pass = site.pass("pass").await?;
    let image = pass.report.pointer("/images/0").context("a report has images")?;
    ensure!(image["outcome"] == "noCandidate", "{image}");
    let tags = image["tags"].as_array().cloned().unwrap_or_default();
    let wrong = tags.iter().filter(|tag| tag["verdict"] == "WrongPlatform");
    ensure!(wrong.count() == 2, "{tags:?}");
    let findings = image["findings"].to_string();
    for words in
        ["WrongPlatform", "a wanted platform (linux/", "set 'platforms' to what it is built for"]
    {
        ensure!(findings.contains(words), "no `{words}` in {findings}");
    }

    let more = [strategy, "app.platforms: linux/s390x"];
    site.manifest("app.yaml", &application("shop", &images, &more))?;
    site.pass("wanted").await?.updated(&[("shop", "app")], "build-2")
}
