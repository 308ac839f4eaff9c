use crate::command::{CallError, Step};
use crate::credentials::GitAccess;
use crate::remote::RemoteUrl;

use super::{Trouble, gist, push, remote};

/// Answers as the programs give them.
#[rustfmt::skip]
const ANSWERS: [(&str, &str); 15] = [
    ("GitHostKeyUnknown", "No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n"),
    ("GitUnauthorized", "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.\n"),
    ("GitUnauthorized", "fatal: could not read Username for 'https://h': terminal prompts disabled\n"),
    ("GitUnauthorized", "remote: HTTP Basic: Access denied. The provided password or token is incorrect.\nfatal: Authentication failed for 'https://gitlab.com/o/r.git/'\n"),
    ("GitUnauthorized", "remote: Invalid username or password.\nfatal: Authentication failed for 'https://github.com/o/r/'\n"),
    ("GitUnauthorized", "fatal: unable to access 'https://h/o/r/': The requested URL returned error: 403\n"),
    ("GitRepositoryNotFound", "remote: Repository not found.\nfatal: repository 'https://github.com/o/r/' not found\n"),
    ("GitRepositoryNotFound", "ERROR: Repository not found.\nfatal: Could not read from remote repository.\n"),
    ("GitRepositoryNotFound", "fatal: '/srv/r.git' does not appear to be a git repository\nfatal: Could not read from remote repository.\n"),
    ("GitUnreachable", "fatal: unable to access 'https://h/o/r/': Could not resolve host: h\n"),
    ("GitUnreachable", "fatal: unable to access 'https://h/': SSL certificate problem: self-signed certificate\n"),
    ("GitUnreachable", "ssh: connect to host h port 22: Connection refused\nfatal: Could not read from remote repository.\n"),
    ("GitUnreachable", "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502\nfatal: expected flush after ref listing\n"),
    ("GitFailed", "fatal: remote error: service not enabled: /r.git\n"),
    ("GitUnreachable", "fetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF\n"),
];

#[test]
fn the_words_of_programs_get_a_reason() {
    let at = RemoteUrl::parse("https://h/o/r", false).unwrap();
    for (expected, words) in ANSWERS {
        let error = CallError::Failed { words: words.to_owned() };
        let trouble = remote(&at, &GitAccess::Ambient, Step::LsRemote, error);
        let Trouble::Git(error) = trouble else { panic!("{trouble:?} for {words}") };
        assert_eq!(error.reason(), expected, "given {words}");
    }
}

#[test]
fn who_may_not_write_is_rejected() {
    let at = RemoteUrl::parse("https://h/o/r", false).unwrap();
    #[rustfmt::skip]
    let rows = [
        ("GitPushRejected", "remote: Permission to o/r.git denied to bot.\nfatal: unable to access 'https://github.com/o/r/': The requested URL returned error: 403\n"),
        ("GitPushRejected", "ERROR: The key you are authenticating with has been marked as read only.\nfatal: Could not read from remote repository.\n"),
        ("GitPushRejected", "remote: You are not allowed to push code to this project.\nfatal: unable to access 'https://gitlab.com/o/r.git/': The requested URL returned error: 403\n"),
        ("GitUnauthorized", "fatal: Authentication failed for 'https://h/o/r/'\n"),
    ];
    for (expected, words) in rows {
        let error = CallError::Failed { words: words.to_owned() };
        let trouble = push(&at, &GitAccess::Ambient, &"main".into(), error);
        let Trouble::Git(error) = trouble else { panic!("{trouble:?} for {words}") };
        assert_eq!(error.reason(), expected, "given {words}");
    }
}

#[test]
fn the_gist_is_one_plain_line() {
    #[rustfmt::skip]
    let rows = [
        ("remote: \u{1b}[31mGH006\u{1b}[0m: Protected branch\nremote: \nTo https://h\nhint: x\n", "GH006: Protected branch"),
        ("Receiving: 10%\rReceiving: 100%\nfatal: broken\u{7}\n", "Receiving: 100%; fatal: broken"),
        ("fatal: Could not read from remote repository.\n", "fatal: Could not read from remote repository."),
        ("", "it gave no reason"),
    ];
    for (words, expected) in rows {
        assert_eq!(gist(words), expected);
    }
    assert_eq!(gist(&"ü".repeat(2000)).chars().count(), super::CHARACTERS + 1);
}
