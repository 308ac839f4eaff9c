//! Networks that fail: bounded time, one reason, and nobody else pays.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::{Site, Stand, application};
use crate::cases::Tally;
use crate::peers::free_address;
use crate::peers::registries::{Fault, Faults, Guarded};
use crate::process::Process;

pub(super) const STALLED: &str =
    "a registry that stops in the middle of an answer is given up after a minute";

/// How long a pass may take that waits a minute for an answer.
const LIMIT: Duration = Duration::from_mins(4);

/// How often a call is made in all, if its connection breaks.
const ATTEMPTS: usize = 3;

fn entry(host: &str, url: &str) -> String {
    format!("{{name: {host}, prefix: {host}.example, api_url: '{url}', limit: 0}}")
}

/// One Application with an image at each host; the alias is that of the host.
fn everywhere(site: &Site<'_>, repository: &str, hosts: &[(&str, &str)]) -> Result<()> {
    let entries: Vec<String> = hosts.iter().map(|(host, url)| entry(host, url)).collect();
    site.registries(&entries.iter().map(String::as_str).collect::<Vec<_>>())?;
    let names: Vec<String> =
        hosts.iter().map(|(host, _)| format!("{host}.example/{repository}")).collect();
    let images: Vec<(&str, &str, &str)> =
        hosts.iter().zip(&names).map(|((host, _), name)| (*host, name.as_str(), "1.0.0")).collect();
    site.manifest("app.yaml", &application("shop", &images, &[]))
}

pub(super) async fn broken(stand: &Stand<'_>) -> Result<()> {
    stand.push("faults/web", &["1.0.0", "1.1.0"]).await?;
    let url = stand.open.url();
    let once = |number: usize, _: &str| if number == 0 { Fault::Cut } else { Fault::None };
    let once = Faults::before(url, once).await?;
    let always = Faults::before(url, |_, _| Fault::Cut).await?;
    let slow = Faults::before(url, |_, _| Fault::SlowHead(Duration::from_millis(50))).await?;
    let site = stand.site("faults")?;
    let hosts =
        [("once", once.url()), ("always", always.url()), ("slow", slow.url()), ("good", url)];
    everywhere(&site, "faults/web", &hosts)?;
    let pass = site.pass("pass").await?;
    let host = always.url().trim_start_matches("http://");
    let words = [host, "the connection broke (", "this may pass, it is asked again"];
    pass.failed("shop", "always", "RegistryUnreachable", &words)?;
    for alias in ["once", "slow", "good"] {
        let told = pass.of("shop", alias)?;
        ensure!(told == "updated to 1.1.0", "{alias}: {told}{}", pass.log);
    }
    for (what, faults, expected) in
        [("once", &once, 2), ("always", &always, ATTEMPTS), ("slow", &slow, 1)]
    {
        let asked = faults.asked();
        ensure!(asked.len() == expected, "{what} is asked {expected} times, not {asked:?}");
    }
    let told = pass.log.matches("reason=RegistryUnreachable").count();
    ensure!(told == 1, "told {told} times: {}", pass.log);
    Ok(())
}

/// Spec 00 S2.7b.
pub(super) async fn reset_every_second(stand: &Stand<'_>) -> Result<()> {
    let aliases = ["a", "b", "c", "d"];
    let names = aliases.map(|alias| format!("r.example/reset/{alias}"));
    for alias in aliases {
        stand.push(&format!("reset/{alias}"), &["1.0.0", "1.1.0"]).await?;
    }
    let turn =
        |number: usize, _: &str| if number.is_multiple_of(2) { Fault::Reset } else { Fault::None };
    let faults = Faults::before(stand.open.url(), turn).await?;
    let site = stand.site("reset")?;
    site.registries(&[&entry("r", faults.url())])?;
    let images: Vec<(&str, &str, &str)> =
        aliases.iter().zip(&names).map(|(alias, name)| (*alias, name.as_str(), "1.0.0")).collect();
    site.manifest("app.yaml", &application("shop", &images, &[]))?;
    // One after the other, so that it is known whose turn it is.
    let pass = site.pass_with("pass", &["--max-concurrent-apps", "1"]).await?;
    pass.updated(&aliases.map(|alias| ("shop", alias)), "1.1.0")?;
    ensure!(!pass.log.contains("level=error"), "{}", pass.log);
    ensure!(faults.asked().len() == 2 * aliases.len(), "{:?}", faults.asked());
    Ok(())
}

