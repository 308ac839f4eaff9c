//! `gcp`.

use std::time::Duration;

use aiu_testkit::cloud::{Google, pod_token};
use aiu_testkit::registry::clock::freeze;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::json;

use super::{Site, file};

const ACCOUNT: &str = "pull@acme.iam.gserviceaccount.com";
const NODE: &str = "nodes@acme.iam.gserviceaccount.com";
const SUBJECT: &str = "system:serviceaccount:argocd:argocd-image-updater";
const AUDIENCE: &str =
    "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/c";

fn site(google: &Google, variables: &[(&str, &str)]) -> Site {
    let (url, host) = (google.url(), google.host());
    let own = [
        ("GCE_METADATA_HOST", &*host),
        ("CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS", &*url),
        ("HOME", "/nonexistent"),
    ];
    let variables: Vec<(&str, &str)> = own.into_iter().chain(variables.iter().copied()).collect();
    Site::new("europe-docker.pkg.dev", "https://europe-docker.pkg.dev", &variables)
        .showing(&google.url(), "GOOGLE")
}

#[tokio::test]
async fn a_pod_is_itself_and_never_its_node() {
    let kubernetes = ("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    let account = format!("gcp:{ACCOUNT}");
    let node = format!("gcp:{NODE}");
    let token = "oauth2accesstoken/SECRET-google-";
    let refused = format!(
        "IdentityMissing: the sign-in 'gcp' has no identity: the metadata server speaks for the node ({NODE}), whose identity is not this pod's; enable Workload Identity Federation for the cluster and its node pool, and grant the role to this pod's service account"
    );
    #[rustfmt::skip]
    let rows: [(&str, bool, &[(&str, &str)], &str, &str); 7] = [
        // who the metadata server speaks for, as of a pod; what is set; source; what comes of it
        (ACCOUNT,          true,  &[kubernetes], "gcp",    token),
        (ACCOUNT,          true,  &[kubernetes], &account, token),
        ("acme.svc.id.goog", true, &[kubernetes], &account, token),
        (NODE,             false, &[kubernetes], "gcp",    &refused),
        (NODE,             false, &[kubernetes], &account, &refused),
        (NODE,             false, &[kubernetes], &node,    token),
        // On a machine without Kubernetes, its identity is its user's.
        (NODE,             false, &[],           "gcp",    token),
    ];
    for (runs_as, pod, variables, source, expected) in rows {
        let google = Google::start().await;
        google.run_as(runs_as, pod);
        google.impersonate(ACCOUNT, "acme.svc.id.goog");
        let told = site(&google, variables).told(source).await;
        assert!(told.starts_with(expected), "{told}");
    }
    let google = Google::start().await;
    google.run_as(ACCOUNT, true);
    let told = site(&google, &[]).told(&node).await;
    assert_eq!(
        told,
        format!(
            "IdentityRejected: GOOGLE refuses a token of {NODE} to {ACCOUNT} (Permission 'iam.serviceAccounts.getAccessToken' denied); grant {ACCOUNT} the role roles/iam.serviceAccountTokenCreator (with workload identity: roles/iam.workloadIdentityUser) on {NODE}"
        )
    );
}

/// A fresh key, as the files of service accounts hold theirs.
fn private_key() -> String {
    let der = KeyPair::generate(KeySize::Rsa2048).expect("a key");
    let der: Pkcs8V1Der<'_> = der.as_der().expect("an encoding");
    let body = BASE64_STANDARD.encode(der.as_ref());
    let lines: Vec<&str> =
        body.as_bytes().chunks(64).map(|l| str::from_utf8(l).expect("base64")).collect();
    let (dashes, words) = ("-----", "PRIVATE KEY");
    format!("{dashes}BEGIN {words}{dashes}\n{}\n{dashes}END {words}{dashes}\n", lines.join("\n"))
}

#[tokio::test]
async fn files_of_every_kind() {
    let google = Google::start().await;
    google.federate(SUBJECT);
    google.impersonate(ACCOUNT, SUBJECT);
    let (_kept, token) = file(&pod_token(SUBJECT));
    let (_kept, in_json) = file(&json!({ "id_token": pod_token(SUBJECT) }).to_string());
    let (_kept, strange) = file(&pod_token("stranger"));
    let external = |source: serde_json::Value, account: Option<&str>| {
        let mut document = json!({
            "type": "external_account", "audience": AUDIENCE,
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": format!("{}/token", google.url()), "credential_source": source,
        });
        if let Some(account) = account {
            document["service_account_impersonation_url"] = json!(format!(
                "{}/v1/projects/-/serviceAccounts/{account}:generateAccessToken",
                google.url()
            ));
        }
        document
    };
    let json_format = json!({ "type": "json", "subject_token_field_name": "id_token" });
    let missing = "IdentityMissing: the sign-in 'gcp' has no identity:";
    let key = |pem: &str| {
        json!({
            "type": "service_account", "client_email": SUBJECT, "private_key": pem,
            "token_uri": format!("{}/token", google.url()),
        })
    };
    let pem = &private_key();
    #[rustfmt::skip]
    let rows = [
        (external(json!({ "file": token }), None),                       "token", String::new()),
        (external(json!({ "file": in_json, "format": json_format }), None), "token", String::new()),
        (external(json!({ "file": token }), Some(ACCOUNT)),              "token pull@acme.iam.gserviceaccount.com:generateAccessToken", String::new()),
        (key(pem),                                                       "token", String::new()),
        (key("SECRET"),                                                  "", format!("{missing} the private_key in FILE is none; make the file anew")),
        (external(json!({ "file": "/gone" }), None),                     "", format!("{missing} the token file /gone cannot be read (no such file or directory); project the service account's token into the pod, and restart it")),
        (external(json!({ "environment_id": "aws1" }), None),            "", format!("{missing} the file FILE takes its token neither from a file nor from a URL; other sources are not supported: fetch the login with a script (ext:)")),
        (external(json!({ "file": strange }), None),                     "token", format!("IdentityRejected: GOOGLE refuses stranger (invalid_grant The credential is not accepted.); let the provider {AUDIENCE} accept the issuer and the audience of this token, and map its subject 'stranger'")),
        (json!({ "type": "external_account" }),                          "", format!("{missing} the file FILE holds no 'audience'; make it anew")),
        (json!({ "type": "gdch_service_account" }),                      "", format!("{missing} the file FILE is of the type 'gdch_service_account', which is not supported; use external_account (a workload identity pool) or service_account")),
        (json!([]),                                                      "", format!("{missing} the file FILE holds no 'type'; make it anew")),
    ];
    for (document, asked, refusal) in rows {
        let before = google.asked().len();
        let (_kept, path) = file(&document.to_string());
        let site = site(&google, &[("GOOGLE_APPLICATION_CREDENTIALS", &path)]);
        let told = site.showing(&path, "FILE").told("gcp").await;
        if refusal.is_empty() {
            assert!(told.starts_with("oauth2accesstoken/SECRET-google-"), "{told}");
        } else {
            assert_eq!(told, refusal);
        }
        assert_eq!(google.asked()[before..].join(" "), asked, "{document}");
    }
}

#[tokio::test]
async fn a_token_is_kept_until_shortly_before_its_end() {
    let google = Google::start().await;
    google.run_as(ACCOUNT, true);
    let site = site(&google, &[]);
    let clock = freeze();
    let told = |n| format!("oauth2accesstoken/SECRET-google-{n}");
    for (length, n) in [(0, 1), (53, 1), (2, 2), (53, 2)] {
        clock.advance(Duration::from_mins(length)).await;
        assert_eq!(site.told("gcp").await, told(n), "{length} minutes later");
    }
}
