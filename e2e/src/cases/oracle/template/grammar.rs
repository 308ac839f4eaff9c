//! Random templates that mostly mean something: fields that are there, variables that are
//! declared, arguments of the right kind.

use super::pieces;
use crate::cases::oracle::random::Random;

/// What the whole template speaks of.
#[derive(Clone, Copy)]
pub(super) enum Root {
    Commit,
    Branch,
}

/// What `.` or a variable is.
#[derive(Clone, Copy)]
enum Kind {
    Root(Root),
    Change,
    Image,
    Labels,
    Text,
    Number,
}

impl Kind {
    /// Paths from here to texts.
    fn texts(self) -> &'static [&'static str] {
        match self {
            Self::Root(Root::Commit) => &[".AppName"],
            Self::Root(Root::Branch) => &[".AppName", ".AppNamespace", ".TargetKey", ".SHA256"],
            Self::Change => &[".Image", ".OldTag", ".NewTag", ".Labels.revision", ".Labels.nope"],
            Self::Image => &[".Name", ".Alias", ".OldTag", ".NewTag"],
            Self::Labels => &[".revision", ".a", ".nope"],
            Self::Text => &[""],
            Self::Number => &[],
        }
    }

    /// Paths from here to what has parts, and the kind of the parts.
    fn lists(self) -> &'static [(&'static str, Kind)] {
        match self {
            Self::Root(Root::Commit) => &[(".AppChanges", Self::Change)],
            Self::Root(Root::Branch) => &[(".Images", Self::Image)],
            Self::Change => &[(".Labels", Self::Text)],
            Self::Labels => &[("", Self::Text)],
            _ => &[],
        }
    }
}

/// A template that is being written.
pub(super) struct Grammar<'r> {
    random: &'r mut Random,
    out: String,
    dot: Kind,
    /// By name; those of ended blocks are gone.
    variables: Vec<(&'static str, Kind)>,
    loops: usize,
    /// Whether this is the body of a definition.
    is_apart: bool,
}

impl<'r> Grammar<'r> {
    pub(super) fn template(random: &'r mut Random, root: Root) -> String {
        let dot = Kind::Root(root);
        let mut grammar = Self {
            random,
            out: String::new(),
            dot,
            variables: vec![("$", dot)],
            loops: 0,
            is_apart: false,
        };
        if grammar.random.percent(10) {
            grammar.action("define \"t\"");
            grammar.body_apart();
        }
        grammar.body(3);
        grammar.out
    }

    fn body(&mut self, depth: usize) {
        let outer = self.variables.len();
        for _ in 0..self.random.below(4) {
            self.node(depth);
        }
        self.variables.truncate(outer);
    }

    fn node(&mut self, depth: usize) {
        match self.random.below(20) {
            0..5 => self.out += self.random.word(pieces::TEXTS),
            5..11 => {
                let pipeline = self.pipeline(2);
                self.action(&pipeline);
            }
            11 | 12 => self.variable(),
            13 => self.oddity(),
            _ if depth == 0 => self.out += self.random.word(pieces::TEXTS),
            14..16 => self.condition(depth),
            16 => self.with(depth),
            _ => self.range(depth),
        }
    }

    fn action(&mut self, inside: &str) {
        self.out += self.random.word(&["{{", "{{", "{{", "{{ ", "{{- ", "{{-\n"]);
        self.out += inside;
        self.out += self.random.word(&["}}", "}}", "}}", " }}", " -}}", "\t-}}"]);
    }

    fn variable(&mut self) {
        let name = *self.random.pick(&["$x", "$y"]);
        let (kind, value) = if self.random.percent(50) {
            (Kind::Text, self.text(2))
        } else {
            (Kind::Number, self.number(2))
        };
        let is_known = self.variables.iter().any(|&(known, _)| known == name);
        let sign = if is_known && self.random.percent(50) { " = " } else { " := " };
        self.action(&[name, sign, &value].concat());
        self.variables.push((name, kind));
    }

    fn condition(&mut self, depth: usize) {
        let condition = self.condition_of(2);
        self.action(&["if ", &condition].concat());
        self.body(depth - 1);
        while self.random.percent(15) {
            let condition = self.condition_of(2);
            self.action(&["else if ", &condition].concat());
            self.body(depth - 1);
        }
        self.otherwise(depth);
    }

