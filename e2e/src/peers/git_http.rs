//! Git over smart HTTP: `git http-backend` behind fcgiwrap and nginx, open to all, or over TLS for
//! one user with a password.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tokio::net::{TcpStream, UnixStream};

use super::START;
use super::ports::Ports;
use super::watch::Watch;
use crate::authority::Authority;
use crate::files::{read, subfolder, write};
use crate::git::{ENVIRONMENT, git};
use crate::packages;
use crate::process::Process;

/// How many requests git answers at once.
const WORKERS: &str = "4";

/// Who may come in to the server with TLS.
pub(crate) const USER: &str = "deploy";
/// All that may: also the one of the guides, and an App of a forge.
const USERS: [&str; 3] = [USER, "bot", "x-access-token"];
/// The password of them all, and what an App of the forge is given for it.
pub(crate) const PASSWORD: &str = "hunter2-s3cret-of-nginx";

/// A git server that listens, and the folder of its bare repositories.
pub(crate) struct GitHttp {
    url: String,
    folder: PathBuf,
    repositories: PathBuf,
    _servers: [Process; 2],
}

/// A git server with TLS and a password.
pub(crate) struct GitHttps {
    server: GitHttp,
    authority: Authority,
    watch: Watch,
}

impl GitHttp {
    pub(super) async fn start(folder: &Path, ports: &mut Ports) -> Result<Self> {
        let address = format!("127.0.0.1:{}", ports.free()?);
        Self::serve(folder, "http", &address, "").await
    }

    async fn serve(folder: &Path, scheme: &str, address: &str, door: &str) -> Result<Self> {
        let repositories = subfolder(folder, "repositories")?;
        let socket = folder.join("cgi.sock");
        let cgi = start_cgi(folder, &socket).await?;
        let backend = Path::new(&git(folder, &["--exec-path"]).await?).join("git-http-backend");
        let listen = if door.is_empty() { address.to_owned() } else { format!("{address} ssl") };
        let configuration = configure(&listen, door, &socket, &backend, &repositories);
        let nginx = start_nginx(folder, address, &configuration).await?;
        let url = format!("{scheme}://{address}");
        Ok(Self { url, folder: folder.to_owned(), repositories, _servers: [nginx, cgi] })
    }

    /// Makes an empty bare repository that takes pushes and serves partial clones; returns its URL.
    pub(crate) async fn create(&self, name: &str) -> Result<String> {
        git(&self.repositories, &["init", "--quiet", "--bare", "--initial-branch=main", name])
            .await?;
        let repository = self.repositories.join(name);
        for setting in
            ["http.receivepack", "uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"]
        {
            git(&repository, &["config", setting, "true"]).await?;
        }
        Ok(format!("{}/{name}", self.url))
    }

    /// The base of its URLs, without a slash at the end.
    pub(crate) fn base(&self) -> &str {
        &self.url
    }

    /// Where a repository stands on disk, to look at what was pushed.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.repositories.join(name)
    }

    /// The requests so far for a repository, in order: user, method and address of each.
    pub(crate) fn requests(&self, name: &str) -> Result<Vec<String>> {
        let log = read(&self.folder, "access.log")?;
        let asked = log.lines().filter(|line| line.contains(&format!(" /{name}/")));
        Ok(asked.map(str::to_owned).collect())
    }
}

impl GitHttps {
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let mut ports = Ports::default();
        let authority = Authority::new("authority of a test run")?;
        let [certificate, key] = authority.server("server", folder)?;
        let users = USERS.map(|user| format!("{user}:{{PLAIN}}{PASSWORD}\n"));
        write(folder, "users", &users.concat())?;
        let address = format!("127.0.0.1:{}", ports.free()?);
        let door = door(&key, &certificate, &folder.join("users"));
        let server = GitHttp::serve(folder, "https", &address, &door).await?;
        let watch = Watch::before(&address, &mut ports).await?;
        Ok(Self { server, authority, watch })
    }

    /// As [`GitHttp::create`].
    pub(crate) async fn create(&self, name: &str) -> Result<String> {
        self.server.create(name).await?;
        Ok(format!("{}/{name}", self.url()))
    }

    /// Where its repositories are, without a slash at the end.
    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.watch.address())
    }

    /// The repositories, as they stand on disk, and what they were asked.
    pub(crate) fn server(&self) -> &GitHttp {
        &self.server
    }

    /// The certificate that vouches for the server.
    pub(crate) fn authority(&self) -> &str {
        &self.authority.pem
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }
}

async fn start_cgi(folder: &Path, socket: &Path) -> Result<Process> {
    let mut command = Command::new(packages::program("fcgiwrap")?);
    command.args(["-c", WORKERS, "-s"]).arg(format!("unix:{}", socket.display()));
    let mut server = Process::start("fcgiwrap", command.envs(ENVIRONMENT), folder)?;
    server.ready(START, async || UnixStream::connect(socket).await.is_ok()).await?;
    Ok(server)
}

/// nginx in the foreground; all its files are in the folder.
pub(super) async fn start_nginx(
    folder: &Path,
    address: &str,
    configuration: &str,
) -> Result<Process> {
    write(folder, "nginx.conf", configuration)?;
    let mut command = Command::new(packages::program("nginx")?);
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf")).args(["-e", "stderr"]);
    let mut server = Process::start("nginx", &mut command, folder)?;
    server.ready(START, async || TcpStream::connect(address).await.is_ok()).await?;
    Ok(server)
}

/// TLS, a password for every repository, and a forge's answer to one of its Apps.
fn door(key: &Path, certificate: &Path, users: &Path) -> String {
    let (key, certificate, users) = (key.display(), certificate.display(), users.display());
    let token = format!(r#"{{"token":"{PASSWORD}","expires_at":"2099-01-01T00:00:00Z"}}"#);
    format!(
        r#"    ssl_certificate "{certificate}";
    ssl_certificate_key "{key}";
    auth_basic git;
    auth_basic_user_file "{users}";
    location /api/v3/app/installations/ {{
      auth_basic off;
      default_type application/json;
      return 201 '{token}';
    }}
"#
    )
}

/// Every request goes to git.
fn configure(
    listen: &str,
    door: &str,
    socket: &Path,
    backend: &Path,
    repositories: &Path,
) -> String {
    let (socket, backend) = (socket.display(), backend.display());
    let repositories = repositories.display();
    nginx_configuration(&format!(
        r#"log_format asked '$remote_user $request_method $request_uri $status';
  access_log access.log asked;
  server {{
    listen {listen};
    client_max_body_size 0;
{door}    location / {{
      include /etc/nginx/fastcgi_params;
      fastcgi_pass unix:{socket};
      fastcgi_param SCRIPT_FILENAME "{backend}";
      fastcgi_param PATH_INFO $uri;
      fastcgi_param GIT_PROJECT_ROOT "{repositories}";
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param HTTP_GIT_PROTOCOL $http_git_protocol;
    }}
  }}"#
    ))
}

/// One process in the foreground, all files below the prefix; `http` is what that section says
/// besides.
pub(super) fn nginx_configuration(http: &str) -> String {
    format!(
        "daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 64; }}
http {{
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  {http}
}}
"
    )
}
