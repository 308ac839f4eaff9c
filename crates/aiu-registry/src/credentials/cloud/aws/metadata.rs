//! Keys from services that only this pod or this machine can reach.

use std::net::IpAddr;
use std::time::Duration;

use aiu_http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use aiu_http::{Answer, Call, Method, StatusCode, Url};

use super::keys::missing;
use super::{Keys, keys_in};
use crate::credentials::cloud::variables::file;
use crate::credentials::cloud::{Desk, IdentityError};

/// Such services are next door: who does not answer soon is not there.
const DEADLINE: Duration = Duration::from_secs(5);
/// Where containers of ECS find theirs.
const ECS: &str = "http://169.254.170.2";
/// Addresses that may be asked without TLS, beside loopback: of ECS, and of EKS Pod Identity.
const PLAIN: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];
const INSTANCE: &str = "http://169.254.169.254";

/// The keys of this pod (EKS Pod Identity) or task (ECS), if variables say where they are.
pub(super) async fn container(desk: &Desk) -> Result<Option<Keys>, IdentityError> {
    let variables = &desk.variables;
    let full = variables.text("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    let relative = variables.text("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let (name, text) = match (relative, full) {
        (Some(path), _) => ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", format!("{ECS}{path}")),
        (None, Some(url)) => ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url),
        (None, None) => return Ok(None),
    };
    let url = text.parse::<Url>().ok().filter(is_allowed).ok_or_else(|| {
        let found = format!("{name} is neither an https:// URL nor one of this pod or machine");
        missing(&found, "correct it; EKS and ECS set it themselves")
    })?;
    let mut call = Call::get(url).direct().deadline(DEADLINE);
    if let Some(token) = container_token(desk).await? {
        let mut value = HeaderValue::try_from(token).map_err(|_| {
            missing("the token for the container's credentials is no header", "restart the pod")
        })?;
        value.set_sensitive(true);
        call = call.header(AUTHORIZATION, value);
    }
    let answer = desk.send(&call).await?;
    if answer.status.is_success() {
        return keys_in(&answer, "the container identity").map(Some);
    }
    let said = String::from_utf8_lossy(&answer.body).into_owned();
    let fix = "check that a role is associated with this pod's service account, and that its trust policy names pods.eks.amazonaws.com";
    Err(IdentityError::refusal(&answer, "this container".to_owned(), &said, fix.to_owned()))
}

async fn container_token(desk: &Desk) -> Result<Option<String>, IdentityError> {
    let variables = &desk.variables;
    let Some(path) = variables.text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") else {
        return Ok(variables.text("AWS_CONTAINER_AUTHORIZATION_TOKEN"));
    };
    file(&path).await.map(Some).map_err(|cause| {
        let found = format!("the token file {path} cannot be read ({cause})");
        missing(&found, "EKS mounts it when the pod starts: restart the pod")
    })
}

/// Keys are fetched over TLS, or from next door.
fn is_allowed(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let loopback =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    url.scheme() == "https" || url.scheme() == "http" && (loopback || PLAIN.contains(&host))
}

/// The keys of the machine's own role.
pub(super) async fn instance(desk: &Desk) -> Result<Keys, IdentityError> {
    let named = desk.variables.text("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    let base = named.unwrap_or_else(|| INSTANCE.to_owned());
    let url = |path: &str| {
        format!("{}/latest/{path}", base.trim_end_matches('/'))
            .parse::<Url>()
            .map_err(|_| missing("AWS_EC2_METADATA_SERVICE_ENDPOINT is no URL", "correct it"))
    };
    let life = (HeaderName::from_static("x-aws-ec2-metadata-token-ttl-seconds"), "300");
    let call = Call::new(Method::PUT, url("api/token")?)
        .header(life.0, HeaderValue::from_static(life.1))
        .direct()
        .deadline(DEADLINE);
    let token = match desk.send(&call).await {
        Ok(answer) if answer.status.is_success() => answer.body,
        Ok(answer) => return Err(no_instance(&format!("HTTP {}", answer.status.as_u16()))),
        Err(error) => return Err(no_instance(&error.to_string())),
    };
    let mut token =
        HeaderValue::from_bytes(&token).map_err(|_| no_instance("its token is no header"))?;
    token.set_sensitive(true);
    let ask = async |path: &str| -> Result<Answer, IdentityError> {
        let name = HeaderName::from_static("x-aws-ec2-metadata-token");
        let call = Call::get(url(path)?).header(name, token.clone()).direct().deadline(DEADLINE);
        desk.send(&call).await
    };
    let folder = "meta-data/iam/security-credentials/";
    let roles = ask(folder).await?;
    let role = String::from_utf8_lossy(&roles.body).lines().next().unwrap_or_default().to_owned();
    if roles.status == StatusCode::NOT_FOUND || role.is_empty() {
        return Err(no_instance("the instance has no role"));
    }
    keys_in(&ask(&format!("{folder}{role}")).await?, &format!("the instance role {role}"))
}

fn no_instance(cause: &str) -> IdentityError {
    missing(
        &format!(
            "no variable or profile names one, and the instance metadata service gives none ({cause})"
        ),
        "set AWS_PROFILE or AWS_ACCESS_KEY_ID, or give the instance a role",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_fetched_over_tls_or_from_next_door() {
        #[rustfmt::skip]
        let rows = [
            ("http://169.254.170.23/v1/credentials",      true),
            ("http://[fd00:ec2::23]/v1/credentials",      true),
            ("http://169.254.170.2/v2/credentials/x",     true),
            ("http://127.0.0.1:51679/",                   true),
            ("http://localhost:51679/",                   true),
            ("https://keys.example/",                     true),
            ("http://keys.example/",                      false),
            ("http://169.254.170.23.evil.example/",       false),
        ];
        for (url, expected) in rows {
            assert_eq!(is_allowed(&url.parse().unwrap()), expected, "{url}");
        }
    }
}
