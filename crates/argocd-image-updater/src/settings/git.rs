//! What Argo CD's own variables say about git (spec 30 §3.3, §5.3).

use std::path::PathBuf;
use std::time::Duration;

use aiu_controller::unlock::GitFiles;
use aiu_git::GitSettings;
use aiu_git::credentials::AzureIdentity;

use super::{Environment, Reader};
use crate::line::duration::GoDuration;

/// Files and times.
#[derive(Clone, Debug)]
pub struct GitSurroundings {
    /// Whom git believes.
    pub files: GitFiles,
    /// `ARGOCD_EXEC_TIMEOUT`: how long one command may take.
    deadline: Option<Duration>,
    /// `ARGOCD_EXEC_FATAL_TIMEOUT`: how long a command that is asked to end may still take.
    grace: Option<Duration>,
    /// `ARGOCD_GITHUB_APP_CREDS_EXPIRATION_DURATION`: how long a token is used (F21).
    app_tokens: Option<Duration>,
    /// What Azure's webhook tells the pod of its identity.
    azure: Option<AzureIdentity>,
}

impl GitSurroundings {
    /// Reads the variables; what is none of the kind is told and not used.
    pub fn of(env: &Environment, reader: &mut Reader<'_>) -> Self {
        let folder = |variable: &str, default: &str| {
            PathBuf::from(env.text(variable).unwrap_or_else(|| default.to_owned()))
        };
        let known_hosts = folder("ARGOCD_SSH_DATA_PATH", "/app/config/ssh").join("ssh_known_hosts");
        let certificates = folder("ARGOCD_TLS_DATA_PATH", "/app/config/tls");
        let mut time = |variable: &str, what: &str, read: fn(&str) -> Option<Duration>| {
            let text = env.text(variable)?;
            let time = read(&text).filter(|time| !time.is_zero());
            if time.is_none() {
                reader.warn(format!("{variable} is '{text}', which is no {what}; it is not used"));
            }
            time
        };
        let duration = |text: &str| text.parse::<GoDuration>().ok()?.positive();
        let minutes = |text: &str| text.parse::<u32>().ok().map(|m| Duration::from_mins(m.into()));
        let azure = (|| {
            Some(AzureIdentity {
                client: env.text("AZURE_CLIENT_ID")?,
                tenant: env.text("AZURE_TENANT_ID")?,
                token_file: env.text("AZURE_FEDERATED_TOKEN_FILE")?.into(),
                authority: env.text("AZURE_AUTHORITY_HOST"),
            })
        })();
        Self {
            azure,
            files: GitFiles {
                known_hosts: Some(known_hosts).filter(|file| file.is_file()),
                certificates: Some(certificates).filter(|folder| folder.is_dir()),
            },
            deadline: time("ARGOCD_EXEC_TIMEOUT", "duration such as 90s", duration),
            grace: time("ARGOCD_EXEC_FATAL_TIMEOUT", "duration such as 10s", duration),
            app_tokens: time(
                "ARGOCD_GITHUB_APP_CREDS_EXPIRATION_DURATION",
                "number of minutes",
                minutes,
            ),
        }
    }

    /// Hands them to git.
    pub fn apply(&self, git: &mut GitSettings) {
        git.deadline = self.deadline.unwrap_or(git.deadline);
        git.grace = self.grace.unwrap_or(git.grace);
        git.azure.clone_from(&self.azure);
        git.app_token_lifetime = self.app_tokens.unwrap_or(git.app_token_lifetime);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use aiu_git::GitSettings;

    use super::{Environment, GitSurroundings, Reader};
    use crate::line::{Line, Verb};

    #[test]
    fn times_are_argo_cds_and_nonsense_is_told() {
        #[rustfmt::skip]
        let rows = [
            // timeout, fatal timeout, minutes of a token, seconds of each, told
            ("", "", "", (90, 10, 3600), 0),
            ("2m30s", "5s", "30", (150, 5, 1800), 0),
            ("soon", "-1s", "0", (90, 10, 3600), 3),
        ];
        for (timeout, fatal, minutes, expected, told) in rows {
            let env = Environment::of([
                ("ARGOCD_EXEC_TIMEOUT", timeout),
                ("ARGOCD_EXEC_FATAL_TIMEOUT", fatal),
                ("ARGOCD_GITHUB_APP_CREDS_EXPIRATION_DURATION", minutes),
            ]);
            let (line, none) = (Line::bare(Verb::Run), BTreeMap::new());
            let mut reader = Reader::new(&line, &env, &none);
            let mut git = GitSettings::new("/x");
            GitSurroundings::of(&env, &mut reader).apply(&mut git);
            let times =
                [git.deadline, git.grace, git.app_token_lifetime].map(|it| Duration::as_secs(&it));
            assert_eq!((times[0], times[1], times[2]), expected, "{timeout}");
            assert_eq!(reader.into_warnings().len(), told, "{timeout}");
        }
    }
}
