//! `test IMAGE`: to which tag an image would go, given a policy (spec 22 §8, 11 §8; 40 B6).
//!
//! Reads only, needs no Argo CD and no cluster. What it says are log lines, as in the original;
//! standard output stays empty unless `--output` asks for an answer there.

mod answer;
mod asked;
mod cluster;
mod lines;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aiu_controller::cluster::files::Manifests;
use aiu_core::decide::{
    Current, CurrentSource, DecideOptions, Decision, TagList, Verdict, decide, findings, shortlist,
};
use aiu_core::image::{ConfiguredImage, ImageReference, Platform, Tag, TagRef};
use aiu_core::policy::{TagFilter, UpdatePolicy, UpdateStrategy};
use aiu_core::registries::{CredentialSource, Endpoint, Registries};
use aiu_core::report::Finding;
use aiu_registry::{
    Ambient, Credentials, Freshness, Kept, Keyring, ScanError, ScanRequest, Scanner,
    ScannerSettings, from_secret,
};
use anyhow::{Context, Result};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::Instant;

use super::session::own_platform;
use super::{Answer, End};
use crate::line::{self, Line};
use crate::logging::{self, Progress};
use crate::settings::{self, Environment, REGISTRIES_CONF, Reader};

use asked::Test;
use lines::Lines;

/// A command that lasts longer than this shows on a terminal that it goes on.
const SILENCE: Duration = Duration::from_secs(1);
/// How often that is redrawn.
const REDRAWN: Duration = Duration::from_millis(200);

/// Why the command ends early: the line at level `fatal`, and a stable word.
#[derive(Debug)]
pub struct Fatal {
    reason: &'static str,
    message: String,
}

/// What is asked.
struct Question {
    image: ConfiguredImage,
    /// The tag in IMAGE, where it is to be compared.
    running: Option<TagRef>,
    policy: UpdatePolicy,
    request: ScanRequest,
    default_registry: aiu_core::image::Registry,
}

/// What came of it.
struct Found {
    decision: Decision,
    findings: Vec<Finding>,
}

/// Asks the registry and tells which tag wins.
pub fn test(line: &Line, env: &Environment) -> Result<Answer> {
    let none = BTreeMap::new();
    let asked = &Test::read(line, &mut Reader::new(line, env, &none))?;
    let Some(level) = logging::level(&asked.loglevel) else {
        logging::init_for_test(tracing_subscriber::filter::LevelFilter::INFO);
        let level = &asked.loglevel;
        let message = format!("could not set log level to {level}: invalid loglevel: {level}");
        return Ok(failed(asked, &Lines::default(), &Fatal { reason: "UsageInvalid", message }));
    };
    logging::init_for_test(level);
    let [image] = &asked.image[..] else {
        let fatal =
            Fatal { reason: "UsageInvalid", message: "image needs to be specified".to_owned() };
        Lines::default().fatal(&fatal.message);
        return Ok(Answer { text: line::help(line.verb), end: End::Failed });
    };
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let (lines, outcome) = runtime.block_on(ask(asked, image, env));
    Ok(match outcome {
        Ok((question, found)) => answer::answer(asked, &question, &found),
        Err(fatal) => failed(asked, &lines, &fatal),
    })
}

fn failed(asked: &Test, lines: &Lines, fatal: &Fatal) -> Answer {
    lines.fatal(&fatal.message);
    Answer { text: answer::failure(asked, fatal), end: End::Failed }
}

async fn ask(
    asked: &Test,
    image: &str,
    env: &Environment,
) -> (Lines, Result<(Question, Found), Fatal>) {
    let mut lines = Lines::default();
    let outcome = Box::pin(steps(asked, image, env, &mut lines)).await;
    (lines, outcome)
}

