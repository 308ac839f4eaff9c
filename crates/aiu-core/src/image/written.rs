use super::repository::is_host;
use super::{Digest, InvalidRepository, Repository};

/// The three parts of a reference, as they are written: `name[:tag][@digest]`.
///
/// One reading for all kinds of references. What stands behind the colon is split off before
/// anything else is looked at, so that the name is understood whatever follows it (spec 10 F2).
#[derive(Clone, Debug)]
pub(super) struct Written<'a> {
    pub(super) name: &'a str,
    /// What follows the colon, be it a tag or a constraint; never empty.
    pub(super) tag: Option<&'a str>,
    /// What follows the `@`; never empty.
    pub(super) digest: Option<Digest>,
}

impl<'a> Written<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let (text, digest) = text.split_once('@').unwrap_or((text, ""));
        let (name, tag) = split_tag(text);
        let digest = (!digest.is_empty()).then(|| Digest::new(digest));
        Self { name, tag: tag.filter(|tag| !tag.is_empty()), digest }
    }

    /// The name, understood.
    pub(super) fn repository(&self) -> Result<Repository, InvalidRepository> {
        match self.tag {
            Some(rest) if rest.starts_with("//") => {
                Err(InvalidRepository::Url(format!("{}:{rest}", self.name)))
            }
            _ => self.name.parse(),
        }
    }
}

/// Cuts at the first `:` that does not belong to the host's port.
pub(super) fn split_tag(text: &str) -> (&str, Option<&str>) {
    let path_starts = match text.split_once('/') {
        Some((host, _)) if host.contains(':') && is_host(host) => host.len() + 1,
        _ => 0,
    };
    match text[path_starts..].find(':') {
        Some(at) => (&text[..path_starts + at], Some(&text[path_starts + at + 1..])),
        None => (text, None),
    }
}
