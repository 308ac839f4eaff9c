use std::time::{Duration, SystemTime};

use aiu_core::batch::FilePath;

use super::{Identity, NewCommit, Signature, Texts, finished, stream};
use crate::object::ObjectId;
use crate::stack::{ChangedFile, Splice};
use crate::tree::Mode;

fn signature(sign_off: bool) -> Signature {
    Signature {
        author: Identity::new("Some\nOne <x>", " one@example.com ").unwrap(),
        committer: Identity::default(),
        date: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        sign_off,
    }
}

#[test]
fn messages_are_stored_as_git_would_store_them() {
    const BY: &str = "Signed-off-by: argocd-image-updater <noreply@argoproj.io>";
    #[rustfmt::skip]
    let rows: [(&str, bool, String); 9] = [
        ("build: x\n\nupdates image a\n", false, "build: x\n\nupdates image a\n".to_owned()),
        ("\n\n  build: x  \n\n\n\nbody\t\n\n", false, "  build: x\n\nbody\n".to_owned()),
        ("# no comment",                  false, "# no comment\n".to_owned()),
        ("",                              false, "Update parameters\n".to_owned()),
        (" \n\n",                         true,  format!("Update parameters\n\n{BY}\n")),
        ("build: x\n\nbody\n",            true,  format!("build: x\n\nbody\n\n{BY}\n")),
        ("build: x",                      true,  format!("build: x\n\n{BY}\n")),
        ("x\n\nRefs: 1\nCo-authored-by: a <b>", true, format!("x\n\nRefs: 1\nCo-authored-by: a <b>\n{BY}\n")),
        ("x\n\nSigned-off-by: argocd-image-updater <noreply@argoproj.io>\n", true, format!("x\n\n{BY}\n")),
    ];
    for (message, sign_off, expected) in rows {
        assert_eq!(finished(message, &signature(sign_off)), expected, "given {message:?}");
    }
}

#[test]
fn identities_need_both_parts_and_lose_what_git_forbids() {
    assert_eq!(Identity::new("a", " "), None);
    assert_eq!(Identity::new("<>", "b"), None);
    let both = Identity::new("A <B>\n", "a@b").unwrap();
    assert_eq!(both.to_string(), "A B <a@b>");
    assert_eq!(Identity::default().to_string(), "argocd-image-updater <noreply@argoproj.io>");
}

#[test]
fn the_stream_stacks_commits_and_asks_for_their_ids() {
    let path = |name: &str| FilePath::join("", name).unwrap();
    let (odd, run) = (path("d/\"q\" \\ü.yaml"), path("run.sh"));
    let before = |path: &FilePath, text: Option<&str>| {
        let before = text.map(std::sync::Arc::from);
        (path.clone(), ChangedFile { path: path.clone(), before, after: "".into() })
    };
    let texts = Texts::from([before(&odd, None), before(&run, Some("old\n"))]);
    let (tip, signature) = (ObjectId::parse(&"a".repeat(40)).unwrap(), signature(false));
    let first = Splice::between(odd, Mode::Plain, "", "ü");
    let second = [
        Splice::between(run.clone(), Mode::Executable, "old\n", "older\n"),
        Splice::between(run, Mode::Executable, "older\n", "x\n"),
    ];
    let commits = [
        NewCommit {
            signature: signature.clone(),
            message: "one".to_owned(),
            splices: vec![&first],
        },
        NewCommit {
            signature: signature.clone(),
            message: "two".to_owned(),
            splices: second.iter().collect(),
        },
    ];
    let expected = format!(
        "feature done
commit refs/tips/x
mark :1
author SomeOne x <one@example.com> 1700000000 +0000
committer argocd-image-updater <noreply@argoproj.io> 1700000000 +0000
data 4
one

from {tip}
M 100644 inline \"d/\\\"q\\\" \\\\ü.yaml\"
data 2
ü

get-mark :1
commit refs/tips/x
mark :2
author SomeOne x <one@example.com> 1700000000 +0000
committer argocd-image-updater <noreply@argoproj.io> 1700000000 +0000
data 4
two

from :1
M 100755 inline \"run.sh\"
data 2
x


get-mark :2
done
"
    );
    let parts: Vec<String> = stream("refs/tips/x", &tip, &texts, &commits).collect();
    assert_eq!(parts.len(), 4, "a commit at a time");
    assert_eq!(parts.concat(), expected);
}
