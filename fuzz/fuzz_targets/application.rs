//! Wishes for an Application's own spec: nothing but the lists of its sources may differ.

#![no_main]

use aiu_core::edit::SourceRef;
use fuzz::{Target, check_edit};
use libfuzzer_sys::fuzz_target;

const LISTS: [(&str, &str); 3] =
    [("helm", "parameters"), ("kustomize", "images"), ("plugin", "env")];

fuzz_target!(|data: &[u8]| {
    check_edit(
        data,
        |words| {
            let ["application", source, document] = words else { return None };
            let source = match *source {
                "single" => SourceRef::Single,
                "dry" => SourceRef::DrySource,
                index => SourceRef::Multi(index.parse().ok()?),
            };
            Some(Target::Application { source, document: document.parse().ok()? })
        },
        |path| {
            path.first().is_some_and(|key| key == "spec")
                && LISTS.iter().any(|(block, list)| {
                    let block = path.iter().position(|key| key == block);
                    block.is_some_and(|at| path.get(at + 1).is_none_or(|key| key == list))
                })
        },
    );
});
