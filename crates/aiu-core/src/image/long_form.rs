/// Splits a name that begins with a registry, as far as a values file can tell: the piece up
/// to the first `/` holds a dot. What follows is the short form.
///
/// A plain rule on text, on purpose independent of [`Repository`](super::Repository): it
/// decides whether a values file keeps the registry in its image name (spec 10 §1.6).
pub fn split_long_form(name: &str) -> Option<(&str, &str)> {
    name.split_once('/').filter(|(registry, _)| registry.contains('.'))
}
