//! What a pass costs, counted: questions and pushes follow repositories and branches, not
//! Applications.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const REPOSITORIES: usize = 40;
const REMOTES: usize = 10;
const APPLICATIONS_PER_REMOTE: usize = 10;
const APPLICATIONS_IN_FILES: usize = 100;
const APPLICATIONS_PER_FILE: usize = 5;

fn application(name: &str, image: &str, source: &Value, by_git: bool) -> String {
    let prefix = "argocd-image-updater.argoproj.io";
    let mut annotations =
        BTreeMap::from([(format!("{prefix}/image-list"), format!("app={image}"))]);
    if by_git {
        annotations.insert(format!("{prefix}/write-back-method"), "git".to_owned());
        annotations.insert(format!("{prefix}/write-back-target"), "kustomization".to_owned());
    }
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": { "name": name, "annotations": annotations },
        "spec": { "source": source },
    })
    .to_string()
}

fn image(number: usize) -> String {
    format!("ghcr.test/org/app-{}", number % REPOSITORIES)
}

/// Remotes with a kustomization for each of their Applications, and the manifests of all.
fn given() -> Value {
    let mut git: BTreeMap<String, Value> = BTreeMap::new();
    let mut manifests: BTreeMap<String, String> = BTreeMap::new();
    for remote in 0..REMOTES {
        let url = format!("https://git.test/team-{remote}.git");
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for number in 0..APPLICATIONS_PER_REMOTE {
            let image = image(remote * APPLICATIONS_PER_REMOTE + number);
            let text = format!("images:\n- name: {image}\n  newTag: 1.0.0 # keep\n");
            files.insert(format!("{number}/kustomization.yaml"), text);
            let source =
                json!({ "repoURL": url, "path": number.to_string(), "targetRevision": "main" });
            let name = format!("git-{remote}-{number}");
            manifests.insert(format!("{name}.yaml"), application(&name, &image, &source, true));
        }
        git.insert(url, json!({ "main": files }));
    }
    for file in 0..APPLICATIONS_IN_FILES / APPLICATIONS_PER_FILE {
        let own = (0..APPLICATIONS_PER_FILE).map(|number| file * APPLICATIONS_PER_FILE + number);
        let documents = own.map(|number| {
            let image = image(number);
            let source =
                json!({ "repoURL": "u", "kustomize": { "images": [format!("{image}:1.0.0")] } });
            application(&format!("own-{number}"), &image, &source, false)
        });
        let text = documents.collect::<Vec<_>>().join("\n---\n") + "\n";
        manifests.insert(format!("own-{file}.yaml"), text);
    }
    let registry: BTreeMap<String, [&str; 2]> =
        (0..REPOSITORIES).map(|number| (image(number), ["1.0.0", "1.1.0"])).collect();
    json!({ "registry": registry, "git": git, "manifests": manifests })
}

#[test]
fn two_hundred_applications_cost_forty_listings_and_ten_pushes() {
    let files = APPLICATIONS_IN_FILES / APPLICATIONS_PER_FILE;
    let commits: BTreeMap<String, Value> = (0..REMOTES)
        .map(|remote| (format!("https://git.test/team-{remote}.git"), json!({ "main": 10 })))
        .collect();
    let scenario = json!({
        "title": "two hundred applications over forty repositories and ten branches",
        "given": given(),
        "steps": [
            { "do": "pass", "then": {
                "counts": {
                    "requests": REPOSITORIES, "listings": REPOSITORIES, "pushes": REMOTES,
                    "ls-remote": REMOTES, "fetch-tip": REMOTES, "fetch-blobs": REMOTES,
                    "file-writes": files,
                },
                "commits": commits,
                "says": ["200 applications, 200 images: 200 updated"],
                "failed": false,
            }},
            { "do": "pass", "then": {
                "counts": {
                    "requests": REPOSITORIES, "pushes": 0, "ls-remote": REMOTES,
                    "fetch-tip": 0, "fetch-blobs": 0, "file-writes": 0,
                },
                "says": ["200 images: 0 updated, nothing left to do"],
            }},
        ],
    });
    crate::scenarios::play_text(&scenario.to_string()).unwrap();
}
