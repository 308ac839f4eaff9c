use serde_json::json;

use super::*;

fn config(text: &str) -> Option<WriteBackConfig> {
    serde_saphyr::from_str(text).unwrap()
}

/// Spec 21 §4.3, by number: what the resource says, what the reference says, and what holds.
#[test]
fn write_back_is_the_references_where_it_says_something() {
    let git = "{method: git, gitConfig: {repository: g, branch: g}}";
    let pr = |forge: &str| format!("{{gitConfig: {{pullRequest: {{{forge}}}}}}}");
    let (github, gitlab) = (pr("github: {}"), pr("gitlab: {}"));
    let labelled = |label: &str| pr(&format!("github: {{}}, labels: [{label}]"));
    let target = |path: &str| format!("{{gitConfig: {{writeBackTarget: 'helmvalues:{path}'}}}}");
    let branch = |name: &str| format!("{{gitConfig: {{branch: {name}}}}}");
    #[rustfmt::skip]
    let rows: [(&str, &str, serde_json::Value); 23] = [
        ("null", "null", json!({})),
        ("{}", "null", json!({})),
        ("{method: git}", "null", json!({"method": "git"})),
        ("{}", "{}", json!({})),
        ("null", "{method: git}", json!({"method": "git"})),
        ("null", "{}", json!({})),
        ("{method: git}", "{}", json!({"method": "git"})),
        ("{method: git}", "{method: argocd}", json!({"method": "argocd"})),
        (git, "null", json!({"method": "git", "gitConfig": {"repository": "g", "branch": "g"}})),
        ("null", "{gitConfig: {repository: a, branch: a}}", json!({"gitConfig": {"repository": "a", "branch": "a"}})),
        (git, &branch("a"), json!({"method": "git", "gitConfig": {"repository": "g", "branch": "a"}})),
        (git, "{}", json!({"method": "git", "gitConfig": {"repository": "g", "branch": "g"}})),
        ("{method: git}", "{gitConfig: {repository: a}}", json!({"method": "git", "gitConfig": {"repository": "a"}})),
        (&target("global/values.yaml"), &target("app/values.yaml"), json!({"gitConfig": {"writeBackTarget": "helmvalues:app/values.yaml"}})),
        (&target("global/values.yaml"), &branch("a"), json!({"gitConfig": {"branch": "a", "writeBackTarget": "helmvalues:global/values.yaml"}})),
        ("{method: git}", &github, json!({"method": "git", "gitConfig": {"pullRequest": {"github": {}}}})),
        ("{method: git}", &gitlab, json!({"method": "git", "gitConfig": {"pullRequest": {"gitlab": {}}}})),
        (&github, &github, json!({"gitConfig": {"pullRequest": {"github": {}}}})),
        (&labelled("image-update"), &branch("main"), json!({"gitConfig": {"branch": "main", "pullRequest": {"github": {}, "labels": ["image-update"]}}})),
        (&labelled("global-label"), &labelled("app-label"), json!({"gitConfig": {"pullRequest": {"github": {}, "labels": ["app-label"]}}})),
        (&labelled("global-label"), &github, json!({"gitConfig": {"pullRequest": {"github": {}}}})),
        (&github, &gitlab, json!({"gitConfig": {"pullRequest": {"gitlab": {}}}})),
        (&github, &branch("a"), json!({"gitConfig": {"branch": "a", "pullRequest": {"github": {}}}})),
    ];
    for (number, (general, own, expected)) in (1..).zip(rows) {
        let levels = [config(general), config(own)].into_iter().flatten();
        let merged = levels.fold(WriteBackConfig::default(), |general, own| own.over(&general));
        assert_eq!(serde_json::to_value(&merged).unwrap(), expected, "row {number}");
    }
}
