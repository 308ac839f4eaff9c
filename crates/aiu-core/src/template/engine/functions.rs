//! The functions that templates can call (Go's predefined ones).

use std::cmp::Ordering;

use super::Fault;
use super::escape;
use super::print;
use super::printf;
use super::tree::Function;
use super::value::Value;

/// Refuses a call with too few or too many arguments.
pub(super) fn check_count(function: Function, count: usize) -> Result<(), Fault> {
    let (least, most) = match function {
        Function::Len | Function::Not => (1, 1),
        Function::Ne | Function::Lt | Function::Le | Function::Gt | Function::Ge => (2, 2),
        Function::Print
        | Function::Println
        | Function::Html
        | Function::Js
        | Function::Urlquery => (0, usize::MAX),
        _ => (1, usize::MAX),
    };
    let name = function.name();
    match count {
        count if count < least && most == usize::MAX => Err(Fault::new(format!(
            "wrong number of args for {name}: want at least {least} got {count}"
        ))),
        count if count < least || count > most => {
            Err(Fault::new(format!("wrong number of args for {name}: want {least} got {count}")))
        }
        _ => Ok(()),
    }
}

/// Whether `and` or `or` is decided by an argument, so that the others do not matter.
pub(super) fn is_decided_by(function: Function, argument: &Value) -> bool {
    match function {
        Function::And => !argument.is_true(),
        Function::Or => argument.is_true(),
        _ => false,
    }
}

/// Whether a call costs as much as its arguments are large.
pub(super) fn looks_at_all(function: Function) -> bool {
    !matches!(
        function,
        Function::And
            | Function::Call
            | Function::Index
            | Function::Len
            | Function::Not
            | Function::Or
            | Function::Slice
    )
}

/// Calls a function whose arguments were counted.
pub(super) fn call(function: Function, arguments: &[Value]) -> Result<Value, Fault> {
    let [first, rest @ ..] = arguments else {
        return Ok(Value::text(if function == Function::Println { "\n" } else { "" }));
    };
    let truth = match function {
        Function::And | Function::Or => return Ok(arguments[rest.len()].clone()),
        Function::Call => {
            return Err(Fault::new(format!("non-function of type {}", first.type_name())));
        }
        Function::Html => {
            return Ok(Value::text(&escape::html(&print::joined_for_escape(arguments))));
        }
        Function::Js => return Ok(Value::text(&escape::js(&print::joined_for_escape(arguments)))),
        Function::Urlquery => {
            return Ok(Value::text(&escape::url_query(&print::joined_for_escape(arguments))));
        }
        Function::Index => return index(first, rest),
        Function::Len => return length(first),
        Function::Print => return Ok(Value::text(&print::joined(arguments))),
        Function::Println => return Ok(Value::text(&print::line(arguments))),
        Function::Printf => return formatted(first, rest),
        Function::Slice => return slice(first, rest),
        Function::Not => !first.is_true(),
        Function::Eq => equals_any(first, rest)?,
        Function::Ne => !equals_any(first, rest)?,
        Function::Lt => order(first, &rest[0])?.is_lt(),
        Function::Le => order(first, &rest[0])?.is_le(),
        Function::Gt => order(first, &rest[0])?.is_gt(),
        Function::Ge => order(first, &rest[0])?.is_ge(),
    };
    Ok(Value::Bool(truth))
}

fn formatted(format: &Value, arguments: &[Value]) -> Result<Value, Fault> {
    match format {
        Value::Text(format) => match printf::formatted(format, arguments) {
            Some(text) => Ok(Value::text(&text)),
            None => Err(Fault::too_much()),
        },
        other => Err(Fault::new(format!(
            "wrong type for value; expected string; got {}",
            other.type_name()
        ))),
    }
}

/// The kinds that can be compared; only values of one kind can be compared with each other.
#[derive(Clone, Copy, PartialEq)]
enum Comparable<'v> {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(&'v str),
}

fn comparable(value: &Value) -> Option<Comparable<'_>> {
    match value {
        Value::Bool(value) => Some(Comparable::Bool(*value)),
        Value::Integer(value) => Some(Comparable::Integer(*value)),
        Value::Byte(value) => Some(Comparable::Integer((*value).into())),
        Value::Float(value) => Some(Comparable::Float(*value)),
        Value::Text(text) => Some(Comparable::Text(text)),
        _ => None,
    }
}