    /// Anything can be a condition.
    fn condition_of(&mut self, depth: usize) -> String {
        if self.random.percent(60) { self.truth(depth) } else { self.pipeline(depth) }
    }

    fn with(&mut self, depth: usize) {
        let before = self.dot;
        let (kind, value) = match self.random.below(4) {
            0 => (Kind::Number, self.number(1)),
            1 if matches!(self.dot, Kind::Change) => (Kind::Labels, ".Labels".to_owned()),
            _ => (Kind::Text, self.text(1)),
        };
        self.dot = kind;
        self.action(&["with ", &value].concat());
        self.body(depth - 1);
        self.dot = before;
        self.otherwise(depth);
    }

    fn range(&mut self, depth: usize) {
        let before = self.dot;
        let outer = self.variables.len();
        let (path, item) = self.list();
        let variables = self.random.word(&["", "", "$x := ", "$i, $x := ", "$i, $x = "]);
        self.action(&["range ", variables, &path].concat());
        if variables.starts_with("$x") {
            self.variables.push(("$x", item));
        } else if variables.starts_with("$i") {
            self.variables.extend([("$i", Kind::Number), ("$x", item)]);
        }
        self.dot = item;
        self.loops += 1;
        self.body(depth - 1);
        if self.random.percent(10) {
            let end = self.random.word(&["break", "continue"]);
            self.action(end);
        }
        self.loops -= 1;
        self.dot = before;
        self.variables.truncate(outer);
        self.otherwise(depth);
    }

    /// What can be ranged over: a field, of `$` if `.` has none, or a small number.
    fn list(&mut self) -> (String, Kind) {
        if let Some(&(path, item)) = self.dot.lists().last()
            && self.random.percent(80)
        {
            return (if path.is_empty() { ".".to_owned() } else { path.to_owned() }, item);
        }
        match (self.variables[0].1.lists(), self.random.percent(50)) {
            ([(path, item)], true) => (["$", path].concat(), *item),
            _ => (
                self.random.word(&["0", "1", "2", "3", "-1", "nil", "`a`"]).to_owned(),
                Kind::Number,
            ),
        }
    }

    fn otherwise(&mut self, depth: usize) {
        if self.random.percent(30) {
            self.action("else");
            self.body(depth - 1);
        }
        self.action("end");
    }

    /// A body that is given a text and knows nothing else. It calls none, since one that calls
    /// itself with twice as much each time would exhaust the memory of the other side.
    fn body_apart(&mut self) {
        let dot = std::mem::replace(&mut self.dot, Kind::Text);
        let variables = std::mem::replace(&mut self.variables, vec![("$", Kind::Text)]);
        let loops = std::mem::take(&mut self.loops);
        let is_apart = std::mem::replace(&mut self.is_apart, true);
        self.body(1);
        self.action("end");
        self.is_apart = is_apart;
        self.loops = loops;
        self.variables = variables;
        self.dot = dot;
    }

    fn oddity(&mut self) {
        match self.random.below(6) {
            0 => self.out += self.random.word(&["{{/* a */}}", "{{- /* a */ -}}", "{{/* a}} */}}"]),
            1 if !self.is_apart => {
                let text = self.text(1);
                self.action(&["template \"t\" ", &text].concat());
            }
            2 if !self.is_apart => {
                let text = self.text(1);
                self.action(&["block \"b\" ", &text].concat());
                self.body_apart();
            }
            3 if self.loops > 0 => self.action("break"),
            4 if self.loops > 0 => self.action("continue"),
            _ => {
                let odd = [".Nope", "nil", "$nope", "nope", "template \"nope\"", "", ". ."];
                let odd = self.random.word(&odd);
                self.action(odd);
            }
        }
    }

    /// A command, or some of them.
    fn pipeline(&mut self, depth: usize) -> String {
        let mut pipeline = match self.random.below(10) {
            0..4 => self.text(depth),
            4 | 5 => self.formatted(depth),
            6 => self.number(depth),
            7 => self.truth(depth),
            8 => self.random.word(pieces::FRACTIONS).to_owned(),
            _ => self.whole(),
        };
        while self.random.percent(15) {
            pipeline += self.random.word(&[" | ", " | ", "|", " |\n"]);
            let stages = [
                "html",
                "js",
                "urlquery",
                "print",
                "println",
                "len",
                "printf \"%s\"",
                "printf \"%q\"",
                "printf \"%v-%v\" 1",
                "not",
                "eq 1",
                "and 1",
                "or \"\"",
                "print \"a\" 1",
                "index .Labels",
            ];
            pipeline += self.random.word(&stages);
        }
        pipeline
    }

