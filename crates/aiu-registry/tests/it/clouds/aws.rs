//! `aws`.

use std::sync::Arc;
use std::time::Duration;

use aiu_registry::ScanRequest;
use aiu_testkit::cloud::{Aws, pod_token};
use aiu_testkit::registry::clock::freeze;
use aiu_testkit::registry::{Access, Registry};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Freshness, Kept, Site, file, now};

const HOST: &str = "000011112222.dkr.ecr.eu-north-1.amazonaws.com";
const ROLE: &str = "arn:aws:iam::000011112222:role/pull";
const OTHER: &str = "arn:aws:iam::333344445555:role/other";
const SUBJECT: &str = "system:serviceaccount:argocd:argocd-image-updater";

fn site(aws: &Aws, prefix: &str, variables: &[(&str, &str)]) -> Site {
    let url = aws.url();
    let own = [("AWS_ENDPOINT_URL", &*url), ("HOME", "/nonexistent")];
    let variables: Vec<(&str, &str)> = own.into_iter().chain(variables.iter().copied()).collect();
    Site::new(prefix, &format!("https://{prefix}"), &variables).showing(&aws.url(), "AWS")
}

/// Where the identity comes from, in each way that AWS has (CLD-003).
#[tokio::test]
async fn an_identity_is_found_where_it_is_set_up() {
    let (_kept, token) = file(&pod_token(SUBJECT));
    let (_kept, pod) = file("pod-token\n");
    let (_kept, credentials) = file(
        "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = SECRET\n[none]\n",
    );
    let (_kept, config) = file(&format!(
        "[profile pull]\nrole_arn = {ROLE}\nsource_profile = default\n[profile loop]\nrole_arn = {ROLE}\nsource_profile = loop2\n[profile loop2]\nrole_arn = {ROLE}\nsource_profile = loop\n[profile node]\nrole_arn = {ROLE}\ncredential_source = Ec2InstanceMetadata\n[profile sso]\nsso_session = x\n"
    ));
    let aws = Aws::start().await;
    aws.trust(ROLE, SUBJECT);
    aws.trust(ROLE, "AKIADEFAULT");
    aws.trust(OTHER, ROLE);
    aws.know("AKIAENV");
    aws.know("AKIADEFAULT");
    let full = format!("{}/v1/credentials", aws.url());
    let url = aws.url();
    let irsa = [("AWS_WEB_IDENTITY_TOKEN_FILE", &*token), ("AWS_ROLE_ARN", ROLE)];
    let container = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*full),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &*pod),
    ];
    let files = [("AWS_CONFIG_FILE", &*config), ("AWS_SHARED_CREDENTIALS_FILE", &*credentials)];
    let profile = |name| [&files[..], &[("AWS_PROFILE", name)]].concat();
    let node = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*url);
    let kubernetes = ("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    let other = format!("aws:{OTHER}");
    let same = format!("aws:{ROLE}");
    let web = "AssumeRoleWithWebIdentity GetAuthorizationToken";
    let imds = "PUT /latest/api/token, GET /latest/meta-data/iam/security-credentials/, GET /latest/meta-data/iam/security-credentials/node-role";
    #[rustfmt::skip]
    let rows: Vec<(Vec<(&str, &str)>, &str, String)> = vec![
        // what is set, source, what is asked
        (irsa.to_vec(),                   "aws",   web.replace(' ', ", ")),
        (irsa.to_vec(),                   &same,   web.replace(' ', ", ")),
        (irsa.to_vec(),                   &other,  web.replace(' ', ", AssumeRole, ")),
        (container.to_vec(),              "aws",   "GET /v1/credentials, GetAuthorizationToken".to_owned()),
        (vec![("AWS_ACCESS_KEY_ID", "AKIAENV"), ("AWS_SECRET_ACCESS_KEY", "SECRET")], "aws", "GetAuthorizationToken".to_owned()),
        (files.to_vec(),                  "aws",   "GetAuthorizationToken".to_owned()),
        (profile("pull"),                 "aws",   "AssumeRole, GetAuthorizationToken".to_owned()),
        (vec![node],                      "aws",   format!("{imds}, GetAuthorizationToken")),
        // Variables that a person sets come before what a cluster sets.
        ([&profile("pull")[..], &irsa].concat(), "aws", "AssumeRole, GetAuthorizationToken".to_owned()),
        ([&[kubernetes, node][..], &irsa].concat(), "aws", web.replace(' ', ", ")),
    ];
    for (variables, source, expected) in rows {
        let before = aws.asked().len();
        let told = site(&aws, HOST, &variables).told(source).await;
        assert!(told.starts_with("AWS/SECRET-ecr-"), "{told} with {variables:?}");
        assert_eq!(aws.asked()[before..].join(", "), expected, "{variables:?}");
    }
    let nowhere = "none of AWS_WEB_IDENTITY_TOKEN_FILE, AWS_CONTAINER_CREDENTIALS_FULL_URI, AWS_ACCESS_KEY_ID and AWS_PROFILE is set, and the role of the node is not this pod's; annotate the service account with eks.amazonaws.com/role-arn, or associate a role with it (EKS Pod Identity), and restart the pod";
    let set_both = "EKS sets both: annotate the service account with eks.amazonaws.com/role-arn, and restart the pod";
    let mounted = "EKS mounts it when the pod starts: restart the pod";
    let rows: Vec<(Vec<(&str, &str)>, String)> = vec![
        (vec![kubernetes, node], nowhere.to_owned()),
        (vec![node, ("AWS_EC2_METADATA_DISABLED", "true")], nowhere.to_owned()),
        (irsa[..1].to_vec(), format!("AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not; {set_both}")),
        (irsa[1..].to_vec(), format!("AWS_ROLE_ARN is set, and AWS_WEB_IDENTITY_TOKEN_FILE is not; {set_both}")),
        (vec![("AWS_WEB_IDENTITY_TOKEN_FILE", "/gone"), irsa[1]], format!("the token file /gone cannot be read (no such file or directory); {mounted}")),
        (vec![container[0], ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/gone")], format!("the token file /gone cannot be read (no such file or directory); {mounted}")),
        (vec![("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://evil.test/")], "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither an https:// URL nor one of this pod or machine; correct it; EKS and ECS set it themselves".to_owned()),
        (vec![("AWS_ACCESS_KEY_ID", "AKIAENV")], "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not; set both".to_owned()),
        (profile("gone"), "the profile 'gone' does not exist (there are: default, loop, loop2, node, none, pull, sso); correct AWS_PROFILE, or mount the files that AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name".to_owned()),
        (profile("loop"), "the profile 'loop2' stands on itself; correct its source_profile".to_owned()),
        (profile("none"), "the profile 'none' has no aws_access_key_id with aws_secret_access_key; give it keys or a role_arn, or fetch the login with a script (ext:)".to_owned()),
        (profile("sso"), "the profile 'sso' uses sso_session, which is not supported here; give it keys or a role_arn, or fetch the login with a script (ext:)".to_owned()),
    ];
    for (variables, expected) in rows {
        let told = site(&aws, HOST, &variables).told("aws").await;
        let expected = format!("IdentityMissing: the sign-in 'aws' has no identity: {expected}");
        assert_eq!(told, expected);
    }
    // The node is asked where the profile says so, even in a pod.
    let variables = [&profile("node")[..], &[kubernetes, node]].concat();
    let told = site(&aws, HOST, &variables).told("aws").await;
    assert!(told.contains("role/pull to the instance role node-role of AWS"), "{told}");
}

#[tokio::test]
async fn a_refusal_names_role_subject_and_permission() {
    let (_kept, token) = file(&pod_token("system:serviceaccount:argocd:stranger"));
    let (_kept, pod) = file("another");
    let aws = Aws::start().await;
    aws.trust(ROLE, SUBJECT);
    aws.know("AKIAENV");
    let full = format!("{}/v1/credentials", aws.url());
    let irsa = [("AWS_WEB_IDENTITY_TOKEN_FILE", &*token), ("AWS_ROLE_ARN", ROLE)];
    let container = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*full),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &*pod),
    ];
    let env = [("AWS_ACCESS_KEY_ID", "AKIAENV"), ("AWS_SECRET_ACCESS_KEY", "SECRET")];
    let unknown = [("AWS_ACCESS_KEY_ID", "AKIAOLD"), ("AWS_SECRET_ACCESS_KEY", "SECRET")];
    let other = format!("aws:{OTHER}");
    #[rustfmt::skip]
    let rows: [(&[(&str, &str)], &str, String); 4] = [
        (&irsa, "aws", format!("AWS refuses role {ROLE} to system:serviceaccount:argocd:stranger (AccessDenied: Not authorized to perform AssumeRoleWithWebIdentity); let the trust policy of the role allow sts:AssumeRoleWithWebIdentity to 'system:serviceaccount:argocd:stranger'")),
        (&container, "aws", "AWS refuses this container (no such thing here, or not for you); check that a role is associated with this pod's service account, and that its trust policy names pods.eks.amazonaws.com".to_owned()),
        (&env, &other, format!("AWS refuses role {OTHER} to the access key AKIAENV (AccessDenied: Not authorized to perform AssumeRole); allow sts:AssumeRole for it in the policy of the access key AKIAENV, and the access key AKIAENV in its trust policy")),
        (&unknown, "aws", "AWS refuses the access key AKIAOLD (UnrecognizedClientException: The token is invalid); its keys are not, or no longer, good: renew them".to_owned()),
    ];
    for (variables, source, expected) in rows {
        let told = site(&aws, HOST, variables).told(source).await;
        assert_eq!(told, format!("IdentityRejected: {expected}"));
    }
    aws.deny("GetAuthorizationToken", "AccessDeniedException");
    let told = site(&aws, HOST, &env).told("aws").await;
    assert_eq!(
        told,
        "IdentityRejected: AWS refuses the access key AKIAENV (AccessDeniedException: not authorized to perform GetAuthorizationToken); allow ecr:GetAuthorizationToken in its policy"
    );
    aws.deny("GetAuthorizationToken", "ThrottlingException");
    let told = site(&aws, HOST, &env).told("aws").await;
    assert!(told.starts_with("RegistryUnreachable: AWS cannot sign in now"), "{told}");
}

