//! Merging into `.argocd-source-<app>.yaml`.

use aiu_core::edit::lists::NamedImage;
use aiu_core::edit::{FileKind, HelmKeys, Keys, Wish, apply};
use aiu_core::image::ImageReference;
use serde_json::{Value, json};

use super::content::{documents, same_content};
use super::helm_values_edit::answer;
use super::{Answers, Case, Handler};

pub(super) const ANSWERS: Answers = Answers {
    kinds: &[
        ("helm", Handler::new(helm).agreeing(result_agrees).obeying(keeps_other_keys)),
        ("kustomize", Handler::new(kustomize).agreeing(result_agrees)),
    ],
    deviations: &[
        ("override_file_edit/dc518e03ac96", ONLY_ORDER),
        ("override_file_edit/7fcc745af835", ONLY_ORDER),
        ("override_file_edit/0fa006096a87", ONLY_ORDER),
        ("override_file_edit/eb0dda3bd686", NOT_WISHED),
        ("override_file_edit/262c867cc09c", NOT_WISHED),
        ("override_file_edit/25af85fc7d1d", NOT_WISHED),
        ("override_file_edit/b383dc76f105", ONE_ENTRY),
        ("override_file_edit/923fd37daa18", ONE_ENTRY),
        ("override_file_edit/0c1fa69839bb", "30 F12: no edit is asked for a source without block"),
    ],
};

const ONLY_ORDER: &str = "32 rule 6: no value changes, so the order of entries alone is left";
const NOT_WISHED: &str = "32 rule 1: the spelling of an entry that nobody wishes is left";

const ONE_ENTRY: &str = "10 F5: one image is one entry, in a new file as in one that is there";

fn kustomize(case: &Case) -> Value {
    let wish = |text: &str| {
        let NamedImage { name, image } = NamedImage::parse(text).unwrap();
        Wish { keys: Keys::Kustomize { name }, image }
    };
    edit(
        case,
        FileKind::KustomizeOverride,
        &case.texts("images").into_iter().map(wish).collect::<Vec<_>>(),
    )
}

fn helm(case: &Case) -> Value {
    let parameters = case.input["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let value = |name: &str| {
        let parameter = parameters.iter().find(|parameter| parameter[0] == name);
        parameter.map(|parameter| parameter[1].as_str().unwrap())
    };
    let managed = case.input["managed"].as_array().unwrap();
    let wishes = managed.iter().filter_map(|names| wish(names, value));
    edit(case, FileKind::HelmOverride, &wishes.collect::<Vec<_>>())
}

/// The parameters of the source that an image manages, as a wish for them.
fn wish<'a>(names: &Value, value: impl Fn(&str) -> Option<&'a str>) -> Option<Wish> {
    let name = |at: usize, default: &'static str| match names[at].as_str().unwrap() {
        "" => default.to_owned(),
        name => name.to_owned(),
    };
    let spec = name(2, "");
    if !spec.is_empty() {
        let keys = Keys::Helm(HelmKeys::Spec(spec.as_str().into()));
        return Some(Wish { keys, image: value(&spec)?.parse().unwrap() });
    }
    let (name, tag) = (name(0, "image.name"), name(1, "image.tag"));
    let repository = value(&name).unwrap_or("any").parse().unwrap();
    let image = ImageReference { repository, tag: value(&tag).map(|tag| tag.parse().unwrap()) };
    let keys = HelmKeys::NameAndTag {
        name: value(&name).map(|_| name.as_str().into()),
        tag: value(&tag).map(|_| tag.as_str().into()),
    };
    Some(Wish { keys: Keys::Helm(keys), image })
}

fn edit(case: &Case, kind: FileKind, wishes: &[Wish]) -> Value {
    let text = case.input["yaml"].as_str();
    answer(text.unwrap_or_default(), apply(kind, text, wishes).map_err(|e| e.to_string()))
}

/// These files tell the resulting text, whether it is a new one or not.
fn result_agrees(expected: &Value, answer: &Value) -> bool {
    match expected["yaml"].as_str() {
        Some(text) => documents(text) == answer["yaml"].as_str().and_then(documents),
        None => same_content(expected, answer),
    }
}

/// `32:15`: the block that is not ours stays, and ours is made as the reference makes it.
fn keeps_other_keys(case: &Case, answer: &Value) -> bool {
    let read = |text: &Value| documents(text.as_str()?)?.into_iter().next();
    let (Some(before), Some(after)) = (read(&case.input["yaml"]), read(&answer["yaml"])) else {
        return false;
    };
    after["kustomize"] == before["kustomize"] && after["helm"]["parameters"] != json!(null)
}
