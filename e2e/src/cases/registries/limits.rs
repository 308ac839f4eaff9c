//! Politeness: a registry that says how much it can bear, and one image that everybody runs.

use anyhow::{Result, ensure};

use super::super::same;
use super::{Stand, application};
use crate::files::subfolder;
use crate::peers::registries::{Limiter, Tokens};

/// Spec 00 S4.4, with nginx as the limit.
pub(super) async fn too_often(stand: &Stand<'_>) -> Result<()> {
    let names = ["limits/a", "limits/b", "limits/c", "limits/d"];
    for name in names.into_iter().chain(["limits/free"]) {
        stand.push(name, &["1.0.0", "1.1.0"]).await?;
    }
    let site = stand.site("limits")?;
    let aliases = ["a", "b", "c", "d"];
    let busy = ["a", "b", "c", "d"].map(|name| format!("busy.example/limits/{name}"));
    let images: Vec<(&str, &str, &str)> =
        aliases.iter().zip(&busy).map(|(alias, image)| (*alias, image.as_str(), "1.0.0")).collect();
    let free = format!("{{name: f, prefix: free.example, api_url: '{}'}}", stand.open.url());
    let prepare = |limiter: &Limiter| {
        site.registries(&[
            &format!("{{name: b, prefix: busy.example, api_url: '{}'}}", limiter.url()),
            &free,
        ])?;
        site.manifest("busy.yaml", &application("busy", &images, &[]))?;
        let images = [("web", "free.example/limits/free", "1.0.0")];
        site.manifest("free.yaml", &application("free", &images, &[]))
    };
    // One after the other, so that none is under way when the first one is refused.
    let one_by_one = ["--max-concurrent-apps", "1"];

    let folder = subfolder(&stand.folder, "limiter-long")?;
    let limiter = Limiter::start(&folder, &stand.open, 1, 90).await?;
    prepare(&limiter)?;
    let pass = site.pass_with("long", &one_by_one).await?;
    let told: Vec<String> =
        aliases.iter().map(|alias| pass.of("busy", alias)).collect::<Result<_>>()?;
    let updated = told.iter().filter(|told| *told == "updated to 1.1.0").count();
    let refused = told.iter().filter(|told| {
        told.starts_with("failed: RegistryRateLimited: ") && told.contains("to be left alone for ")
    });
    ensure!((updated, refused.count()) == (1, 3), "{told:?}");
    ensure!(pass.of("free", "web")? == "updated to 1.1.0", "the other registry: {}", pass.log);
    ensure!(pass.code == Some(1), "ended with {:?}", pass.code);
    let shown = limiter.asked(2).await?.shown();
    same("asked of one that wants a long rest", &shown, "1 tags 200, 1 tags 429")?;

    let folder = subfolder(&stand.folder, "limiter-short")?;
    let limiter = Limiter::start(&folder, &stand.open, 60, 1).await?;
    prepare(&limiter)?;
    let pass = site.pass_with("short", &one_by_one).await?;
    pass.updated(&aliases.map(|alias| ("busy", alias)), "1.1.0")?;
    let asked = limiter.asked(5).await?;
    ensure!(asked.of_kind("tags 200") == 4 && asked.of_kind("tags 429") >= 1, "{}", asked.shown());
    Ok(())
}

/// Spec 00 S4.5.
pub(super) async fn one_image_of_fifty(stand: &Stand<'_>) -> Result<()> {
    stand.push("library/nginx", &["1.24.0", "1.25.0", "1.25.1", "2.0.0"]).await?;
    let tokens = Tokens::start(&stand.folder).await?;
    tokens.allow("", "");
    let registry = stand.guarded("hub", &tokens.section()).await?;
    let site = stand.site("fifty")?;
    let entry = format!(
        "{{name: Docker Hub, prefix: docker.io, api_url: '{}', defaultns: library, default: true}}",
        registry.url()
    );
    site.registries(&[&entry])?;
    let names: Vec<String> = (0..50).map(|number| format!("app-{number}")).collect();
    let write = |tag: &str| {
        let texts: Vec<String> = names
            .iter()
            .map(|name| {
                application(name, &[("web", "nginx", tag)], &[])
                    .replace("web=nginx", "web=nginx:1.x")
            })
            .collect();
        site.manifest("all.yaml", &texts.join("---\n"))
    };
    let images: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "web")).collect();
    write("1.24.0")?;
    site.pass("first").await?.updated(&images, "1.25.1")?;
    let first = registry.asked(2).await?;
    same("asked", &first.shown(), "1 tags 200, 1 tags 401")?;
    ensure!(tokens.told().len() == 1, "{:?}", tokens.told());
    // Nothing is new: as few questions, and nothing is written.
    let before = site.text("all.yaml")?;
    let pass = site.pass("second").await?;
    ensure!(pass.of("app-0", "web")? == "upToDate", "{}", pass.log);
    same("manifests", &site.text("all.yaml")?, &before)?;
    let second = registry.asked(4).await?.since(&first);
    same("asked again", &second.shown(), "1 tags 200, 1 tags 401")
}
