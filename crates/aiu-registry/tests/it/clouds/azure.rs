//! `azure`.

use std::time::Duration;

use aiu_testkit::cloud::{Azure, pod_token};
use aiu_testkit::registry::clock::freeze;

use super::{Site, file};

const TENANT: &str = "99999999-0000-0000-0000-000000000000";
const CLIENT: &str = "11111111-2222-3333-4444-555555555555";
const OTHER: &str = "66666666-7777-8888-9999-000000000000";
const SUBJECT: &str = "system:serviceaccount:argocd:argocd-image-updater";
const USER: &str = "00000000-0000-0000-0000-000000000000/";

fn site(azure: &Azure, variables: &[(&str, &str)]) -> Site {
    let url = azure.url();
    let own = [("AZURE_AUTHORITY_HOST", &*url), ("AZURE_POD_IDENTITY_AUTHORITY_HOST", &*url)];
    let variables: Vec<(&str, &str)> = own.into_iter().chain(variables.iter().copied()).collect();
    Site::new("acme.azurecr.io", &azure.url(), &variables).showing(&azure.url(), "AZURE")
}

#[tokio::test]
async fn an_identity_becomes_a_refresh_token_of_the_registry() {
    let azure = Azure::start(TENANT).await;
    azure.federate(CLIENT, SUBJECT);
    azure.federate(OTHER, SUBJECT);
    azure.secret(CLIENT, "SECRET-client");
    azure.manage("");
    azure.manage(OTHER);
    for client in [CLIENT, OTHER, ""] {
        azure.allow(client);
    }
    let (_kept, token) = file(&pod_token(SUBJECT));
    let (_kept, strange) = file(&pod_token("system:serviceaccount:web:other"));
    let token = ("AZURE_FEDERATED_TOKEN_FILE", &*token);
    let strange = ("AZURE_FEDERATED_TOKEN_FILE", &*strange);
    let client = ("AZURE_CLIENT_ID", CLIENT);
    let tenant = ("AZURE_TENANT_ID", TENANT);
    let kubernetes = ("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    let other = format!("azure:{OTHER}");
    let gone = "azure:aaaaaaaa-7777-8888-9999-000000000000";
    let entra = format!("POST /{TENANT}/oauth2/v2.0/token, POST /oauth2/exchange");
    let machine = "GET /metadata/identity/oauth2/token, POST /oauth2/exchange";
    #[rustfmt::skip]
    let rows: Vec<(Vec<(&str, &str)>, &str, &str)> = vec![
        // what is set, source, what is asked
        (vec![token, client, tenant, kubernetes],                     "azure", &entra),
        (vec![token, client, tenant, kubernetes],                     &other,  &entra),
        (vec![token, tenant],                                         &other,  &entra),
        (vec![client, tenant, ("AZURE_CLIENT_SECRET", "SECRET-client")], "azure", &entra),
        (vec![],                                                      "azure", machine),
        // An identity that is asked for by name is nobody's surprise.
        (vec![kubernetes],                                            &other,  machine),
    ];
    for (variables, source, expected) in rows {
        let before = azure.asked().len();
        let told = site(&azure, &variables).told(source).await;
        assert!(told.starts_with(USER), "{told} with {variables:?}");
        assert_eq!(azure.asked()[before..].join(", "), expected, "{variables:?}");
    }
    let exchange = azure.requests().pop().unwrap().form();
    assert_eq!(exchange["service"], "acme.azurecr.io");
    assert_eq!(exchange["grant_type"], "access_token");

    let missing = "IdentityMissing: the sign-in 'azure' has no identity:";
    #[rustfmt::skip]
    let rows: Vec<(Vec<(&str, &str)>, &str, String)> = vec![
        (vec![kubernetes], "azure", format!("{missing} AZURE_FEDERATED_TOKEN_FILE and AZURE_CLIENT_ID are not set, and the identity of the node is not this pod's; label the pod with azure.workload.identity/use: \"true\", annotate its service account with azure.workload.identity/client-id, and restart the pod")),
        (vec![token, tenant], "azure", format!("{missing} AZURE_FEDERATED_TOKEN_FILE is set, and AZURE_CLIENT_ID is not; annotate the service account with azure.workload.identity/client-id and restart the pod, or write azure:<client id>")),
        (vec![token, client], "azure", format!("{missing} AZURE_FEDERATED_TOKEN_FILE is set, and AZURE_TENANT_ID is not; the workload identity webhook sets both: restart the pod")),
        (vec![("AZURE_FEDERATED_TOKEN_FILE", "/gone"), client, tenant], "azure", format!("{missing} the token file /gone cannot be read (no such file or directory); the workload identity webhook mounts it when the pod starts: restart the pod")),
        (vec![strange, client, tenant], "azure", format!("IdentityRejected: AZURE refuses client {CLIENT} to system:serviceaccount:web:other (invalid_client AADSTS700213: No matching federated identity record found for presented assertion subject 'system:serviceaccount:web:other'.); give the identity a federated credential for the subject 'system:serviceaccount:web:other' and the issuer of this cluster")),
        (vec![token, client, ("AZURE_TENANT_ID", OTHER)], "azure", format!("IdentityRejected: AZURE refuses client {CLIENT} to {SUBJECT} (invalid_request AADSTS90002: Tenant not found.); correct AZURE_TENANT_ID, or AZURE_AUTHORITY_HOST for another of Azure's clouds")),
        (vec![], gone, "IdentityRejected: AZURE refuses the managed identity aaaaaaaa-7777-8888-9999-000000000000 (invalid_request Identity not found); assign this identity to the machine".to_owned()),
    ];
    for (variables, source, expected) in rows {
        assert_eq!(site(&azure, &variables).told(source).await, expected, "{variables:?}");
    }
}

#[tokio::test]
async fn the_registry_refuses_who_may_not_pull() {
    let azure = Azure::start(TENANT).await;
    azure.federate(CLIENT, SUBJECT);
    let (_kept, token) = file(&pod_token(SUBJECT));
    let variables = [
        ("AZURE_FEDERATED_TOKEN_FILE", &*token),
        ("AZURE_CLIENT_ID", CLIENT),
        ("AZURE_TENANT_ID", TENANT),
    ];
    let told = site(&azure, &variables).told("azure").await;
    assert_eq!(
        told,
        format!(
            "IdentityRejected: AZURE refuses client {CLIENT} (UNAUTHORIZED authentication required); assign the role AcrPull on the registry acme.azurecr.io to it"
        )
    );
}

#[tokio::test]
async fn a_refresh_token_is_kept_until_shortly_before_its_end() {
    let azure = Azure::start(TENANT).await;
    azure.manage("");
    azure.allow("");
    let site = site(&azure, &[]);
    let clock = freeze();
    let first = site.told("azure").await;
    let steps = [
        (Duration::from_mins(160), true, 2),
        (Duration::from_mins(5), false, 4),
        (Duration::from_mins(160), false, 4),
    ];
    for (length, is_first, requests) in steps {
        clock.advance(length).await;
        assert_eq!(site.told("azure").await == first, is_first, "after {length:?}");
        assert_eq!(azure.asked().len(), requests, "after {length:?}");
    }
}
