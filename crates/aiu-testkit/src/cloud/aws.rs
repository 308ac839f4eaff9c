//! STS, ECR, and the services that give keys to pods and machines, behind one address.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::service::{Answers, Asked, Reply, Service};
use super::subject;

const HOUR: Duration = Duration::from_hours(1);

/// Amazon's services; stopped when dropped.
pub struct Aws {
    service: Service<State>,
}

#[derive(Default)]
struct State {
    /// Whom a role trusts: subjects of pods' tokens, and access keys.
    trusts: HashMap<String, Vec<String>>,
    /// Keys that may sign requests: session token and end, if they have one.
    keys: HashMap<String, Option<(String, Instant)>>,
    /// Actions that nobody may do, with the code of the refusal.
    denied: BTreeMap<String, String>,
    /// Images by repository: tag, digest, seconds.
    images: HashMap<String, Vec<(String, String, f64)>>,
    /// The most images of one page.
    page: Option<usize>,
    given: usize,
    logins: usize,
}

impl Aws {
    /// Starts services that trust nobody.
    pub async fn start() -> Self {
        Self { service: Service::start(State::default()).await }
    }

    /// Its base, for `AWS_ENDPOINT_URL`.
    pub fn url(&self) -> String {
        self.service.url()
    }

    /// Lets `role` be assumed with a token of this subject, or with this access key.
    pub fn trust(&self, role: &str, whom: &str) {
        self.service.state().trusts.entry(role.to_owned()).or_default().push(whom.to_owned());
    }

    /// Lets this access key sign requests for ever.
    pub fn know(&self, key: &str) {
        self.service.state().keys.insert(key.to_owned(), None);
    }

    /// Refuses an action to everyone, with this code.
    pub fn deny(&self, action: &str, code: &str) {
        self.service.state().denied.insert(action.to_owned(), code.to_owned());
    }

    /// No longer accepts the keys given so far.
    pub fn end_sessions(&self) {
        self.service.state().keys.retain(|_, session| session.is_none());
    }

    /// Has an image that was pushed at this time, in seconds.
    pub fn push(&self, repository: &str, tag: &str, digest: &str, seconds: f64) {
        let image = (tag.to_owned(), digest.to_owned(), seconds);
        self.service.state().images.entry(repository.to_owned()).or_default().push(image);
    }

    /// Describes at most so many images at once.
    pub fn pages_of(&self, images: usize) {
        self.service.state().page = Some(images);
    }

    /// What was asked, in words: `AssumeRole`, `GET /v1/credentials`, ….
    pub fn asked(&self) -> Vec<String> {
        self.service.asked().iter().map(action).collect()
    }

    /// What was asked, whole.
    pub fn requests(&self) -> Vec<Asked> {
        self.service.asked()
    }
}

/// What a request wants.
fn action(asked: &Asked) -> String {
    match asked.header("x-amz-target").rsplit_once('.') {
        Some((_, action)) => action.to_owned(),
        None => match asked.form().remove("Action") {
            Some(action) => action,
            None => format!("{} {}", asked.method, asked.path),
        },
    }
}

impl Answers for State {
    fn answer(&mut self, asked: &Asked) -> Reply {
        let action = action(asked);
        if let Some(code) = self.denied.get(&action) {
            return refusal(asked, 400, code, &format!("not authorized to perform {action}"));
        }
        match &*action {
            "AssumeRoleWithWebIdentity" => {
                let whom = asked.form().remove("WebIdentityToken");
                self.assume(asked, whom.as_deref().and_then(subject).as_ref())
            }
            "AssumeRole" => match self.signer(asked, "sts") {
                Ok(key) => self.assume(asked, Some(&key)),
                Err(reply) => reply,
            },
            "GetAuthorizationToken" => {
                let public = asked.header("x-amz-target").starts_with("Spencer");
                match self.signer(asked, if public { "ecr-public" } else { "ecr" }) {
                    Ok(_) => self.login(public),
                    Err(reply) => reply,
                }
            }
            "DescribeImages" => match self.signer(asked, "ecr") {
                Ok(_) => self.describe(asked),
                Err(reply) => reply,
            },
            "GET /v1/credentials" if asked.header("authorization") == "pod-token" => {
                self.instance_keys()
            }
            "PUT /latest/api/token"
                if !asked.header("x-aws-ec2-metadata-token-ttl-seconds").is_empty() =>
            {
                Reply::text(200, "imds-token")
            }
            path if path.starts_with("GET /latest/") => {
                if asked.header("x-aws-ec2-metadata-token") != "imds-token" {
                    return Reply::text(401, "");
                }
                match path.strip_prefix("GET /latest/meta-data/iam/security-credentials/") {
                    Some("") => Reply::text(200, "node-role"),
                    Some("node-role") => self.instance_keys(),
                    _ => Reply::text(404, ""),
                }
            }
            _ => Reply::text(403, "no such thing here, or not for you"),
        }
    }
}

