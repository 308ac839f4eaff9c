//! Events on Applications (spec 21 §9), through core/v1: the original's Role lacks the newer
//! kind. What happened is a function of the report; a failure is told when it is new.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aiu_core::batch::{AppName, ImageChange};
use aiu_core::image::TagRef;
use aiu_core::outcome::Outcome;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PostParams};
use parking_lot::Mutex;
use tracing::{debug, warn};

use crate::cluster::api::objects::SeenApplication;
use crate::cluster::api::{Api, within_deadline};
use crate::report::CycleReport;

/// The component that events come from (spec 21 §9).
const COMPONENT: &str = "ArgocdImageUpdater";

/// The API server takes no longer message.
const LONGEST_MESSAGE: usize = 1024;

/// Something to tell about one Application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// About which.
    pub application: AppName,
    /// Whether it is a warning.
    pub warning: bool,
    /// One word.
    pub reason: &'static str,
    /// One sentence.
    pub message: String,
    /// The changes, for programs.
    pub annotations: BTreeMap<String, String>,
}

/// A warning about an Application: reason and sentence.
pub type Warned = (AppName, &'static str, String);

/// What was told already, by the resource whose pass told it.
///
/// A warning is news once, whichever pass finds it; when the pass that told it no longer finds
/// it, it has passed, and is news again should it come back.
#[derive(Debug, Default)]
pub struct News(Mutex<BTreeMap<AppName, BTreeSet<Warned>>>);

impl News {
    /// Those of a pass's warnings that nobody told before.
    pub fn fresh(&self, unit: &AppName, now: Vec<Warned>) -> Vec<Warned> {
        let mut told = self.0.lock();
        let is_fresh = |warned: &&Warned| !told.values().any(|known| known.contains(*warned));
        let fresh: Vec<Warned> = now.iter().filter(is_fresh).cloned().collect();
        // What another pass told stays with that pass.
        let others =
            |warned: &Warned| told.iter().any(|(of, known)| of != unit && known.contains(warned));
        let own = now.into_iter().filter(|warned| !others(warned)).collect();
        told.insert(unit.clone(), own);
        fresh
    }

    /// A resource is gone.
    pub fn forget(&self, unit: &AppName) {
        self.0.lock().remove(unit);
    }
}

/// Sends events.
#[derive(Debug)]
pub struct Events {
    /// Whether they are sent at all.
    enabled: bool,
    news: News,
}

impl Events {
    /// A sender; silent where events are disabled.
    pub fn new(enabled: bool) -> Self {
        Self { enabled, news: News::default() }
    }

    /// Sends what a pass of this resource has to tell. What cannot be sent is logged, and nothing
    /// else.
    pub async fn send(&self, api: &Api, unit: &AppName, report: &CycleReport) {
        let mut all = updates(report);
        let fresh = self.news.fresh(unit, warnings(report));
        all.extend(fresh.into_iter().map(|(application, reason, message)| Told {
            application,
            warning: true,
            reason,
            message,
            annotations: BTreeMap::new(),
        }));
        for told in all {
            if !self.enabled {
                let name = told.application.to_string();
                debug!(application = name, "Kubernetes events disabled for application '{name}'");
                continue;
            }
            let Some(seen) = api.applications.get(&told.application) else { continue };
            if let Err(error) = create(api, &told, &seen).await {
                warn!(application = %told.application, "Event could not be sent: {error}");
            }
        }
    }

    /// A resource is gone: what it told may be told anew.
    pub fn forget(&self, unit: &AppName) {
        self.news.forget(unit);
    }
}

/// Failures, and findings, as Application, reason and sentence.
fn warnings(report: &CycleReport) -> Vec<Warned> {
    let images = report.images.iter().filter_map(|image| match &image.outcome {
        Outcome::Failed(failure) | Outcome::Dropped(failure) => {
            let message = format!("{}: {}", image.key.image, failure.message);
            Some((image.key.application.clone(), failure.reason, message))
        }
        _ => None,
    });
    let dropped = report.dropped.iter().map(|dropped| {
        (dropped.application.clone(), dropped.failure.reason, dropped.failure.message.clone())
    });
    // Why nothing can be chosen is the image's own.
    let stuck = report.images.iter().filter(|image| matches!(image.outcome, Outcome::NoCandidate));
    let of_images = stuck
        .flat_map(|image| image.findings.iter().map(|finding| (&image.key.application, finding)));
    let findings = report.findings.iter().map(|(application, finding)| (application, finding));
    let findings = findings.chain(of_images).map(|(application, finding)| {
        (application.clone(), finding.reason, format!("{}; {}", finding.found, finding.fix))
    });
    images.chain(dropped).chain(findings).collect()
}

/// One event per Application that was written (spec 21 §9).
pub fn updates(report: &CycleReport) -> Vec<Told> {
    let mut changed: BTreeMap<&AppName, Vec<&ImageChange>> = BTreeMap::new();
    for image in &report.images {
        if let Outcome::Updated(change) = &image.outcome {
            changed.entry(&image.key.application).or_default().push(change);
        }
    }
    let told = changed.into_iter().map(|(application, changes)| Told {
        application: application.clone(),
        warning: false,
        reason: "ImagesUpdated",
        message: format!("Successfully updated application '{}'", application.name),
        annotations: changes.into_iter().enumerate().flat_map(|(i, c)| annotations(i, c)).collect(),
    });
    told.collect()
}

fn annotations(index: usize, change: &ImageChange) -> Vec<(String, String)> {
    let tag = |tag: Option<&TagRef>| tag.map(TagRef::short).unwrap_or_default().to_owned();
    let from = change.from.as_ref().and_then(|from| from.tag.as_ref());
    let named = [
        ("full-image-name", change.to.repository.to_string()),
        ("image-name", change.to.repository.path().to_owned()),
        ("old-tag", tag(from)),
        ("new-tag", tag(change.to.tag.as_ref())),
    ];
    let key = |name| format!("argocd-image-updater.image-{index}/{name}");
    named.into_iter().map(|(name, value)| (key(name), value)).collect()
}

async fn create(
    api: &Api,
    told: &Told,
    seen: &Arc<SeenApplication>,
) -> Result<(), crate::cluster::api::ApiError> {
    let event = event(told, seen, Timestamp::now());
    let events: kube::Api<Event> =
        kube::Api::namespaced(api.client.clone(), &told.application.namespace);
    let parameters = PostParams::default();
    let created = events.create(&parameters, &event);
    within_deadline(created, "create", "events", &told.application).await.map(|_| ())
}

fn event(told: &Told, seen: &SeenApplication, now: Timestamp) -> Event {
    let AppName { namespace, name } = &told.application;
    let mut message = told.message.clone();
    if message.len() > LONGEST_MESSAGE {
        let end = (0..=LONGEST_MESSAGE - 3).rev().find(|&end| message.is_char_boundary(end));
        message.truncate(end.unwrap_or_default());
        message.push('…');
    }
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{:x}", now.as_nanosecond())),
            namespace: Some(namespace.to_string()),
            annotations: Some(told.annotations.clone()).filter(|a| !a.is_empty()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            kind: Some("Application".to_owned()),
            api_version: Some("argoproj.io/v1alpha1".to_owned()),
            name: Some(name.to_string()),
            namespace: Some(namespace.to_string()),
            uid: Some(seen.uid.to_string()),
            resource_version: Some(seen.version.to_string()),
            field_path: None,
        },
        type_: Some(if told.warning { "Warning" } else { "Normal" }.to_owned()),
        reason: Some(told.reason.to_owned()),
        message: Some(message),
        source: Some(EventSource { component: Some(COMPONENT.to_owned()), host: None }),
        count: Some(1),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        ..Event::default()
    }
}

