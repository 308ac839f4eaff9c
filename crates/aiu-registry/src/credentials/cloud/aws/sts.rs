//! STS: keys for a role, for who has a token of the cluster or keys of another identity.

use aiu_core::registries::EcrHost;
use aiu_http::{Answer, Call, Url};
use secrecy::{ExposeSecret as _, SecretString};

use super::sigv4::Scope;
use super::{Keys, service_url, signed, xml};
use crate::credentials::cloud::{Desk, IdentityError, jwt, lifetime};

const VERSION: (&str, &str) = ("Version", "2011-06-15");
/// Under which AWS keeps a record of what was done with the keys.
const SESSION: &str = "argocd-image-updater";

/// The STS that is asked.
pub(super) struct Sts {
    pub(super) url: Result<Url, IdentityError>,
    region: String,
}

/// A URL, for use as a name; what is wrong with it is told when it is asked.
impl Sts {
    /// In the region of this program, else of the registry.
    pub(super) fn beside(desk: &Desk, host: &EcrHost) -> Self {
        let variables = &desk.variables;
        let region = ["AWS_REGION", "AWS_DEFAULT_REGION"]
            .into_iter()
            .find_map(|name| variables.text(name))
            .unwrap_or_else(|| host.region().to_owned());
        let (fips, dual_stack) = match host {
            EcrHost::Private { fips, dual_stack, .. } => (*fips, *dual_stack),
            EcrHost::Public => (false, false),
        };
        let fips = fips || variables.is_true("AWS_USE_FIPS_ENDPOINT");
        let dual_stack = dual_stack || variables.is_true("AWS_USE_DUALSTACK_ENDPOINT");
        let usual = format!("https://{}/", sts_host(&region, host, fips, dual_stack));
        Self { url: service_url(desk, "sts", &usual), region }
    }

    /// Which STS it is.
    pub(super) fn name(&self) -> String {
        self.url.as_ref().map_or_else(ToString::to_string, ToString::to_string)
    }

    /// Keys for `role` in exchange for the cluster's token.
    pub(super) async fn with_web_identity(
        &self,
        desk: &Desk,
        role: &str,
        session: Option<&str>,
        token: &SecretString,
    ) -> Result<Keys, IdentityError> {
        let subject = jwt::subject(token.expose_secret());
        let form = [
            ("Action", "AssumeRoleWithWebIdentity"),
            VERSION,
            ("RoleArn", role),
            ("RoleSessionName", session.unwrap_or(SESSION)),
            ("WebIdentityToken", token.expose_secret()),
        ];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let answer = desk.send(&Call::post_form(self.url.clone()?, form.into())).await?;
        let fix = format!(
            "let the trust policy of the role allow sts:AssumeRoleWithWebIdentity to '{subject}'"
        );
        keys_of(&answer, role, &format!("role {role} to {subject}"), fix)
    }

    /// Keys for `role` in exchange for those of an identity that may assume it.
    pub(super) async fn assume(
        &self,
        desk: &Desk,
        role: &str,
        external_id: Option<&str>,
        keys: &Keys,
    ) -> Result<Keys, IdentityError> {
        let mut form = vec![
            ("Action", "AssumeRole"),
            VERSION,
            ("RoleArn", role),
            ("RoleSessionName", SESSION),
        ];
        form.extend(external_id.map(|id| ("ExternalId", id)));
        let body = form
            .into_iter()
            .map(|(name, value)| format!("{name}={}", escaped(value)))
            .collect::<Vec<_>>()
            .join("&");
        let headers = [("content-type", "application/x-www-form-urlencoded; charset=utf-8")];
        let scope = Scope { region: &self.region, service: "sts" };
        let call = signed(self.url.clone()?, &headers, body, keys, scope);
        let answer = desk.send(&call).await?;
        let who = &keys.who;
        let fix = format!(
            "allow sts:AssumeRole for it in the policy of {who}, and {who} in its trust policy"
        );
        keys_of(&answer, role, &format!("role {role} to {who}"), fix)
    }
}

fn keys_of(answer: &Answer, role: &str, asked: &str, fix: String) -> Result<Keys, IdentityError> {
    let document = String::from_utf8_lossy(&answer.body);
    if !answer.status.is_success() {
        let part = |name| xml::text(&document, name).unwrap_or_default();
        let (code, message) = (part("Code"), part("Message"));
        let said = format!("{code}: {message}");
        let said = said.trim_matches([':', ' ']);
        return Err(IdentityError::refusal(answer, asked.to_owned(), said, fix));
    }
    let part = |name| {
        let text = xml::text(&document, name).filter(|text| !text.is_empty());
        text.ok_or_else(|| IdentityError::without(answer, name))
    };
    let end = part("Expiration").ok().and_then(|text| text.parse().ok());
    Ok(Keys {
        id: part("AccessKeyId")?,
        secret: part("SecretAccessKey")?.into(),
        session: Some(part("SessionToken")?.into()),
        who: format!("role {role}"),
        good_for: lifetime::until(end, answer),
    })
}

/// Where STS is, in the partition that the region belongs to.
fn sts_host(region: &str, host: &EcrHost, fips: bool, dual_stack: bool) -> String {
    let service = if fips { "sts-fips" } else { "sts" };
    let china = region.starts_with("cn-");
    if dual_stack {
        let suffix = if china { "api.amazonwebservices.com.cn" } else { "api.aws" };
        return format!("{service}.{region}.{suffix}");
    }
    let suffix = match host {
        // The partition of the registry, unless its names are of the other kind.
        EcrHost::Private { suffix, region: own, dual_stack: false, .. }
            if region.split('-').next() == own.split('-').next() || !china =>
        {
            suffix
        }
        _ if china => "amazonaws.com.cn",
        _ => "amazonaws.com",
    };
    format!("{service}.{region}.{suffix}")
}

/// Escapes for a form, as the signature wants it: everything but unreserved characters.
fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut escaped, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sts_is_in_the_partition_of_the_region() {
        #[rustfmt::skip]
        let rows = [
            ("eu-north-1", "000011112222.dkr.ecr.eu-north-1.amazonaws.com", false, false, "sts.eu-north-1.amazonaws.com"),
            ("us-east-1",  "000011112222.dkr.ecr.eu-north-1.amazonaws.com", false, false, "sts.us-east-1.amazonaws.com"),
            ("cn-north-1", "000011112222.dkr.ecr.cn-northwest-1.amazonaws.com.cn", false, false, "sts.cn-north-1.amazonaws.com.cn"),
            ("us-gov-west-1", "000011112222.dkr.ecr-fips.us-gov-west-1.amazonaws.com", true, false, "sts-fips.us-gov-west-1.amazonaws.com"),
            ("eu-west-1",  "000011112222.dkr-ecr.eu-west-1.on.aws", false, true, "sts.eu-west-1.api.aws"),
            ("cn-north-1", "000011112222.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn", false, true, "sts.cn-north-1.api.amazonwebservices.com.cn"),
            ("eu-north-1", "public.ecr.aws", false, false, "sts.eu-north-1.amazonaws.com"),
        ];
        for (region, host, fips, dual_stack, expected) in rows {
            let host = EcrHost::of(host).unwrap();
            assert_eq!(sts_host(region, &host, fips, dual_stack), expected);
        }
    }

    #[test]
    fn forms_are_escaped_as_signatures_want_it() {
        assert_eq!(
            escaped("arn:aws:iam::1:role/a b+~"),
            "arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b%2B~"
        );
    }
}
