//! Git over smart HTTP: `git http-backend` behind fcgiwrap and nginx, without authentication.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tokio::net::{TcpStream, UnixStream};

use super::START;
use super::ports::Ports;
use crate::files::{subfolder, write};
use crate::git::{ENVIRONMENT, git};
use crate::packages;
use crate::process::Process;

/// How many requests git answers at once.
const WORKERS: &str = "4";

/// A git server that listens, and the folder of its bare repositories.
pub(crate) struct GitHttp {
    url: String,
    repositories: PathBuf,
    _servers: [Process; 2],
}

impl GitHttp {
    pub(super) async fn start(folder: &Path, ports: &mut Ports) -> Result<Self> {
        let repositories = subfolder(folder, "repositories")?;
        let socket = folder.join("cgi.sock");
        let cgi = start_cgi(folder, &socket).await?;
        let address = format!("127.0.0.1:{}", ports.free()?);
        let backend = Path::new(&git(folder, &["--exec-path"]).await?).join("git-http-backend");
        let configuration = configure(&address, &socket, &backend, &repositories);
        let nginx = start_nginx(folder, &address, &configuration).await?;
        Ok(Self { url: format!("http://{address}"), repositories, _servers: [nginx, cgi] })
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

    /// Where a repository stands on disk, to look at what was pushed.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.repositories.join(name)
    }
}

async fn start_cgi(folder: &Path, socket: &Path) -> Result<Process> {
    let mut command = Command::new(packages::program("fcgiwrap")?);
    command.args(["-c", WORKERS, "-s"]).arg(format!("unix:{}", socket.display()));
    let mut server = Process::start("fcgiwrap", command.envs(ENVIRONMENT), folder)?;
    server.ready(START, async || UnixStream::connect(socket).await.is_ok()).await?;
    Ok(server)
}

async fn start_nginx(folder: &Path, address: &str, configuration: &str) -> Result<Process> {
    write(folder, "nginx.conf", configuration)?;
    let mut command = Command::new(packages::program("nginx")?);
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf")).args(["-e", "stderr"]);
    let mut server = Process::start("nginx", &mut command, folder)?;
    server.ready(START, async || TcpStream::connect(address).await.is_ok()).await?;
    Ok(server)
}

/// One process in the foreground, all files below the prefix, every request to git.
fn configure(address: &str, socket: &Path, backend: &Path, repositories: &Path) -> String {
    let (socket, backend) = (socket.display(), backend.display());
    let repositories = repositories.display();
    format!(
        r#"daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {{
    listen {address};
    client_max_body_size 0;
    location / {{
      include /etc/nginx/fastcgi_params;
      fastcgi_pass unix:{socket};
      fastcgi_param SCRIPT_FILENAME "{backend}";
      fastcgi_param PATH_INFO $uri;
      fastcgi_param GIT_PROJECT_ROOT "{repositories}";
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param HTTP_GIT_PROTOCOL $http_git_protocol;
    }}
  }}
}}
"#
    )
}
