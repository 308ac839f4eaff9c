//! `test IMAGE` with a cluster at hand: Secrets are read through its API, and nothing else is
//! asked of it (spec 22 §8, 11 §5).

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use aiu_testkit::registry::{Access, Registry};
use serde_json::json;

use crate::program::{Place, Ran, command, registry, run};

const PASSWORD: &str = "s3cret-pa55";
const TOKEN: &str = "s3cret-t0ken";
/// `alice:…` in base64.
const PAIR: &str = "YWxpY2U6czNjcmV0LXBhNTU=";

/// The API of a cluster with two Secrets, for the holder of a token; it keeps what was asked.
struct Api {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Api {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let api = Self { address, asked: Arc::clone(&asked) };
        // It ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &asked);
            }
        });
        api
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(mut stream: TcpStream, asked: &Mutex<Vec<String>>) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let Some(line) = head.first() else { return };
    let target = line.rsplit_once(' ').map_or("", |(target, _)| target).to_owned();
    let known = head
        .iter()
        .any(|line| line.eq_ignore_ascii_case(&format!("authorization: Bearer {TOKEN}")));
    let (status, body) = match target.as_str() {
        _ if !known => failure(401, "Unauthorized"),
        "GET /api/v1/namespaces/other/secrets/creds" => secret(&json!({ "login": PAIR })),
        "GET /api/v1/namespaces/other/secrets/pull" => {
            secret(&json!({ ".dockerconfigjson": docker_config() }))
        }
        "GET /api/v1/namespaces/closed/secrets/creds" => failure(403, "Forbidden"),
        _ => failure(404, "NotFound"),
    };
    asked.lock().unwrap().push(target);
    // A client that went away is its own business.
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}

fn secret(data: &serde_json::Value) -> (u16, String) {
    (200, json!({ "apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": data }).to_string())
}

fn failure(code: u16, reason: &str) -> (u16, String) {
    let message = format!("the API says {reason}");
    let status = json!({ "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "message": message, "reason": reason, "code": code });
    (code, status.to_string())
}

/// `{"auths":{"registry.test":{"auth":"…"}}}` in base64.
fn docker_config() -> &'static str {
    "eyJhdXRocyI6eyJyZWdpc3RyeS50ZXN0Ijp7ImF1dGgiOiJZV3hwWTJVNmN6TmpjbVYwTFhCaE5UVT0ifX19"
}

struct World {
    api: Api,
    registry: Registry,
    place: Place,
}

impl World {
    async fn new() -> Self {
        let api = Api::start();
        let registry = registry().await;
        registry.require(Access::bearer_for("alice", PASSWORD));
        let place = Place::new(&registry, "");
        let world = Self { api, registry, place };
        world.write("kubeconfig", &world.api.address, TOKEN);
        world
    }

    fn write(&self, name: &str, address: &str, token: &str) {
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\nclusters: [{{name: k, cluster: {{server: 'http://{address}'}}}}]\nusers: [{{name: u, user: {{token: {token}}}}}]\n"
        );
        std::fs::write(self.place.path().join(name), config).unwrap();
    }

    fn run(&self, credentials: &str, more: &[&str], env: &[(&str, &str)]) -> Ran {
        let mut test = command(&["test", "registry.test/acme/web", "--credentials", credentials]);
        test.args(["--registries-conf-path", "registries.conf", "--loglevel", "trace"]);
        test.env("LOGIN", format!("alice:{PASSWORD}")).envs(env.iter().copied());
        let ran = run(test.args(more).current_dir(self.place.path()));
        for text in [&ran.out, &ran.err] {
            for secret in [PASSWORD, TOKEN, PAIR] {
                assert!(!text.contains(secret), "{text}");
            }
        }
        ran
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_read_from_the_cluster_and_nothing_else_is() {
    let world = World::new().await;
    world.write("unknown", &world.api.address, "0ther");
    world.write("dead", "127.0.0.1:1", TOKEN);
    let creds = "GET /api/v1/namespaces/other/secrets/creds";
    let flag = ["--kubeconfig", "kubeconfig"];
    #[rustfmt::skip]
    let rows: [(&str, &[&str], &[(&str, &str)], i32, &str, &[&str]); 11] = [
        ("secret:other/creds#login", &flag, &[], 0, "acme/web:1.1.0", &[creds]),
        ("pullsecret:other/pull", &flag, &[], 0, "acme/web:1.1.0", &["GET /api/v1/namespaces/other/secrets/pull"]),
        ("secret:other/creds#login", &[], &[("KUBECONFIG", "kubeconfig")], 0, "acme/web:1.1.0", &[creds]),
        ("secret:other/creds#none", &flag, &[], 1, "has no field 'none', only login", &[creds]),
        ("secret:other/none#x", &flag, &[], 1, "there is no Secret 'none' in namespace 'other'", &["GET /api/v1/namespaces/other/secrets/none"]),
        ("secret:closed/creds#login", &flag, &[], 1, "secrets", &["GET /api/v1/namespaces/closed/secrets/creds"]),
        ("secret:other/creds#login", &["--kubeconfig", "unknown"], &[], 1, "could not fetch credentials", &[creds]),
        ("secret:other/creds#login", &["--kubeconfig", "dead"], &[], 1, "could not fetch credentials", &[]),
        // No source names a Secret, so that no client is made.
        ("env:LOGIN", &flag, &[], 0, "acme/web:1.1.0", &[]),
        ("env:LOGIN", &["--kubeconfig", "dead"], &[], 0, "acme/web:1.1.0", &[]),
        // No cluster is at hand.
        ("secret:other/creds#login", &[], &[], 1, "no Kubernetes client given; give --kubeconfig, or --manifests", &[]),
    ];
    for (credentials, arguments, env, code, says, asked) in rows {
        let ran = world.run(credentials, arguments, env);
        let case = format!("{credentials} {arguments:?} {env:?}: {}", ran.err);
        assert_eq!(ran.code, Some(code), "{case}");
        assert!(ran.err.contains(says), "{case}");
        assert_eq!(world.api.asked(), asked, "{case}");
    }
    assert!(world.registry.counts().tokens >= 5, "they were used");
}
