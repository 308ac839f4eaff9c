//! What was or would be written, as unified diffs that `git apply` takes.
//!
//! One diff per branch: what its commits come to together, file by file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aiu_controller::report::FileChange;

/// The diff of one place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlaceDiff {
    /// The remote without its login and the branch, if it is one.
    pub(super) branch: Option<(String, String)>,
    /// The diff.
    pub(super) text: String,
}

/// Text before and after, by file.
type Files<'a> = BTreeMap<&'a str, (Option<&'a str>, &'a str)>;

/// One diff per place, in the order in which they came.
pub(super) fn diffs(changes: &[FileChange]) -> Vec<PlaceDiff> {
    let mut places: Vec<(Option<(String, String)>, Files<'_>)> = Vec::new();
    for FileChange { branch, file, before, after } in changes {
        let at = places.iter().position(|(known, _)| known == branch).unwrap_or_else(|| {
            places.push((branch.clone(), Files::new()));
            places.len() - 1
        });
        // Several resources may have written one file, one after the other.
        let texts = (before.as_deref(), &**after);
        places[at].1.entry(file).and_modify(|known| known.1 = after).or_insert(texts);
    }
    let diff = |(branch, files): (_, Files<'_>)| {
        let text = files.iter().map(|(file, (before, after))| of_file(file, *before, after));
        PlaceDiff { branch, text: text.collect() }
    };
    places.into_iter().map(diff).collect()
}

/// All of them, each under a line that says where it belongs.
pub fn diff(changes: &[FileChange]) -> String {
    diffs(changes).into_iter().fold(String::new(), |mut all, PlaceDiff { branch, text }| {
        if let Some((remote, branch)) = branch {
            let _ = writeln!(all, "# {remote} {branch}");
        }
        all + &text
    })
}

fn of_file(file: &str, before: Option<&str>, after: &str) -> String {
    let (ours, theirs) = (name("a", file), name("b", file));
    let (old_name, new_file) = match before {
        Some(_) => (ours.clone(), ""),
        None => ("/dev/null".to_owned(), "new file mode 100644\n"),
    };
    // Lines as git knows them: a lone carriage return ends none.
    let before: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let body = similar::TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&before, &after)
        .unified_diff()
        .context_radius(3)
        .header(&ended(&old_name), &ended(&theirs))
        .to_string();
    format!("diff --git {ours} {theirs}\n{new_file}{body}")
}

/// A file's name behind `a/` or `b/`, quoted as git does where it must be.
fn name(side: &str, file: &str) -> String {
    let strange = |c: char| c.is_control() || matches!(c, '"' | '\\');
    if !file.contains(strange) {
        return format!("{side}/{file}");
    }
    let mut quoted = format!("\"{side}/");
    for c in file.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A name that holds a blank is ended by a tab, since a date might follow it.
fn ended(name: &str) -> String {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn write(file: &str, before: Option<&str>, after: &str) -> FileChange {
        let (before, after) = (before.map(Into::into), after.into());
        FileChange { branch: None, file: file.to_owned(), before, after }
    }

    #[test]
    fn a_diff_names_both_sides_as_git_does() {
        let expected = "diff --git a/apps/a.yaml b/apps/a.yaml
--- a/apps/a.yaml
+++ b/apps/a.yaml
@@ -1,2 +1,2 @@
 x: 1
-y: 2
+y: 3
";
        assert_eq!(diff(&[write("apps/a.yaml", Some("x: 1\ny: 2\n"), "x: 1\ny: 3\n")]), expected);
    }

    #[test]
    fn commits_on_one_file_come_to_one_diff() {
        let writes = [
            write("v.yaml", Some("a: 1\nb: 1\n"), "a: 2\nb: 1\n"),
            write("v.yaml", Some("a: 2\nb: 1\n"), "a: 2\nb: 2\n"),
        ];
        let text = diff(&writes);
        assert_eq!(text.matches("diff --git").count(), 1, "{text}");
        assert!(text.ends_with("-a: 1\n-b: 1\n+a: 2\n+b: 2\n"), "{text}");
    }

    /// Every kind of text and name that files may have, applied by git itself.
    #[test]
    fn git_applies_what_is_printed() {
        let twenty = (0..20).fold(String::new(), |text, line| format!("{text}k{line}: same\n"));
        let last = twenty.replace("k19: same", "k19: other");
        #[rustfmt::skip]
        let rows = [
            ("plain.yaml",          Some("a: 1\n"), "a: 2\n"),
            ("no-newline.yaml",     Some("a: 1"), "a: 2"),
            ("newline-gone.yaml",   Some("a: 1\n"), "a: 2"),
            ("dos.yaml",            Some("a: 1\r\nb: 1\r\n"), "a: 2\r\nb: 1\r\n"),
            ("lone-return.yaml",    Some("a: \"x\ry\"\nb: 1\n"), "a: \"x\ry\"\nb: 2\n"),
            ("new/file.yaml",       None, "a: 1\n"),
            ("long.yaml",           Some(&twenty), &last),
            ("with blank/a b.yaml", Some("a: 1\n"), "a: 2\n"),
            ("ümlaut/ß.yaml",       Some("a: 1\n"), "a: 2\n"),
            ("quo\"te\\.yaml",      Some("a: 1\n"), "a: 2\n"),
            ("-dash.yaml",          Some("a: 1\n"), "a: 2\n"),
            ("tab\tname.yaml",      Some("a: 1\n"), "a: 2\n"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let writes: Vec<FileChange> =
            rows.iter().map(|(file, before, after)| write(file, *before, after)).collect();
        for FileChange { file, before, .. } in &writes {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(before) = before {
                fs::write(path, &**before).unwrap();
            }
        }
        let patch = tempfile::NamedTempFile::new().unwrap();
        fs::write(patch.path(), diff(&writes)).unwrap();
        let applied = Command::new("git")
            .args(["apply", "--whitespace=nowarn"])
            .arg(patch.path())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&applied.stderr);
        assert!(applied.status.success(), "{said}\n{}", diff(&writes));
        for FileChange { file, after, .. } in &writes {
            assert_eq!(fs::read_to_string(folder.path().join(file)).unwrap(), **after, "{file}");
        }
    }
}
