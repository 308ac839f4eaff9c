//! The environment and the settings that every git command gets.

use std::ffi::{OsStr, OsString};

/// Settings against surprises from a user's configuration. Mirrors lack objects on purpose:
/// whatever would walk them in the background stays off.
pub(super) const SETTINGS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "protocol.version=2",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    "fetch.recurseSubmodules=no",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "fastimport.unpackLimit=1",
];

/// Variables of git's own that a user may set for the way to a remote. All others named
/// `GIT_…` would point git at another repository or turn its output into something else.
const USERS: [&str; 12] = [
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_NO_VERIFY",
];

/// The variables of commands, taken from this process once.
pub(super) struct Surroundings {
    inherited: Vec<(OsString, OsString)>,
    transports: &'static str,
}

impl Surroundings {
    pub(super) fn of_this_process(local_remotes: bool) -> Self {
        Self::of(std::env::vars_os().collect(), local_remotes)
    }

    fn of(all: Vec<(OsString, OsString)>, local_remotes: bool) -> Self {
        let is_gits = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
        let inherited = all
            .into_iter()
            .filter(|(name, _)| !is_gits(name) || USERS.iter().any(|known| name == known))
            .collect();
        let transports =
            if local_remotes { "http:https:ssh:git:file" } else { "http:https:ssh:git" };
        Self { inherited, transports }
    }

    /// All variables of a command. Without the user's configuration `HOME` is empty as well,
    /// so that no program started by git finds one.
    pub(super) fn variables(&self, users_configuration: bool) -> Vec<(OsString, OsString)> {
        let mut variables = self.inherited.clone();
        let mut set = |name: &str, value: &str| variables.push((name.into(), value.into()));
        set("LC_ALL", "C");
        set("LANGUAGE", "C");
        set("GIT_TERMINAL_PROMPT", "0");
        set("GIT_OPTIONAL_LOCKS", "0");
        set("GIT_NO_LAZY_FETCH", "1");
        set("GIT_NO_REPLACE_OBJECTS", "1");
        set("GIT_ALLOW_PROTOCOL", self.transports);
        if !users_configuration {
            set("HOME", "/dev/null");
            set("XDG_CONFIG_HOME", "/dev/null");
            set("GIT_CONFIG_GLOBAL", "/dev/null");
            set("GIT_CONFIG_NOSYSTEM", "1");
        }
        variables
    }
}

#[cfg(test)]
mod tests {
    use super::Surroundings;

    fn value(variables: &[(std::ffi::OsString, std::ffi::OsString)], name: &str) -> Option<String> {
        let found = variables.iter().rfind(|(key, _)| key == name)?;
        Some(found.1.to_string_lossy().into_owned())
    }

    #[test]
    fn the_repository_of_the_caller_is_forgotten_and_the_way_to_remotes_kept() {
        let all = ["PATH=/bin", "GIT_DIR=/x", "GIT_INDEX_FILE=/y", "GIT_SSH_COMMAND=ssh -4"];
        let all = all.iter().filter_map(|pair| pair.split_once('='));
        let surroundings =
            Surroundings::of(all.map(|(name, value)| (name.into(), value.into())).collect(), false);
        let variables = surroundings.variables(true);
        assert_eq!(value(&variables, "PATH").as_deref(), Some("/bin"));
        assert_eq!(value(&variables, "GIT_SSH_COMMAND").as_deref(), Some("ssh -4"));
        assert_eq!(value(&variables, "GIT_DIR"), None);
        assert_eq!(value(&variables, "GIT_INDEX_FILE"), None);
        assert_eq!(value(&variables, "GIT_CONFIG_GLOBAL"), None);
        assert_eq!(value(&variables, "GIT_ALLOW_PROTOCOL").as_deref(), Some("http:https:ssh:git"));
    }

    #[test]
    fn without_the_users_configuration_there_is_none() {
        let surroundings = Surroundings::of(vec![("HOME".into(), "/root".into())], true);
        let variables = surroundings.variables(false);
        assert_eq!(value(&variables, "HOME").as_deref(), Some("/dev/null"));
        assert_eq!(value(&variables, "GIT_CONFIG_GLOBAL").as_deref(), Some("/dev/null"));
        assert_eq!(value(&variables, "GIT_CONFIG_NOSYSTEM").as_deref(), Some("1"));
        let transports = value(&variables, "GIT_ALLOW_PROTOCOL");
        assert_eq!(transports.as_deref(), Some("http:https:ssh:git:file"));
    }
}
