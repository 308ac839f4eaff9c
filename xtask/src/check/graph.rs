//! The crates of the workspace and their direct dependencies, as cargo states them.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cargo;

/// Every crate of the workspace.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) packages: Vec<Package>,
}

pub(super) struct Package {
    pub(super) name: String,
    /// Path of its `Cargo.toml` from the root.
    pub(super) manifest: String,
    pub(super) dependencies: Vec<Dependency>,
}

pub(super) struct Dependency {
    pub(super) name: String,
    /// The key in the manifest, which differs from the name if the crate is renamed there.
    pub(super) key: String,
    pub(super) kind: Kind,
    /// A crate of this workspace.
    pub(super) ours: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    #[default]
    Normal,
    Dev,
    Build,
}

impl Graph {
    pub(super) fn load() -> Result<Self> {
        Self::parse(&cargo::output(&["metadata", "--no-deps", "--format-version", "1"])?)
    }

    /// Reads the JSON of `cargo metadata --no-deps`.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let metadata: wire::Metadata =
            serde_json::from_slice(json).context("cannot read what `cargo metadata` printed")?;
        let root = metadata.workspace_root;
        let packages = metadata.packages.into_iter().map(|package| package.into_package(&root));
        Ok(Self { packages: packages.collect() })
    }
}

/// What `cargo metadata` prints, as far as it is read here.
mod wire {
    use serde::Deserialize;

    use super::Kind;

    #[derive(Deserialize)]
    pub(super) struct Metadata {
        pub(super) packages: Vec<Package>,
        pub(super) workspace_root: String,
    }

    #[derive(Deserialize)]
    pub(super) struct Package {
        name: String,
        manifest_path: String,
        dependencies: Vec<Dependency>,
    }

    #[derive(Deserialize)]
    struct Dependency {
        name: String,
        rename: Option<String>,
        /// `null` for a normal one.
        kind: Option<Kind>,
        /// Only where the dependency is a folder.
        path: Option<String>,
    }

    impl Package {
        pub(super) fn into_package(self, root: &str) -> super::Package {
            let manifest = self.manifest_path.strip_prefix(root).unwrap_or(&self.manifest_path);
            super::Package {
                name: self.name,
                manifest: manifest.trim_start_matches('/').to_owned(),
                dependencies: self
                    .dependencies
                    .into_iter()
                    .map(Dependency::into_dependency)
                    .collect(),
            }
        }
    }

    impl Dependency {
        fn into_dependency(self) -> super::Dependency {
            super::Dependency {
                key: self.rename.unwrap_or_else(|| self.name.clone()),
                name: self.name,
                kind: self.kind.unwrap_or_default(),
                ours: self.path.is_some(),
            }
        }
    }
}
