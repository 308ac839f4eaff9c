//! The image, as far as it can be looked at without an engine: what the Dockerfile says, and whether
//! the tools that it links do what scripts in the field ask of them (rows of spec 22 §12), with the
//! same packages of the same Debian.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::process::Command;

use super::{World, same};
use crate::files::{read, subfolder};
use crate::packages;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What the image must say of itself.
pub(super) fn recipe() -> Result<()> {
    let text = read(Path::new(ROOT), "Dockerfile")?;
    let last = |word: &str| text.lines().rfind(|line| line.starts_with(word)).unwrap_or_default();
    same("the last user", last("USER "), "USER 1000:1000")?;
    same("the entry point", last("ENTRYPOINT "), r#"ENTRYPOINT ["/sbin/tini", "--", "/manager"]"#)?;
    same("the folder", last("WORKDIR "), "WORKDIR /app")?;
    let linked = "ln -s /usr/local/bin/argocd-image-updater /manager";
    ensure!(text.contains(linked), "/manager is not the program");
    for base in text.lines().filter_map(|line| line.strip_prefix("FROM ")) {
        let name = base.split(' ').next().unwrap_or_default();
        ensure!(!name.ends_with(":latest"), "{base} is another one tomorrow");
        let is_stage = text.contains(&format!(" AS {name}\n"));
        ensure!(is_stage || name.contains(':'), "{base} names no version");
    }
    // Its rust is not older than the one that the workspace asks for.
    let manifest = read(Path::new(ROOT), "Cargo.toml")?;
    let wanted = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""));
    let wanted = wanted.context("no rust-version")?.trim_end_matches('"');
    ensure!(text.contains(&format!("FROM rust:{wanted}-")), "not built by rust {wanted}");
    Ok(())
}

/// The rows of spec 22 §12.
pub(super) async fn tools(world: &World) -> Result<()> {
    let folder = subfolder(&world.folder, "image")?;
    let path = link_tools(&folder)?;
    let run = async |line: &str, input: &str| run(&path, &folder, line, input).await;
    same("pipefail", &run("set -eo pipefail; echo ok", "").await?, "ok")?;
    ensure!(run("set -eo pipefail; false | cat", "").await.is_err(), "pipefail has no effect");
    let script = r#"python3 -c 'import sys, json; print(json.load(sys.stdin)["a"])'"#;
    same("python3", &run(script, r#"{"a":"b"}"#).await?, "b")?;

    let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
    let port = listener.local_addr()?.port();
    let line = format!(
        "wget --quiet --output-document - --header 'X: y' --post-data=a=b http://127.0.0.1:{port}/"
    );
    let (printed, request) = tokio::try_join!(run(&line, ""), answer(&listener))?;
    same("wget", &printed, "the answer")?;
    ensure!(request.starts_with("POST / "), "{request}");
    ensure!(request.contains("X: y\r\n") && request.ends_with("\r\n\r\na=b"), "{request}");

    run("env | head -n 1; ls -la /; cat /dev/null", "").await?;
    // Whether a name is found is the network's to say; that it is looked for is the tool's.
    let asked = run("nslookup localhost 2>&1 || true", "").await?;
    ensure!(!asked.contains(": not found"), "{asked}");
    Ok(())
}

/// A folder with the links that the Dockerfile makes.
pub(super) fn link_tools(folder: &Path) -> Result<PathBuf> {
    let text = read(Path::new(ROOT), "Dockerfile")?;
    let (_, rest) = text.split_once("for tool in ").context("the Dockerfile links no tools")?;
    let (tools, _) = rest.split_once(';').context("a loop has an end")?;
    let path = subfolder(folder, "bin")?;
    for tool in tools.split_whitespace() {
        symlink(packages::program("busybox")?, path.join(tool))?;
    }
    Ok(path)
}

async fn run(path: &Path, folder: &Path, line: &str, input: &str) -> Result<String> {
    let mut command = Command::new(path.join("sh"));
    command.args(["-c", line]).current_dir(folder).env_clear().kill_on_drop(true);
    command.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = command.spawn().context("cannot start the shell")?;
    let mut stdin = shell.stdin.take().context("a piped input is there to be taken")?;
    // A command that reads nothing may have ended.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = shell.wait_with_output().await.context("cannot wait for the shell")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{line}` ended with {}: {said}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Answers one request; what it was.
async fn answer(listener: &TcpListener) -> Result<String> {
    let (mut stream, _) = listener.accept().await.context("nobody asked")?;
    let mut request = Vec::new();
    while !request.ends_with(b"a=b") {
        let mut part = [0; 1024];
        let count = stream.read(&mut part).await.context("cannot read")?;
        ensure!(count > 0, "the request broke off: {}", String::from_utf8_lossy(&request));
        request.extend_from_slice(&part[..count]);
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n";
    stream.write_all(format!("{head}the answer").as_bytes()).await.context("cannot answer")?;
    Ok(String::from_utf8_lossy(&request).into_owned())
}
