//! What the API server answers when it does not do what was asked.

use kube::Error;
use kube::core::Status;

/// Why the API server did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// Our account may not.
    #[error(
        "the API server forbids it: {message}; let a Role of this controller's service account allow the verb '{verb}' on {resource}"
    )]
    Forbidden {
        /// What was tried.
        verb: &'static str,
        /// On what, as a Role names it.
        resource: String,
        /// The server's words.
        message: String,
    },
    /// The object is not there (any more).
    #[error("{0} is gone; nothing was written")]
    Gone(String),
    /// The object was rewritten faster than we could follow.
    #[error(
        "failed to update application spec for {0} after retries: it was changed by others each time; the next pass tries again"
    )]
    Conflict(String),
    /// What the object is now is not what was decided about.
    #[error("{0} got another kind of source while the pass ran; the next pass looks afresh")]
    Changed(String),
    /// Somebody else leads.
    #[error("this replica no longer leads, so it writes nothing")]
    NotLeader,
    /// It refuses for another reason.
    #[error("the API server refuses: {0}")]
    Refused(String),
    /// It cannot be asked.
    #[error("the API server cannot be reached: {0}; the next pass tries again")]
    Unreachable(String),
}

impl ApiError {
    /// Stable word (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Forbidden { .. } => "Forbidden",
            Self::Gone(_) => "ApplicationGone",
            Self::Conflict(_) => "WriteConflict",
            Self::Changed(_) => "ApplicationChanged",
            Self::NotLeader => "NotLeader",
            Self::Refused(_) => "ApiRefused",
            Self::Unreachable(_) => "ApiUnreachable",
        }
    }

    /// Reads the client's error; `object` is what was asked about.
    pub fn of(error: &Error, verb: &'static str, resource: &str, object: &str) -> Self {
        let Error::Api(status) = error else {
            return Self::Unreachable(with_causes(error));
        };
        Self::of_status(status, verb, resource, object)
    }

    /// Reads the server's own words.
    pub fn of_status(status: &Status, verb: &'static str, resource: &str, object: &str) -> Self {
        let message = status.message.clone();
        match status.code {
            401 | 403 => Self::Forbidden { verb, resource: resource.to_owned(), message },
            404 => Self::Gone(object.to_owned()),
            409 => Self::Conflict(object.to_owned()),
            429 | 500.. => Self::Unreachable(message),
            _ => Self::Refused(message),
        }
    }
}

/// An error with what lies below it: the client's own sentence seldom names the cause.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        let below_text = below.to_string();
        if !text.contains(&below_text) {
            text = format!("{text}: {below_text}");
        }
        cause = below.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart_by_their_code() {
        let rows = [
            (403, "Forbidden"),
            (404, "ApplicationGone"),
            (409, "WriteConflict"),
            (422, "ApiRefused"),
            (429, "ApiUnreachable"),
            (503, "ApiUnreachable"),
        ];
        for (code, reason) in rows {
            let status = Status { code, ..Status::failure("no", "") };
            let error = ApiError::of_status(&status, "patch", "applications", "ns/a");
            assert_eq!(error.reason(), reason, "{code}");
        }
        let forbidden = ApiError::of_status(
            &Status { code: 403, ..Status::failure("no", "") },
            "patch",
            "applications.argoproj.io",
            "ns/a",
        );
        let text = forbidden.to_string();
        assert!(text.contains("'patch' on applications.argoproj.io"), "{text}");
    }
}