fn equals_any(value: &Value, others: &[Value]) -> Result<bool, Fault> {
    if others.is_empty() {
        return Err(Fault::new("missing argument for comparison"));
    }
    for other in others {
        if equals(value, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equals(left: &Value, right: &Value) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Missing, Value::Missing) => return Ok(true),
        (Value::Missing, _) | (_, Value::Missing) => return Ok(false),
        _ => {}
    }
    match (comparable(left), comparable(right)) {
        (Some(left), Some(right))
            if std::mem::discriminant(&left) == std::mem::discriminant(&right) =>
        {
            Ok(left == right)
        }
        (None, None) => Err(Fault::new(format!(
            "non-comparable types {} and {}",
            left.type_name(),
            right.type_name()
        ))),
        _ => Err(incompatible(left, right)),
    }
}

fn order(left: &Value, right: &Value) -> Result<Ordering, Fault> {
    match (comparable(left), comparable(right)) {
        (Some(Comparable::Integer(left)), Some(Comparable::Integer(right))) => Ok(left.cmp(&right)),
        (Some(Comparable::Float(left)), Some(Comparable::Float(right))) => {
            Ok(left.total_cmp(&right))
        }
        (Some(Comparable::Text(left)), Some(Comparable::Text(right))) => Ok(left.cmp(right)),
        (Some(Comparable::Bool(_)) | None, _) => {
            Err(Fault::new(format!("{} has no order", left.type_name())))
        }
        _ => Err(incompatible(left, right)),
    }
}

fn incompatible(left: &Value, right: &Value) -> Fault {
    Fault::new(format!(
        "incompatible types for comparison: {} and {}",
        left.type_name(),
        right.type_name()
    ))
}

fn length(value: &Value) -> Result<Value, Fault> {
    let length = match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.len(),
        other => return Err(Fault::new(format!("len of type {}", other.type_name()))),
    };
    Ok(count(length))
}

fn count(length: usize) -> Value {
    Value::Integer(i64::try_from(length).unwrap_or(i64::MAX))
}

/// `index x i j`: `x[i][j]`. A label that is not there is an empty text.
fn index(value: &Value, keys: &[Value]) -> Result<Value, Fault> {
    let mut value = value.clone();
    if matches!(value, Value::Missing) {
        return Err(Fault::new("index of untyped nil"));
    }
    for key in keys {
        value = match (&value, key) {
            (Value::List(items), key) => items[position(key, items.len(), false)?].clone(),
            (Value::Text(text), key) => {
                Value::Byte(text.as_bytes()[position(key, text.len(), false)?])
            }
            (Value::Map(entries), Value::Text(key)) => {
                Value::text(entries.get(&**key).map_or("", String::as_str))
            }
            (Value::Map(_), key) => {
                return Err(Fault::new(format!(
                    "value has type {}; should be string",
                    key.type_name()
                )));
            }
            (other, _) => {
                return Err(Fault::new(format!("can't index item of type {}", other.type_name())));
            }
        };
    }
    Ok(value)
}

/// `slice x i j`: from byte or item `i` up to `j`. A third bound, a capacity, changes nothing.
fn slice(value: &Value, bounds: &[Value]) -> Result<Value, Fault> {
    let (length, most) = match value {
        Value::Text(text) => (text.len(), 2),
        Value::List(items) => (items.len(), 3),
        Value::Missing => return Err(Fault::new("slice of untyped nil")),
        other => return Err(Fault::new(format!("can't slice item of type {}", other.type_name()))),
    };
    if bounds.len() > most {
        return Err(Fault::new(format!("too many slice indexes: {}", bounds.len())));
    }
    let mut range = [0, length, length];
    for (at, bound) in bounds.iter().enumerate() {
        range[at] = position(bound, length, true)?;
    }
    let [from, to, capacity] = range;
    if from > to || to > capacity {
        return Err(Fault::new(format!("invalid slice index: {from} > {to}")));
    }
    match value {
        Value::Text(text) => match text.get(from..to) {
            Some(part) => Ok(Value::text(part)),
            None => Err(Fault::new(format!("{from}:{to} cuts a character of {text:?}"))),
        },
        Value::List(items) => Ok(Value::list(items[from..to].iter().cloned())),
        _ => Ok(value.clone()),
    }
}

/// A position in something of that length; its end only for slices.
fn position(key: &Value, length: usize, or_end: bool) -> Result<usize, Fault> {
    let Some(wanted) = key.as_integer() else {
        return Err(Fault::new(format!("cannot index with type {}", key.type_name())));
    };
    match usize::try_from(wanted) {
        Ok(at) if at < length || (or_end && at == length) => Ok(at),
        _ => Err(Fault::new(format!("index out of range: {wanted}"))),
    }
}
