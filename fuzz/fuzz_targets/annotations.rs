//! Lines `KEY=VALUE`: annotations of an Application are read or refused.

#![no_main]

use std::collections::BTreeMap;

use aiu_api::PREFIX;
use aiu_api::annotations::{any, read, unread};
use aiu_core::batch::AppName;
use fuzz::parts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([text]) = parts::<1>(data) else { return };
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let annotations: BTreeMap<_, _> =
        pairs.map(|(key, value)| (format!("{PREFIX}/{key}"), value.to_owned())).collect();
    assert_eq!(any(&annotations), !annotations.is_empty());
    let app = AppName { namespace: "argocd".into(), name: "shop".into() };
    if let Ok(read) = read(&app, &annotations) {
        assert!(!read.images.is_empty());
        let _ = unread(&annotations, &read.images);
    }
});
