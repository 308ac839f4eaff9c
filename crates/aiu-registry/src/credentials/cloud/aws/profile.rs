//! The files that `aws configure` writes: keys, and roles that are reached from keys.

use std::collections::BTreeMap;

use super::keys::{in_variables, missing, web_token};
use super::sts::Sts;
use super::{Keys, UNENDING, metadata};
use crate::credentials::cloud::variables::file;
use crate::credentials::cloud::{Desk, IdentityError};

/// Profiles that stand on each other are followed this far.
const MAX_DEPTH: usize = 5;

type Profiles = BTreeMap<String, BTreeMap<String, String>>;

/// Whether a profile is written down somewhere.
pub(super) async fn is_there(desk: &Desk, name: &str) -> bool {
    read(desk).await.contains_key(name)
}

/// The keys of a profile.
pub(super) async fn keys(desk: &Desk, sts: &Sts, name: &str) -> Result<Keys, IdentityError> {
    of(desk, sts, &read(desk).await, name, MAX_DEPTH).await
}

async fn of(
    desk: &Desk,
    sts: &Sts,
    profiles: &Profiles,
    name: &str,
    depth: usize,
) -> Result<Keys, IdentityError> {
    let bad = |what: &str, fix: &str| missing(&format!("the profile '{name}' {what}"), fix);
    let Some(profile) = profiles.get(name) else {
        let known: Vec<&str> = profiles.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(bad(
            &format!("does not exist (there are: {known})"),
            "correct AWS_PROFILE, or mount the files that AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name",
        ));
    };
    if depth == 0 {
        return Err(bad("stands on itself", "correct its source_profile"));
    }
    let text = |key: &str| profile.get(key).map(String::as_str).filter(|text| !text.is_empty());
    let Some(role) = text("role_arn") else { return plain(name, profile) };
    if let Some(path) = text("web_identity_token_file") {
        let token = web_token(path).await?;
        return sts.with_web_identity(desk, role, text("role_session_name"), &token).await;
    }
    let base = match (text("source_profile"), text("credential_source")) {
        (Some(own), _) if own == name => plain(name, profile)?,
        (Some(other), _) => Box::pin(of(desk, sts, profiles, other, depth - 1)).await?,
        (None, Some("Environment")) => in_variables(desk)?
            .ok_or_else(|| bad("takes its keys from variables", "set AWS_ACCESS_KEY_ID"))?,
        (None, Some("EcsContainer")) => metadata::container(desk).await?.ok_or_else(|| {
            bad("is of a container", "AWS_CONTAINER_CREDENTIALS_FULL_URI must be set")
        })?,
        // Asked for in so many words, and so not behind anybody's back.
        (None, Some("Ec2InstanceMetadata")) => metadata::instance(desk).await?,
        (None, _) => {
            return Err(bad(
                "has a role_arn and nothing to reach it from",
                "give it a source_profile, a credential_source or a web_identity_token_file",
            ));
        }
    };
    sts.assume(desk, role, text("external_id"), &base).await
}

/// The keys that stand in a profile.
fn plain(name: &str, profile: &BTreeMap<String, String>) -> Result<Keys, IdentityError> {
    let text = |key: &str| profile.get(key).filter(|text| !text.is_empty());
    let (Some(id), Some(secret)) = (text("aws_access_key_id"), text("aws_secret_access_key"))
    else {
        let signed_in = ["credential_process", "sso_session", "sso_start_url"];
        let what = match signed_in.into_iter().find(|key| profile.contains_key(*key)) {
            Some(key) => format!("uses {key}, which is not supported here"),
            None => "has no aws_access_key_id with aws_secret_access_key".to_owned(),
        };
        return Err(missing(
            &format!("the profile '{name}' {what}"),
            "give it keys or a role_arn, or fetch the login with a script (ext:)",
        ));
    };
    Ok(Keys {
        id: id.clone(),
        secret: secret.as_str().into(),
        session: text("aws_session_token").map(|token| token.as_str().into()),
        who: format!("the profile {name}"),
        good_for: UNENDING,
    })
}

/// Both files; what the one for credentials says counts.
async fn read(desk: &Desk) -> Profiles {
    let home = desk.variables.text("HOME").unwrap_or_default();
    let path = |variable: &str, name: &str| {
        desk.variables.text(variable).unwrap_or_else(|| format!("{home}/.aws/{name}"))
    };
    let mut profiles = Profiles::new();
    for (path, kind) in [
        (path("AWS_CONFIG_FILE", "config"), Kind::Config),
        (path("AWS_SHARED_CREDENTIALS_FILE", "credentials"), Kind::Credentials),
    ] {
        parse(&file(&path).await.unwrap_or_default(), kind, &mut profiles);
    }
    profiles
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Config,
    Credentials,
}

fn parse(text: &str, kind: Kind, profiles: &mut Profiles) {
    let mut section = None;
    for line in text.lines() {
        // Nested settings are indented; none of ours are nested.
        if line.starts_with([' ', '\t', '#', ';']) {
            continue;
        }
        if let Some(header) = line.trim().strip_prefix('[').and_then(|l| l.split(']').next()) {
            let header = header.trim();
            let name = match header.strip_prefix("profile ") {
                Some(name) => Some(name.trim()),
                // Other sections of the configuration are no profiles.
                None if kind == Kind::Credentials || header == "default" => Some(header),
                None => None,
            };
            section = name.map(str::to_owned);
            if let Some(name) = &section {
                profiles.entry(name.clone()).or_default();
            }
        } else if let (Some(name), Some((key, value))) = (&section, line.split_once('=')) {
            let profile = profiles.entry(name.clone()).or_default();
            profile.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_of_both_files_are_one() {
        let mut profiles = Profiles::new();
        let config = "# mine\n[default]\nregion = eu-north-1\n[profile pull]\nrole_arn=arn:aws:iam::000011112222:role/a=b\nsource_profile = default\ns3 =\n  addressing_style = path\n[sso-session x]\nsso_region=y\n";
        parse(config, Kind::Config, &mut profiles);
        parse(
            "[default]\naws_access_key_id = A\nAWS_SECRET_ACCESS_KEY= B\n",
            Kind::Credentials,
            &mut profiles,
        );
        let told: Vec<String> = profiles
            .iter()
            .flat_map(|(name, keys)| keys.iter().map(move |(k, v)| format!("{name} {k}={v}")))
            .collect();
        assert_eq!(
            told,
            [
                "default aws_access_key_id=A",
                "default aws_secret_access_key=B",
                "default region=eu-north-1",
                "pull role_arn=arn:aws:iam::000011112222:role/a=b",
                "pull s3=",
                "pull source_profile=default",
            ]
        );
    }
}