/// The region is that of the host, not that of the pod; public registries have a service of
/// their own.
#[tokio::test]
async fn the_host_says_where_tokens_are_made() {
    #[rustfmt::skip]
    let rows = [
        // host, region and service signed for
        (HOST, "eu-north-1/ecr"),
        ("000011112222.dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1/ecr"),
        ("000011112222.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1/ecr"),
        ("000011112222.dkr-ecr.eu-west-1.on.aws", "eu-west-1/ecr"),
        ("public.ecr.aws", "us-east-1/ecr-public"),
    ];
    let env = [
        ("AWS_ACCESS_KEY_ID", "AKIAENV"),
        ("AWS_SECRET_ACCESS_KEY", "SECRET"),
        ("AWS_REGION", "ap-south-1"),
    ];
    for (host, expected) in rows {
        let aws = Aws::start().await;
        aws.know("AKIAENV");
        assert_eq!(site(&aws, host, &env).told("aws").await, "AWS/SECRET-ecr-1");
        let requests = aws.requests();
        let proof = requests[0].header("authorization");
        assert!(proof.contains(&format!("/{expected}/aws4_request,")), "{proof}");
    }
    let aws = Aws::start().await;
    let api = site(&aws, "api.ecr.eu-north-1.amazonaws.com", &env).told("aws").await;
    assert_eq!(
        api,
        "RegistryApiUrlWrong: the sign-in 'aws' is not for api.ecr.eu-north-1.amazonaws.com: that is the management API; api_url must be https://<account>.dkr.ecr.eu-north-1.amazonaws.com"
    );
    assert!(aws.asked().is_empty());
}

