//! Texts as people and tools write them: every quoting, indent, comment and line end.
//!
//! A generated text knows where its scalars are, so that a law can ask for any of them.

use std::fmt::{self, Write as _};

use proptest::collection::vec;
use proptest::prelude::*;

/// A text and what it holds.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) text: String,
    pub(super) leaves: Vec<Leaf>,
    /// Paths of mappings, each ending in a dot; the root's is empty.
    pub(super) mappings: Vec<String>,
}

/// A scalar that a path can reach.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// As users write it; `None` for what the grammar of paths cannot name.
    pub(super) path: Option<String>,
    /// As JSON pointers have it.
    pub(super) pointer: String,
    /// Leaves of one number share one scalar through an anchor.
    pub(super) shared: Option<usize>,
}

/// What a text is made from.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Scalar(usize),
    Mapping(Vec<Node>, bool),
    Sequence(Vec<Node>, bool),
}

/// Scalars as they stand in block context, `¶` for the indent of further lines; those marked
/// also fit into braces.
const SCALARS: [(&str, bool); 24] = [
    ("v1.0.0", true),
    ("\"v1.0.0\"", true),
    ("'it''s'", true),
    ("\"é \\\" \\u00e9 \\\\\"", true),
    ("1.20", true),
    ("0x1F", true),
    ("~", true),
    ("null", true),
    ("true", true),
    ("\"\"", true),
    ("''", true),
    ("", false),
    ("日本 text # no comment: not one", false),
    ("plain:no colon", false),
    ("a#b", true),
    ("2024-01-02", true),
    ("!!str 5", true),
    ("https://example.test/x?y=z", true),
    ("acme/web:1.0@sha256:aa11", true),
    ("|-\n¶v1\n¶v2", false),
    ("|\n¶text {{ .x }}\n\n¶  more # no comment", false),
    (">-\n¶folded\n¶text", false),
    ("|+\n¶kept\n\n", false),
    ("\"two\n¶lines\"", false),
];

/// Keys that a path can name, as written and as read.
const KEYS: [(&str, &str); 10] = [
    ("image", "image"),
    ("tag", "tag"),
    ("repository", "repository"),
    ("'quoted'", "quoted"),
    ("\"double quoted\"", "double quoted"),
    ("with space", "with space"),
    ("é", "é"),
    ("y", "y"),
    ("? explicit\n:", "explicit"),
    ("last", "last"),
];

/// A document with noise, in one of the layouts.
pub(super) fn sample() -> impl Strategy<Value = Sample> {
    let layout = (
        (any::<bool>(), 0..=2usize, any::<bool>(), any::<bool>(), any::<bool>()),
        vec(any::<u8>(), 64),
        (0..HEADS.len(), 0..TAILS.len()),
    );
    (vec(node(), 1..5), layout).prop_map(|(roots, layout)| {
        let ((wide, dash, crlf, bom, open_end), noise, (head, tail)) = layout;
        let mut writer = Writer {
            text: HEADS[head].to_owned(),
            step: if wide { 4 } else { 2 },
            dash,
            noise,
            at: 0,
            leaves: Vec::new(),
            mappings: Vec::new(),
            anchors: Vec::new(),
            ends_with_block: false,
        };
        writer.mapping(&roots, 0, &Path::default(), false);
        writer.text.push_str(TAILS[tail]);
        let mut text = writer.text;
        if open_end && tail == 0 && !writer.ends_with_block {
            text.pop();
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        if bom {
            text.insert(0, '\u{feff}');
        }
        Sample { text, leaves: writer.leaves, mappings: writer.mappings }
    })
}

const HEADS: [&str; 5] = [
    "",
    "# licence\n\n",
    "---\n",
    "%YAML 1.2\n---\n",
    "# a\n--- # marker\n\t\n# {{ no template }}\n",
];
const TAILS: [&str; 5] =
    ["", "# the end\t\n", "\n\n", "---\n# second\nimage:\n  tag: other # 2\n", "...\n# after\n"];

fn node() -> impl Strategy<Value = Node> {
    let leaf = (0..SCALARS.len()).prop_map(Node::Scalar);
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            3 => (0..SCALARS.len()).prop_map(Node::Scalar),
            3 => (vec(inner.clone(), 1..4), any::<bool>()).prop_map(|(v, f)| Node::Mapping(v, f)),
            2 => (vec(inner, 1..4), any::<bool>()).prop_map(|(v, f)| Node::Sequence(v, f)),
        ]
    })
}

#[derive(Clone, Default)]
struct Path {
    dotted: String,
    pointer: String,
    /// Whether the grammar of paths can name it: one index per key.
    reachable: bool,
}

impl Path {
    fn key(&self, key: &str, is_root: bool) -> Self {
        let dot = if is_root { "" } else { "." };
        Self {
            dotted: format!("{}{dot}{key}", self.dotted),
            pointer: format!("{}/{key}", self.pointer),
            reachable: is_root || self.reachable,
        }
    }

    fn item(&self, at: usize) -> Self {
        Self {
            dotted: format!("{}[{at}]", self.dotted),
            pointer: format!("{}/{at}", self.pointer),
            reachable: self.reachable && !self.dotted.ends_with(']'),
        }
    }
}

struct Writer {
    text: String,
    step: usize,
    dash: usize,
    noise: Vec<u8>,
    at: usize,
    leaves: Vec<Leaf>,
    mappings: Vec<String>,
    /// Plain scalars that carry an anchor.
    anchors: Vec<usize>,
    ends_with_block: bool,
}

impl Writer {
    fn roll(&mut self, sides: u8) -> u8 {
        self.at += 1;
        self.noise[self.at % self.noise.len()].wrapping_add(u8::try_from(self.at % 7).unwrap())
            % sides
    }

