//! One attempt: request, redirects, body; each hop with a permit of its host, all within time.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, LOCATION};
use reqwest::{Method, StatusCode};
use tokio::time::{Instant, timeout};
use url::Url;

use crate::call::Content;
use crate::client::Inner;
use crate::host::Host;
use crate::quota::Quota;
use crate::redact::shown;
use crate::retry::demanded_pause;
use crate::{Answer, Call, HttpError, Rate, Unreachable};

const MAX_REDIRECTS: usize = 10;

/// What a call has left.
pub(crate) struct Budget {
    /// Of its deadline.
    pub(crate) time: Duration,
    /// Of its willingness to wait for hosts that demand a pause.
    pub(crate) patience: Duration,
}

/// Why an attempt failed, as far as it matters for another one.
pub(crate) enum Failure {
    /// The host wants a pause, and has got it.
    Paused { host: Arc<Host>, length: Duration },
    /// No complete answer.
    Unreachable { host: Arc<Host>, cause: Unreachable },
    /// Trying again is no use.
    Final(HttpError),
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self::Final(error)
    }
}

impl Inner {
    /// Asks once, following redirects.
    pub(crate) async fn attempt(
        &self,
        call: &Call,
        budget: &mut Budget,
    ) -> Result<Answer, Failure> {
        let mut url = call.url.clone();
        let mut headers = call.headers.clone();
        for _ in 0..=MAX_REDIRECTS {
            if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
                return Err(HttpError::Scheme { url: shown(&url) }.into());
            }
            let answer = self.hop(call, &url, &headers, budget).await?;
            let Some(next) = redirected(call, &answer) else { return Ok(answer) };
            if next.origin() != url.origin() {
                headers.remove(AUTHORIZATION);
                headers.remove(COOKIE);
            }
            url = next;
        }
        let url = shown(&call.url);
        Err(HttpError::TooManyRedirects { url, limit: MAX_REDIRECTS }.into())
    }

    /// One request and its answer.
    async fn hop(
        &self,
        call: &Call,
        url: &Url,
        headers: &HeaderMap,
        budget: &mut Budget,
    ) -> Result<Answer, Failure> {
        let host = self.hosts.of(url);
        let rate = if url.origin() == call.url.origin() { call.rate } else { Rate::default() };
        let client = self.client(&call.tls, call.route)?;
        let permit = host.permit(rate, &mut budget.patience).await?;
        let mut request = client.request(call.method.clone(), url.clone()).headers(headers.clone());
        match &call.content {
            Content::Nothing => {}
            Content::Form(form) => request = request.form(form),
            Content::Bytes(bytes) => request = request.body(bytes.clone()),
        }
        let exchange = timeout(budget.time, exchange(request, call.max_body));
        let outcome = exchange.await;
        budget.time = budget.time.saturating_sub(Instant::now() - permit.since);
        drop(permit);
        if outcome.as_ref().map_or(true, |outcome| outcome.as_ref().map_or(true, has_failed)) {
            host.count_failure();
        }
        match outcome {
            Ok(Ok(answer)) => {
                host.answered();
                host.told(Quota::told(&answer.headers));
                match demanded_pause(answer.status, &answer.headers) {
                    Some(length) => {
                        host.pause(length);
                        Err(Failure::Paused { host, length })
                    }
                    None => Ok(answer),
                }
            }
            Ok(Err(Broken::TooLarge)) => {
                host.answered();
                Err(HttpError::TooLarge { url: shown(url), limit: call.max_body }.into())
            }
            Ok(Err(Broken::Client(error))) => {
                let cause = Unreachable::of(&error, self.connect_timeout());
                Err(Failure::Unreachable { host, cause })
            }
            Err(_elapsed) => {
                let cause = Unreachable::Timeout(self.deadline(call));
                Err(Failure::Unreachable { host, cause })
            }
        }
    }
}

/// Whether an answer says that the host failed, or will not answer for now.
fn has_failed(answer: &Answer) -> bool {
    answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS
}

enum Broken {
    Client(reqwest::Error),
    TooLarge,
}

impl From<reqwest::Error> for Broken {
    fn from(error: reqwest::Error) -> Self {
        Self::Client(error)
    }
}

/// Sends, and reads the body to its end.
async fn exchange(request: reqwest::RequestBuilder, max_body: usize) -> Result<Answer, Broken> {
    let mut response = request.send().await?;
    let status = response.status();
    let headers = response.headers().clone();
    let url = response.url().clone();
    let body = read(&mut response, max_body).await?;
    Ok(Answer { status, headers, url, body })
}

/// The body, as long as it keeps below the limit. Its announced length is not trusted, except
/// to refuse early.
async fn read(response: &mut reqwest::Response, max_body: usize) -> Result<Bytes, Broken> {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    if announced.is_some_and(|length| length > max_body) {
        return Err(Broken::TooLarge);
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max_body {
            return Err(Broken::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Where to go on, if the answer says so and the call may be sent elsewhere.
fn redirected(call: &Call, answer: &Answer) -> Option<Url> {
    let followed = matches!(call.method, Method::GET | Method::HEAD)
        && matches!(
            answer.status,
            StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT
        );
    let location = answer.header(LOCATION).filter(|_| followed)?;
    answer.url.join(location).ok()
}
