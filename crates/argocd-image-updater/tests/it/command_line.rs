//! The command line of the built program: what it refuses, and the small commands.

use std::fs;
use std::path::Path;

use crate::program::{command, run};

/// Spec 22 §1: exit codes and streams.
#[test]
fn usage_errors_end_with_1_and_help_with_0() {
    #[rustfmt::skip]
    let rows: [(&[&str], i32, &str); 16] = [
        (&[], 0, "Usage: argocd-image-updater"),
        (&["--help"], 0, "Usage: argocd-image-updater"),
        (&["run", "--help"], 0, "--manifests"),
        (&["--git-commit-method=API", "run"], 1, "Error: invalid value \"API\" for --git-commit-method: must be 'git' or 'api'\n"),
        (&["--interval", "2m", "--git-commit-method", "API", "run"], 1, "must be 'git' or 'api'"),
        (&["run", "--bogus"], 1, "Error: unknown flag: --bogus\nUsage: argocd-image-updater run"),
        (&["bogus"], 1, "Error: unknown command \"bogus\" for \"argocd-image-updater\"\nRun 'argocd-image-updater --help' for usage.\n"),
        (&["--dry-run", "run", "--once"], 1, "or --manifests DIR to work on a folder"),
        (&["run", "--interval", "-1s", "--manifests", "x"], 1, "give one above, or --once"),
        (&["run", "--once", "--manifests", "/nonexistent/x"], 1, "cannot read the manifests in '/nonexistent/x'"),
        (&["run", "--loglevel", "loud"], 1, "could not parse log level: \"loud\""),
        (&["run", "--loglevel", "fatal"], 1, "invalid loglevel: fatal"),
        (&["run", "--logformat", "xml"], 1, "invalid log format 'xml'"),
        (&["run", "--health-port", "8080"], 1, "use --health-probe-bind-address :8080"),
        (&["run", "--argocd-auth-token", "s3cret"], 1, "only the Kubernetes API is used"),
        (&["run", "--git-commit-method", "api"], 1, "--git-commit-method cannot be honoured by this version"),
    ];
    for (arguments, code, says) in rows {
        let ran = run(&mut command(arguments));
        let (said, silent) = if code == 0 { (&ran.out, &ran.err) } else { (&ran.err, &ran.out) };
        assert_eq!(ran.code, Some(code), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?} says {said}");
        assert!(silent.is_empty() && !said.contains("s3cret"), "{arguments:?}: {silent}{said}");
    }
}

/// Spec 22 §7.
#[test]
fn version_tells_what_was_built() {
    let ran = run(&mut command(&["version"]));
    assert_eq!(ran.code, Some(0));
    let first = ran.out.lines().next().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let commit = first.strip_prefix(&format!("argocd-image-updater: v{version}+")).unwrap();
    assert!(commit.len() == 7, "{first}");
    let names: Vec<&str> = (ran.out.lines().skip(1))
        .map(|line| line.strip_prefix("  ").unwrap().split(':').next().unwrap())
        .collect();
    assert_eq!(names, ["BuildDate", "GitCommit", "RustVersion", "Platform"]);
    assert!(ran.out.contains("  Platform: linux/"), "{}", ran.out);
    let short = run(&mut command(&["version", "--short"])).out;
    assert_eq!(short, format!("v{version}+{commit}\n"));
}

/// Spec 22 §6.
#[test]
fn template_renders_sample_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let own = file("own", "{{range .AppChanges}}- {{.Image}}: {{.OldTag}} -> {{.NewTag}}\n{{end}}");
    let (old, new) = (
        "sha256:01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee",
        "sha256:7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c",
    );
    let default = format!(
        "build: automatic update of example-app\n\nupdates image example/example tag '1.0.0' to '1.0.1'\nupdates image example/updater tag '{old}' to '{new}'\n\n"
    );
    let listed =
        format!("- example/example: 1.0.0 -> 1.0.1\n- example/updater: {old} -> {new}\n\n");
    #[rustfmt::skip]
    let rows = [
        (vec!["template"], Some(default.as_str()), ""),
        (vec!["template", &own], Some(&listed), ""),
        (vec!["template", &file("open", "{{ .AppName ")[..]], None, "could not parse commit message template"),
        (vec!["template", &file("unknown", "{{ .Nothing }}")[..]], None, "could not render commit message template"),
        (vec!["template", "/nonexistent/t"], None, "no such file or directory"),
    ]
    .map(|(arguments, out, err)| (arguments.into_iter().map(str::to_owned).collect::<Vec<_>>(), out.map(str::to_owned), err));
    for (arguments, out, err) in rows {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = run(&mut command(&arguments));
        assert_eq!(ran.code, Some(i32::from(out.is_none())), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out, out.unwrap_or_default(), "{arguments:?}");
        assert!(ran.err.contains(err), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn completion_knows_commands_and_flags_for_four_shells() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let ran = run(&mut command(&["completion", shell]));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        for word in ["explain", "max-concurrent-apps"] {
            assert!(ran.out.contains(word), "{shell}");
        }
    }
    let ran = run(&mut command(&["completion", "tcsh"]));
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("give bash, zsh, fish or powershell"), "{}", ran.err);
    // What was printed for bash is a script that bash reads.
    let script = run(&mut command(&["completion", "bash"])).out;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("c"), script).unwrap();
    let read = std::process::Command::new("bash").arg("-n").arg(folder.path().join("c")).output();
    assert!(read.unwrap().status.success());
}

#[test]
fn the_reference_page_is_made_of_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/command-line.md");
    let made = run(&mut command(&["gen", "command-line"])).out;
    let stands = fs::read_to_string(page).unwrap_or_default();
    assert!(
        made == stands,
        "stale: run `argocd-image-updater gen command-line > docs/reference/command-line.md`"
    );
}
