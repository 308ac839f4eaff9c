//! The registries file, which registry answers for an image, where credentials are, and platforms.

use aiu_core::image::{ImageReference, InvalidPlatform, Platform};
use aiu_core::policy::{DateSource, TagFilter, UpdatePolicy, UpdateStrategy};
use aiu_core::registries::{
    CredentialPlace, CredentialSource, Entry, InvalidRegistries, Registries,
};
use serde_json::{Value, json};

use super::{Answers, Case, Handler};

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        ("registries_conf", Handler::new(registries_conf)),
        ("credential_source", Handler::new(credential_source)),
        ("secret_namespace", Handler::new(secret_namespace)),
        ("registry_endpoint", Handler::new(registry_endpoint).obeying(prefix_of_the_api_host)),
        ("platform", Handler::new(platform)),
        ("platform_keys", Handler::new(platform_keys)),
        ("platform_wanted", Handler::new(platform_wanted)),
    ],
    deviations: &[],
};

fn registries_conf(case: &Case) -> Value {
    match items(case.text("yaml")) {
        Ok(entries) => json!({ "items": entries.iter().map(item).collect::<Vec<_>>() }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

/// The items as written, if the whole file is good.
fn items(yaml: &str) -> Result<Vec<Entry>, InvalidRegistries> {
    let entries = Entry::read_all(yaml)?;
    Registries::from_entries(&entries)?;
    Ok(entries)
}

fn item(entry: &Entry) -> Value {
    json!({
        "name": entry.name.as_deref().unwrap_or_default(),
        "api_url": entry.api_url.as_deref().unwrap_or_default(),
        "prefix": entry.prefix.as_deref().unwrap_or_default(),
        "ping": entry.ping.unwrap_or_default(),
        "credentials": entry.credentials.as_deref().unwrap_or_default(),
        "credsexpire_ns": entry.credentials_expire,
        "tagsortmode": entry.tag_sort_mode.as_deref().unwrap_or_default(),
        "insecure": entry.insecure,
        "ca_file": entry.ca_file.as_deref().unwrap_or_default(),
        "defaultns": entry.default_namespace.as_deref().unwrap_or_default(),
        "limit": entry.limit.unwrap_or_default(),
        "default": entry.default,
    })
}

fn registry_endpoint(case: &Case) -> Value {
    let registries = Registries::parse(case.text("registries_conf")).expect("a good file");
    let image: ImageReference = case.text("image").parse().expect("a good image");
    let endpoint = registries.endpoint_for(&image.repository);
    json!({
        "prefix": *endpoint.prefix,
        "api_url": *endpoint.api_url,
        "default_namespace": endpoint.default_namespace.as_deref().unwrap_or_default(),
    })
}

/// Fault G3: an item without prefix answers for its API's host alone, so other hosts are
/// inferred.
fn prefix_of_the_api_host(case: &Case, answer: &Value) -> bool {
    let host = case.text("image").split('/').next().unwrap_or_default();
    *answer
        == json!({ "prefix": host, "api_url": format!("https://{host}"), "default_namespace": "" })
}

fn credential_source(case: &Case) -> Value {
    let source = match case.text("text").parse::<CredentialSource>() {
        Ok(source) if case.input["require_registry"] == true && source.registry.is_none() => {
            return json!({ "error": "no registry" });
        }
        Ok(source) => source,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let mut answer = json!({
        "registry": source.registry.as_deref().unwrap_or_default(),
        "type": source.place.to_string().split(':').next(),
        "namespace": "", "name": "", "field": "", "env": "", "path": "",
    });
    match &source.place {
        CredentialPlace::Secret { namespace, name, field } => {
            answer["namespace"] = json!(**namespace);
            answer["name"] = json!(**name);
            answer["field"] = json!(**field);
        }
        CredentialPlace::PullSecret { namespace, name } => {
            answer["namespace"] = json!(**namespace);
            answer["name"] = json!(**name);
            answer["field"] = json!(".dockerconfigjson");
        }
        CredentialPlace::Env(variable) => answer["env"] = json!(**variable),
        CredentialPlace::Script(path) => answer["path"] = json!(**path),
        // No case of the reference is one: it has no such sources.
        CredentialPlace::Cloud { .. } => {}
    }
    answer
}

fn secret_namespace(case: &Case) -> Value {
    let source: CredentialSource = case.text("pull_secret").parse().expect("a good source");
    json!({ "registry_asked": source.is_within(case.text("application_namespace")) })
}

fn platform(case: &Case) -> Value {
    match case.text("text").parse::<Platform>() {
        Ok(Platform { os, architecture, variant }) => {
            json!({ "os": os, "arch": architecture, "variant": variant.unwrap_or_default() })
        }
        Err(error) => json!({ "error": error.to_string() }),
    }
}

/// The platforms that an image asks for, as its policy holds them.
fn wanted(case: &Case) -> Vec<Platform> {
    let texts = case.texts("platforms").into_iter();
    let platforms =
        texts.map(|text| text.parse().unwrap_or_else(|error: InvalidPlatform| error.never()));
    let strategy = UpdateStrategy::NewestBuild(DateSource::ImageConfig);
    UpdatePolicy::new(strategy, TagFilter::new(None, []), platforms.collect()).platforms
}

fn platform_keys(case: &Case) -> Value {
    json!({ "keys": wanted(case).iter().map(ToString::to_string).collect::<Vec<_>>() })
}

fn platform_wanted(case: &Case) -> Value {
    assert!(case.input["ignore_own_platform"] == true, "no case asks about the program's own");
    let text = |field: &str| case.input["offered"][field].as_str().unwrap_or_default().to_owned();
    let variant = Some(text("variant")).filter(|variant| !variant.is_empty());
    let offered = Platform { os: text("os"), architecture: text("arch"), variant };
    json!({ "wanted": offered.is_wanted(&wanted(case)) })
}