#[tokio::test]
async fn a_token_is_asked_for_once_and_renewed_well_before_its_end() {
    let (_kept, token) = file(&pod_token(SUBJECT));
    let aws = Aws::start().await;
    aws.trust(ROLE, SUBJECT);
    let irsa = [("AWS_WEB_IDENTITY_TOKEN_FILE", &*token), ("AWS_ROLE_ARN", ROLE)];
    let site = Arc::new(site(&aws, HOST, &irsa));
    let clock = freeze();
    let mut callers = JoinSet::new();
    for _ in 0..200 {
        let site = Arc::clone(&site);
        callers.spawn(async move { site.told("aws").await });
    }
    assert_eq!(callers.join_all().await, vec!["AWS/SECRET-ecr-1"; 200]);
    let hour = Duration::from_hours(1);
    #[rustfmt::skip]
    let steps = [
        // after how long, what is given out, requests to STS and ECR so far
        (hour * 11,                       "AWS/SECRET-ecr-1", 2),
        (Duration::from_mins(29),         "AWS/SECRET-ecr-1", 2),
        (Duration::from_mins(2),          "AWS/SECRET-ecr-2", 4),
        (hour * 11,                       "AWS/SECRET-ecr-2", 4),
    ];
    for (length, expected, requests) in steps {
        clock.advance(length).await;
        assert_eq!(site.told("aws").await, expected);
        assert_eq!(aws.asked().len(), requests, "{:?}", aws.asked());
    }
    // An entry of the file may want it fresher than AWS does.
    clock.advance(Duration::from_mins(10)).await;
    let kept = Freshness { kept: Kept::For(Duration::from_mins(5)), ..now() };
    assert_eq!(site.told_with("aws", kept).await, "AWS/SECRET-ecr-3");
}

