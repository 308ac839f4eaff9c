//! A disk without room, at every command that writes to it.

use std::fs;
use std::path::{Path, PathBuf};

use aiu_testkit::git::{Commit, GitRemote, write_program};

use crate::disk::{leftovers, mirrors};
use crate::support::{Bench, key, plan, told};

/// A `git` whose files may not exceed what the file `limit` beside it says, in blocks of 512
/// bytes: the system then refuses to write, as on a full disk.
fn limited(folder: &Path) -> PathBuf {
    let program = folder.join("git");
    let script = format!(
        "#!/bin/sh\ntrap '' XFSZ\n[ -f {0} ] && ulimit -f \"$(cat {0})\"\nexec git \"$@\"\n",
        folder.join("limit").display()
    );
    write_program(&program, &script);
    program
}

/// Text that does not get smaller by being packed.
fn dense(bytes: usize, seed: u64) -> String {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + u8::try_from((state >> 33) % 90).unwrap())
    };
    (0..bytes).map(|_| next()).filter(|c| !"#'\"\\".contains(*c)).collect()
}

#[tokio::test]
async fn a_full_disk_is_told_and_what_was_begun_is_thrown_away() {
    let text = format!("web: v1\nnoise: '{}'\n", dense(100_000, 1));
    let files: Vec<(String, String)> =
        (0..400).map(|at| (format!("d{at}/f.yaml"), format!("k: {at}\n"))).collect();
    let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let remote = GitRemote::seeded(files.chain([("a.yaml", text.as_str())]));
    let folder = tempfile::tempdir().unwrap();
    let program = limited(folder.path());
    let limit = |blocks: u32| fs::write(folder.path().join("limit"), blocks.to_string()).unwrap();
    let bench = Bench::with(|settings| settings.program = program);
    let main = key(&remote.url(), "main");
    // The folders need some 20 KB, the file more than 60.
    for (blocks, step, tips, contents) in [(8, "tip", 1, 0), (90, "contents", 1, 1)] {
        limit(blocks);
        let before = bench.asked();
        let told = bench.texts(&main, &["a.yaml"]).await.remove(0);
        let start =
            format!("GitCacheUnusable: the mirror of {} does not fit on the disk: ", remote.url());
        assert!(told.starts_with(&start), "{step}: {told}");
        let end = "make room in the cache folder, or name another one (--cache-dir)";
        assert!(told.ends_with(end), "{step}: {told}");
        let after = bench.asked();
        assert_eq!((after.1 - before.1, after.2 - before.2), (tips, contents), "{step}");
        assert_eq!(mirrors(&bench), Vec::<PathBuf>::new(), "{step}: the room is given back");
    }

    fs::remove_file(folder.path().join("limit")).unwrap();
    assert_eq!(bench.texts(&main, &["a.yaml"]).await, [text.as_str()]);
    limit(90);
    let plans = || vec![plan("a", "a.yaml web=v2")];
    let written = told(&bench.write(&main, plans()).await).remove(0);
    assert!(written.starts_with("a GitCacheUnusable: the mirror of "), "{written}");
    assert_eq!(mirrors(&bench), Vec::<PathBuf>::new());

    fs::remove_file(folder.path().join("limit")).unwrap();
    bench.texts(&main, &["a.yaml"]).await;
    assert_eq!(told(&bench.write(&main, plans()).await), ["a changed a.yaml"]);
    assert_eq!(remote.log("main").len(), 2);
    assert_eq!(bench.mirrors.counts().rebuilt, 0, "a full disk is no damage");
    assert_eq!(leftovers(&bench), Vec::<PathBuf>::new());
}

/// git leaves half a pack behind each time; the mirror does not grow by it.
#[tokio::test]
async fn fetches_that_break_off_leave_nothing_behind() {
    let remote = GitRemote::seeded([("a.yaml", "web: v1\n")]);
    let (bench, main) = (Bench::new(), key(&remote.url(), "main"));
    bench.texts(&main, &["a.yaml"]).await;
    let packs = mirrors(&bench)[0].join("objects/pack");
    for round in 0..3 {
        fs::write(packs.join(format!("tmp_pack_{round}")), "half").unwrap();
        fs::write(mirrors(&bench)[0].join(format!("fast_import_crash_{round}")), "").unwrap();
        remote.commit("main", &Commit::new("x").file("a.yaml", &format!("web: v{round}\n")));
        bench.texts(&main, &["a.yaml"]).await;
        assert_eq!(leftovers(&bench), Vec::<PathBuf>::new(), "round {round}");
    }
    assert_eq!(bench.mirrors.counts().rebuilt, 0);
}
