//! Pipelines: declarations, commands and operands.

use super::{Kind, Parser};
use crate::template::engine::Fault;
use crate::template::engine::literal;
use crate::template::engine::tree::{Command, Function, Operand, Pipeline};

impl Parser<'_> {
    /// Declarations and commands up to `end`, which is read.
    pub(super) fn pipeline(&mut self, context: &str, end: Kind<'_>) -> Result<Pipeline, Fault> {
        self.spaces();
        let line = self.tokens.get(self.at).map_or(1, |token| token.line);
        let (variables, assigns) = self.declarations(context)?;
        let mut commands: Vec<Command> = Vec::new();
        loop {
            self.spaces();
            if self.eat(end) {
                break;
            }
            let command = self.command(context)?;
            if !commands.is_empty() && !is_executable(&command.head) {
                let stage = commands.len() + 1;
                return Err(Fault::new(format!(
                    "non executable command in pipeline stage {stage}"
                )));
            }
            commands.push(command);
        }
        if commands.is_empty() {
            return Err(Fault::new(format!("missing value for {context}")));
        }
        Ok(Pipeline { line, variables, assigns, commands })
    }

    /// `$x :=`, `$x =`, and in a range also `$i, $x :=`.
    fn declarations(&mut self, context: &str) -> Result<(Vec<String>, bool), Fault> {
        let mut names = Vec::new();
        loop {
            let start = self.at;
            self.spaces();
            let Some(Kind::Variable(name)) = self.peek() else { break };
            self.at += 1;
            self.spaces();
            match self.peek() {
                Some(sign @ (Kind::Assign | Kind::Declare)) => {
                    self.at += 1;
                    names.push(name.to_owned());
                    self.variables.extend(names.iter().cloned());
                    return Ok((names, sign == Kind::Assign));
                }
                Some(Kind::Other(',')) if context == "range" && names.is_empty() => {
                    self.at += 1;
                    names.push(name.to_owned());
                }
                Some(Kind::Other(',')) => {
                    return Err(Fault::new(format!("too many declarations in {context}")));
                }
                _ => {
                    self.at = start;
                    break;
                }
            }
        }
        self.spaces();
        if names.is_empty() {
            return Ok((names, false));
        }
        // `range $i, $x` declares `$i` alone, over `$x`.
        match self.peek() {
            Some(Kind::Variable(_) | Kind::Close | Kind::Leave) => {
                self.variables.extend(names.iter().cloned());
                Ok((names, false))
            }
            _ => Err(Fault::new("range can only initialize variables")),
        }
    }

    /// Operands up to a `|`, which is read, or to the end of the pipeline.
    fn command(&mut self, context: &str) -> Result<Command, Fault> {
        let Some(head) = self.operand()? else { return self.unexpected(context) };
        let mut arguments = Vec::new();
        loop {
            match self.peek() {
                Some(Kind::Space) => {
                    self.spaces();
                    arguments.extend(self.operand()?);
                }
                Some(Kind::Close | Kind::Leave) => break,
                Some(Kind::Pipe) => {
                    self.at += 1;
                    break;
                }
                _ => return self.unexpected("operand"),
            }
        }
        Ok(Command { head, arguments })
    }

    /// A term and the fields of it; `None` if no term comes next.
    fn operand(&mut self) -> Result<Option<Operand>, Fault> {
        let Some(term) = self.term()? else { return Ok(None) };
        let mut fields = Vec::new();
        while let Some(Kind::Field(name)) = self.peek() {
            self.at += 1;
            fields.push(name.to_owned());
        }
        if fields.is_empty() {
            return Ok(Some(term));
        }
        match term {
            Operand::Fields(mut first) => {
                first.extend(fields);
                Ok(Some(Operand::Fields(first)))
            }
            Operand::Variable(name, _) => Ok(Some(Operand::Variable(name, fields))),
            Operand::Function(_) | Operand::Parenthesized(_) => {
                Ok(Some(Operand::Chain(Box::new(term), fields)))
            }
            _ => Err(Fault::new("unexpected . after term")),
        }
    }

    fn term(&mut self) -> Result<Option<Operand>, Fault> {
        let Some(next) = self.peek() else { return Ok(None) };
        self.at += 1;
        let term = match next {
            Kind::Dot => Operand::Dot,
            Kind::Field(name) => Operand::Fields(vec![name.to_owned()]),
            Kind::Variable(name) => {
                if !self.variables.iter().any(|known| known == name) {
                    return Err(Fault::new(format!("undefined variable {name:?}")));
                }
                Operand::Variable(name.to_owned(), Vec::new())
            }
            Kind::Word("nil") => Operand::Nil,
            Kind::Word("true") => Operand::Bool(true),
            Kind::Word("false") => Operand::Bool(false),
            Kind::Word(word) if !is_keyword(word) => match Function::named(word) {
                Some(function) => Operand::Function(function),
                None => return Err(Fault::new(format!("function {word:?} not defined"))),
            },
            Kind::Number(text) => literal::number(text)?,
            Kind::Character(quoted) => literal::character(quoted)?,
            Kind::Quoted(quoted) => Operand::Text(literal::unquoted(quoted)?),
            Kind::Raw(text) => Operand::Text(text.replace('\r', "")),
            Kind::Enter => {
                let inner =
                    self.nested(|parser| parser.pipeline("parenthesized pipeline", Kind::Leave))?;
                Operand::Parenthesized(Box::new(inner))
            }
            _ => {
                self.at -= 1;
                return Ok(None);
            }
        };
        Ok(Some(term))
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "block"
            | "break"
            | "continue"
            | "define"
            | "else"
            | "end"
            | "if"
            | "range"
            | "template"
            | "with"
    )
}

/// Whether a command that is given a value can begin with this.
fn is_executable(head: &Operand) -> bool {
    !matches!(
        head,
        Operand::Dot
            | Operand::Nil
            | Operand::Bool(_)
            | Operand::Integer(_)
            | Operand::Float(_)
            | Operand::Text(_)
    )
}
