//! The items of a registries file, as written (spec 11 §1.2).

use super::document::{Mapping, Node, Value, read};
use super::duration::parse_nanoseconds;
use super::{Dates, InvalidRegistries, Problem};
use crate::policy::ListOrder;

/// One item of the list `registries`. Absent and empty texts are both `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// `name`: for display.
    pub name: Option<String>,
    /// `api_url`: base of the API.
    pub api_url: Option<String>,
    /// `prefix`: what names of its images begin with.
    pub prefix: Option<String>,
    /// `ping`: accepted, without effect.
    pub ping: Option<bool>,
    /// `credentials`: a credential source.
    pub credentials: Option<String>,
    /// `credsexpire`, in nanoseconds; zero and below mean never.
    pub credentials_expire: i64,
    /// `tagsortmode`, in any case of letters.
    pub tag_sort_mode: Option<String>,
    /// `dates`: which dates count.
    pub dates: Option<String>,
    /// `insecure`: do not check certificates.
    pub insecure: bool,
    /// `ca_file`: path of further certificates.
    pub ca_file: Option<String>,
    /// `ca_data`: further certificates.
    pub ca_data: Option<String>,
    /// `defaultns`: namespace of single-component names.
    pub default_namespace: Option<String>,
    /// `limit`: requests per second.
    pub limit: Option<i64>,
    /// `default`: images without registry belong here.
    pub default: bool,
}

impl Entry {
    /// Reads the first document of `text`, strictly: unknown and repeated keys are errors,
    /// and so are values of another type. All errors are found, not the first alone.
    pub fn read_all(text: &str) -> Result<Vec<Self>, InvalidRegistries> {
        let mut problems = Vec::new();
        let document = match read(text) {
            Ok(document) => document,
            Err(cause) => {
                return Err(InvalidRegistries { problems: vec![Problem::Unreadable(cause)] });
            }
        };
        let entries = read_document(document.as_ref(), &mut problems);
        if problems.is_empty() { Ok(entries) } else { Err(InvalidRegistries { problems }) }
    }

    /// How the registry sorts, if it does; or the word that means nothing (spec 11 RCF-020 to
    /// RCF-023).
    pub(super) fn sort_order(&self) -> Result<Option<ListOrder>, &str> {
        let Some(mode) = &self.tag_sort_mode else { return Ok(None) };
        match mode.to_lowercase().as_str() {
            "latest-first" => Ok(Some(ListOrder::LatestFirst)),
            "latest-last" => Ok(Some(ListOrder::LatestLast)),
            "none" => Ok(None),
            _ => Err(mode),
        }
    }

    /// Which dates count, or the word that means nothing (spec 40 B13).
    pub(super) fn which_dates(&self) -> Result<Dates, &str> {
        match self.dates.as_deref() {
            None | Some("built") => Ok(Dates::Built),
            Some("pushed") => Ok(Dates::Pushed),
            Some(word) => Err(word),
        }
    }

    fn of(mapping: &Mapping, problems: &mut Vec<Problem>) -> Self {
        let mut entry = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for (key, line, node) in mapping {
            if seen.contains(&key.as_str()) {
                problems.push(Problem::DuplicateKey { line: *line, key: key.clone() });
                continue;
            }
            seen.push(key);
            if let Err(problem) = entry.set(key, *line, node) {
                problems.push(problem);
            }
        }
        entry
    }

    fn set(&mut self, key: &str, line: usize, node: &Node) -> Result<(), Problem> {
        match key {
            "name" => self.name = text(node)?,
            "api_url" => self.api_url = text(node)?,
            "prefix" => self.prefix = text(node)?,
            "ping" => self.ping = Some(boolean(node)?),
            "credentials" => self.credentials = text(node)?,
            "credsexpire" => self.credentials_expire = nanoseconds(node)?,
            "tagsortmode" => self.tag_sort_mode = text(node)?,
            "dates" => self.dates = text(node)?,
            "insecure" => self.insecure = boolean(node)?,
            "ca_file" => self.ca_file = text(node)?,
            "ca_data" => self.ca_data = text(node)?,
            "defaultns" => self.default_namespace = text(node)?,
            "limit" => self.limit = integer(node)?,
            "default" => self.default = boolean(node)?,
            _ => return Err(Problem::UnknownKey { line, key: key.to_owned() }),
        }
        Ok(())
    }
}

fn read_document(document: Option<&Node>, problems: &mut Vec<Problem>) -> Vec<Entry> {
    let Some(document) = document.filter(|node| !node.is_null()) else { return Vec::new() };
    let Value::Mapping(top) = &document.value else {
        problems.push(wanted(document, "a mapping with the key 'registries'"));
        return Vec::new();
    };
    let mut entries = Vec::new();
    let mut found = false;
    for (key, line, node) in top {
        match (key.as_str(), &node.value) {
            ("registries", _) if found => {
                problems.push(Problem::DuplicateKey { line: *line, key: key.clone() });
            }
            ("registries", Value::List(items)) => {
                found = true;
                entries = items.iter().map(|item| read_item(item, problems)).collect();
            }
            ("registries", _) if node.is_null() => found = true,
            ("registries", _) => problems.push(wanted(node, "a list of registries")),
            _ => problems.push(Problem::UnknownKey { line: *line, key: key.clone() }),
        }
    }
    entries
}

fn read_item(item: &Node, problems: &mut Vec<Problem>) -> Entry {
    match &item.value {
        Value::Mapping(mapping) => Entry::of(mapping, problems),
        _ if item.is_null() => Entry::default(),
        _ => {
            problems.push(wanted(item, "a mapping that describes a registry"));
            Entry::default()
        }
    }
}

fn wanted(node: &Node, what: &str) -> Problem {
    Problem::Shape { line: node.line, wanted: what.to_owned() }
}

/// Any scalar is a text, numbers included.
fn text(node: &Node) -> Result<Option<String>, Problem> {
    match &node.value {
        _ if node.is_null() => Ok(None),
        Value::Scalar { text, .. } => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        _ => Err(wanted(node, "a text")),
    }
}

/// YAML 1.1's words for truth, unquoted: upstream's own examples say `insecure: yes`.
fn boolean(node: &Node) -> Result<bool, Problem> {
    match node.plain() {
        _ if node.is_null() => Ok(false),
        Some("true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y") => {
            Ok(true)
        }
        Some(
            "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n" | "N",
        ) => Ok(false),
        _ => Err(wanted(node, "true or false")),
    }
}

/// An unquoted number; digits behind the point are cut off, as the reference does.
fn integer(node: &Node) -> Result<Option<i64>, Problem> {
    if node.is_null() {
        return Ok(None);
    }
    let number = node.plain().map(|text| text.replace('_', ""));
    let number = number.as_deref().and_then(|text| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = fraction.bytes().all(|b| b.is_ascii_digit());
        whole.parse().ok().filter(|_| digits)
    });
    number.map(Some).ok_or_else(|| wanted(node, "a whole number"))
}

/// A duration such as `1h30m`, or an unquoted whole number of nanoseconds.
fn nanoseconds(node: &Node) -> Result<i64, Problem> {
    if node.is_null() {
        return Ok(0);
    }
    let number = node.plain().and_then(|text| text.parse().ok());
    let Value::Scalar { text, .. } = &node.value else {
        return Err(wanted(node, "a duration such as 5h"));
    };
    number
        .or_else(|| parse_nanoseconds(text))
        .ok_or_else(|| wanted(node, "a duration such as 5h or 1h30m"))
}