#[cfg(test)]
mod tests {
    use aiu_core::outcome::{Failure, ImageKey, Stage};

    use super::*;
    use crate::report::ImageReport;

    fn report(outcomes: Vec<(&str, Outcome)>) -> CycleReport {
        let image = |(name, outcome): (&str, Outcome)| ImageReport {
            settings: std::sync::Arc::default(),
            key: ImageKey {
                application: AppName { namespace: "argocd".into(), name: name.into() },
                image: "web".into(),
            },
            configured: String::new(),
            repository: String::new(),
            current: None,
            decision: None,
            findings: Vec::new(),
            outcome,
        };
        CycleReport { images: outcomes.into_iter().map(image).collect(), ..CycleReport::default() }
    }

    fn updated() -> Outcome {
        Outcome::Updated(ImageChange {
            alias: None,
            from: Some("quay.io/org/web:1.0".parse().unwrap()),
            to: "quay.io/org/web:1.1".parse().unwrap(),
            labels: BTreeMap::new(),
        })
    }

    fn failed(message: &str) -> Outcome {
        let message = message.to_owned();
        Outcome::Failed(Failure { stage: Stage::Scanned, reason: "RegistryUnreachable", message })
    }

    /// Spec 21 §9, table.
    #[test]
    fn an_update_is_one_event_with_its_changes() {
        let told = updates(&report(vec![("a", updated()), ("b", Outcome::UpToDate)]));
        assert_eq!(told.len(), 1);
        let seen = SeenApplication {
            application: Arc::default(),
            owned: "".into(),
            version: "7".into(),
            uid: "u-1".into(),
            problem: None,
        };
        let event = event(&told[0], &seen, Timestamp::from_second(1).unwrap());
        let shown = serde_json::to_string_pretty(&event).unwrap();
        #[rustfmt::skip]
        let expected = [
            r#""name": "a.3b9aca00""#, r#""namespace": "argocd""#, r#""uid": "u-1""#, r#""resourceVersion": "7""#,
            r#""kind": "Application""#, r#""apiVersion": "argoproj.io/v1alpha1""#, r#""type": "Normal""#,
            r#""reason": "ImagesUpdated""#, r#""message": "Successfully updated application 'a'""#,
            r#""component": "ArgocdImageUpdater""#, r#""count": 1"#,
            r#""argocd-image-updater.image-0/full-image-name": "quay.io/org/web""#,
            r#""argocd-image-updater.image-0/image-name": "org/web""#,
            r#""argocd-image-updater.image-0/old-tag": "1.0""#, r#""argocd-image-updater.image-0/new-tag": "1.1""#,
        ];
        for part in expected {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }

    #[test]
    fn a_failure_is_told_when_it_is_new_and_again_after_it_had_passed() {
        let news = News::default();
        let unit = |name: &str| AppName { namespace: "argocd".into(), name: name.into() };
        let told = |by: &str, outcome| {
            news.fresh(&unit(by), warnings(&report(vec![("a", outcome)]))).len()
        };
        assert_eq!(told("u", failed("no route")), 1);
        assert_eq!(told("u", failed("no route")), 0);
        assert_eq!(told("u", failed("refused")), 1);
        // Another resource that sees the same, and one that sees nothing, change nothing.
        assert_eq!(told("v", failed("refused")), 0);
        assert_eq!(told("v", Outcome::UpToDate), 0);
        assert_eq!(told("u", failed("refused")), 0);
        assert_eq!(told("u", Outcome::UpToDate), 0);
        assert_eq!(told("u", failed("refused")), 1);
        news.forget(&unit("u"));
        assert_eq!(told("v", failed("refused")), 1);
    }
}
