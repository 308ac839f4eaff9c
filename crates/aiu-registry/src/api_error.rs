//! What a registry says about a refused request, in the reference's words (spec 11 §2.6).

use aiu_http::{Answer, StatusCode, header};
use serde_json::Value;

/// Words of strangers are shown up to this length.
const MAX_SHOWN: usize = 300;

/// The refusal in words, on one line.
pub(crate) fn said(answer: &Answer) -> String {
    let text = words(answer);
    let mut line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SHOWN).collect();
    line.truncate(line.trim_end().len());
    line
}

/// Whether the registry's own list of errors names this code.
pub(crate) fn names_code(answer: &Answer, code: &str) -> bool {
    errors_of(&answer.body).iter().any(|error| error["code"] == code)
}

fn words(answer: &Answer) -> String {
    let status = answer.status;
    if !status.is_client_error() {
        return format!("received unexpected HTTP status: {status}");
    }
    let body = String::from_utf8_lossy(&answer.body);
    if body.trim().is_empty() || !is_json(answer) {
        return format!("{}: {}", code_of(status), body.trim());
    }
    let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else {
        return unreadable(status, "it is no JSON");
    };
    if let Some(details) = value["details"].as_str().filter(|details| !details.is_empty()) {
        return format!("{}: {details}", code_of(status));
    }
    let errors: Vec<String> = errors_of(&answer.body).iter().map(one_error).collect();
    if errors.is_empty() {
        return unreadable(status, "no error details found in HTTP response body");
    }
    errors.join("; ")
}

fn errors_of(body: &[u8]) -> Vec<Value> {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    value["errors"].as_array().cloned().unwrap_or_default()
}

fn one_error(error: &Value) -> String {
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    let code = text("code").to_lowercase().replace('_', " ");
    match text("message") {
        message if message.is_empty() => code,
        message => format!("{code}: {message}"),
    }
}

fn unreadable(status: StatusCode, cause: &str) -> String {
    if status == StatusCode::UNAUTHORIZED {
        return "unauthorized: authentication required".to_owned();
    }
    format!("error parsing HTTP {} response body: {cause}", status.as_u16())
}

fn code_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::FORBIDDEN => "denied",
        StatusCode::TOO_MANY_REQUESTS => "toomanyrequests",
        _ => "unknown",
    }
}

fn is_json(answer: &Answer) -> bool {
    let content_type = answer.header(header::CONTENT_TYPE).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type == "application/json" || media_type.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_in_the_words_of_the_reference() {
        let json = Some("application/json; charset=utf-8");
        #[rustfmt::skip]
        let rows = [
            // status, content type, body, words (ERR-001 to ERR-008)
            (401, json, r#"{"errors":[{"code":"UNAUTHORIZED","message":"action requires authentication"}]}"#,
             "unauthorized: action requires authentication"),
            (401, json, "{ broken", "unauthorized: authentication required"),
            (401, None, "", "unauthorized:"),
            (400, json, r#"{"errors":[{"code":"DIGEST_INVALID","message":"provided digest does not match"}]}"#,
             "digest invalid: provided digest does not match"),
            (404, json, r#"{"randomkey":"x"}"#,
             "error parsing HTTP 404 response body: no error details found in HTTP response body"),
            (501, json, "{}", "received unexpected HTTP status: 501 Not Implemented"),
            (403, json, r#"{"details":"no way"}"#, "denied: no way"),
            (403, None, "go\naway", "denied: go away"),
            (429, Some("text/plain"), "slow down", "toomanyrequests: slow down"),
            (404, json, r#"{"errors":[{"code":"NAME_UNKNOWN"},{"code":"X","message":"y"}]}"#, "name unknown; x: y"),
            (418, json, "[1]", "error parsing HTTP 418 response body: no error details found in HTTP response body"),
        ];
        for (status, content_type, body, expected) in rows {
            let mut headers = header::HeaderMap::new();
            if let Some(content_type) = content_type {
                headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
            }
            let answer = Answer {
                status: StatusCode::from_u16(status).unwrap(),
                headers,
                url: "https://r.test/v2/".parse().unwrap(),
                body: body.to_owned().into(),
            };
            assert_eq!(said(&answer), expected, "{status} {body}");
        }
    }
}
