//! The access log of a web server, in the format that all of them can write.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use reqwest::Client;
use tokio::time::{Instant, sleep};

use crate::peers::START;
use crate::process::GLANCE;

/// How the program introduces itself, as far as logs need it.
const PROGRAM: &str = "\"argocd-image-updater/";

/// The log of a server.
pub(crate) struct AccessLog {
    url: String,
    client: Client,
    file: PathBuf,
}

impl AccessLog {
    /// That of the server at `url`, which writes into the file.
    pub(crate) fn new(url: String, file: PathBuf) -> Result<Self> {
        let client = Client::builder().no_proxy().tls_danger_accept_invalid_certs(true);
        let client = client.build().context("cannot make an HTTP client")?;
        Ok(Self { url, client, file })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A client that minds no certificate.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What the program asked so far, by the server's own log: how many questions of each kind
    /// got which answer.
    ///
    /// A question is logged after its answer is sent. So this waits, for a while, until there are
    /// as many as expected, and until a later question of somebody else is logged.
    pub(crate) async fn asked(&self, expected: usize) -> Result<Asked> {
        let deadline = Instant::now() + START;
        while lines(&self.text()?).len() < expected && Instant::now() < deadline {
            sleep(GLANCE).await;
        }
        let mark = format!("/v2/?mark={}", self.text()?.len());
        // Whoever wants a client's certificate answers and logs nothing.
        if self.client.get(format!("{}{mark}", self.url)).send().await.is_ok() {
            let mark = format!("{mark} ");
            while !self.text()?.contains(&mark) && Instant::now() < deadline {
                sleep(GLANCE).await;
            }
        }
        Ok(Asked::of(&self.text()?))
    }

    fn text(&self) -> Result<String> {
        let file = &self.file;
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
    }
}

/// The lines of a log that are about the program.
fn lines(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains(PROGRAM)).collect()
}

/// Questions by kind and answer, such as `tags 200`, and how many there were of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked(BTreeMap<String, usize>);

impl Asked {
    fn of(log: &str) -> Self {
        let mut asked = Self::default();
        for line in lines(log) {
            let mut parts = line.split('"').skip(1);
            let (request, answer) = (parts.next(), parts.next());
            let target = request.and_then(|request| request.split(' ').nth(1)).unwrap_or_default();
            let status = answer.and_then(|answer| answer.split_whitespace().next());
            let line = format!("{} {}", kind(target), status.unwrap_or_default());
            *asked.0.entry(line).or_default() += 1;
        }
        asked
    }

    /// How many there were of one kind.
    pub(crate) fn of_kind(&self, kind: &str) -> usize {
        self.0.get(kind).copied().unwrap_or_default()
    }

    /// What came after an earlier count.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let more = self.0.iter().map(|(kind, count)| (kind.clone(), count - before.of_kind(kind)));
        Self(more.filter(|(_, count)| *count > 0).collect())
    }

    /// As text, such as `1 tags 200, 1 tags 401`; kinds in order.
    pub(crate) fn shown(&self) -> String {
        let shown: Vec<String> =
            self.0.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        shown.join(", ")
    }
}

/// What a question is about.
fn kind(target: &str) -> &'static str {
    let path = target.split('?').next().unwrap_or_default();
    match path {
        _ if path.ends_with("/v2/") => "root",
        _ if path.ends_with("/tags/list") => "tags",
        _ if path.contains("/manifests/") => "manifest",
        _ if path.contains("/blobs/") => "blob",
        _ if path.contains("/referrers/") => "referrers",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_counted_by_kind_and_answer() {
        let line = |target: &str, status: u16, agent: &str| {
            format!(
                "127.0.0.1 - - [01/Dec/2026:01:42:11 +0000] \"GET {target} HTTP/1.1\" {status} 87 \"\" \"{agent}\"\n"
            )
        };
        let log = [
            line("/v2/", 401, "curl/8"),
            line("/v2/a/b/tags/list?n=1000", 401, "argocd-image-updater/1"),
            line("/v2/a/b/tags/list?n=1000", 200, "argocd-image-updater/1"),
            line("/v2/a/b/tags/list?last=x&n=1000", 200, "argocd-image-updater/1"),
            line("/v2/a/b/manifests/1.0", 200, "argocd-image-updater/1"),
        ];
        let asked = Asked::of(&log.concat());
        assert_eq!(asked.shown(), "1 manifest 200, 2 tags 200, 1 tags 401");
        let before = Asked::of(&log[..3].concat());
        assert_eq!(asked.since(&before).shown(), "1 manifest 200, 1 tags 200");
    }
}
