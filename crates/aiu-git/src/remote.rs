//! URLs of remotes: what may be given to `git`, and which spellings mean one repository.
//!
//! Two notions of sameness, on purpose. [`normalise`] is Argo CD's, for finding the Secret that
//! belongs to a URL; it ignores case. [`RemoteId`] names a mirror; it keeps the case of the
//! path, since on many servers `o/R` and `o/r` are two repositories, and a mirror must never
//! mix two.

use std::fmt;
use std::sync::Arc;

use secrecy::SecretString;
use url::Url;

use crate::redact::shown_url;

/// A checked URL, without its password.
#[derive(Clone, Debug)]
pub struct RemoteUrl {
    url: Arc<str>,
    shown: Arc<str>,
    id: RemoteId,
    login: Option<(String, SecretString)>,
}

/// Equal for all spellings of one remote: host in lower case, no `.git`, no `ssh://`, the two
/// SSH forms alike, no password.
///
/// It keeps the user, who may be a token, hence its `Debug` hides the login.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteId(Arc<str>);

/// Why a URL is not given to `git`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRemote {
    /// Nothing there.
    #[error("it is empty")]
    Empty,
    /// It, its host or its path begins with `-` and would be read as an option.
    #[error("it would be read as an option")]
    Option,
    /// `helper::address` runs a program of that name.
    #[error("remote helpers (`{0}::`) are not allowed; use https or ssh")]
    Helper(String),
    /// Another scheme than http, https, ssh or git.
    #[error("the scheme '{0}' is not supported; use https or ssh")]
    Scheme(String),
    /// A path of this machine, where only remotes are allowed.
    #[error("paths of the local disk are not allowed here")]
    Local,
    /// A path that depends on the working directory.
    #[error("it is no URL; a path must be absolute")]
    Relative,
    /// Blanks or control characters inside.
    #[error("it contains a blank or a control character")]
    Characters,
    /// The rest.
    #[error("it cannot be parsed ({0})")]
    Unparsable(String),
}

impl RemoteUrl {
    /// Checks `text`. `local_remotes` allows `file://` and absolute paths.
    pub fn parse(text: &str, local_remotes: bool) -> Result<Self, InvalidRemote> {
        let text = text.trim();
        check_characters(text)?;
        if text.starts_with('/') {
            return if local_remotes {
                Ok(Self::plain(text, text))
            } else {
                Err(InvalidRemote::Local)
            };
        }
        if let Some(helper) = helper_of(text) {
            return Err(InvalidRemote::Helper(helper.to_owned()));
        }
        match text.split_once("://") {
            Some(("file", path)) => match local_remotes {
                true if path.starts_with('/') => Ok(Self::plain(text, path)),
                true => Err(InvalidRemote::Relative),
                false => Err(InvalidRemote::Local),
            },
            Some((scheme, _)) => Self::with_scheme(text, &scheme.to_ascii_lowercase()),
            None => Self::scp(text),
        }
    }

    /// A path of this machine; its id keeps every letter.
    fn plain(url: &str, path: &str) -> Self {
        let id = path.trim_end_matches('/');
        let id = id.strip_suffix(".git").unwrap_or(id);
        Self { url: url.into(), shown: url.into(), id: RemoteId(id.into()), login: None }
    }

    fn with_scheme(text: &str, scheme: &str) -> Result<Self, InvalidRemote> {
        if !matches!(scheme, "http" | "https" | "ssh" | "git") {
            return Err(InvalidRemote::Scheme(scheme.to_owned()));
        }
        let parsed = parse_url(text)?;
        let user = parsed.username().to_owned();
        let login =
            parsed.password().map(|password| (decode(&user), SecretString::from(decode(password))));
        let url = match &login {
            Some(_) => bare(&parsed, scheme)?,
            None => text.to_owned(),
        };
        let id = identity(&parsed, scheme);
        Ok(Self { shown: shown_url(&url).into(), url: url.into(), id, login })
    }

    /// `[user@]host:path`, as `scp` takes it.
    fn scp(text: &str) -> Result<Self, InvalidRemote> {
        let (authority, path) = text.split_once(':').ok_or(InvalidRemote::Relative)?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        if authority.contains('/') || host.is_empty() {
            return Err(InvalidRemote::Relative);
        }
        if host.starts_with('-') || path.starts_with('-') {
            return Err(InvalidRemote::Option);
        }
        let id = match authority.rsplit_once('@') {
            Some((user, host)) => format!("{user}@{}", host.to_lowercase()),
            None => host.to_lowercase(),
        };
        let id = RemoteId(format!("{id}/{}", without_suffix(path)).into());
        Ok(Self { url: text.into(), shown: text.into(), id, login: None })
    }

