//! A repository's tags: all pages of the listing, or none.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use aiu_core::decide::TagList;
use aiu_core::image::Tag;
use aiu_http::header::{CONTENT_TYPE, ETAG, LINK};
use aiu_http::{Answer, Method, StatusCode, Url};
use serde::Deserialize;

use crate::client::{Ask, Client, Remote};
use crate::error::{ScanError, ScanProblem};
use crate::link;

/// Tags asked for per page: what registries give at most, and other clients ask for.
const PAGE_SIZE: usize = 1000;
/// One page has at most this many bytes.
const MAX_PAGE: usize = 16 * 1024 * 1024;
/// A listing has at most this many pages; more are taken for a loop.
const MAX_PAGES: usize = 5_000;
/// A listing has at most this many tags.
const MAX_TAGS: usize = 1_000_000;

/// All that a registry lists of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The tags, in the registry's order.
    pub tags: Arc<TagList>,
    /// Names in the listing that are no tags by the distribution spec, and were left out.
    pub invalid: usize,
    /// What the registry calls this state of the listing, if all of it was on one page. The
    /// first of several pages says nothing of the others.
    etag: Option<String>,
    /// How it was asked for.
    size: Size,
}

/// `tags: null` is an empty page (spec 11 §2.4).
#[derive(Deserialize)]
struct Page {
    tags: Option<Vec<String>>,
}

/// How the first page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// With `n`.
    Large,
    /// As the registry likes.
    Unsaid,
}

/// Lists all tags. `before` is what was listed the last time, in the way that worked then.
pub(crate) async fn list(
    client: &Client,
    remote: &Remote<'_>,
    before: Option<&Listing>,
) -> Result<Listing, ScanError> {
    let size = before.map_or(Size::Large, |before| before.size);
    if let Some(listing) = walk(client, remote, before, size).await? {
        return Ok(listing);
    }
    let without = walk(client, remote, None, Size::Unsaid).await?;
    Ok(without.expect("a walk that asks for no size does not give up over it"))
}

/// Follows the pages from the first to the last; `None` if the page size stands in the way.
async fn walk(
    client: &Client,
    remote: &Remote<'_>,
    before: Option<&Listing>,
    size: Size,
) -> Result<Option<Listing>, ScanError> {
    let mut url = first_page(remote, size);
    let mut seen = HashSet::new();
    let mut names: Vec<String> = Vec::new();
    let mut etag = None;
    for number in 1..=MAX_PAGES {
        if !seen.insert(url.to_string()) {
            return Err(remote.bad_answer("its pages of tags go round in circles".to_owned()));
        }
        let known_etag = before.filter(|_| number == 1).and_then(|known| known.etag.as_deref());
        let accept = &["application/json"];
        let ask = Ask { method: Method::GET, url, accept, known_etag, max_body: MAX_PAGE };
        let answer = client.ask(remote, &ask).await?;
        match (answer.status, before) {
            (StatusCode::OK, _) => {}
            (StatusCode::NOT_MODIFIED, Some(before)) => return Ok(Some(before.clone())),
            (status, _) if number == 1 && size == Size::Large && dislikes_size(status) => {
                return Ok(None);
            }
            _ => return Err(client.understand(remote, &answer).await),
        }
        let tags = tags_of(remote, &answer)?;
        let count = tags.len();
        names.extend(tags);
        if names.len() > MAX_TAGS {
            return Err(remote.bad_answer(format!("it lists more than {MAX_TAGS} tags")));
        }
        match next_page(remote, &answer)? {
            Some(next) => url = next,
            // A full page without a successor: the size may have been obeyed and the rest
            // forgotten.
            None if number == 1 && size == Size::Large && count == PAGE_SIZE => return Ok(None),
            None => {
                if number == 1 {
                    etag = answer.header(ETAG).map(str::to_owned);
                }
                return Ok(Some(listing(&names, before, etag, size)));
            }
        }
    }
    Err(remote.bad_answer(format!("its listing has more than {MAX_PAGES} pages")))
}

fn dislikes_size(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
}

fn first_page(remote: &Remote<'_>, size: Size) -> Url {
    let mut url = remote.url(&format!("{}/tags/list", remote.request.path));
    if size == Size::Large {
        url.set_query(Some(&format!("n={PAGE_SIZE}")));
    }
    url
}

fn tags_of(remote: &Remote<'_>, answer: &Answer) -> Result<Vec<String>, ScanError> {
    match serde_json::from_slice::<Page>(&answer.body) {
        Ok(page) => Ok(page.tags.unwrap_or_default()),
        Err(error) => {
            let content_type = answer.header(CONTENT_TYPE).unwrap_or("no content type");
            if content_type.starts_with("text/html") {
                let url = aiu_http::shown(&answer.url);
                let said = format!("it answers with a web page for GET {url}");
                return Err(remote.error(ScanProblem::NotARegistry { said }));
            }
            Err(remote.bad_answer(format!("its page of tags cannot be read ({error})")))
        }
    }
}

fn next_page(remote: &Remote<'_>, answer: &Answer) -> Result<Option<Url>, ScanError> {
    let lines = answer.headers.get_all(LINK).iter().filter_map(|line| line.to_str().ok());
    match link::next(lines) {
        None => Ok(None),
        Some(target) => match answer.url.join(target) {
            Ok(url) => Ok(Some(url)),
            Err(_) => Err(remote.bad_answer("the link to its next page is no URL".to_owned())),
        },
    }
}

/// What was listed. What was listed before as well is shared with it, so that long lists that
/// hardly change cost hardly anything anew, and leave no holes in the memory.
fn listing(
    names: &[String],
    before: Option<&Listing>,
    etag: Option<String>,
    size: Size,
) -> Listing {
    let known = before.map_or(&[][..], |before| before.tags.as_slice());
    if let Some(before) = before
        && names.iter().map(String::as_str).eq(known.iter().map(Tag::as_str))
    {
        return Listing { tags: Arc::clone(&before.tags), invalid: 0, etag, size };
    }
    let known: HashMap<&str, &Tag> = known.iter().map(|tag| (tag.as_str(), tag)).collect();
    let tag = |name: &String| match known.get(name.as_str()) {
        Some(&tag) => Some(tag.clone()),
        None => name.parse().ok(),
    };
    let tags: Vec<Tag> = names.iter().filter_map(tag).collect();
    let invalid = names.len() - tags.len();
    Listing { tags: Arc::new(TagList::new(tags)), invalid, etag, size }
}
