//! What is asked, and what came back.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use url::Url;

use crate::{Rate, TlsProfile};

/// Bodies up to this size are read unless the call says otherwise.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// What is sent along.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Nothing,
    Form(Vec<(String, String)>),
    Bytes(Bytes),
}

/// Which way a call takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Route {
    /// Through a proxy, if the settings name one for its host.
    #[default]
    Usual,
    Direct,
}

/// One request to be made, with its bounds.
#[derive(Clone, Debug)]
pub struct Call {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
    pub(crate) tls: TlsProfile,
    pub(crate) route: Route,
    pub(crate) deadline: Option<Duration>,
    pub(crate) rate: Rate,
    pub(crate) max_body: usize,
}

impl Call {
    /// A call with no headers, checked certificates, the default rate and 4 MiB of body at most.
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            content: Content::Nothing,
            tls: TlsProfile::default(),
            route: Route::default(),
            deadline: None,
            rate: Rate::default(),
            max_body: MAX_BODY,
        }
    }

    /// `GET url`.
    pub fn get(url: Url) -> Self {
        Self::new(Method::GET, url)
    }

    /// `HEAD url`.
    pub fn head(url: Url) -> Self {
        Self::new(Method::HEAD, url)
    }

    /// `POST url` with a form as body. It is never repeated by itself and follows no redirect.
    pub fn post_form(url: Url, form: Vec<(String, String)>) -> Self {
        Self { content: Content::Form(form), ..Self::new(Method::POST, url) }
    }

    /// `POST url` with these bytes as body, whose type is left to a header. It is never repeated
    /// by itself and follows no redirect.
    pub fn post(url: Url, body: impl Into<Bytes>) -> Self {
        Self { content: Content::Bytes(body.into()), ..Self::new(Method::POST, url) }
    }

    /// Adds a header, beside others of that name.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Which certificates are trusted.
    #[must_use]
    pub fn tls(mut self, tls: TlsProfile) -> Self {
        self.tls = tls;
        self
    }

    /// How many requests per second the host is sent, by this and all other calls.
    #[must_use]
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = rate;
        self
    }

    /// Goes past every proxy: for addresses that only this machine's own network can reach.
    #[must_use]
    pub fn direct(mut self) -> Self {
        self.route = Route::Direct;
        self
    }

    /// Gives up after this time, if that is sooner than all calls do.
    #[must_use]
    pub fn deadline(mut self, length: Duration) -> Self {
        self.deadline = Some(length);
        self
    }

    /// Refuses answers with more bytes than this, decompressed.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Whether doing it twice is as good as once, so that it may be repeated.
    pub(crate) fn is_idempotent(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }
}

/// A complete answer: whatever the status, all of the body is here.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status; may be an error of the client or the server.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// Where the answer came from, after redirects.
    pub url: Url,
    /// The body, decompressed.
    pub body: Bytes,
}

impl Answer {
    /// The first header of that name, if it is text.
    pub fn header(&self, name: impl reqwest::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
