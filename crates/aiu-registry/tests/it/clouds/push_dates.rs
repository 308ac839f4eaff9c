//! `dates: pushed`: one description of a repository in place of a look at each image (spec 40
//! B13).

use std::sync::Arc;

use aiu_core::decide::{Inspection, Needs};
use aiu_core::image::Tag;
use aiu_registry::{Credentials, CredentialsId, ScanRequest};
use aiu_testkit::cloud::{Asked, Aws};
use aiu_testkit::registry::{Access, Registry};
use tokio::time::Instant;

use super::{Site, now};

const HOST: &str = "000011112222.dkr.ecr.eu-north-1.amazonaws.com";
const TAGS: usize = 400;

struct World {
    registry: Registry,
    aws: Aws,
    site: Site,
}

impl World {
    /// A repository whose images were pushed in the order of their tags, ten minutes apart.
    async fn new() -> Self {
        let registry = Registry::start().await;
        let aws = Aws::start().await;
        aws.know("AKIAENV");
        let tags: Vec<String> = (0..TAGS).map(|n| format!("build-{n}")).collect();
        registry.repository("team/web").tags(tags.iter().map(String::as_str));
        registry.require(Access::bearer_for("AWS", "SECRET-ecr-1"));
        for (n, tag) in (0_u32..).zip(&tags) {
            let digest = format!("sha256:{n:064x}");
            aws.push("team/web", tag, &digest, 1_700_000_000.0 + 600.0 * f64::from(n));
        }
        let url = aws.url();
        let env = [
            ("AWS_ENDPOINT_URL", &*url),
            ("AWS_ACCESS_KEY_ID", "AKIAENV"),
            ("AWS_SECRET_ACCESS_KEY", "SECRET"),
        ];
        let entry = format!("api_url: '{}', credentials: aws, dates: pushed", registry.url());
        let site = Site::of(HOST, &entry, &env).showing(&url, "AWS");
        Self { registry, aws, site }
    }

    async fn request(&self) -> ScanRequest {
        let credentials = self.site.credentials("aws", now()).await.expect("a login");
        self.asking_as(credentials)
    }

    fn asking_as(&self, credentials: Credentials) -> ScanRequest {
        let endpoint = Arc::clone(&self.site.endpoint);
        ScanRequest { endpoint, path: "team/web".into(), credentials }
    }

    /// The last tag by date and its digest's end, and how many have a date; or the error.
    async fn newest(&self, request: &ScanRequest, pass: Instant) -> String {
        let listed = self.site.scanner.list_tags(request, pass).await.expect("a listing");
        let tags: Vec<Tag> = listed.as_slice().to_vec();
        let needs = Needs::Dates(tags.into());
        let told = self.site.scanner.inspect_needs(request, &needs, &[], pass).await;
        let metadata = match told {
            Ok(metadata) => metadata,
            Err(error) => {
                let told = format!("{}: {error}", error.reason());
                return told.replace(&self.aws.url().replace("http://", ""), "AWS");
            }
        };
        let dated = metadata.iter().filter_map(|(tag, inspection)| match inspection {
            Inspection::Image(image) => Some((image.created?, tag, image.digest.as_ref()?)),
            _ => None,
        });
        let dated: Vec<_> = dated.collect();
        let Some((date, tag, digest)) = dated.iter().max() else { return "none".to_owned() };
        let digest = digest.as_str();
        format!("{tag} {date} …{}, {} dated", &digest[digest.len() - 3..], dated.len())
    }
}

#[tokio::test]
async fn four_hundred_tags_cost_one_listing_and_one_description() {
    let world = World::new().await;
    let request = world.request().await;
    let signed_in = world.aws.asked().len();
    let pass = Instant::now();
    let expected = "build-399 2023-11-17T16:43:20Z …18f, 400 dated";
    for _image in 0..3 {
        assert_eq!(world.newest(&request, pass).await, expected);
    }
    let counts = world.registry.counts();
    // Besides what it takes to sign in: the first request, refused, and a token.
    assert_eq!(counts.all - counts.tokens - counts.unauthorized, 1, "{counts:?}");
    assert_eq!(world.aws.asked()[signed_in..].join(" "), "DescribeImages");

    // The next pass asks again, once each.
    assert_eq!(world.newest(&request, Instant::now()).await, expected);
    assert_eq!(world.aws.asked()[signed_in..].join(" "), "DescribeImages DescribeImages");
}

#[tokio::test]
async fn descriptions_have_pages_and_leave_nothing_out() {
    let world = World::new().await;
    world.aws.pages_of(150);
    let request = world.request().await;
    let told = world.newest(&request, Instant::now()).await;
    assert_eq!(told, "build-399 2023-11-17T16:43:20Z …18f, 400 dated");
    let requests = world.aws.requests();
    let asked: Vec<_> = requests.iter().skip(1).map(Asked::json).collect();
    let tokens: Vec<_> = asked.iter().map(|body| body["nextToken"].as_str()).collect();
    assert_eq!(tokens, [None, Some("150"), Some("300")]);
    assert_eq!(asked[0]["registryId"], "000011112222");
    assert_eq!(asked[0]["repositoryName"], "team/web");
}

#[tokio::test]
async fn who_may_not_describe_is_told_the_permission_and_gets_no_other_dates() {
    let world = World::new().await;
    world.aws.deny("DescribeImages", "AccessDeniedException");
    let request = world.request().await;
    let told = world.newest(&request, Instant::now()).await;
    let host = world.registry.host();
    assert_eq!(
        told,
        format!(
            "IdentityRejected: {host} does not tell when the images of 'team/web' were pushed: AWS refuses the access key AKIAENV (AccessDeniedException: not authorized to perform DescribeImages); allow ecr:DescribeImages in its policy; build dates are not put in place of push dates"
        )
    );
    assert_eq!(world.registry.counts().manifest_gets, 0);
}

/// What the entry's identity may see is not told to an image with credentials of its own.
#[tokio::test]
async fn another_login_is_not_told_what_the_entry_may_see() {
    let world = World::new().await;
    let own = Credentials::Basic {
        source: CredentialsId::new("secret:team/own#login"),
        user: "AWS".to_owned(),
        password: "SECRET-ecr-1".into(),
        origin: None,
    };
    let told = world.newest(&world.asking_as(own), Instant::now()).await;
    assert!(told.starts_with("IdentityMissing: "), "{told}");
    assert!(told.contains("not to 'secret:team/own#login'"), "{told}");
    assert!(world.aws.asked().is_empty());
}