    /// Something with parts, as a whole.
    fn whole(&mut self) -> String {
        match self.dot.lists() {
            [(path, _)] if !path.is_empty() && self.random.percent(50) => (*path).to_owned(),
            _ => self.random.word(&[".", "$", "$x"]).to_owned(),
        }
    }

    fn formatted(&mut self, depth: usize) -> String {
        let odd = self.random.percent(30);
        let formats = if odd { pieces::ODD_FORMATS } else { pieces::FORMATS };
        let &(format, count) = self.random.pick(formats);
        let mut call = ["printf \"", format, "\""].concat();
        let shows_fractions = !format.contains(['x', 'X', 'b']);
        for _ in 0..count {
            let argument = match self.random.below(10) {
                0..4 => self.text(depth - 1),
                4..7 => self.number(depth - 1),
                7 if shows_fractions => self.random.word(pieces::FRACTIONS).to_owned(),
                8 => self.truth(0),
                _ => self.whole(),
            };
            call = [&call, " ", &argument].concat();
        }
        call
    }

    /// An operand that is a text.
    fn text(&mut self, depth: usize) -> String {
        let random = self.random.below(10);
        if depth > 0 && random < 4 {
            let call = self.call_for_text(depth - 1);
            return ["(", &call, ")"].concat();
        }
        let names = self.variables.clone();
        let mut known: Vec<String> = Vec::new();
        for (name, kind) in names {
            known.extend(kind.texts().iter().map(|path| [name, path].concat()));
        }
        for path in self.dot.texts() {
            known.push(if path.is_empty() { ".".to_owned() } else { (*path).to_owned() });
        }
        if known.is_empty() || random > 7 {
            return self.random.word(pieces::QUOTED).to_owned();
        }
        self.random.pick(&known).clone()
    }

    fn call_for_text(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            0 | 1 => self.formatted(depth + 1),
            2 => ["print ", &self.text(depth), " ", &self.text(depth)].concat(),
            3 => {
                let function = self.random.word(&["html", "js", "urlquery", "println", "print"]);
                [function, " ", &self.text(depth)].concat()
            }
            4 => {
                let bounds = self.random.word(&["0 1", "1", "0 0", "1 2", "2 1", "0 3", "", "9"]);
                ["slice ", &self.text(depth), " ", bounds].concat()
            }
            5 => {
                let function = self.random.word(&["and", "or"]);
                [function, " ", &self.text(depth), " ", &self.text(depth)].concat()
            }
            6 if matches!(self.dot, Kind::Change) => ["index .Labels ", &self.text(depth)].concat(),
            _ => [&self.text(depth), " | printf \"<%s>\""].concat(),
        }
    }

    /// An operand that is a whole number.
    fn number(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0 | 1 if depth > 0 => ["(len ", &self.text(depth - 1), ")"].concat(),
            2 if depth > 0 => ["(index ", &self.text(depth - 1), " 0)"].concat(),
            _ => self.random.mostly(pieces::NUMBERS, pieces::ODD_NUMBERS).to_owned(),
        }
    }

    /// An operand that is true or false.
    fn truth(&mut self, depth: usize) -> String {
        let both = ["eq", "ne", "lt", "le", "gt", "ge"];
        match self.random.below(8) {
            0..3 if depth > 0 => {
                let (left, right) = (self.text(depth - 1), self.text(depth - 1));
                ["(", self.random.word(&both), " ", &left, " ", &right, ")"].concat()
            }
            3 | 4 if depth > 0 => {
                let (left, right) = (self.number(depth - 1), self.number(depth - 1));
                ["(", self.random.word(&both), " ", &left, " ", &right, ")"].concat()
            }
            5 if depth > 0 => ["(not ", &self.text(depth - 1), ")"].concat(),
            6 if depth > 0 => {
                let (left, right) = (self.truth(depth - 1), self.text(depth - 1));
                ["(", self.random.word(&["and", "or", "eq"]), " ", &left, " ", &right, ")"].concat()
            }
            _ => self.random.word(&["true", "false"]).to_owned(),
        }
    }
}
