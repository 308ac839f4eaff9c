//! Asks the cluster whether the holder of a token may see metrics: a `TokenReview`, then a
//! `SubjectAccessReview` (spec 22 §3, `--metrics-secure`).

use std::sync::Arc;

use aiu_controller::cluster::api::ApiError;
use aiu_web::{Access, Ask};
use futures::FutureExt as _;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use secrecy::{ExposeSecret as _, SecretString};

/// A question that this client asks.
pub(super) fn ask(client: Client) -> Ask {
    Arc::new(move |token| access(client.clone(), token).boxed())
}

async fn access(client: Client, token: SecretString) -> Result<Access, String> {
    let Some(user) = holder(&client, &token).await? else { return Ok(Access::Unauthenticated) };
    let name = user.username.clone().unwrap_or_default();
    let path = NonResourceAttributes { path: Some("/metrics".into()), verb: Some("get".into()) };
    let question = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            non_resource_attributes: Some(path),
            user: user.username,
            uid: user.uid,
            groups: user.groups,
            extra: user.extra,
            ..Default::default()
        },
        ..Default::default()
    };
    let reviews: Api<SubjectAccessReview> = Api::all(client);
    let review = reviews
        .create(&PostParams::default(), &question)
        .await
        .map_err(|error| refused(&error, "subjectaccessreviews.authorization.k8s.io"))?;
    let is_allowed = review.status.is_some_and(|status| status.allowed);
    Ok(if is_allowed { Access::Granted } else { Access::Denied { user: name } })
}

/// Whose token it is, if the cluster knows it.
async fn holder(client: &Client, token: &SecretString) -> Result<Option<UserInfo>, String> {
    let question = TokenReview {
        spec: TokenReviewSpec { token: token.expose_secret().to_owned(), ..Default::default() },
        ..Default::default()
    };
    let reviews: Api<TokenReview> = Api::all(client.clone());
    let review = reviews
        .create(&PostParams::default(), &question)
        .await
        .map_err(|error| refused(&error, "tokenreviews.authentication.k8s.io"))?;
    let status = review.status.unwrap_or_default();
    Ok(status.user.filter(|_| status.authenticated == Some(true)))
}

/// Why a question was not answered, and which right it takes.
fn refused(error: &kube::Error, resource: &str) -> String {
    ApiError::of(error, "create", resource, resource).to_string()
}