/// The steps of spec 11 §8.2, in its order.
async fn steps(
    asked: &Test,
    image: &str,
    env: &Environment,
    lines: &mut Lines,
) -> Result<(Question, Found), Fatal> {
    kubeconfig(&asked.kubeconfig)?;
    let written: ConfiguredImage = image
        .parse()
        .map_err(|error| fatal("UsageInvalid", format!("'{image}' is no image: {error}")))?;
    *lines = Lines::about(&written);
    let allow = Some(asked.allow_tags.as_str());
    let filter = TagFilter::new(allow, asked.ignore_tags.iter().map(String::as_str));
    lines.filter(&filter);
    let running = asked.check.then(|| running(&written)).transpose()?;
    lines.info("retrieving information about image");
    let platforms = platforms(&asked.platforms, lines)?;

    let folder = asked.manifests.as_deref().map(|folder| Manifests::read(folder, "argocd"));
    let folder = folder.transpose().map_err(|error| {
        fatal("ManifestUnreadable", format!("could not read manifests: {error}"))
    })?;
    let registries = registries(asked, folder.as_ref(), lines)?;
    let endpoint = endpoint(asked, &registries, &written, lines);

    let constraint = Some(&*asked.semver_constraint).filter(|text| !text.is_empty());
    let image = ConfiguredImage { constraint: constraint.map(Arc::from), digest: None, ..written };
    let dates = endpoint.date_source();
    let strategy = UpdateStrategy::from_parts(&image, Some(&asked.update_strategy), dates);
    let (strategy, note) =
        strategy.map_err(|error| fatal(error.reason(), format!("could not get tags: {error}")))?;
    if let Some(note) = note {
        lines.warn(&note.to_string());
    }
    let scanner = Scanner::new(ScannerSettings::default());
    let places = Places { folder: folder.as_ref(), env };
    let request = ScanRequest {
        path: endpoint.wire_path(&image.repository),
        credentials: credentials(asked, &endpoint, &image, places, &scanner).await?,
        endpoint,
    };
    let question = Question {
        image,
        running,
        policy: UpdatePolicy::new(strategy, filter, platforms),
        request,
        default_registry: registries.default_registry(),
    };
    lines.info("Fetching available tags and metadata from registry");
    let choosing = choose(&scanner, &question, lines);
    let found = shown_on_terminal(&scanner, &question.request, choosing).await?;
    Ok((question, found))
}

/// Nothing is asked of a cluster unless a source of credentials needs one; a file that was
/// named must be there all the same.
fn kubeconfig(path: &str) -> Result<(), Fatal> {
    if path.is_empty() || Path::new(path).is_file() {
        return Ok(());
    }
    let message = format!("could not create K8s client: stat {path}: no such file or directory");
    Err(fatal("UsageInvalid", message))
}

/// The tag of the image as it was written, for `--check`.
fn running(image: &ConfiguredImage) -> Result<TagRef, Fatal> {
    let tag = image.constraint.as_deref().map(str::parse::<Tag>).transpose().ok().flatten();
    match (tag, image.digest.clone()) {
        (Some(tag), Some(digest)) => Ok(TagRef::pinned(tag, digest)),
        (Some(tag), None) => Ok(TagRef::tag(tag)),
        (None, Some(digest)) => Ok(TagRef::digest(digest)),
        (None, None) => Err(fatal(
            "UsageInvalid",
            format!(
                "--check compares the tag of the image with the winner; write one, such as {}:1.0.0",
                image.repository
            ),
        )),
    }
}

fn platforms(wanted: &[String], lines: &Lines) -> Result<Vec<Platform>, Fatal> {
    let parsed = wanted.iter().map(|text| {
        text.parse().map_err(|error| {
            fatal("WrongPlatform", format!("Could not parse platform {text}: {error}"))
        })
    });
    let mut platforms = parsed.collect::<Result<Vec<Platform>, Fatal>>()?;
    if platforms.is_empty() {
        platforms.push(own_platform());
    }
    for platform in &platforms {
        if !matches!(&*platform.os, "linux" | "windows") {
            lines.warn(&format!(
                "Target platform is '{}/{}', but that's not a supported container platform. Forgot --platforms?",
                platform.os, platform.architecture
            ));
        }
    }
    Ok(platforms)
}

