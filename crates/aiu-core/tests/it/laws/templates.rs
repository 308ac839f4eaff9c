//! Templates: text stays as it is, names are accepted by git, and no template does harm.

use std::collections::BTreeMap;

use aiu_core::template::{BranchData, BranchImage, CommitData, CommitImage, Template, branch_name};
use proptest::prelude::*;

use super::few_cases;

const ACTIONS: &str = "(\\{\\{|\\}\\}|\\{\\{-? ?|end|else|range|if|with|define|template|block|break|\\.AppName|\\.AppChanges|\\.Image|\\$x?|:=|=|\"a\"|`|'|\\(|\\)|\\||len|index|printf|print|eq|/\\*|\\*/| -?|\\n|1|nil|é|\\\\){0,24}";

fn render(template: &Template) -> (String, bool) {
    let labels = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
    let change = CommitImage { image: "web", old_tag: "1.0", new_tag: "1.1", labels: &labels };
    let message = template
        .commit_message(&CommitData { app_name: "shop", changes: vec![change.clone(), change] });
    (message.text, message.failure.is_none())
}

fn branch(template: &str) -> Option<String> {
    let image = BranchImage { name: "org/web", alias: "web", old_tag: "", new_tag: "sha256:ab" };
    let data =
        BranchData { images: vec![image], app_namespace: "ns", app_name: "shop", target_key: "0" };
    let template = Template::parse(template).ok()?;
    branch_name(&template, &data).ok().map(|name| name.text)
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn text_without_actions_stays_as_it_is(text in "[ -z|}~é\\n]{0,40}") {
        prop_assert_eq!(render(&Template::parse(&text).unwrap()), (text, true));
    }

    #[test]
    fn quoted_text_is_shown_as_it_was(text in "[ -~é\\n\\t]{0,24}") {
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let template = Template::parse(&format!("{{{{ \"{quoted}\" }}}}")).unwrap();
        prop_assert_eq!(render(&template), (text, true));
    }

    #[test]
    fn any_template_is_read_or_refused(text in ACTIONS) {
        if let Ok(template) = Template::parse(&text) {
            render(&template);
        }
    }

    #[test]
    fn branch_names_are_accepted_by_git(text in "[ -z|}~./@-]{0,40}|(\\.|/|-|@\\{|\\.lock|a){0,12}") {
        if let Some(name) = branch(&text) {
            let fine = |part: &str| {
                !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none()
            };
            prop_assert!(name.split('/').all(fine), "{name}");
            prop_assert!(!name.starts_with('-') && !name.ends_with('.'), "{name}");
            prop_assert!(!name.contains("..") && !name.contains("@{"), "{name}");
            prop_assert!(!name.contains([' ', '~', '^', ':', '?', '*', '[', '\\']), "{name}");
            prop_assert_eq!(branch(&name), Some(name), "a valid name stays");
        }
    }
}
