//! nginx before a registry, with its own limit of questions.

use std::path::Path;

use anyhow::Result;

use super::access_log::AccessLog;
use super::{Asked, Guarded};
use crate::peers::free_address;
use crate::peers::git_http::{nginx_configuration, start_nginx};
use crate::process::Process;

/// A limit that listens.
pub(crate) struct Limiter {
    log: AccessLog,
    _server: Process,
}

impl Limiter {
    /// Lets so many questions pass in a minute, evenly, and answers others with 429 and, in
    /// seconds, `Retry-After`.
    pub(crate) async fn start(
        folder: &Path,
        behind: &Guarded,
        rate: u32,
        retry_after: u32,
    ) -> Result<Self> {
        let address = free_address()?;
        let behind = behind.url();
        let server = format!(
            "limit_req_zone $server_addr zone=all:64k rate={rate}r/m;
  server {{
    listen {address};
    access_log access.log combined;
    limit_req zone=all;
    limit_req_status 429;
    add_header Retry-After {retry_after} always;
    location / {{ proxy_pass {behind}; proxy_set_header Host $http_host; }}
  }}"
        );
        let server = start_nginx(folder, &address, &nginx_configuration(&server)).await?;
        let log = AccessLog::new(format!("http://{address}"), folder.join("access.log"))?;
        Ok(Self { log, _server: server })
    }

    pub(crate) fn url(&self) -> &str {
        self.log.url()
    }

    /// What the program asked so far, by nginx's own log.
    pub(crate) async fn asked(&self, expected: usize) -> Result<Asked> {
        self.log.asked(expected).await
    }
}
