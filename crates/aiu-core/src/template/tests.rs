use std::collections::BTreeMap;

use super::*;
use crate::batch::{AppName, ImageChange};
use crate::image::{Alias, ImageReference};

fn reference(text: &str) -> ImageReference {
    text.parse().unwrap_or_else(|error| panic!("'{text}': {error}"))
}

fn change(from: &str, to: &str) -> ImageChange {
    ImageChange {
        alias: None,
        from: Some(reference(from)),
        to: reference(to),
        labels: BTreeMap::new(),
    }
}

fn two_changes() -> [ImageChange; 2] {
    [change("foo/bar:1.0", "foo/bar:1.1"), change("ghcr.io/bar/baz:2.0", "ghcr.io/bar/baz:2.1")]
}

fn app() -> AppName {
    AppName { namespace: "team-a".into(), name: "shop".into() }
}

fn branch(template: &str, changes: &[ImageChange]) -> Result<BranchName, InvalidBranch> {
    let template = Template::parse(template).unwrap();
    branch_name(&template, &BranchData::new(&app(), "0badcafe", changes))
}

/// Spec 30 §5.1.
#[test]
fn the_default_message_lists_the_changes() {
    let message = commit_message(&Template::default_commit_message(), "foobar", &two_changes());
    assert_eq!(
        message.text,
        "build: automatic update of foobar\n\n\
         updates image foo/bar tag '1.0' to '1.1'\n\
         updates image bar/baz tag '2.0' to '2.1'\n"
    );
    assert_eq!(message.failure, None);
}

#[test]
fn messages_show_labels_digests_and_images_that_are_new() {
    let digest = format!("sha256:{}", "7".repeat(64));
    let mut change = change("web:1.0", &format!("web:1.1@{digest}"));
    change.from = None;
    change.labels.insert("revision".to_owned(), "abc123".to_owned());
    let template =
        "{{range .AppChanges}}{{.OldTag}}>{{.NewTag}} {{index .Labels \"revision\"}}{{end}}";
    let message = commit_message(&Template::parse(template).unwrap(), "shop", &[change]);
    assert_eq!(message.text, format!(">{digest} abc123"));
}

#[test]
fn a_message_that_fails_is_replaced_by_a_plain_one() {
    let message = commit_message(&Template::parse("a\n{{.Nope}}").unwrap(), "shop", &[]);
    assert_eq!(message.text, "build: update of application shop");
    let failure = message.failure.unwrap();
    assert_eq!((failure.line, failure.reason()), (2, "TemplateFailed"));
}