impl State {
    /// Who signed the request, if the keys are good and the signature is for this service.
    fn signer(&self, asked: &Asked, service: &str) -> Result<String, Reply> {
        let proof = asked.header("authorization");
        let scope = proof.strip_prefix("AWS4-HMAC-SHA256 Credential=").unwrap_or_default();
        let scope: Vec<&str> = scope.split(',').next().unwrap_or_default().split('/').collect();
        let [key, day, _region, signed_for, "aws4_request"] = scope[..] else {
            return Err(refusal(asked, 403, "MissingAuthenticationToken", "not signed"));
        };
        let date = asked.header("x-amz-date");
        if signed_for != service || !date.starts_with(day) || !proof.contains("x-amz-date") {
            return Err(refusal(asked, 403, "InvalidSignatureException", "of something else"));
        }
        let invalid = || refusal(asked, 400, "UnrecognizedClientException", "The token is invalid");
        match self.keys.get(key) {
            None => Err(invalid()),
            Some(None) => Ok(key.to_owned()),
            Some(Some((token, until))) => {
                if asked.header("x-amz-security-token") != token {
                    return Err(invalid());
                }
                if *until <= Instant::now() {
                    let code = "ExpiredTokenException";
                    return Err(refusal(asked, 400, code, "The token is expired"));
                }
                Ok(key.to_owned())
            }
        }
    }

    fn assume(&mut self, asked: &Asked, whom: Option<&String>) -> Reply {
        let role = asked.form().remove("RoleArn").unwrap_or_default();
        let trusted = self.trusts.get(&role).zip(whom);
        if !trusted.is_some_and(|(trusted, whom)| trusted.contains(whom)) {
            let message = format!("Not authorized to perform {}", action(asked));
            return refusal(asked, 403, "AccessDenied", &message);
        }
        let (id, secret, token) = self.session();
        // Whoever comes with keys of a role is known by the role.
        self.trusts.values_mut().for_each(|trusted| {
            if trusted.contains(&role) {
                trusted.push(id.clone());
            }
        });
        let end = timestamp(SystemTime::now() + HOUR);
        let name = action(asked);
        Reply::text(
            200,
            format!(
                "<{name}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{name}Result>\
             <Credentials><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>\
             <SessionToken>{token}</SessionToken><Expiration>{end}</Expiration></Credentials>\
             </{name}Result></{name}Response>"
            ),
        )
    }

    fn session(&mut self) -> (String, String, String) {
        self.given += 1;
        let n = self.given;
        let (id, token) = (format!("ASIA{n}"), format!("SECRET-session/{n}=="));
        self.keys.insert(id.clone(), Some((token.clone(), Instant::now() + HOUR)));
        (id, format!("SECRET-key/{n}"), token)
    }

    fn instance_keys(&mut self) -> Reply {
        let (id, secret, token) = self.session();
        let end = timestamp(SystemTime::now() + HOUR);
        let body = json!({
            "AccessKeyId": id, "SecretAccessKey": secret, "Token": token, "Expiration": end,
        });
        Reply::json(200, &body)
    }

    fn login(&mut self, public: bool) -> Reply {
        self.logins += 1;
        let token = BASE64_STANDARD.encode(format!("AWS:SECRET-ecr-{}", self.logins));
        let end = SystemTime::now() + HOUR * 12;
        let end = end.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let data = json!({ "authorizationToken": token, "expiresAt": end });
        let data = if public { data } else { json!([data]) };
        Reply::json(200, &json!({ "authorizationData": data }))
    }

    fn describe(&self, asked: &Asked) -> Reply {
        let body = asked.json();
        let name = body["repositoryName"].as_str().unwrap_or_default();
        let Some(images) = self.images.get(name) else {
            let message = format!("The repository with name '{name}' does not exist");
            return refusal(asked, 400, "RepositoryNotFoundException", &message);
        };
        let start: usize =
            body["nextToken"].as_str().and_then(|token| token.parse().ok()).unwrap_or_default();
        let wanted = body["maxResults"].as_u64().and_then(|most| usize::try_from(most).ok());
        let most = wanted.unwrap_or(100).min(self.page.unwrap_or(1000));
        let page: Vec<Value> = images
            .iter()
            .skip(start)
            .take(most)
            .map(|(tag, digest, seconds)| {
                json!({ "imageTags": [tag], "imageDigest": digest, "imagePushedAt": seconds })
            })
            .collect();
        let end = start + page.len();
        let mut answer = json!({ "imageDetails": page });
        if end < images.len() {
            answer["nextToken"] = json!(end.to_string());
        }
        Reply::json(200, &answer)
    }
}

/// In XML where forms are asked, in JSON elsewhere.
fn refusal(asked: &Asked, status: u16, code: &str, message: &str) -> Reply {
    if asked.header("x-amz-target").is_empty() {
        return Reply::text(
            status,
            format!(
                "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>"
            ),
        );
    }
    Reply::json(status, &json!({ "__type": code, "message": message }))
}

/// `2026-01-02T03:04:05Z`.
fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    // Days of the civil calendar, counted from the first of March of the year 0.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) =
        (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}
