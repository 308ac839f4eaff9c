//! The metadata server: of a pod on GKE its own identity, elsewhere that of the machine.

use std::time::Duration;

use aiu_http::header::{HeaderName, HeaderValue, SERVER};
use aiu_http::{Answer, Call, Url};

use super::{Access, granted, missing};
use crate::credentials::cloud::{Desk, IdentityError};

const USUAL: &str = "metadata.google.internal";
/// It is next door: who does not answer soon is not there.
const DEADLINE: Duration = Duration::from_secs(5);
/// How the server that speaks for pods introduces itself; that of machines says another name.
const OF_PODS: &str = "GKE Metadata Server";

const SET_UP: &str = "enable Workload Identity Federation for the cluster and its node pool, and grant the role to this pod's service account";

/// A token of the default account. In a pod it must be the pod's, or the `account` that is asked
/// for by name: the node's own is never used behind anybody's back (spec 11 CLD-007).
pub(super) async fn access(desk: &Desk, account: Option<&str>) -> Result<Access, IdentityError> {
    let answer = ask(desk, "email").await?;
    let email = String::from_utf8_lossy(&answer.body).trim().to_owned();
    if !answer.status.is_success() || email.is_empty() {
        return Err(missing("this machine has no service account", SET_UP));
    }
    let of_node = desk.variables.in_kubernetes() && answer.header(SERVER) != Some(OF_PODS);
    if of_node && account != Some(&*email) {
        let found = format!(
            "the metadata server speaks for the node ({email}), whose identity is not this pod's"
        );
        return Err(missing(&found, SET_UP));
    }
    let answer = ask(desk, "token").await?;
    granted(
        &answer,
        &email,
        "grant roles/iam.workloadIdentityUser on it to this pod's service account",
    )
}

async fn ask(desk: &Desk, what: &str) -> Result<Answer, IdentityError> {
    let host = desk.variables.text("GCE_METADATA_HOST").unwrap_or_else(|| USUAL.to_owned());
    let url = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/{what}");
    let url: Url =
        url.parse().map_err(|_| missing("GCE_METADATA_HOST is no host", "correct it"))?;
    let flavor = (HeaderName::from_static("metadata-flavor"), HeaderValue::from_static("Google"));
    let call = Call::get(url).header(flavor.0, flavor.1).direct().deadline(DEADLINE);
    desk.http.send(&call).await.map_err(|error| {
        let found = format!(
            "GOOGLE_APPLICATION_CREDENTIALS is not set, and the metadata server cannot be asked ({error})"
        );
        missing(&found, "set the variable to the file of a workload identity pool, or run where there is a metadata server")
    })
}
