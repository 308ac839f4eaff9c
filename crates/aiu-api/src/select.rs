//! Which Applications a resource means, each owned by its most specific reference
//! (spec 21 §3).

use std::collections::BTreeMap;

use aiu_core::glob::{Glob, specificity};

use crate::application::Application;
use crate::image_updater::{ApplicationRef, ImageUpdater, LabelExpression, LabelSelector};

/// An Application and the reference that claims it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched<'a> {
    /// The Application.
    pub application: &'a Application,
    /// The first matching reference, most specific first.
    pub reference: &'a ApplicationRef,
}

/// Why a resource selects nothing at all. The texts are the reference's (spec 21 §3.1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSelection {
    /// `applicationRefs` is empty.
    #[error("no application references defined in ImageUpdater CR")]
    NoReferences,
    /// A pattern that is no glob.
    #[error("invalid application name pattern '{0}': syntax error in pattern")]
    Pattern(String),
}

/// The Applications that `updater` selects, in the order given.
///
/// A label selector that is no selector matches nothing, as in the reference; the caller says
/// so from [`invalid_selectors`].
pub fn select<'a>(
    updater: &'a ImageUpdater,
    applications: impl IntoIterator<Item = &'a Application>,
) -> Result<Vec<Matched<'a>>, InvalidSelection> {
    let references = compiled(updater)?;
    let matched = applications.into_iter().filter_map(|application| {
        let owner = references.iter().find(|(glob, reference)| {
            let selector = reference.label_selectors.as_ref();
            glob.matches(&application.metadata.name)
                && selector.is_none_or(|s| selects(s, &application.metadata.labels) == Ok(true))
        });
        owner.map(|&(_, reference)| Matched { application, reference })
    });
    Ok(matched.collect())
}

/// The references with their patterns compiled, most specific first; equal ones keep their order.
fn compiled(updater: &ImageUpdater) -> Result<Vec<(Glob, &ApplicationRef)>, InvalidSelection> {
    if updater.spec.application_refs.is_empty() {
        return Err(InvalidSelection::NoReferences);
    }
    let mut references = Vec::with_capacity(updater.spec.application_refs.len());
    for reference in &updater.spec.application_refs {
        let glob = Glob::new(&reference.name_pattern)
            .map_err(|_| InvalidSelection::Pattern(reference.name_pattern.clone()))?;
        references.push((glob, reference));
    }
    references.sort_by_key(|(_, reference)| std::cmp::Reverse(score(reference)));
    Ok(references)
}

fn score(reference: &ApplicationRef) -> u64 {
    let selectors = reference.label_selectors.as_ref();
    specificity(
        &reference.name_pattern,
        selectors.map(|s| (s.match_labels.len(), s.match_expressions.len())),
    )
}

/// What is wrong with the label selectors of a resource: `(namePattern, cause)` each.
pub fn invalid_selectors(updater: &ImageUpdater) -> Vec<(&str, String)> {
    let nothing = BTreeMap::new();
    let references = updater.spec.application_refs.iter();
    references
        .filter_map(|reference| {
            let selector = reference.label_selectors.as_ref()?;
            selects(selector, &nothing).err().map(|cause| (reference.name_pattern.as_str(), cause))
        })
        .collect()
}

