//! A parsed template.

use std::collections::BTreeMap;

/// The templates of one text: the main one and those that it defines.
#[derive(Debug)]
pub(super) struct Trees {
    pub(super) main: List,
    pub(super) defined: BTreeMap<String, List>,
}

/// What is executed one after the other.
pub(super) type List = Vec<Node>;

#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    /// `{{pipeline}}`
    Action(Pipeline),
    If(Branch),
    With(Branch),
    Range(Branch),
    /// `{{template "name" pipeline}}`
    Template {
        line: usize,
        name: String,
        argument: Option<Pipeline>,
    },
    Break,
    Continue,
}

/// A control structure: `else` is empty where none was written.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) pipeline: Pipeline,
    pub(super) body: List,
    pub(super) otherwise: List,
}

/// Commands whose results are passed on, and the variables that take the last one.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) line: usize,
    pub(super) variables: Vec<String>,
    /// `=` instead of `:=`.
    pub(super) assigns: bool,
    /// Never empty.
    pub(super) commands: Vec<Command>,
}

/// A function or value, and its arguments.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) head: Operand,
    pub(super) arguments: Vec<Operand>,
}

#[derive(Debug)]
pub(super) enum Operand {
    Dot,
    Nil,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Function(Function),
    /// `.A.B`; never empty.
    Fields(Vec<String>),
    /// `$x.A.B`
    Variable(String, Vec<String>),
    Parenthesized(Box<Pipeline>),
    /// `(pipeline).A.B`, `function.A`
    Chain(Box<Operand>, Vec<String>),
}

/// The functions that templates have (Go's predefined ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Call,
    Eq,
    Ge,
    Gt,
    Html,
    Index,
    Js,
    Le,
    Len,
    Lt,
    Ne,
    Not,
    Or,
    Print,
    Printf,
    Println,
    Slice,
    Urlquery,
}

impl Function {
    const ALL: [(&str, Self); 19] = [
        ("and", Self::And),
        ("call", Self::Call),
        ("eq", Self::Eq),
        ("ge", Self::Ge),
        ("gt", Self::Gt),
        ("html", Self::Html),
        ("index", Self::Index),
        ("js", Self::Js),
        ("le", Self::Le),
        ("len", Self::Len),
        ("lt", Self::Lt),
        ("ne", Self::Ne),
        ("not", Self::Not),
        ("or", Self::Or),
        ("print", Self::Print),
        ("printf", Self::Printf),
        ("println", Self::Println),
        ("slice", Self::Slice),
        ("urlquery", Self::Urlquery),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, function)| function)
    }

    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}
