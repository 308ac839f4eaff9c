//! What the controller reports in a resource (spec 20 §4). Objects that other versions stored must
//! decode: every field may be absent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema;

/// What the last pass came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageUpdaterStatus {
    /// The generation that the last pass worked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::at_least_zero)]
    pub observed_generation: Option<i64>,
    /// When the last pass ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_checked_at: Option<String>,
    /// When a pass last updated an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_updated_at: Option<String>,
    /// How many Applications have an image that is looked after.
    #[schemars(transform = schema::at_least_zero)]
    pub applications_matched: i32,
    /// How many images are looked after, counted per Application.
    #[schemars(transform = schema::at_least_zero)]
    pub images_managed: i32,
    /// What the last pass that updated anything updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::atomic)]
    pub recent_updates: Option<Vec<RecentUpdate>>,
    /// `Ready`, `Reconciling` and `Error`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = schema::list_by_type)]
    pub conditions: Vec<Condition>,
}

/// One new version of one image, in however many Applications (spec 20 §4.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("required" = ["alias", "image", "newVersion", "applicationsUpdated", "updatedAt"]))]
pub struct RecentUpdate {
    /// The image's short name.
    pub alias: String,
    /// Registry and name, without a tag.
    pub image: String,
    /// The tag or digest that was written.
    pub new_version: String,
    /// How many Applications got it.
    #[schemars(transform = schema::at_least_zero)]
    pub applications_updated: i32,
    /// When.
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
    /// From what, to what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A standard condition (spec 20 §4.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("required" = ["type", "status", "reason", "message", "lastTransitionTime"]))]
pub struct Condition {
    /// `Ready`, `Reconciling` or `Error`.
    #[serde(rename = "type")]
    #[schemars(extend("maxLength" = 316, "pattern" = schema::CONDITION_TYPE))]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,
    /// One word for programs.
    #[schemars(extend("minLength" = 1, "maxLength" = 1024, "pattern" = schema::CONDITION_REASON))]
    pub reason: String,
    /// One sentence for people.
    #[schemars(extend("maxLength" = 32768))]
    pub message: String,
    /// When the status last changed.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// The generation that it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::at_least_zero)]
    pub observed_generation: Option<i64>,
}