/// Spec 30 §2.4; with an alias, and with the fields that the original leaves empty (F6).
#[test]
fn branches_are_named() {
    let mut with_alias = change("reg.example.com/foo/bar:1.0", "reg.example.com/foo/bar:1.1");
    with_alias.alias = Alias::new("bar");
    let of_nginx = [change("nginx:1.0", "nginx:1.1")];
    #[rustfmt::skip]
    let rows: [(&str, &[ImageChange], &str); 8] = [
        ("feature",                                           &[],            "feature"),
        ("iu{{range .Images}}-{{.Name}}-{{.NewTag}}{{end}}",  &two_changes(), "iu-foo/bar-1.1-bar/baz-2.1"),
        ("iu{{range .Images}}-{{.Alias}}-{{.NewTag}}{{end}}", &[with_alias],  "iu-bar-1.1"),
        ("{{.SHA256}}", &two_changes(), "082f85c8aba1c83c7d4ff358dc92e4b8f88058d1371d96ccc58bcb1ee19f5303"),
        ("{{.SHA256}}", &of_nginx,      "a150150ae01ca62eff6a2e8319db48be89978878178c47184eac413bd9283644"),
        ("{{.SHA256}}", &[],            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("iu-{{.AppNamespace}}-{{.AppName}}-{{.TargetKey}}",  &[],            "iu-team-a-shop-0badcafe"),
        (REQUEST_BRANCH, &of_nginx, "image-updater-0badcafe-a150150ae01ca62eff6a2e8319db48be89978878178c47184eac413bd9283644"),
    ];
    for (template, changes, name) in rows {
        let named = branch(template, changes).unwrap();
        assert_eq!((named.text.as_str(), named.truncated_from), (name, None), "{template}");
    }
}

/// Spec 30 F7.
#[test]
fn what_git_forbids_is_replaced() {
    #[rustfmt::skip]
    let rows = [
        ("sha256:ab",   "sha256-ab"),
        ("a b~c^d\\e",  "a-b-c-d-e"),
        ("a..b...c",    "a--b--.c"),
        ("a@{b}",       "a@-b}"),
        ("/a//b/",      "a/b"),
        ("a/.b/c.lock", "a/-b/c-lock"),
        ("a.",          "a-"),
        ("-lead",       "lead"),
        (".hidden",     "hidden"),
        ("-/.a",        "a"),
        ("@",           "@"),
        ("été/日本",     "été/日本"),
    ];
    for (template, name) in rows {
        assert_eq!(branch(template, &[]).unwrap().text, name, "{template}");
    }
}

#[test]
fn long_names_are_cut_at_a_character() {
    let full = "é".repeat(200);
    let named = branch(&full, &[]).unwrap();
    assert_eq!((named.text, named.truncated_from), ("é".repeat(127), Some(full)));
}

#[test]
fn a_branch_without_name_is_an_error() {
    #[rustfmt::skip]
    let rows = [
        ("",                   ": it gives an empty name"),
        ("{{/* nothing */}}",  ": it gives an empty name"),
        ("//",                 ": it gives an empty name"),
        ("{{.Nope}}",          ": line 1: can't evaluate field Nope in type argocd.branchNameTemplate"),
    ];
    for (template, cause) in rows {
        let error = branch(template, &[]).unwrap_err();
        let quoted = "git branch name could not be created from the template: ";
        assert_eq!(error.to_string(), format!("{quoted}{template}{cause}"));
        assert_eq!(error.reason(), "TemplateFailed");
    }
}

/// Spec 31 §2.1.
#[test]
fn targets_have_keys() {
    let key = |branch, target| target_key("https://github.com/acme/deploy.git", branch, target);
    assert_eq!(key("main", "charts/web/values.yaml"), "ff4d8718");
    assert_eq!(key("", "charts/web/values.yaml"), "946b4657");
}

/// Spec 31 §2.3.
#[test]
fn requests_say_what_the_commit_says() {
    let default = "chore: update images for team-a/shop";
    let body = "This pull request was created automatically by argocd-image-updater for application team-a/shop.";
    #[rustfmt::skip]
    let rows = [
        ("",                           default, body),
        ("one line",                   "one line", ""),
        (" title \n\n body\nmore \n",  "title", "body\nmore"),
        ("\ntext",                     default, "text"),
    ];
    for (message, title, body) in rows {
        let request = request_text(message, &app());
        assert_eq!((request.title.as_str(), request.body.as_str()), (title, body), "{message:?}");
    }
    let long = request_text(&format!("{}\n{}", "é".repeat(300), "y".repeat(70_000)), &app());
    assert_eq!((long.title.chars().count(), long.body.len()), (255, 65_536));
    assert!(long.title_truncated && long.body_truncated);
}

#[test]
fn templates_that_are_too_long_are_refused() {
    let error = Template::parse(&"x".repeat(1024 * 1024)).unwrap_err();
    assert_eq!(error.to_string(), "line 1: 1048576 bytes are more than the 65536 allowed");
    assert_eq!(error.reason(), "TemplateInvalid");
}

/// Passes run on several threads and share what was read.
#[test]
fn templates_can_be_shared_between_threads() {
    fn assert_shared<T: Send + Sync + Clone>(value: &T) -> T {
        value.clone()
    }
    let template = Template::parse("{{.AppName}}").unwrap();
    assert_eq!(assert_shared(&template), template);
}
