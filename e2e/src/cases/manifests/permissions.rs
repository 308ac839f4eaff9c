//! What the controller's account may do, asked of the API server itself.

use anyhow::{Context, Result};
use serde_json::json;

use crate::peers::ApiServer;

const ACCOUNT: &str = "system:serviceaccount:argocd:argocd-image-updater-controller";

/// Verb, group and resource: what a pass, its status, its events and its lease need.
pub(super) const NEEDED: &[&str] = &[
    "list argocd-image-updater.argoproj.io/imageupdaters",
    "watch argocd-image-updater.argoproj.io/imageupdaters",
    "patch argocd-image-updater.argoproj.io/imageupdaters",
    "update argocd-image-updater.argoproj.io/imageupdaters/finalizers",
    "patch argocd-image-updater.argoproj.io/imageupdaters/status",
    "update argocd-image-updater.argoproj.io/imageupdaters/status",
    "list argoproj.io/applications",
    "watch argoproj.io/applications",
    "patch argoproj.io/applications",
    "get /secrets",
    "get /configmaps",
    "create /events",
    "create coordination.k8s.io/leases",
    "update coordination.k8s.io/leases",
    "create authentication.k8s.io/tokenreviews",
    "create authorization.k8s.io/subjectaccessreviews",
];

/// What nothing of ours does.
pub(super) const NEVER: &[&str] = &[
    "create /secrets",
    "update /secrets",
    "delete /secrets",
    "create argoproj.io/applications",
    "delete argoproj.io/applications",
    "list argoproj.io/appprojects",
    "get /pods",
    "create events.k8s.io/events",
    "update rbac.authorization.k8s.io/roles",
];

/// What a further namespace must allow.
pub(super) const IN_WATCHED: &[&str] = &[
    "list argocd-image-updater.argoproj.io/imageupdaters",
    "update argocd-image-updater.argoproj.io/imageupdaters/status",
    "watch argoproj.io/applications",
    "patch argoproj.io/applications",
    "get /secrets",
    "create /events",
];

/// Those of the questions whose answer is another one.
pub(super) async fn ask<'q>(
    server: &ApiServer,
    namespace: &str,
    questions: &[&'q str],
    expected: bool,
) -> Result<Vec<&'q str>> {
    let mut wrong = Vec::new();
    for question in questions {
        let (verb, rest) = question.split_once(' ').context("a verb")?;
        let (group, resource) = rest.split_once('/').context("a group")?;
        let (resource, sub) = resource.split_once('/').unwrap_or((resource, ""));
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": ACCOUNT,
                "groups": ["system:serviceaccounts", "system:serviceaccounts:argocd", "system:authenticated"],
                "resourceAttributes": {
                    "namespace": namespace, "verb": verb, "group": group, "resource": resource, "subresource": sub,
                },
            },
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        if server.create(path, &review).await?["status"]["allowed"] != expected {
            wrong.push(*question);
        }
    }
    Ok(wrong)
}
