//! The registries file, looked at between passes: a new version counts without a restart, and a
//! broken one does not take the old one away (spec 11 G22; 40 B14).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aiu_core::registries::Registries;
use parking_lot::Mutex;
use tracing::{info, warn};

/// The registries in use. Where they came from a file, that file is read again before each pass:
/// it is small, and so mounts that swap a symbolic link need no watching.
pub struct RegistriesFile {
    path: Option<PathBuf>,
    held: Mutex<Held>,
}

struct Held {
    registries: Arc<Registries>,
    /// What was read the last time, good or not, so that nothing is said twice.
    seen: Seen,
}

#[derive(PartialEq, Eq)]
enum Seen {
    Text(String),
    Unreadable(ErrorKind),
    /// It is not there, or it is a folder: the registries are the built-in ones.
    None,
}

impl From<Arc<Registries>> for RegistriesFile {
    /// Registries that stay as they are.
    fn from(registries: Arc<Registries>) -> Self {
        Self { path: None, held: Mutex::new(Held { registries, seen: Seen::None }) }
    }
}

impl RegistriesFile {
    /// `registries` as they were read from `path` just now, or a version that was written since.
    pub fn at(path: &Path, registries: Arc<Registries>) -> Self {
        let seen = read(path);
        let registries = match &seen {
            Seen::Text(text) => Registries::parse(text).map_or(registries, Arc::new),
            Seen::Unreadable(_) | Seen::None => registries,
        };
        Self { path: Some(path.to_owned()), held: Mutex::new(Held { registries, seen }) }
    }

    /// The registries as of now. A version that cannot be used is told once.
    pub fn current(&self) -> Arc<Registries> {
        let (registries, refusal) = self.look();
        if let Some(refusal) = refusal {
            warn!(reason = "RegistriesInvalid", "{refusal}");
        }
        registries
    }

    /// The registries as of now, and what is new to tell about a version that cannot be used.
    fn look(&self) -> (Arc<Registries>, Option<String>) {
        let mut held = self.held.lock();
        let Some(path) = &self.path else { return (Arc::clone(&held.registries), None) };
        let seen = read(path);
        let mut refusal = None;
        if seen != held.seen {
            match take(path, &seen) {
                Ok(registries) => held.registries = registries,
                Err(cause) => {
                    refusal = Some(format!(
                        "could not load registry configuration: {}: {cause}; the registries loaded before stay in use until it is corrected",
                        path.display()
                    ));
                }
            }
            held.seen = seen;
        }
        (Arc::clone(&held.registries), refusal)
    }
}

fn read(path: &Path) -> Seen {
    match std::fs::read_to_string(path) {
        Ok(text) => Seen::Text(text),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {
            Seen::None
        }
        Err(error) => Seen::Unreadable(error.kind()),
    }
}

/// What a new version means; the error is a cause in words.
fn take(path: &Path, seen: &Seen) -> Result<Arc<Registries>, String> {
    let text = match seen {
        Seen::Text(text) => text,
        Seen::Unreadable(kind) => return Err(kind.to_string()),
        Seen::None => return Err("it is gone".to_owned()),
    };
    let registries = Registries::parse(text).map_err(|error| error.to_string())?;
    let count = registries.configured();
    info!("Loaded {count} registry configurations from {}", path.display());
    for notice in registries.notices() {
        warn!("{notice}");
    }
    Ok(Arc::new(registries))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn conf(limit: u32) -> String {
        format!(
            "registries:\n- {{name: t, prefix: r.test, api_url: 'https://r.test', limit: {limit}}}\n"
        )
    }

    fn limit(registries: &Registries) -> i64 {
        registries.endpoint_for(&"r.test/app".parse().unwrap()).limit
    }

    /// A ConfigMap as the kubelet mounts it: a link to a folder, which is swapped in one go.
    struct Mount(tempfile::TempDir);

    impl Mount {
        fn file(&self) -> PathBuf {
            self.0.path().join("registries.conf")
        }

        fn put(&self, version: &str, text: Option<&str>) {
            let folder = self.0.path().join(version);
            std::fs::create_dir(&folder).expect("a new version");
            if let Some(text) = text {
                std::fs::write(folder.join("registries.conf"), text).expect("a new file");
            }
            let next = self.0.path().join("..next");
            symlink(version, &next).expect("a free name");
            std::fs::rename(next, self.0.path().join("..data")).expect("one file system");
        }
    }

    #[test]
    fn each_pass_sees_the_newest_version_that_can_be_used() {
        let mount = Mount(tempfile::tempdir().unwrap());
        mount.put("1", Some(&conf(1)));
        symlink("..data/registries.conf", mount.file()).unwrap();
        let text = std::fs::read_to_string(mount.file()).unwrap();
        let first = Arc::new(Registries::parse(&text).unwrap());
        let file = RegistriesFile::at(&mount.file(), first);
        #[rustfmt::skip]
        let versions = [
            // what is mounted next, the limit that counts, warnings of two passes
            (Some(conf(2)), 2, 0),
            (Some("registries: [{name: t}]".to_owned()), 2, 1),
            (Some("registries: {".to_owned()), 2, 1),
            (None, 2, 1),
            (Some(conf(3)), 3, 0),
        ];
        for (number, (text, expected, warnings)) in versions.into_iter().enumerate() {
            mount.put(&format!("v{number}"), text.as_deref());
            let mut told = Vec::new();
            for _ in 0..2 {
                let (registries, refusal) = file.look();
                assert_eq!(limit(&registries), expected, "version {number}");
                told.extend(refusal);
            }
            assert_eq!(told.len(), warnings, "version {number}: {told:?}");
        }
    }

    #[test]
    fn a_file_that_comes_later_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("registries.conf");
        let file = RegistriesFile::at(&path, Arc::new(Registries::builtin()));
        assert_eq!(limit(&file.current()), 20);
        std::fs::write(&path, conf(5)).unwrap();
        assert_eq!(limit(&file.current()), 5);
    }
}
