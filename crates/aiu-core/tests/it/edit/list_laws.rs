//! The laws of edits for lists: kustomize images, Helm parameters in both their homes.
//!
//! What is right is told by a model over parsed values, which knows nothing of bytes.

use aiu_core::edit::{
    Edited, FileKind, HelmKeys, Keys, SourceRef, Wish, apply, apply_in_spec, kustomization,
};
use aiu_core::image::{Digest, KustomizeImage};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::laws::{comments, documents};

/// One element of a list: its name, which other fields it has, and how it is written.
#[derive(Clone, Debug)]
struct Item {
    name: usize,
    /// Fields in the order of the text, by their index; the name is 0.
    fields: Vec<usize>,
    flow: bool,
    noise: u8,
}

/// How a text is laid out.
#[derive(Clone, Debug)]
struct Layout {
    items: Vec<Item>,
    dash: usize,
    crlf: bool,
    open_end: bool,
    flow: bool,
}

const NAMES: [&str; 4] = ["acme/db", "acme/web", "zone", "image.tag"];

fn layout() -> impl Strategy<Value = Layout> {
    let fields = Just(vec![0usize, 1, 2, 3, 4]).prop_shuffle();
    let item = (0..NAMES.len(), fields, 0..=5usize, any::<bool>(), any::<u8>());
    let item = item.prop_map(|(name, mut fields, keep, flow, noise)| {
        fields.truncate(keep);
        if !fields.contains(&0) {
            fields.push(0);
        }
        Item { name, fields, flow, noise }
    });
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (vec(item, 0..5), flags).prop_map(|(items, (indented, crlf, open_end, flow))| Layout {
        items,
        dash: if indented { 2 } else { 0 },
        crlf,
        open_end,
        flow,
    })
}

impl Item {
    fn pairs(&self, fields: [(&str, &str); 5]) -> Vec<String> {
        let pair = |&field: &usize| match (field, fields[field]) {
            (0, (key, _)) => format!("{key}: {}", NAMES[self.name]),
            (_, (key, value)) => format!("{key}: {value}"),
        };
        self.fields.iter().map(pair).collect()
    }
}

impl Layout {
    /// The lines below a key at `indent`; `fields` gives key and value of each.
    fn lines(&self, indent: usize, fields: [(&str, &str); 5]) -> String {
        let dash = " ".repeat(indent + self.dash);
        let mut lines = Vec::new();
        for item in &self.items {
            let pairs = item.pairs(fields);
            if item.noise.is_multiple_of(5) {
                lines.push(format!("{dash}# above {}", NAMES[item.name]));
            }
            if item.flow {
                lines.push(format!("{dash}- {{{}}}", pairs.join(", ")));
                continue;
            }
            for (at, pair) in pairs.iter().enumerate() {
                let lead = if at == 0 { "- " } else { "  " };
                let comment = if item.noise % 7 == 1 { "   # why" } else { "" };
                lines.push(format!("{dash}{lead}{pair}{comment}"));
                if at == 0 && item.noise % 11 == 2 {
                    lines.push(format!("{dash}  # inside\n"));
                }
            }
        }
        lines.join("\n") + "\n"
    }

    /// The whole list on one line.
    fn flow(&self, fields: [(&str, &str); 5]) -> String {
        let items =
            self.items.iter().map(|item| format!("{{ {} }}", item.pairs(fields).join(", ")));
        format!("[{}]", items.collect::<Vec<_>>().join(" , "))
    }

    fn list(&self, key: &str, indent: usize, fields: [(&str, &str); 5]) -> String {
        let pad = " ".repeat(indent);
        if self.flow || self.items.is_empty() {
            format!("{pad}{key}: {} # one line\n", self.flow(fields))
        } else {
            format!("{pad}{key}: # list\n{}", self.lines(indent, fields))
        }
    }

