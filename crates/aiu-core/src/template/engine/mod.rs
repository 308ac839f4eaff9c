//! Go's `text/template`, as far as templates of text need it.
//!
//! Everything that the language has is here, with the predefined functions. Left out are
//! what our data cannot hold (methods, functions as values, complex numbers, hexadecimal
//! fractions) and texts that are not UTF-8: where Go would cut a character in two, this
//! refuses.
//!
//! A template may come from anyone who can annotate an Application. It has no way to reach
//! anything but its data, and a budget bounds the time and memory that it takes.

mod escape;
mod functions;
mod lexer;
mod literal;
mod parser;
mod print;
mod printf;
mod run;
#[cfg(test)]
mod tests;
mod tree;
mod value;
mod verb;

pub(super) use value::Value;

use tree::Trees;

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct InvalidTemplate {
    /// 1-based line.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

/// Why a template could not be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct RenderError {
    /// 1-based line.
    pub line: usize,
    /// What went wrong there.
    pub problem: String,
}

impl InvalidTemplate {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        "TemplateInvalid"
    }
}

impl RenderError {
    /// Stable word for conditions, events and metrics (spec 00 §6).
    pub fn reason(&self) -> &'static str {
        "TemplateFailed"
    }
}

/// A template that has been read.
#[derive(Debug)]
pub(super) struct Engine {
    trees: Trees,
}

impl Engine {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        parser::parse(text).map(|trees| Self { trees })
    }

    pub(super) fn render(&self, data: &Value) -> Result<String, RenderError> {
        run::render(&self.trees, data)
    }
}

/// A problem whose line is not known yet.
#[derive(Debug)]
struct Fault {
    problem: String,
}

impl Fault {
    fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into() }
    }

    fn too_much() -> Self {
        Self::new("the template runs too long or writes too much")
    }

    fn within(self, context: &str) -> Self {
        Self { problem: format!("{context}: {}", self.problem) }
    }

    fn at(self, line: usize) -> InvalidTemplate {
        InvalidTemplate { line, problem: self.problem }
    }

    fn while_rendering(self, line: usize) -> RenderError {
        RenderError { line, problem: self.problem }
    }
}