#[tokio::test]
async fn keys_that_ended_early_are_renewed_once() {
    let (_kept, token) = file(&pod_token(SUBJECT));
    let aws = Aws::start().await;
    aws.trust(ROLE, SUBJECT);
    let irsa = [("AWS_WEB_IDENTITY_TOKEN_FILE", &*token), ("AWS_ROLE_ARN", ROLE)];
    let mut site = site(&aws, HOST, &irsa);
    assert_eq!(site.told("aws").await, "AWS/SECRET-ecr-1");
    aws.end_sessions();
    site.forget_logins();
    assert_eq!(site.told("aws").await, "AWS/SECRET-ecr-2");
    let asked = "AssumeRoleWithWebIdentity GetAuthorizationToken GetAuthorizationToken AssumeRoleWithWebIdentity GetAuthorizationToken";
    assert_eq!(aws.asked().join(" "), asked);
}

/// A failure is told to all of a pass, and tried again by the next one.
#[tokio::test]
async fn a_failure_is_shared_by_a_pass_and_not_kept() {
    let aws = Aws::start().await;
    let env = [("AWS_ACCESS_KEY_ID", "AKIAENV"), ("AWS_SECRET_ACCESS_KEY", "SECRET")];
    let site = site(&aws, HOST, &env);
    let pass = now();
    for _ in 0..3 {
        assert!(site.told_with("aws", pass).await.starts_with("IdentityRejected"));
    }
    let asked = aws.asked().len();
    aws.know("AKIAENV");
    assert_eq!(site.told("aws").await, "AWS/SECRET-ecr-1");
    assert_eq!(asked, 2, "once, and once more with keys read anew");
}

#[tokio::test]
async fn a_token_that_the_registry_refuses_is_asked_for_anew_once() {
    let registry = Registry::start().await;
    registry.repository("web").tags(["1.0.0"]);
    let aws = Aws::start().await;
    aws.know("AKIAENV");
    let url = aws.url();
    let env = [
        ("AWS_ENDPOINT_URL", &*url),
        ("AWS_ACCESS_KEY_ID", "AKIAENV"),
        ("AWS_SECRET_ACCESS_KEY", "SECRET"),
    ];
    let site = Site::new(HOST, &registry.url(), &env);
    let rows = [
        // the token that the registry wants, whether it lists, tokens asked for so far
        (1, true, 1),
        (2, true, 2),
        (2, true, 2),
        (9, false, 3),
    ];
    for (token, lists, asked) in rows {
        registry.require(Access::basic("AWS", &format!("SECRET-ecr-{token}")));
        let credentials = site.credentials("aws", now()).await.unwrap();
        let (endpoint, path) = (Arc::clone(&site.endpoint), "web".into());
        let request = ScanRequest { endpoint, path, credentials };
        let listed = site.scanner.list_tags(&request, Instant::now()).await;
        assert_eq!(listed.is_ok(), lists, "{token}: {listed:?}");
        assert_eq!(aws.asked().len(), asked, "{token}");
    }
}
