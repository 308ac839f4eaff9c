//! A certificate authority of a run's own, and the certificates that it signs, made by OpenSSL.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::files::read;
use crate::{packages, tool};

const NEW_KEY: [&str; 7] =
    ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"];

/// An authority that nobody trusts who is not told to.
pub(crate) struct Authority {
    folder: PathBuf,
}

impl Authority {
    /// Makes its key and certificate in the folder.
    pub(crate) async fn make(folder: &Path) -> Result<Self> {
        let authority = Self { folder: folder.to_owned() };
        let files = ["-keyout", "authority.key", "-out", "authority.crt"];
        let name = ["-days", "2", "-subj", "/CN=authority of a test run"];
        authority.openssl(&[&NEW_KEY[..], &files, &name].concat()).await?;
        Ok(authority)
    }

    /// Its certificate, as text.
    pub(crate) fn certificate(&self) -> Result<String> {
        read(&self.folder, "authority.crt")
    }

    /// Makes a key and a certificate for loopback; their files.
    pub(crate) async fn sign(&self, name: &str) -> Result<(PathBuf, PathBuf)> {
        let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
        let files = ["-keyout", &key, "-out", &certificate];
        let signed = ["-CA", "authority.crt", "-CAkey", "authority.key", "-days", "2"];
        let whom =
            ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
        let limits = ["-addext", "basicConstraints=critical,CA:FALSE"];
        self.openssl(&[&NEW_KEY[..], &files, &signed, &whom, &limits].concat()).await?;
        Ok((self.folder.join(key), self.folder.join(certificate)))
    }

    async fn openssl(&self, arguments: &[&str]) -> Result<()> {
        let openssl = packages::program("openssl")?;
        tool::output(openssl, arguments, &self.folder, &[]).await.context("no certificate")?;
        Ok(())
    }
}
