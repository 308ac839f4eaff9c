//! How listings are divided and linked.

use axum::http::Uri;

use super::content::Shelf;
use super::server::Parameters;

/// How a listing is divided into pages.
#[derive(Clone, Debug)]
pub struct Paging {
    /// The most tags on one page, whatever the client asks for.
    pub page_size: usize,
    /// How the next page is announced.
    pub links: Links,
}

/// The `Link` header of a page that is not the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Links {
    /// `</v2/…>; rel="next"`, as most registries do.
    Relative,
    /// The whole URL.
    Absolute,
    /// Several parameters, several links, unusual spacing: all of it valid.
    Decorated,
    /// The URL alone, without angle brackets and relation.
    Bare,
    /// A URL with this scheme and host in front: a registry that sends clients elsewhere.
    Elsewhere(String),
    /// Every page names the first one as the next.
    Loop,
    /// None at all, though there are more tags.
    Missing,
}

/// A part of a listing.
pub(super) struct Page<'a> {
    pub(super) tags: Vec<&'a str>,
    size: usize,
    more: bool,
}

impl<'a> Page<'a> {
    pub(super) fn of(shelf: &'a Shelf, query: &Parameters, paging: Option<&Paging>) -> Self {
        let asked = query.get("n").and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
        let size = paging.map_or(usize::MAX, |paging| paging.page_size).min(asked);
        let start = match query.get("last") {
            Some(last) => shelf.tags.iter().position(|(tag, _)| tag == last).map_or(0, |at| at + 1),
            None => 0,
        };
        let rest = &shelf.tags[start..];
        let tags: Vec<&str> = rest.iter().take(size).map(|(tag, _)| tag.as_str()).collect();
        Self { more: tags.len() < rest.len(), tags, size }
    }

    pub(super) fn link(
        &self,
        name: &str,
        uri: &Uri,
        origin: &str,
        paging: Option<&Paging>,
    ) -> Option<String> {
        let last = self.tags.last().filter(|_| self.more)?;
        let links = paging.map_or(&Links::Relative, |paging| &paging.links);
        let next = format!("/v2/{name}/tags/list?n={}&last={last}", self.size);
        Some(match links {
            Links::Relative => format!("<{next}>; rel=\"next\""),
            Links::Absolute => format!("<{origin}{next}>; rel=\"next\""),
            Links::Decorated => format!(
                "</docs?a=1,2>; rel=help ,  <{next}> ; title=\"a, b; c\" ; rel=\"prefetch next\""
            ),
            Links::Bare => format!("{origin}{next}"),
            Links::Elsewhere(origin) => format!("<{origin}{next}>; rel=\"next\""),
            Links::Loop => format!("<{uri}>; rel=\"next\""),
            Links::Missing => return None,
        })
    }
}