fn registries(
    asked: &Test,
    folder: Option<&Manifests>,
    lines: &Lines,
) -> Result<Arc<Registries>, Fatal> {
    let path = Some(&*asked.registries_conf_path).filter(|path| !path.is_empty()).map(Path::new);
    let none = BTreeMap::new();
    let settings = folder.map_or(&none, Manifests::settings);
    let found = settings::registries_at(path, settings).map_err(|error| {
        fatal("RegistriesInvalid", format!("could not load registries configuration: {error:#}"))
    })?;
    let named = path.is_some() || settings.contains_key("registries.conf");
    if !named && !Path::new(REGISTRIES_CONF).is_file() {
        lines.info(&format!(
            "no registries configuration at default path {REGISTRIES_CONF}, using built-in defaults"
        ));
    } else {
        let count = found.configured();
        let path = path.unwrap_or(Path::new(REGISTRIES_CONF)).display();
        lines.info(&format!("Loaded {count} registry configurations from {path}"));
    }
    for notice in found.notices() {
        lines.warn(&notice.to_string());
    }
    Ok(found)
}

/// The registry that answers, with the rate that was asked for.
fn endpoint(
    asked: &Test,
    registries: &Registries,
    image: &ConfiguredImage,
    lines: &Lines,
) -> Arc<Endpoint> {
    let found = registries.endpoint_for(&image.repository);
    lines.endpoint(&found, &image.repository);
    let Some(rate) = asked.rate_limit else { return found };
    lines.info(&format!("Overriding registry rate-limit to {rate} requests per second"));
    Arc::new(Endpoint { limit: rate, ..Endpoint::clone(&found) })
}

/// Where Secrets may be.
#[derive(Clone, Copy)]
struct Places<'a> {
    folder: Option<&'a Manifests>,
    env: &'a Environment,
}

impl Places<'_> {
    /// A field of a Secret of the folder, else of the cluster at hand; or a stable word and why
    /// there is none.
    async fn secret_field(
        self,
        asked: &Test,
        [namespace, name, field]: [&str; 3],
    ) -> Result<SecretString, (&'static str, String)> {
        match self.folder {
            Some(folder) => folder
                .secret_field(namespace, name, field)
                .map(SecretString::from)
                .map_err(|cause| ("CredentialSecretMissing", cause)),
            None => cluster::secret_field(asked, self.env, [namespace, name, field]).await,
        }
    }
}

/// Who asks. The registry's own credentials are left alone where others are given (spec 11
/// G26).
async fn credentials(
    asked: &Test,
    endpoint: &Arc<Endpoint>,
    image: &ConfiguredImage,
    places: Places<'_>,
    scanner: &Scanner,
) -> Result<Credentials, Fatal> {
    let path = endpoint.wire_path(&image.repository);
    let (text, parse, fetch) = match (&*asked.credentials, &endpoint.credentials) {
        ("", None) => return users_own(endpoint, &path, places.folder.is_some()).await,
        ("", Some(own)) => (
            &**own,
            "could not set registry credentials".to_owned(),
            "could not set registry credentials",
        ),
        (given, _) => (
            given,
            format!("could not parse credential definition '{}'", until_colon(given)),
            "could not fetch credentials",
        ),
    };
    let source: CredentialSource =
        text.parse().map_err(|error: aiu_core::registries::InvalidSource| {
            fatal(error.reason(), format!("{parse}: {error}"))
        })?;
    let failed = |reason, cause: String| fatal(reason, format!("{fetch}: {cause}"));
    if let Some((namespace, name, field)) = source.secret() {
        let value = places.secret_field(asked, [namespace, name, field]).await;
        let value = value.map_err(|(reason, cause)| failed(reason, cause))?;
        return from_secret(&source, value.expose_secret(), endpoint, &path)
            .map_err(|error| failed(error.reason(), error.to_string()));
    }
    let now = Instant::now();
    let freshness = Freshness { kept: Kept::OnePass, pass_started: now };
    let fetched = Keyring::beside(scanner).credentials(&source, endpoint, freshness).await;
    fetched.map_err(|error| failed(error.reason(), error.to_string()))
}

