//! When images were pushed, as ECR says for a whole repository at once (spec 40 B13).

use std::collections::HashMap;
use std::sync::Arc;

use aiu_core::decide::ImageMeta;
use aiu_core::image::{Digest, Tag};
use aiu_core::registries::EcrHost;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Ask, Aws};
use crate::credentials::cloud::{Desk, IdentityError};

/// The most that one answer holds.
const PAGE: usize = 1000;
/// Pages followed; an image may have one hundred thousand siblings at most.
const MAX_PAGES: usize = 200;

/// What is known of each tag: the date of its push, and its digest.
pub(crate) type Pushed = Arc<HashMap<Tag, ImageMeta>>;

impl Aws {
    /// Push dates and digests of all tagged images of a repository.
    pub(crate) async fn pushed(
        &self,
        desk: &Desk,
        host: &EcrHost,
        role: Option<&str>,
        repository: &str,
    ) -> Result<Pushed, IdentityError> {
        let mut body = json!({
            "repositoryName": repository,
            "maxResults": PAGE,
            "filter": { "tagStatus": "TAGGED" },
        });
        if let EcrHost::Private { account, .. } = host {
            body["registryId"] = json!(account);
        }
        let mut found = HashMap::new();
        for _page in 0..MAX_PAGES {
            let permission = "ecr:DescribeImages";
            let ask = Ask { action: "DescribeImages", body: &body, permission };
            let (answer, value) = self.ask(desk, host, role, &ask).await?;
            let Some(images) = value["imageDetails"].as_array() else {
                return Err(IdentityError::without(&answer, "imageDetails"));
            };
            for image in images {
                take(image, &mut found);
            }
            match value["nextToken"].as_str() {
                Some(token) if body["nextToken"].as_str() != Some(token) => {
                    body["nextToken"] = json!(token);
                }
                _ => return Ok(Arc::new(found)),
            }
        }
        let cause = format!("it has more than {MAX_PAGES} pages of images of {repository}");
        Err(IdentityError::BadAnswer { host: host.api_host(), cause })
    }
}

fn take(image: &Value, found: &mut HashMap<Tag, ImageMeta>) {
    let pushed = image["imagePushedAt"].as_f64().and_then(timestamp);
    let digest = image["imageDigest"].as_str().map(Digest::new).filter(Digest::is_well_formed);
    let tags = image["imageTags"].as_array().into_iter().flatten();
    for tag in tags.filter_map(|tag| tag.as_str()?.parse::<Tag>().ok()) {
        let meta = ImageMeta { created: pushed, digest: digest.clone(), ..ImageMeta::default() };
        found.insert(tag, meta);
    }
}

/// Seconds with a fraction, to the millisecond.
fn timestamp(seconds: f64) -> Option<Timestamp> {
    #[expect(clippy::cast_possible_truncation, reason = "a date, in milliseconds")]
    let milliseconds = (seconds * 1000.0).round() as i64;
    Timestamp::from_millisecond(milliseconds).ok()
}
