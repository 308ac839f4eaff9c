//! What a pass costs, counted: questions and pushes follow repositories and branches, not
//! Applications.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// How many there are of what.
#[derive(Clone, Copy)]
struct Counts {
    repositories: usize,
    remotes: usize,
    applications_per_remote: usize,
    /// Of Applications.
    files: usize,
    applications_per_file: usize,
}

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

impl Counts {
    /// Applications of git alone.
    fn in_git(remotes: usize, applications_per_remote: usize) -> Self {
        let (files, applications_per_file) = (0, 0);
        Self { repositories: 40, remotes, applications_per_remote, files, applications_per_file }
    }

    fn image(self, number: usize) -> String {
        format!("ghcr.test/org/app-{}", number % self.repositories)
    }

    fn remote(number: usize) -> String {
        format!("https://git.test/team-{number}.git")
    }

    fn applications(self) -> usize {
        self.remotes * self.applications_per_remote + self.files * self.applications_per_file
    }

    /// Remotes with a kustomization for each of their Applications, and the manifests of all.
    fn given(self) -> Value {
        let mut git: BTreeMap<String, Value> = BTreeMap::new();
        let mut manifests: BTreeMap<String, String> = BTreeMap::new();
        for remote in 0..self.remotes {
            let url = Self::remote(remote);
            let mut files: BTreeMap<String, String> = BTreeMap::new();
            for number in 0..self.applications_per_remote {
                let image = self.image(remote * self.applications_per_remote + number);
                let text = format!("images:\n- name: {image}\n  newTag: 1.0.0 # keep\n");
                files.insert(format!("{number}/kustomization.yaml"), text);
                let source =
                    json!({ "repoURL": url, "path": number.to_string(), "targetRevision": "main" });
                let name = format!("git-{remote}-{number}");
                manifests.insert(format!("{name}.yaml"), application(&name, &image, &source, true));
            }
            git.insert(url, json!({ "main": files }));
        }
        for file in 0..self.files {
            let own = (0..self.applications_per_file)
                .map(|number| file * self.applications_per_file + number);
            let documents = own.map(|number| {
                let image = self.image(number);
                let images = json!({ "images": [format!("{image}:1.0.0")] });
                let source = json!({ "repoURL": "u", "kustomize": images });
                application(&format!("own-{number}"), &image, &source, false)
            });
            let text = documents.collect::<Vec<_>>().join("\n---\n") + "\n";
            manifests.insert(format!("own-{file}.yaml"), text);
        }
        let registry: BTreeMap<String, [&str; 2]> =
            (0..self.repositories).map(|number| (self.image(number), ["1.0.0", "1.1.0"])).collect();
        json!({ "registry": registry, "git": git, "manifests": manifests })
    }

    /// Two passes: one that updates everything, and one that finds nothing to do.
    fn play(self) {
        let Self { repositories, remotes, files, .. } = self;
        let commits: BTreeMap<String, Value> = (0..remotes)
            .map(|remote| (Self::remote(remote), json!({ "main": self.applications_per_remote })))
            .collect();
        let all = self.applications();
        let scenario = json!({
            "title": "many applications over few repositories and branches",
            "given": self.given(),
            "steps": [
                { "do": "pass", "then": {
                    "counts": {
                        "requests": repositories, "listings": repositories, "pushes": remotes,
                        "ls-remote": remotes, "fetch-tip": remotes, "fetch-blobs": remotes,
                        "file-writes": files,
                    },
                    "commits": commits,
                    "says": [format!("{all} applications, {all} images: {all} updated")],
                    "failed": false,
                }},
                { "do": "pass", "then": {
                    "counts": {
                        "requests": repositories, "pushes": 0, "ls-remote": remotes,
                        "git-processes": remotes, "file-writes": 0,
                    },
                    "says": [format!("{all} images: 0 updated, nothing left to do")],
                }},
            ],
        });
        crate::scenarios::play_text(&scenario.to_string()).unwrap();
    }
}

#[test]
fn two_hundred_applications_cost_forty_listings_and_ten_pushes() {
    Counts { files: 20, applications_per_file: 5, ..Counts::in_git(10, 10) }.play();
}

#[test]
fn five_hundred_applications_of_twenty_repositories_are_twenty_pushes() {
    Counts::in_git(20, 25).play();
}