/// Whoever works on a folder is its owner, with logins of their own (spec 40 B5).
async fn users_own(endpoint: &Endpoint, path: &str, in_folder: bool) -> Result<Credentials, Fatal> {
    if !in_folder {
        return Ok(Credentials::Anonymous);
    }
    let failed = |reason, cause: String| {
        fatal(reason, format!("could not fetch credentials: your own Docker logins: {cause}"))
    };
    let ambient = Ambient::of_user().map_err(|error| failed(error.reason(), error.to_string()))?;
    let found = ambient.credentials(endpoint, path, Instant::now()).await;
    found.map_err(|error| failed(error.reason(), error.to_string()))
}

/// Where a password stands in place of a source, it stands behind a colon.
fn until_colon(text: &str) -> String {
    match text.split_once(':') {
        Some((start, _)) if text.parse::<CredentialSource>().is_err() => format!("{start}:…"),
        _ => text.to_owned(),
    }
}

/// Lists, looks at what the strategy needs, and decides.
async fn choose(scanner: &Scanner, question: &Question, lines: &Lines) -> Result<Found, Fatal> {
    let Question { image, policy, request, .. } = question;
    let now = Instant::now();
    let unanswered =
        |error: Arc<ScanError>| fatal(error.reason(), format!("could not get tags: {error}"));
    let tags = match &policy.strategy {
        UpdateStrategy::Digest(tag) => Arc::new(TagList::new([tag.clone()])),
        _ => scanner.list_tags(request, now).await.map_err(unanswered)?,
    };
    let list = shortlist(policy, &tags);
    let told = scanner.inspect_needs(request, &list.needs, &policy.platforms, now).await;
    let list = list
        .inspected(&told.map_err(unanswered)?)
        .map_err(|error| fatal("NotInspected", format!("could not get tags: {error}")))?;
    lines.listed(&list);

    let running = question.running.as_ref().map(|tag| {
        let (repository, tag) = (image.repository.clone(), Some(tag.clone()));
        Current {
            reference: Some(ImageReference { repository, tag }),
            source: CurrentSource::Target,
        }
    });
    let options = DecideOptions {
        default_registry: question.default_registry.clone(),
        kustomize_name: false,
        allow_downgrade: false,
    };
    let decision = decide(&Arc::new(list), policy, image, running.as_ref(), &options);
    let findings = findings(&decision, policy, image, running.as_ref());
    lines.findings(&findings);
    if let Verdict::NoCandidate(why) = &decision.verdict
        && why.is_failure()
    {
        let cause = findings.first().map_or_else(|| why.to_string(), |found| found.found.clone());
        let message = format!("could not get updateable image from tags: {cause}");
        return Err(fatal(why.reason(), message));
    }
    lines.chosen(image, policy, &decision);
    Ok(Found { decision, findings })
}

/// Does the work, and shows on a terminal that it goes on if it lasts.
async fn shown_on_terminal<T>(
    scanner: &Scanner,
    request: &ScanRequest,
    work: impl Future<Output = T>,
) -> T {
    let Some(progress) = Progress::on_terminal() else { return work.await };
    let started = Instant::now();
    let drawing = async {
        tokio::time::sleep(SILENCE).await;
        loop {
            let requests: u64 = scanner.stats().iter().map(|host| host.requests).sum();
            let seconds = started.elapsed().as_secs();
            let host = &request.endpoint.prefix;
            progress.show(format!("asking {host}: {requests} requests, {seconds} s"));
            tokio::time::sleep(REDRAWN).await;
        }
    };
    tokio::select! {
        done = work => done,
        never = drawing => never,
    }
}

fn fatal(reason: &'static str, message: String) -> Fatal {
    Fatal { reason, message }
}
