//! What makes a pass due besides its time: a new or changed resource, and a person who asks.

use std::collections::BTreeSet;
use std::sync::Arc;

use aiu_api::application::Application;
use aiu_api::select::select;
use aiu_api::{PREFIX, annotations};
use aiu_core::batch::AppName;
use tracing::warn;

use super::queue::{Because, Unit};
use super::{Controller, Happened};
use crate::cluster::api::Watched;
use crate::cluster::api::objects::{SeenApplication, SeenUpdater};
use crate::cluster::api::store::Change;
use crate::cycle::AnnotationMode;

/// Has anything changed that a pass depends on (spec 21 §2)? A status or a finalizer does not
/// count, a deletion does: both show in the generation.
fn is_news(before: Option<&SeenUpdater>, after: &SeenUpdater) -> bool {
    before.is_none_or(|before| {
        before.generation != after.generation
            || before.uid != after.uid
            || before.deleting != after.deleting
    })
}

/// Whether somebody asks to look at once: a changed value of this annotation (spec 21 §5.1,
/// 40 B4).
fn asks(before: Option<&str>, after: Option<&str>) -> bool {
    after.is_some_and(|after| !after.trim().is_empty() && before != Some(after))
}

fn refresh(app: &Application) -> Option<&str> {
    app.metadata.annotations.get(&format!("{PREFIX}/refresh")).map(String::as_str)
}

fn hint(seen: &SeenUpdater) -> Option<&str> {
    let annotations = seen.resource.as_ref().ok()?.metadata.annotations.as_ref()?;
    annotations.get(&format!("{PREFIX}/hint")).map(String::as_str)
}

impl Watched<SeenUpdater> for Controller {
    fn changed(&self, changes: Vec<Change<SeenUpdater>>) {
        for Change { name, before, after } in changes {
            let unit = Unit::Resource(name.clone());
            let Some(after) = after else {
                self.queue.lock().forget(&unit);
                self.once_done(&unit, false);
                self.tell(Happened::Gone(&name));
                continue;
            };
            self.resources_exist();
            let hinted = before.is_some() && asks(before.as_deref().and_then(hint), hint(&after));
            // Who edits a resource wants to see what comes of it now, not of an older listing.
            if hinted || (before.is_some() && is_news(before.as_deref(), &after)) {
                self.wake(unit, Because::Asked);
            } else if before.is_none() {
                self.wake(unit, Because::Due);
            }
        }
    }

    fn turned(&self) {
        self.woken.notify_one();
    }
}

impl Watched<SeenApplication> for Controller {
    fn changed(&self, changes: Vec<Change<SeenApplication>>) {
        for Change { name, before, after } in changes {
            let Some(after) = after else { continue };
            if let Some(problem) = &after.problem
                && before.as_ref().and_then(|before| before.problem.as_ref()) != Some(problem)
            {
                warn!(application = %name, reason = "ManifestUnreadable", "application {name} cannot be read: {problem}; it is left out until its spec is corrected");
            }
            if !annotations::any(&after.application.metadata.annotations) {
                continue;
            }
            let asked = before.as_ref().is_some_and(|before| {
                let value = |seen: &SeenApplication| refresh(&seen.application).map(str::to_owned);
                asks(value(before).as_deref(), value(&after).as_deref())
            });
            let assumed = Unit::Annotations(Arc::clone(&name.namespace));
            if asked {
                if let Some(unit) = self.owner(&name, &after.application) {
                    self.wake(unit, Because::Asked);
                }
            } else if self.works_on_annotations() && !self.queue.lock().contains(&assumed) {
                self.wake(assumed, Because::Due);
            }
        }
    }

    fn turned(&self) {
        self.woken.notify_one();
    }
}

impl Controller {
    /// Who works on an Application.
    fn owner(&self, name: &AppName, application: &Application) -> Option<Unit> {
        let assumed = Unit::Annotations(Arc::clone(&name.namespace));
        let claims = self.claims(&name.namespace, &assumed);
        let owner = claims.into_iter().find(|claim| {
            select(&claim.resource, [application]).is_ok_and(|matched| !matched.is_empty())
        })?;
        Some(if owner.annotated_only { assumed } else { Unit::Resource(owner.name) })
    }

    /// Whether annotations count by themselves is decided when the stores are filled.
    pub(super) fn decide_annotations(&self) {
        let active = match self.settings.annotation_mode {
            AnnotationMode::Never => false,
            AnnotationMode::Always => true,
            AnnotationMode::Auto => self.api.updaters.all().is_empty(),
        };
        *self.annotations.lock() = Some(active);
        if active {
            for namespace in self.annotated_namespaces() {
                self.wake(Unit::Annotations(namespace), Because::Due);
            }
        }
    }

    /// The first resource ends the automatic mode, for good (spec 40 B1).
    fn resources_exist(&self) {
        if self.settings.annotation_mode != AnnotationMode::Auto || !self.works_on_annotations() {
            return;
        }
        *self.annotations.lock() = Some(false);
        let count = self.annotated().len();
        self.queue.lock().retain(|unit| matches!(unit, Unit::Resource(_)));
        warn!(
            reason = "AnnotationsNotRead",
            "An ImageUpdater exists now, so annotations alone no longer count: {count} annotated application(s) are updated only where an ImageUpdater with useAnnotations: true selects them; --annotation-mode=always keeps the others updated"
        );
    }

    /// The Applications that carry annotations of ours.
    pub(super) fn annotated(&self) -> Vec<AppName> {
        let all = self.api.applications.all();
        let annotated = all
            .into_iter()
            .filter(|(_, seen)| annotations::any(&seen.application.metadata.annotations));
        annotated.map(|(name, _)| name).collect()
    }

    fn annotated_namespaces(&self) -> BTreeSet<Arc<str>> {
        self.annotated().into_iter().map(|name| name.namespace).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 21 §2, "Trigger".
    #[test]
    fn a_new_generation_is_news_and_a_new_status_is_not() {
        let seen = |text: &str| {
            use crate::cluster::api::objects::Seen as _;
            SeenUpdater::of(serde_json::from_str(text).unwrap())
        };
        let before = seen(r#"{"metadata":{"name":"a","uid":"1","generation":2}}"#);
        #[rustfmt::skip]
        let rows = [
            (r#"{"metadata":{"name":"a","uid":"1","generation":2,"finalizers":["x"]},"status":{"imagesManaged":3}}"#, false),
            (r#"{"metadata":{"name":"a","uid":"1","generation":3}}"#, true),
            (r#"{"metadata":{"name":"a","uid":"2","generation":2}}"#, true),
            (r#"{"metadata":{"name":"a","uid":"1","generation":2,"deletionTimestamp":"2026-01-02T03:04:05Z"}}"#, true),
        ];
        for (text, expected) in rows {
            assert_eq!(is_news(Some(&before), &seen(text)), expected, "{text}");
        }
        assert!(is_news(None, &before));
    }

    #[test]
    fn only_a_changed_value_asks() {
        let rows = [
            (None, None, false),
            (None, Some("now"), true),
            (Some("now"), Some("now"), false),
            (Some("now"), Some("again"), true),
            (Some("now"), Some(" "), false),
            (Some("now"), None, false),
        ];
        for (before, after, expected) in rows {
            assert_eq!(asks(before, after), expected, "{before:?} {after:?}");
        }
    }
}
