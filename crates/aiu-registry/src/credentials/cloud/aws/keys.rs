//! Where the keys of this program come from: the first place that is set up, in the order in
//! which Amazon's own tools look.
//!
//! The instance below a pod is never one of them: what it may do was not granted to the pod
//! (spec 11 CLD-007).

use aiu_core::registries::Cloud;
use secrecy::SecretString;

use super::sts::Sts;
use super::{Keys, UNENDING, metadata, profile};
use crate::credentials::cloud::variables::file;
use crate::credentials::cloud::{Desk, IdentityError};

/// The keys of `role`, or of this program itself.
pub(super) async fn find(
    desk: &Desk,
    sts: &Sts,
    role: Option<&str>,
) -> Result<Keys, IdentityError> {
    let web_identity = desk.variables.text("AWS_ROLE_ARN");
    let keys = own(desk, sts).await?;
    match role {
        // The cluster's token gave the keys of this very role already.
        Some(role) if web_identity.as_deref() != Some(role) => {
            sts.assume(desk, role, None, &keys).await
        }
        _ => Ok(keys),
    }
}

async fn own(desk: &Desk, sts: &Sts) -> Result<Keys, IdentityError> {
    let variables = &desk.variables;
    if let Some(keys) = in_variables(desk)? {
        return Ok(keys);
    }
    if let Some(name) = variables.text("AWS_PROFILE") {
        return profile::keys(desk, sts, &name).await;
    }
    if let Some(keys) = web_identity(desk, sts).await? {
        return Ok(keys);
    }
    if let Some(keys) = metadata::container(desk).await? {
        return Ok(keys);
    }
    if profile::is_there(desk, "default").await {
        return profile::keys(desk, sts, "default").await;
    }
    if !variables.in_kubernetes() && !variables.is_true("AWS_EC2_METADATA_DISABLED") {
        return metadata::instance(desk).await;
    }
    Err(nothing())
}

/// Keys in plain variables.
pub(super) fn in_variables(desk: &Desk) -> Result<Option<Keys>, IdentityError> {
    let Some(id) = desk.variables.text("AWS_ACCESS_KEY_ID") else { return Ok(None) };
    let Some(secret) = desk.variables.text("AWS_SECRET_ACCESS_KEY") else {
        return Err(missing(
            "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not",
            "set both",
        ));
    };
    Ok(Some(Keys {
        who: format!("the access key {id}"),
        id,
        secret: secret.into(),
        session: desk.variables.text("AWS_SESSION_TOKEN").map(SecretString::from),
        good_for: UNENDING,
    }))
}

/// A role for the token of this pod's service account (IRSA).
async fn web_identity(desk: &Desk, sts: &Sts) -> Result<Option<Keys>, IdentityError> {
    let variables = &desk.variables;
    let (path, role) =
        match (variables.text("AWS_WEB_IDENTITY_TOKEN_FILE"), variables.text("AWS_ROLE_ARN")) {
            (None, None) => return Ok(None),
            (Some(path), Some(role)) => (path, role),
            (Some(_), None) => {
                return Err(missing(
                    "AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not",
                    ANNOTATE,
                ));
            }
            (None, Some(_)) => {
                return Err(missing(
                    "AWS_ROLE_ARN is set, and AWS_WEB_IDENTITY_TOKEN_FILE is not",
                    ANNOTATE,
                ));
            }
        };
    let token = web_token(&path).await?;
    let session = variables.text("AWS_ROLE_SESSION_NAME");
    sts.with_web_identity(desk, &role, session.as_deref(), &token).await.map(Some)
}

/// The token that the cluster wrote into a file.
pub(super) async fn web_token(path: &str) -> Result<SecretString, IdentityError> {
    match file(path).await {
        Ok(token) => Ok(token.into()),
        Err(cause) => {
            let found = format!("the token file {path} cannot be read ({cause})");
            Err(missing(&found, "EKS mounts it when the pod starts: restart the pod"))
        }
    }
}

pub(super) fn missing(found: &str, fix: &str) -> IdentityError {
    IdentityError::Missing { cloud: Cloud::Aws, found: found.to_owned(), fix: fix.to_owned() }
}

const ANNOTATE: &str = "EKS sets both: annotate the service account with eks.amazonaws.com/role-arn, and restart the pod";

fn nothing() -> IdentityError {
    missing(
        "none of AWS_WEB_IDENTITY_TOKEN_FILE, AWS_CONTAINER_CREDENTIALS_FULL_URI, AWS_ACCESS_KEY_ID and AWS_PROFILE is set, and the role of the node is not this pod's",
        "annotate the service account with eks.amazonaws.com/role-arn, or associate a role with it (EKS Pod Identity), and restart the pod",
    )
}
