//! What a template works on.

use std::collections::BTreeMap;
use std::rc::Rc;

/// A value. Copies share their contents.
#[derive(Clone, Debug)]
pub(in crate::template) enum Value {
    /// `nil`, or what is not there: a label that an image does not have.
    Missing,
    Bool(bool),
    Integer(i64),
    /// A byte of a text, which is a number.
    Byte(u8),
    Float(f64),
    Text(Rc<str>),
    List(Rc<[Value]>),
    /// Text by text, in order of the keys.
    Map(Rc<BTreeMap<String, String>>),
    Record(Rc<Record>),
}

/// A value with named fields. Asking for another field is a mistake of the template.
#[derive(Debug)]
pub(in crate::template) struct Record {
    /// What messages call it.
    pub(in crate::template) name: &'static str,
    /// In the order in which they are printed.
    pub(in crate::template) fields: Vec<(&'static str, Value)>,
}

impl Value {
    pub(in crate::template) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(in crate::template) fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Self::List(items.into_iter().collect())
    }

    pub(in crate::template) fn map(entries: &BTreeMap<String, String>) -> Self {
        Self::Map(Rc::new(entries.clone()))
    }

    pub(in crate::template) fn record(
        name: &'static str,
        fields: Vec<(&'static str, Value)>,
    ) -> Self {
        Self::Record(Rc::new(Record { name, fields }))
    }

    /// What `if` makes of it.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Missing => false,
            Self::Bool(value) => *value,
            Self::Integer(value) => *value != 0,
            Self::Byte(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Map(entries) => !entries.is_empty(),
            Self::Record(_) => true,
        }
    }

    /// The name of its type in Go.
    pub(super) fn type_name(&self) -> String {
        match self {
            Self::Missing => "<nil>".to_owned(),
            Self::Bool(_) => "bool".to_owned(),
            Self::Integer(_) => "int".to_owned(),
            Self::Byte(_) => "uint8".to_owned(),
            Self::Float(_) => "float64".to_owned(),
            Self::Text(_) => "string".to_owned(),
            Self::List(items) => {
                format!("[]{}", items.first().map_or_else(|| "any".to_owned(), Self::type_name))
            }
            Self::Map(_) => "map[string]string".to_owned(),
            Self::Record(record) => record.name.to_owned(),
        }
    }

    /// An integer of either kind.
    pub(super) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Byte(value) => Some((*value).into()),
            _ => None,
        }
    }

    /// How much work it is to look at all of it, in about bytes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(|item| 1 + item.weight()).sum(),
            Self::Map(entries) => entries.iter().map(|(key, value)| key.len() + value.len()).sum(),
            Self::Record(record) => record.fields.iter().map(|(_, value)| 1 + value.weight()).sum(),
            _ => 1,
        }
    }
}