    fn finish(&self, mut text: String) -> String {
        if self.open_end {
            text.pop();
        }
        if self.crlf { text.replace('\n', "\r\n") } else { text }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn kustomize_images_are_what_was_wished(layout in layout(), last in any::<bool>(), wished in vec((0..NAMES.len(), any::<[bool; 3]>()), 1..4)) {
        let fields = [("name", ""), ("newName", "old/name"), ("newTag", "'1'"), ("digest", "sha256:aa"), ("note", "kept")];
        let images = layout.list("images", 0, fields);
        let other = "resources: # all\n- a.yaml\n";
        let text = layout.finish(if last { format!("{other}{images}") } else { format!("{images}{other}") });
        let entries: Vec<_> = wished.iter().map(|(name, has)| KustomizeImage {
            name: NAMES[*name].into(),
            new_name: has[0].then(|| "new/name".into()),
            new_tag: has[1].then(|| "1.20".into()),
            digest: has[2].then(|| Digest::new("sha256:bb")),
        }).collect();

        let mut expected = documents(&text)[0].clone();
        let list = expected["images"].as_array_mut().expect("the text has a list");
        for entry in &entries {
            let mut present = list.iter_mut().filter(|item| item["name"] == json!(&*entry.name)).peekable();
            if present.peek().is_none() {
                list.push(json!({ "name": &*entry.name }));
            }
            for item in list.iter_mut().filter(|item| item["name"] == json!(&*entry.name)) {
                set_or_drop(item, "newName", entry.new_name.as_deref());
                set_or_drop(item, "newTag", entry.new_tag.as_deref());
                set_or_drop(item, "digest", entry.digest.as_ref().map(Digest::as_str));
            }
        }
        let set = |text: &str| kustomization::set(text, &entries);
        let new = check(&text, set)?;
        prop_assert_eq!(&documents(&new)[0], &expected, "from {:?}\nto {:?}", text, new);
    }

    #[test]
    fn override_parameters_are_replaced_added_and_sorted(layout in layout(), name in 0..NAMES.len(), spec in 0..NAMES.len()) {
        let text = layout.finish(format!("helm:\n{}  releaseName: blue\n", layout.list("parameters", 2, PARAMETER)));
        let wishes = [helm(name, "1.20"), helm(spec, "v2")];
        let mut expected = documents(&text)[0].clone();
        let list = expected["helm"]["parameters"].as_array_mut().expect("the text has a list");
        let before = list.clone();
        model_parameters(list, &wishes, "forcestring", |_| true);
        if texts(&before) != texts(list) {
            list.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
        }
        let new = check(&text, |text| apply(FileKind::HelmOverride, Some(text), &wishes))?;
        prop_assert_eq!(&documents(&new)[0], &expected, "from {:?}\nto {:?}", text, new);
        prop_assert_eq!(sorted(comments(&new)), sorted(comments(&text)), "from {:?}\nto {:?}", text, new);
    }

    #[test]
    fn spec_parameters_are_replaced_and_appended(layout in layout(), name in 0..NAMES.len(), spec in 0..NAMES.len()) {
        let list = layout.list("parameters", 6, PARAMETER);
        let text = layout.finish(format!("kind: Secret\n---\nspec:\n  source:\n    # ours\n    helm:\n{list}"));
        // Helm would read the first value as a number; the second is text to it in any case.
        let wishes = [helm(name, "16"), helm(spec, "v2")];
        let mut expected = documents(&text);
        let list = expected[1]["spec"]["source"]["helm"]["parameters"].as_array_mut();
        model_parameters(list.expect("the text has a list"), &wishes, "forceString", |value| value == "16");
        let new = check(&text, |text| apply_in_spec(text, 1, SourceRef::Single, &wishes))?;
        prop_assert_eq!(&documents(&new), &expected, "from {:?}\nto {:?}", text, new);
        prop_assert_eq!(comments(&new), comments(&text), "from {:?}\nto {:?}", text, new);
    }
}

/// `forceString` may stand in either home; in override files it counts as the flag.
const PARAMETER: [(&str, &str); 5] =
    [("name", ""), ("value", "'1'"), ("forcestring", "false"), ("note", "kept"), ("x", "[1, 2]")];

fn helm(name: usize, tag: &str) -> Wish {
    let keys = HelmKeys::NameAndTag { name: None, tag: Some(NAMES[name].into()) };
    let image = format!("acme/any:{tag}");
    Wish { keys: Keys::Helm(keys), image: image.parse().unwrap() }
}

/// New entries carry the flag; of those that are there, the ones whose value `needs_flag`.
fn model_parameters(
    list: &mut Vec<Value>,
    wishes: &[Wish],
    flag: &str,
    needs_flag: impl Fn(&str) -> bool,
) {
    for (at, wish) in wishes.iter().enumerate() {
        // Of two wishes for one name the later counts.
        if wishes[at + 1..].iter().any(|later| later.keys == wish.keys) {
            continue;
        }
        let Keys::Helm(HelmKeys::NameAndTag { tag: Some(name), .. }) = &wish.keys else { continue };
        let name: &str = name;
        let value = wish.image.tag.as_ref().expect("each wish has a tag").as_tag_value();
        if !list.iter().any(|item| item["name"] == json!(name)) {
            list.push(json!({ "name": name, flag: true }));
        }
        for item in list.iter_mut().filter(|item| item["name"] == json!(name)) {
            item["value"] = json!(value);
            if needs_flag(&value) {
                item[flag] = json!(true);
            }
        }
    }
}

/// Names and values, whose change makes an override file be sorted.
fn texts(list: &[Value]) -> Vec<(Value, Value)> {
    list.iter().map(|item| (item["name"].clone(), item["value"].clone())).collect()
}

fn set_or_drop(item: &mut Value, key: &str, value: Option<&str>) {
    let fields: &mut Map<_, _> = item.as_object_mut().expect("elements are mappings");
    match value {
        Some(value) => drop(fields.insert(key.to_owned(), json!(value))),
        None => drop(fields.remove(key)),
    }
}

/// The new text, or the old one; asked again, nothing changes.
fn check(
    text: &str,
    edit: impl Fn(&str) -> Result<Edited, aiu_core::edit::EditError>,
) -> Result<String, TestCaseError> {
    let new = match edit(text) {
        Ok(Edited::Changed(new)) => new,
        Ok(Edited::Unchanged) => text.to_owned(),
        Err(error) => return Err(TestCaseError::fail(format!("{error} in {text:?}"))),
    };
    prop_assert_eq!(edit(&new), Ok(Edited::Unchanged), "again: {:?}", new);
    Ok(new)
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}