    /// What `git` is given: no password in it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What messages show: no login in it.
    pub fn shown(&self) -> Arc<str> {
        Arc::clone(&self.shown)
    }

    /// Host and port, for counters; `local` where there is none.
    pub(crate) fn host(&self) -> &str {
        let (authority, ends) = match self.shown.split_once("://") {
            Some((_, rest)) => (rest, &['/'][..]),
            None => (&*self.shown, &['/', ':'][..]),
        };
        let authority = authority.split(ends).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        if host.is_empty() { "local" } else { host }
    }

    /// Which repository is meant.
    pub fn id(&self) -> &RemoteId {
        &self.id
    }

    /// Whether it is spoken to over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.url.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http"))
    }

    /// User and password that stood in the URL.
    pub(crate) fn login(&self) -> Option<(&str, &SecretString)> {
        self.login.as_ref().map(|(user, password)| (user.as_str(), password))
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for RemoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteId({})", shown_url(&self.0))
    }
}

impl RemoteId {
    /// The normalised text; not for messages.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check_characters(text: &str) -> Result<(), InvalidRemote> {
    if text.is_empty() {
        Err(InvalidRemote::Empty)
    } else if text.starts_with('-') {
        Err(InvalidRemote::Option)
    } else if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Err(InvalidRemote::Characters)
    } else {
        Ok(())
    }
}

/// The `helper` of `helper::address`, as git itself recognises it.
fn helper_of(text: &str) -> Option<&str> {
    let (helper, _) = text.split_once("::")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    helper.chars().all(plain).then_some(helper)
}

fn parse_url(text: &str) -> Result<Url, InvalidRemote> {
    let parsed = Url::parse(text).map_err(|error| InvalidRemote::Unparsable(error.to_string()))?;
    match parsed.host_str() {
        None | Some("") => Err(InvalidRemote::Unparsable("no host".to_owned())),
        Some(host) if host.starts_with('-') => Err(InvalidRemote::Option),
        Some(_) => Ok(parsed),
    }
}

/// The URL without its login; of an SSH address the user stays.
fn bare(parsed: &Url, scheme: &str) -> Result<String, InvalidRemote> {
    let mut url = parsed.clone();
    let user = if scheme == "ssh" { parsed.username() } else { "" };
    url.set_password(None)
        .and_then(|()| url.set_username(user))
        .map_err(|()| InvalidRemote::Unparsable("no login allowed".to_owned()))?;
    Ok(url.into())
}

fn identity(parsed: &Url, scheme: &str) -> RemoteId {
    let host = parsed.host_str().unwrap_or_default().to_lowercase();
    let user = if parsed.username().is_empty() {
        String::new()
    } else {
        format!("{}@", parsed.username())
    };
    let port = parsed.port().map_or_else(String::new, |port| format!(":{port}"));
    let path = without_suffix(parsed.path());
    let scheme = if scheme == "ssh" { String::new() } else { format!("{scheme}://") };
    RemoteId(format!("{scheme}{user}{host}{port}/{path}").into())
}

/// A path without slashes around it and without one `.git`.
fn without_suffix(path: &str) -> &str {
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path)
}

/// `%41` → `A`; what does not decode to UTF-8 stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The user of an SSH address, and whether it is one in Argo CD's eyes (spec 30 §3.5): it has
/// a user and no other scheme.
pub fn ssh_user(text: &str) -> Option<&str> {
    let rest = text.trim().strip_prefix("ssh://").unwrap_or(text.trim());
    let (user, host) = rest.rsplit_once('@')?;
    (!user.contains(['/', ':']) && !host.is_empty()).then_some(user)
}

/// Whether it is an `https` address (spec 30 §3.5).
pub fn is_https(text: &str) -> bool {
    text.trim().get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
}

/// Argo CD's form for comparing the URLs of Secrets and Applications (spec 30 §3.5): trimmed,
/// lower case, SSH addresses as `user@host/path`, one `.git` dropped. `None` if it is no URL;
/// such a text equals nothing, not even itself.
pub fn normalise(text: &str) -> Option<String> {
    let mut text = text.trim().to_lowercase();
    if ssh_user(&text).is_some() && !text.starts_with("ssh://") {
        text = format!("ssh://{}", text.replacen(':', "/", 1));
    }
    let text = text.strip_suffix(".git").unwrap_or(&text);
    Url::parse(text).ok()?;
    Some(text.strip_prefix("ssh://").unwrap_or(text).to_owned())
}

#[cfg(test)]
#[path = "remote/tests.rs"]
mod tests;