    fn push(&mut self, text: fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a String takes every write");
    }

    fn mapping(&mut self, children: &[Node], indent: usize, path: &Path, in_item: bool) {
        let is_root = path.dotted.is_empty();
        if is_root || path.reachable {
            let dot = if is_root { "" } else { "." };
            self.mappings.push(format!("{}{dot}", path.dotted));
        }
        for (at, child) in children.iter().enumerate() {
            if at > 0 || !in_item {
                self.trivia(indent);
                self.text.push_str(&" ".repeat(indent));
            }
            let (written, read) = KEYS[(at * 3 + path.dotted.len()) % KEYS.len()];
            let written = written.replace('\n', &format!("\n{}", " ".repeat(indent)));
            // The key is followed by its colon already if it is an explicit one.
            let colon = if written.ends_with(':') { "" } else { ":" };
            self.push(format_args!("{written}{colon}"));
            self.value(child, indent, &path.key(read, is_root));
        }
    }

    /// What stands behind a key's colon, with its line break.
    fn value(&mut self, node: &Node, indent: usize, path: &Path) {
        match node {
            Node::Scalar(which) => self.scalar(*which, indent, path),
            Node::Mapping(_, true) | Node::Sequence(_, true) => {
                self.text.push(' ');
                self.flow(node, path);
                self.end_line();
            }
            Node::Mapping(children, false) => {
                self.end_line();
                self.mapping(children, indent + self.step, path, false);
            }
            Node::Sequence(children, false) => {
                self.end_line();
                self.sequence(children, indent + self.dash, path);
            }
        }
    }

    fn sequence(&mut self, children: &[Node], dash: usize, path: &Path) {
        for (at, child) in children.iter().enumerate() {
            self.trivia(dash);
            self.push(format_args!("{}-", " ".repeat(dash)));
            let path = path.item(at);
            match child {
                Node::Mapping(children, false) => {
                    self.text.push(' ');
                    self.mapping(children, dash + 2, &path, true);
                }
                Node::Sequence(_, false) => {
                    self.text.push_str(" []");
                    self.end_line();
                }
                _ => self.value(child, dash, &path),
            }
        }
    }

    fn scalar(&mut self, which: usize, indent: usize, path: &Path) {
        let (written, _) = SCALARS[which];
        let lines = written.replace('¶', &" ".repeat(indent + 2));
        let mut shared = None;
        match self.roll(6) {
            0 if !self.anchors.is_empty() => {
                let roll = usize::from(self.roll(8));
                let anchor = self.anchors[roll % self.anchors.len()];
                self.push(format_args!(" *a{anchor}"));
                shared = Some(anchor);
                self.end_line();
            }
            1 => {
                let anchor = self.anchors.len();
                self.anchors.push(anchor);
                self.push(format_args!(" &a{anchor} {lines}"));
                shared = Some(anchor);
                self.end_scalar(written);
            }
            _ => {
                if !lines.is_empty() {
                    let gap = 1 + usize::from(self.roll(3));
                    self.text.push_str(&" ".repeat(gap));
                }
                self.text.push_str(&lines);
                self.end_scalar(written);
            }
        }
        self.leaf(path, shared);
    }

    /// A block scalar's last line takes no comment, and one that keeps its breaks no more.
    fn end_scalar(&mut self, written: &str) {
        if !written.starts_with(['|', '>']) {
            self.end_line();
            return;
        }
        self.ends_with_block = true;
        if !written.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn flow(&mut self, node: &Node, path: &Path) {
        match node {
            Node::Scalar(which) => {
                let (behind, before) = (&SCALARS[*which..], &SCALARS[..*which]);
                let fitting = behind.iter().chain(before).find(|(_, fits)| *fits);
                self.text.push_str(fitting.expect("some scalar fits").0);
                self.leaf(path, None);
            }
            Node::Mapping(children, _) => {
                if path.reachable {
                    self.mappings.push(format!("{}.", path.dotted));
                }
                let pad = if self.roll(2) == 0 { " " } else { "" };
                self.push(format_args!("{{{pad}"));
                for (at, child) in children.iter().enumerate() {
                    let (written, read) = KEYS[(at * 2 + 1) % 8];
                    self.push(format_args!("{written}: "));
                    self.flow(child, &path.key(read, false));
                    self.text.push_str(if at + 1 < children.len() { ", " } else { pad });
                }
                self.text.push('}');
            }
            Node::Sequence(children, _) => {
                self.text.push('[');
                for (at, child) in children.iter().enumerate() {
                    self.flow(child, &path.item(at));
                    self.text.push_str(if at + 1 < children.len() { ", " } else { "" });
                }
                self.text.push(']');
            }
        }
    }

    fn leaf(&mut self, path: &Path, shared: Option<usize>) {
        let pointer = path.pointer.clone();
        let path = path.reachable.then(|| path.dotted.clone());
        self.leaves.push(Leaf { path, pointer, shared });
    }

    fn end_line(&mut self) {
        let trailing = match self.roll(6) {
            0 => " # why",
            1 => "\t#\ttabs\t",
            2 => "  ",
            _ => "",
        };
        self.text.push_str(trailing);
        self.text.push('\n');
        self.ends_with_block = false;
    }

    /// Blank lines and comments, at this indent and others.
    fn trivia(&mut self, indent: usize) {
        match self.roll(8) {
            0 => self.text.push('\n'),
            1 => self.push(format_args!("{}# above\n", " ".repeat(indent))),
            2 => self.text.push_str("# far left: {{ x }}\n"),
            3 => self.push(format_args!("\n{}#\tdeep\n\n", " ".repeat(indent + 3))),
            _ => {}
        }
    }
}
