//! The answers of the reference program on credentials; the file's README tells how to read it.

use aiu_core::registries::{Endpoint, Registries};
use aiu_registry::{CredentialError, DockerConfig, Login};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

/// The cases of one kind, each with the right answer.
fn cases(kind: &str) -> Vec<(Value, Value)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../aiu-core/tests/vectors/config.json");
    let text = std::fs::read_to_string(path).expect("the core's vectors");
    let file: Value = serde_json::from_str(&text).expect("a file of cases");
    let cases = file["cases"].as_array().expect("a list of cases").iter();
    let right = |case: &Value| {
        let faulty = case["upstream_fault"] == true;
        case[if faulty { "want" } else { "out" }].clone()
    };
    let cases: Vec<_> = cases
        .filter(|case| case["kind"] == kind)
        .map(|case| (case["in"].clone(), right(case)))
        .collect();
    assert!(!cases.is_empty(), "no cases of {kind}");
    cases
}

fn judge(input: &Value, right: &Value, ours: Result<Login, CredentialError>) {
    match ours {
        Ok(login) => {
            let answer =
                json!({ "username": login.user, "password": login.password.expose_secret() });
            assert_eq!(answer, *right, "{input}");
        }
        Err(error) => {
            let expected = right["error"].as_str();
            assert!(expected.is_some(), "{input}: {error}, but right is {right}");
        }
    }
}

#[test]
fn fields_of_secrets() {
    for (input, right) in cases("secret_credentials") {
        let value = input["value"].as_str().unwrap();
        judge(&input, &right, Login::from_secret_field("ns", "name", "key", value));
    }
}

#[test]
fn values_of_variables() {
    for (input, right) in cases("env_credentials") {
        let value = input["value"].as_str().unwrap();
        judge(&input, &right, Login::from_variable("VEC_CRED", value));
    }
}

#[test]
fn pull_secrets() {
    for (input, right) in cases("pull_secret") {
        let endpoint = Registries::builtin().endpoint_for(&"r.invalid/app".parse().unwrap());
        let api_url = input["api_url"].as_str().unwrap();
        let api_url = api_url.strip_suffix('/').unwrap_or(api_url);
        let endpoint = Endpoint { api_url: api_url.into(), ..(*endpoint).clone() };
        let text = input["docker_config_json"].as_str().unwrap();
        let ours = DockerConfig::parse(text).and_then(|config| config.login(&endpoint, "app"));
        judge(&input, &right, ours);
    }
}
