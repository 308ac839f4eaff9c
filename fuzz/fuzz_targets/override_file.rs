//! Wishes for a file of parameter overrides: nothing but the list of its kind may differ.

#![no_main]

use aiu_core::edit::FileKind;
use fuzz::{Target, check_edit};
use libfuzzer_sys::fuzz_target;

const BLOCKS: [&str; 3] = ["helm", "kustomize", "plugin"];

fuzz_target!(|data: &[u8]| {
    check_edit(
        data,
        |words| {
            Some(Target::File(match words {
                ["helm-override"] => FileKind::HelmOverride,
                ["kustomize-override"] => FileKind::KustomizeOverride,
                ["plugin-override"] => FileKind::PluginOverride,
                _ => return None,
            }))
        },
        |path| path.first().is_none_or(|key| BLOCKS.contains(&key.as_str())),
    );
});
