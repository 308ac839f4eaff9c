//! What the cases ask of the forge: by its API, and once by its pages, as a user would.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use reqwest::{Method, RequestBuilder, header};
use serde_json::{Value, json};

use super::{ADMIN, Gitea};
use crate::files::{read, write};
use crate::{packages, tool};

/// The password of every user that is made here.
const PASSWORD: &str = "password-s3cret-of-the-forge";

impl Gitea {
    /// Makes a user, who signs commits by this address.
    pub(crate) async fn create_user(&self, name: &str, email: &str) -> Result<()> {
        let user = json!({
            "username": name, "email": email, "password": PASSWORD, "must_change_password": false,
        });
        self.ask(Method::POST, "/admin/users", ADMIN, Some(&user)).await?;
        Ok(())
    }

    /// Makes a token of a user, with these rights only, such as `read:repository`.
    pub(crate) async fn token(&self, user: &str, name: &str, rights: &[&str]) -> Result<String> {
        let path = format!("/users/{user}/tokens");
        let wish = json!({"name": name, "scopes": rights});
        let made = self.ask(Method::POST, &path, (user, PASSWORD), Some(&wish)).await?;
        Ok(made["sha1"].as_str().context("a token has a text")?.to_owned())
    }

    /// Takes a token back.
    pub(crate) async fn revoke(&self, user: &str, name: &str) -> Result<()> {
        let path = format!("/users/{user}/tokens/{name}");
        self.ask(Method::DELETE, &path, (user, PASSWORD), None).await?;
        Ok(())
    }

    /// Makes an empty repository of a user; returns its URL.
    pub(crate) async fn create(&self, owner: &str, name: &str) -> Result<String> {
        let wish = json!({"name": name, "private": true, "default_branch": "main"});
        self.ask(Method::POST, "/user/repos", (owner, PASSWORD), Some(&wish)).await?;
        Ok(self.git_url(owner, name))
    }

    /// Lets nobody push to a branch.
    pub(crate) async fn protect(&self, owner: &str, name: &str, branch: &str) -> Result<()> {
        let path = format!("/repos/{owner}/{name}/branch_protections");
        let rule = json!({"rule_name": branch, "enable_push": false});
        self.ask(Method::POST, &path, (owner, PASSWORD), Some(&rule)).await?;
        Ok(())
    }

    /// What the forge says of a commit.
    pub(crate) async fn commit(&self, owner: &str, name: &str, commit: &str) -> Result<Value> {
        let path = format!("/repos/{owner}/{name}/git/commits/{commit}");
        self.ask(Method::GET, &path, (owner, PASSWORD), None).await
    }

    /// Gives a key to a user, for signatures: `NAME` and `NAME.pub` in the server's folder. That
    /// the user has it is proved as the page of the user's settings asks for it.
    pub(crate) async fn trust_key(&self, user: &str, name: &str) -> Result<()> {
        let key = read(&self.folder, &format!("{name}.pub"))?;
        let wish = json!({"title": name, "key": key, "read_only": true});
        let made = self.ask(Method::POST, "/user/keys", (user, PASSWORD), Some(&wish)).await?;
        let fingerprint = made["fingerprint"].as_str().context("a key has a fingerprint")?;
        let cookie = self.sign_in(user).await?;
        let page = format!("{}/user/settings/keys", self.url);
        let shown = self
            .client
            .get(&page)
            .query(&[("verify_ssh", fingerprint)])
            .header(header::COOKIE, &cookie);
        let (code, shown) = answer(shown).await?;
        ensure!(code == 200, "the page of keys was answered {code}: {shown}");
        let token = between(&shown, "echo -n &#39;", "&#39;")
            .or_else(|| between(&shown, "echo -n '", "'"))
            .context("the page of keys asks for no signature")?;
        let form = [
            ("type", "verify_ssh"),
            ("title", "none"),
            ("content", &*key),
            ("fingerprint", fingerprint),
            ("signature", &*self.signature(name, token).await?),
        ];
        let proof = self.client.post(&page).form(&form).header(header::COOKIE, &cookie);
        let (code, said) = answer(proof).await?;
        ensure!(code == 303, "a key was not taken for the user's: {code} {said}");
        Ok(())
    }

    async fn signature(&self, key: &str, text: &str) -> Result<String> {
        write(&self.folder, "token", text)?;
        let keygen = packages::program("ssh-keygen")?;
        let arguments = ["-Y", "sign", "-n", "gitea", "-f", key, "token"];
        tool::output(keygen, &arguments, &self.folder, &[]).await?;
        let signature = read(&self.folder, "token.sig");
        std::fs::remove_file(self.folder.join("token.sig")).context("cannot remove a file")?;
        signature
    }

    /// The cookie of a session.
    async fn sign_in(&self, user: &str) -> Result<String> {
        let form = [("user_name", user), ("password", PASSWORD)];
        let request = self.client.post(format!("{}/user/login", self.url)).form(&form);
        let answer = request.send().await.context("the forge does not answer")?;
        let code = answer.status().as_u16();
        ensure!(code == 303, "signing in was answered {code}");
        let cookies = answer.headers().get_all(header::SET_COOKIE).iter();
        let pairs = cookies.filter_map(|cookie| cookie.to_str().ok()?.split(';').next());
        // Of one name the last counts: who signs in gets another session.
        let last: BTreeMap<&str, &str> = pairs.filter_map(|pair| pair.split_once('=')).collect();
        let pairs = last.into_iter().map(|(name, value)| format!("{name}={value}"));
        Ok(pairs.collect::<Vec<_>>().join("; "))
    }

    /// One request to the API, which must be granted.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        (user, password): (&str, &str),
        body: Option<&Value>,
    ) -> Result<Value> {
        let shown = format!("{method} {path}");
        let mut request = self.client.request(method, format!("{}/api/v1{path}", self.url));
        request = request.basic_auth(user, Some(password));
        if let Some(body) = body {
            request = request.json(body);
        }
        let (code, text) = answer(request).await?;
        ensure!((200..300).contains(&code), "{shown} was answered {code}: {text}");
        Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
    }
}

async fn answer(request: RequestBuilder) -> Result<(u16, String)> {
    let answer = request.send().await.context("the forge does not answer")?;
    let code = answer.status().as_u16();
    Ok((code, answer.text().await.context("the forge's answer is no text")?))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}