/// Spec 00 S2.7a.
pub(super) async fn no_such_host(stand: &Stand<'_>) -> Result<()> {
    stand.push("faults/named", &["1.0.0", "1.1.0"]).await?;
    let site = stand.site("no-such-host")?;
    let hosts = [("lost", "http://registry.invalid"), ("good", stand.open.url())];
    everywhere(&site, "faults/named", &hosts)?;
    let pass = site.pass("pass").await?;
    let words = ["registry.invalid cannot be reached", "its name does not resolve"];
    pass.failed("shop", "lost", "RegistryUnreachable", &words)?;
    let told = pass.of("shop", "good")?;
    ensure!(told == "updated to 1.1.0", "the other registry: {told}");
    Ok(())
}

/// Spec 00 S2.7c.
pub(super) async fn proxy(stand: &Stand<'_>) -> Result<()> {
    stand.push("faults/behind", &["1.0.0", "1.1.0"]).await?;
    let mut site = stand.site("proxy")?;
    everywhere(&site, "faults/behind", &[("r", stand.open.url())])?;
    let nobody = free_address()?;
    site.set("HTTP_PROXY", &format!("http://carol:pr0xy-pa55@{nobody}"));
    site.keep_secret("pr0xy-pa55");
    let pass = site.pass("through").await?;
    let host = stand.open.url().trim_start_matches("http://");
    let words = [host, "no connection (connection refused)", "proxy variables"];
    pass.failed("shop", "r", "RegistryUnreachable", &words)?;
    site.set("NO_PROXY", "127.0.0.1");
    site.pass("past").await?.updated(&[("shop", "r")], "1.1.0")
}

/// A pass that waits for two answers which never come to an end.
pub(in crate::cases) struct Stalled<'w> {
    site: Site<'w>,
    process: Process,
    body: Faults,
    head: Faults,
    _registry: Guarded,
}

impl<'w> Stalled<'w> {
    /// Begins it, if it is asked for.
    pub(super) async fn begin(tally: &mut Tally, stand: &Stand<'w>) -> Option<Self> {
        if tally.skips(STALLED) {
            return None;
        }
        match Self::start(stand).await {
            Ok(stalled) => Some(stalled),
            Err(error) => {
                tally.case(STALLED, async { Err(error) }).await;
                None
            }
        }
    }

    async fn start(stand: &Stand<'w>) -> Result<Self> {
        stand.push("faults/stalled", &["1.0.0", "1.1.0"]).await?;
        let registry = stand.guarded("stalled", "").await?;
        let body = Faults::before(registry.url(), |_, _| Fault::StalledBody).await?;
        let head = Faults::before(registry.url(), |_, _| Fault::Wait(LIMIT * 2)).await?;
        let site = stand.site("stalled-site")?;
        let hosts = [("body", body.url()), ("head", head.url()), ("good", registry.url())];
        everywhere(&site, "faults/stalled", &hosts)?;
        let process = site.begin_pass("pass")?;
        Ok(Self { site, process, body, head, _registry: registry })
    }

    /// Waits for its end, and looks at what came of it.
    pub(in crate::cases) async fn finish(self, tally: &mut Tally) {
        tally.case(STALLED, self.ended()).await;
    }

    async fn ended(mut self) -> Result<()> {
        let status = self.process.ended(LIMIT).await?;
        let pass = self.site.told("pass", status.code())?;
        for (alias, faults) in [("body", &self.body), ("head", &self.head)] {
            pass.failed("shop", alias, "RegistryUnreachable", &["no answer within 60s"])?;
            // Another minute would be no better spent.
            ensure!(faults.asked().len() == 1, "{alias}: {:?}", faults.asked());
        }
        let told = pass.of("shop", "good")?;
        ensure!(told == "updated to 1.1.0", "the other registry: {told}{}", pass.log);
        Ok(())
    }
}