/// Standard Kubernetes semantics: every condition must hold.
fn selects(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> Result<bool, String> {
    let mut all = selector.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
    for expression in &selector.match_expressions {
        // No shortcut: an invalid later expression makes the whole selector invalid.
        all &= holds(expression, labels)?;
    }
    Ok(all)
}

fn holds(expression: &LabelExpression, labels: &BTreeMap<String, String>) -> Result<bool, String> {
    let LabelExpression { key, operator, values } = expression;
    let found = labels.get(key);
    match (operator.as_str(), values.is_empty()) {
        ("In", false) => Ok(found.is_some_and(|value| values.contains(value))),
        ("NotIn", false) => Ok(found.is_none_or(|value| !values.contains(value))),
        ("Exists", true) => Ok(found.is_some()),
        ("DoesNotExist", true) => Ok(found.is_none()),
        ("In" | "NotIn", true) => Err(format!("operator {operator} of '{key}' needs values")),
        ("Exists" | "DoesNotExist", false) => {
            Err(format!("operator {operator} of '{key}' takes no values"))
        }
        _ => Err(format!(
            "'{operator}' of '{key}' is not a valid label selector operator; use In, NotIn, Exists or DoesNotExist"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updater(refs: &str) -> ImageUpdater {
        let text = format!("metadata: {{name: u}}\nspec: {{applicationRefs: [{refs}]}}");
        serde_saphyr::from_str(&text).unwrap()
    }

    fn app(name: &str, labels: &str) -> Application {
        let text = format!("metadata: {{name: {name}, labels: {{{labels}}}}}");
        serde_saphyr::from_str(&text).unwrap()
    }

    /// Spec 21 §3.4, and §3.3 "Consequence".
    #[test]
    fn each_application_belongs_to_its_most_specific_reference() {
        let apps = [
            app("app-prod", "env: prod"),
            app("app-staging", "env: staging"),
            app("other-prod", "env: prod"),
        ];
        #[rustfmt::skip]
        let rows = [
            ("{namePattern: app-prod}", "app-prod by app-prod"),
            ("{namePattern: 'app-*'}", "app-prod by app-*, app-staging by app-*"),
            ("{namePattern: 'app-*'}, {namePattern: app-prod}", "app-prod by app-prod, app-staging by app-*"),
            ("{namePattern: '*', labelSelectors: {matchLabels: {env: prod}}}", "app-prod by *, other-prod by *"),
            ("{namePattern: 'app-pro*'}, {namePattern: '*', labelSelectors: {matchLabels: {env: prod}}}",
             "app-prod by *, other-prod by *"),
            ("{namePattern: 'x*'}", ""),
        ];
        for (refs, expected) in rows {
            let updater = updater(refs);
            let shown: Vec<String> = select(&updater, &apps)
                .unwrap()
                .iter()
                .map(|m| format!("{} by {}", m.application.metadata.name, m.reference.name_pattern))
                .collect();
            assert_eq!(shown.join(", "), expected, "{refs}");
        }
    }

    /// Spec 21 §3.2, table of label selectors.
    #[test]
    fn label_selectors_follow_kubernetes() {
        #[rustfmt::skip]
        let rows = [
            ("env: prod", "{}", true),
            ("env: prod, tier: frontend", "{matchLabels: {env: prod, tier: frontend}}", true),
            ("tier: frontend", "{matchLabels: {env: prod}}", false),
            ("env: staging", "{matchExpressions: [{key: env, operator: In, values: [prod, staging]}]}", true),
            ("env: dev", "{matchExpressions: [{key: env, operator: In, values: [prod, staging]}]}", false),
            ("env: dev", "{matchExpressions: [{key: env, operator: NotIn, values: [prod]}]}", true),
            ("tier: x", "{matchExpressions: [{key: env, operator: NotIn, values: [prod]}]}", true),
            ("env: prod", "{matchExpressions: [{key: env, operator: Exists}]}", true),
            ("env: prod", "{matchExpressions: [{key: env, operator: DoesNotExist}]}", false),
            ("env: prod, tier: database", "{matchLabels: {env: prod}, matchExpressions: [{key: tier, operator: In, values: [a, b]}]}", false),
            ("env: prod", "{matchExpressions: [{key: env, operator: InvalidOperator}]}", false),
        ];
        for (labels, selector, expected) in rows {
            let updater = updater(&format!("{{namePattern: '*', labelSelectors: {selector}}}"));
            let app = app("a", labels);
            let found = !select(&updater, [&app]).unwrap().is_empty();
            assert_eq!(found, expected, "{labels} against {selector}");
        }
        let broken = updater(
            "{namePattern: x, labelSelectors: {matchExpressions: [{key: env, operator: Like}]}}",
        );
        assert_eq!(invalid_selectors(&broken)[0].0, "x");
    }

    #[test]
    fn a_resource_without_a_usable_reference_is_refused() {
        assert_eq!(select(&updater(""), []), Err(InvalidSelection::NoReferences));
        for pattern in ["app-[", "app-*["] {
            let error = select(&updater(&format!("{{namePattern: '{pattern}'}}")), []).unwrap_err();
            assert_eq!(error, InvalidSelection::Pattern(pattern.to_owned()));
        }
    }
}
