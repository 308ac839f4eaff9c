//! What the server was asked, as its own audit log has it: counts, without a proxy in between.

use std::collections::HashSet;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{ApiServer, USERS};
use crate::files::read;

pub(super) const FILE: &str = "audit.log";

/// One line per request, written before the answer goes out; of a watch, when it begins.
pub(super) const POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
";

/// A request that the server has answered.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Audited {
    #[serde(rename = "auditID")]
    id: String,
    user: Account,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub(crate) verb: String,
    #[serde(rename = "objectRef", default)]
    pub(crate) object: Object,
    #[serde(rename = "responseStatus", default)]
    answer: Answer,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Account {
    username: String,
}

/// What a request was about; empty for paths that are no resource.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Object {
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct Answer {
    code: u16,
}

impl Audited {
    /// The status code of the answer.
    pub(crate) fn code(&self) -> u16 {
        self.answer.code
    }

    /// As `patch applications`, `update imageupdaters/status`.
    pub(crate) fn line(&self) -> String {
        let Object { resource, subresource, .. } = &self.object;
        let slash = if subresource.is_empty() { "" } else { "/" };
        format!("{} {resource}{slash}{subresource}", self.verb)
    }
}

impl ApiServer {
    /// Every request of a user since the server was first started, in the order of the answers.
    pub(crate) fn asked_by(&self, user: &str) -> Result<Vec<Audited>> {
        let row = USERS.iter().find(|row| row.0 == user).context("no such user")?;
        let log = read(&self.folder, FILE)?;
        // The last line may still be under way.
        let (whole, _) = log.rsplit_once('\n').unwrap_or_default();
        let (mut asked, mut seen) = (Vec::new(), HashSet::new());
        for line in whole.lines() {
            let entry: Audited =
                serde_json::from_str(line).with_context(|| format!("not an entry: {line}"))?;
            // A watch has one line when it begins and one when it ends.
            if entry.user.username == row.1 && seen.insert(entry.id.clone()) {
                asked.push(entry);
            }
        }
        Ok(asked)
    }
}
