//! Misbehaviour on demand.

use std::time::Duration;

use super::Kind;

/// What goes wrong, for which requests, and how often.
///
/// Without further ado it hits every request, for ever.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) effect: Effect,
    kind: Option<Kind>,
    repository: Option<String>,
    skip: usize,
    times: Option<usize>,
}

/// What happens to a request that is hit.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// An answer instead of the real one.
    Answer { status: u16, headers: Vec<(String, String)>, body: String },
    /// The connection ends without an answer.
    Cut,
    /// The connection ends in the middle of the body.
    CutBody,
    /// Nothing, ever.
    Hang,
    /// The real answer, later.
    Delay(Duration),
    /// The real status and headers, and this body.
    Body(String),
    /// A body of so many bytes that mean nothing, as fast as they are taken.
    Flood(u64),
    /// A body that never ends, with a byte at a time after each of these breaks.
    Trickle(Duration),
    /// The real answer under another content type.
    ContentType(String),
    /// All tokens are revoked just before the request is looked at.
    RevokeTokens,
}

impl Fault {
    fn new(effect: Effect) -> Self {
        Self { effect, kind: None, repository: None, skip: 0, times: None }
    }

    /// Answers this status with an empty body.
    pub fn status(status: u16) -> Self {
        Self::new(Effect::Answer { status, headers: Vec::new(), body: String::new() })
    }

    /// Answers this status with a body of this content type.
    pub fn answer(status: u16, content_type: &str, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self::new(Effect::Answer { status, headers, body: body.to_owned() })
    }

    /// "Too many requests", to be repeated no sooner than after `seconds`.
    pub fn too_many_requests(seconds: u64) -> Self {
        Self::status(429).header("retry-after", &seconds.to_string())
    }

    /// Sends clients to another URL.
    pub fn redirect(location: &str) -> Self {
        Self::status(307).header("location", location)
    }

    /// Closes the connection instead of answering.
    pub fn cut() -> Self {
        Self::new(Effect::Cut)
    }

    /// Closes the connection after half of the body.
    pub fn cut_body() -> Self {
        Self::new(Effect::CutBody)
    }

    /// Never answers.
    pub fn hang() -> Self {
        Self::new(Effect::Hang)
    }

    /// Answers properly, but only after `delay` of the runtime's time.
    pub fn delay(delay: Duration) -> Self {
        Self::new(Effect::Delay(delay))
    }

    /// Replaces the body, keeping status and headers.
    pub fn body(body: &str) -> Self {
        Self::new(Effect::Body(body.to_owned()))
    }

    /// Sends a body of so many bytes, as fast as the client takes them; see
    /// [`super::Registry::flooded`].
    pub fn flood(bytes: u64) -> Self {
        Self::new(Effect::Flood(bytes))
    }

    /// Sends a byte after each such break, for ever; it is the runtime's time.
    pub fn trickle(pause: Duration) -> Self {
        Self::new(Effect::Trickle(pause))
    }

    /// Replaces the content type, keeping the rest.
    pub fn content_type(content_type: &str) -> Self {
        Self::new(Effect::ContentType(content_type.to_owned()))
    }

    /// Revokes all tokens, then answers as always: the way tokens expire at a bad moment.
    pub fn revoke_tokens() -> Self {
        Self::new(Effect::RevokeTokens)
    }

    /// Adds a header to a replaced answer; other faults have no headers to add to.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Effect::Answer { headers, .. } = &mut self.effect {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Only requests of this kind.
    #[must_use]
    pub fn on(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Only requests about this repository.
    #[must_use]
    pub fn repository(mut self, name: &str) -> Self {
        self.repository = Some(name.to_owned());
        self
    }

    /// Lets the first `count` requests that it would hit pass.
    #[must_use]
    pub fn after(mut self, count: usize) -> Self {
        self.skip = count;
        self
    }

    /// Hits `count` requests, then is over.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.times = Some(count);
        self
    }

    /// Whether it hits this request. Counts.
    fn hits(&mut self, kind: Kind, repository: Option<&str>) -> bool {
        let matches = self.kind.is_none_or(|wanted| wanted == kind)
            && self.repository.as_deref().is_none_or(|wanted| repository == Some(wanted));
        if !matches || self.times == Some(0) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if let Some(times) = &mut self.times {
            *times -= 1;
        }
        true
    }
}

/// The effect of the first fault that hits.
pub(super) fn effect_on(
    faults: &mut [Fault],
    kind: Kind,
    repository: Option<&str>,
) -> Option<Effect> {
    faults.iter_mut().find_map(|fault| {
        let hit = fault.hits(kind, repository);
        hit.then(|| fault.effect.clone())
    })
}
