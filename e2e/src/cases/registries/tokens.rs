//! Tokens: one for each registry, user and right, as long as it lasts.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::super::same;
use super::pages::{PAGES, five_thousand};
use super::{Stand, application};
use crate::peers::registries::{Fault, Faults, Guarded, Tokens, Told, distribution};

const PASSWORD: &str = "t0ken-buyers-pa55";

/// Six images over two repositories are two tokens, and a question without one.
pub(super) async fn one_for_each_scope(stand: &Stand<'_>) -> Result<()> {
    for repository in ["tokens/web", "tokens/job"] {
        stand.push(repository, &["1.0.0", "1.1.0"]).await?;
    }
    let tokens = Tokens::start(&stand.folder).await?;
    tokens.allow("alice", PASSWORD);
    let registry = stand.guarded("tokens", &tokens.section()).await?;
    let mut site = stand.site("tokens")?;
    site.set("LOGIN", &format!("alice:{PASSWORD}"));
    site.keep_secret(PASSWORD);
    site.registries(&[&entry(registry.url())])?;
    let images =
        [("web", "r.example/tokens/web", "1.0.0"), ("job", "r.example/tokens/job", "1.0.0")];
    for name in ["a", "b", "c"] {
        site.manifest(&format!("{name}.yaml"), &application(name, &images, &[]))?;
    }
    let pass = site.pass("pass").await?;
    for name in ["a", "b", "c"] {
        pass.updated(&[(name, "web"), (name, "job")], "1.1.0")?;
    }
    let mut told = tokens.told();
    told.sort_by(|a, b| a.scope.cmp(&b.scope));
    let given = |repository: &str| Told {
        user: "alice".to_owned(),
        scope: format!("repository:{repository}:pull"),
        status: 200,
    };
    ensure!(told == [given("tokens/job"), given("tokens/web")], "{told:?}");
    same("asked", &registry.asked(3).await?.shown(), "2 tags 200, 1 tags 401")?;

    // Whoever is not known is told so, once.
    site.set("LOGIN", &format!("alice:not-{PASSWORD}"));
    site.manifest("a.yaml", &application("a", &images[..1], &[]))?;
    for name in ["b", "c"] {
        site.manifest(&format!("{name}.yaml"), "")?;
    }
    let before = tokens.told().len();
    let pass = site.pass("wrong").await?;
    let words = ["'env:LOGIN'", "incorrect username or password"];
    pass.failed("a", "web", "RegistryUnauthorized", &words)?;
    let refused = &tokens.told()[before..];
    ensure!(refused.iter().all(|told| told.status == 401), "{refused:?}");
    // Credentials are fetched anew once, and asked with once more.
    ensure!(refused.len() <= 2, "{refused:?}");
    Ok(())
}

/// The registry's token ends while a list of several pages is read.
pub(super) async fn end_between_pages(stand: &Stand<'_>) -> Result<()> {
    five_thousand(stand, "tokens/long").await?;
    let tokens = Tokens::start(&stand.folder).await?;
    tokens.allow("alice", PASSWORD);
    tokens.next_is_short();
    let program = distribution().await?;
    let section = tokens.section();
    let registry = Guarded::of(&program, "ends", &stand.folder, &stand.data, &[], &section).await?;
    // The third question, for the second page, reaches the registry when the token has ended.
    let late = |number: usize, _: &str| match number {
        2 => Fault::Wait(Duration::from_millis(3500)),
        _ => Fault::None,
    };
    let before = Faults::before(registry.url(), late).await?;
    let mut site = stand.site("ends")?;
    site.set("LOGIN", &format!("alice:{PASSWORD}"));
    site.keep_secret(PASSWORD);
    site.registries(&[&entry(before.url())])?;
    let images = [("web", "r.example/tokens/long", "1.0.0")];
    site.manifest("app.yaml", &application("shop", &images, &[]))?;
    let pass = site.pass("pass").await?;
    pass.updated(&[("shop", "web")], "1.4999.0")?;
    let listed = pass.report.pointer("/images/0/tags").and_then(|tags| tags.as_array());
    let listed = listed.map_or(0, Vec::len);
    ensure!(listed == 5000, "{listed} tags, not 5000");
    // One refusal tells how to sign in, one that the token is over; and no page is asked twice.
    let shown = registry.asked(PAGES + 2).await?.shown();
    same("asked", &shown, &format!("{PAGES} tags 200, 2 tags 401"))?;
    ensure!(tokens.given().len() == 2, "{} tokens", tokens.given().len());
    ensure!(before.asked().len() == PAGES + 2, "{:?}", before.asked());
    Ok(())
}

fn entry(url: &str) -> String {
    format!("{{name: r, prefix: r.example, api_url: '{url}', credentials: 'env:LOGIN', limit: 0}}")
}
