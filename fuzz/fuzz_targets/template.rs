//! `NAME NUL TAG NUL TEMPLATE`: a template is read or refused, and filled in with bounded time and
//! memory; what comes of it as a branch is a name that stays as it is.

#![no_main]

use std::collections::BTreeMap;

use aiu_core::batch::AppName;
use aiu_core::template::{
    BranchData, BranchImage, CommitData, CommitImage, Template, branch_name, request_text,
};
use fuzz::parts;
use libfuzzer_sys::fuzz_target;

/// More than any template may write.
const LIMIT: usize = 9 * 1024 * 1024;

fuzz_target!(|data: &[u8]| {
    let Some([name, tag, text]) = parts::<3>(data) else { return };
    let Ok(template) = Template::parse(text) else { return };
    let labels = BTreeMap::from([("revision".to_owned(), tag.to_owned())]);
    let change = CommitImage { image: name, old_tag: "1.0", new_tag: tag, labels: &labels };
    let changes = vec![change.clone(), change];
    let message = template.commit_message(&CommitData { app_name: name, changes });
    assert!(message.text.len() < LIMIT);
    let app = AppName { namespace: "argocd".into(), name: name.into() };
    let _ = request_text(&message.text, &app);

    let image = BranchImage { name, alias: "web", old_tag: "", new_tag: tag };
    let data =
        BranchData { images: vec![image], app_namespace: "ns", app_name: name, target_key: "0" };
    if let Ok(branch) = branch_name(&template, &data)
        && !branch.text.contains("{{")
    {
        let plain = Template::parse(&branch.text).expect("without actions all text is a template");
        assert_eq!(branch_name(&plain, &data).map(|name| name.text), Ok(branch.text));
    }
});
