//! From tokens to a tree: text, actions and control structures.

mod pipeline;

use std::collections::BTreeMap;

use super::lexer::{self, Kind, Token};
use super::literal;
use super::tree::{Branch, List, Node, Pipeline, Trees};
use super::{Fault, InvalidTemplate};

/// How deep control structures and parentheses may nest. Reading and executing recurse, and
/// no person writes templates that deep.
const MAX_DEPTH: usize = 100;

/// Reads a whole template.
pub(super) fn parse(text: &str) -> Result<Trees, InvalidTemplate> {
    let tokens = lexer::tokens(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        depth: 0,
        loops: 0,
        variables: vec!["$".to_owned()],
        defined: BTreeMap::new(),
    };
    match parser.template() {
        Ok(main) => Ok(Trees { main, defined: parser.defined }),
        Err(fault) => Err(fault.at(parser.line())),
    }
}

struct Parser<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    /// Control structures and parentheses around.
    depth: usize,
    /// `range` bodies around, in which `break` has a meaning.
    loops: usize,
    /// Variables in scope.
    variables: Vec<String>,
    defined: BTreeMap<String, List>,
}

/// What ended a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    OutOfText,
    End,
    Else,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<Kind<'t>> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn next(&mut self) -> Option<Kind<'t>> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// The line of the token that was read last.
    fn line(&self) -> usize {
        self.tokens.get(self.at.saturating_sub(1)).map_or(1, |token| token.line)
    }

    fn spaces(&mut self) {
        while self.peek() == Some(Kind::Space) {
            self.at += 1;
        }
    }

    fn eat(&mut self, wanted: Kind<'_>) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Reads `word` behind spaces, if it comes next.
    fn eat_word(&mut self, word: &str) -> bool {
        let start = self.at;
        self.spaces();
        let found = self.eat(Kind::Word(word));
        if !found {
            self.at = start;
        }
        found
    }

    fn unexpected<T>(&mut self, context: &str) -> Result<T, Fault> {
        let found = match self.tokens.get(self.at) {
            None => "end of template".to_owned(),
            Some(Token { kind: Kind::Text(_), .. }) => "text".to_owned(),
            Some(token) => format!("{:?}", token.text),
        };
        // So that the line is right.
        self.next();
        Err(Fault::new(format!("unexpected {found} in {context}")))
    }

    /// One level deeper for as long as `read` runs.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::new(format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn template(&mut self) -> Result<List, Fault> {
        let mut main = List::new();
        while self.peek().is_some() {
            if self.define()? {
                continue;
            }
            match self.item(&mut main)? {
                None => {}
                Some(Stop::Else) => return Err(Fault::new("unexpected {{else}}")),
                Some(_) => return Err(Fault::new("unexpected {{end}}")),
            }
        }
        Ok(main)
    }

    /// `{{define "name"}}…{{end}}`, which stands outside of all others.
    fn define(&mut self) -> Result<bool, Fault> {
        let start = self.at;
        if !(self.eat(Kind::Open) && self.eat_word("define")) {
            self.at = start;
            return Ok(false);
        }
        let name = self.name_of_template("define clause")?;
        self.spaces();
        if !self.eat(Kind::Close) {
            return self.unexpected("define clause");
        }
        self.definition(name, "define clause")?;
        Ok(true)
    }

    /// The body of a template with a name, up to its `{{end}}`.
    fn definition(&mut self, name: String, context: &str) -> Result<(), Fault> {
        let outer = std::mem::replace(&mut self.variables, vec!["$".to_owned()]);
        let outer_loops = std::mem::take(&mut self.loops);
        let body = self.nested(Self::list);
        self.variables = outer;
        self.loops = outer_loops;
        let (body, end) = body?;
        if end != Stop::End {
            return Err(Fault::new(format!("unexpected {{{{else}}}} in {context}")));
        }
        let is_blank = |list: &List| {
            list.iter().all(|node| matches!(node, Node::Text(text) if text.trim().is_empty()))
        };
        match self.defined.get(&name) {
            Some(earlier) if !is_blank(earlier) => {
                if !is_blank(&body) {
                    return Err(Fault::new(format!("multiple definition of template {name:?}")));
                }
            }
            _ => {
                self.defined.insert(name, body);
            }
        }
        Ok(())
    }

    fn name_of_template(&mut self, context: &str) -> Result<String, Fault> {
        self.spaces();
        match self.peek() {
            Some(Kind::Quoted(quoted)) => {
                self.at += 1;
                literal::unquoted(quoted)
            }
            Some(Kind::Raw(text)) => {
                self.at += 1;
                Ok(text.to_owned())
            }
            _ => self.unexpected(context),
        }
    }

    /// Text and actions up to `{{end}}` or `{{else}}`, which is read: past `{{end}}`, and
    /// up to what follows the word `else`.
    fn list(&mut self) -> Result<(List, Stop), Fault> {
        let mut list = List::new();
        loop {
            match self.item(&mut list)? {
                None => {}
                Some(Stop::OutOfText) => return Err(Fault::new("unexpected EOF")),
                Some(end) => return Ok((list, end)),
            }
        }
    }

    /// One text or action.
    fn item(&mut self, list: &mut List) -> Result<Option<Stop>, Fault> {
        match self.next() {
            None => return Ok(Some(Stop::OutOfText)),
            Some(Kind::Text(text)) => list.push(Node::Text(text.to_owned())),
            // Outside of actions there is nothing but text.
            Some(_) => return self.action(list),
        }
        Ok(None)
    }

    /// Behind a `{{`.
    fn action(&mut self, list: &mut List) -> Result<Option<Stop>, Fault> {
        self.spaces();
        let Some(Kind::Word(word)) = self.peek() else { return self.plain(list) };
        self.at += 1;
        match word {
            "end" => {
                self.expect_close("end")?;
                return Ok(Some(Stop::End));
            }
            "else" => return Ok(Some(Stop::Else)),
            "if" => list.push(Node::If(self.branch("if")?)),
            "with" => list.push(Node::With(self.branch("with")?)),
            "range" => list.push(Node::Range(self.branch("range")?)),
            "break" | "continue" => {
                self.expect_close(word)?;
                if self.loops == 0 {
                    return Err(Fault::new(format!("{{{{{word}}}}} outside {{{{range}}}}")));
                }
                list.push(if word == "break" { Node::Break } else { Node::Continue });
            }
            "template" => {
                let line = self.line();
                let name = self.name_of_template("template clause")?;
                let argument = self.argument("template clause")?;
                list.push(Node::Template { line, name, argument });
            }
            "block" => {
                let line = self.line();
                let name = self.name_of_template("block clause")?;
                let argument = Some(self.pipeline("block clause", Kind::Close)?);
                self.definition(name.clone(), "block clause")?;
                list.push(Node::Template { line, name, argument });
            }
            _ => {
                self.at -= 1;
                return self.plain(list);
            }
        }
        Ok(None)
    }

    fn plain(&mut self, list: &mut List) -> Result<Option<Stop>, Fault> {
        list.push(Node::Action(self.pipeline("command", Kind::Close)?));
        Ok(None)
    }

    fn argument(&mut self, context: &str) -> Result<Option<Pipeline>, Fault> {
        self.spaces();
        if self.eat(Kind::Close) {
            return Ok(None);
        }
        self.pipeline(context, Kind::Close).map(Some)
    }

    fn expect_close(&mut self, context: &str) -> Result<(), Fault> {
        self.spaces();
        if self.eat(Kind::Close) { Ok(()) } else { self.unexpected(context) }
    }

    /// Behind `if`, `with` or `range`: up to the `{{end}}` that belongs to it.
    fn branch(&mut self, context: &str) -> Result<Branch, Fault> {
        let in_scope = self.variables.len();
        let branch = self.nested(|parser| parser.branch_in_scope(context));
        self.variables.truncate(in_scope);
        branch
    }

    fn branch_in_scope(&mut self, context: &str) -> Result<Branch, Fault> {
        let pipeline = self.pipeline(context, Kind::Close)?;
        self.loops += usize::from(context == "range");
        let body = self.list();
        self.loops -= usize::from(context == "range");
        let (body, end) = body?;
        if end != Stop::Else {
            return Ok(Branch { pipeline, body, otherwise: List::new() });
        }
        let otherwise = match context {
            "if" if self.eat_word("if") => vec![Node::If(self.branch("if")?)],
            "with" if self.eat_word("with") => vec![Node::With(self.branch("with")?)],
            _ => {
                self.expect_close("else")?;
                let (otherwise, end) = self.list()?;
                if end == Stop::Else {
                    return Err(Fault::new("expected end; found {{else}}"));
                }
                otherwise
            }
        };
        Ok(Branch { pipeline, body, otherwise })
    }
}
