//! The documents of one manifest file, found by kind.
//!
//! Texts are cut at the document markers and each piece is decoded by itself, so that one
//! broken document does not hide the others of its file.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One document of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document<'t> {
    /// Its position among the documents of the text, as the editor counts them.
    pub index: usize,
    /// The 1-based line of the text that its text starts on.
    pub line: usize,
    /// The byte of the text that its text starts at.
    pub start: usize,
    /// Its text, without the marker line.
    pub text: &'t str,
}

/// The kind of object that a document holds.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Group and version.
    #[serde(default)]
    pub api_version: Option<String>,
    /// Kind.
    #[serde(default)]
    pub kind: Option<String>,
}

/// Why a document could not be decoded, and on which line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecodable {
    /// 1-based line in the file.
    pub line: usize,
    /// The parser's words, on one line.
    pub cause: String,
}

/// Cuts a text into its documents.
///
/// A `---` at the start of a line ends whatever stood before it, in block and quoted scalars
/// too (YAML 1.2.2, rule c-forbidden), so lines are all one needs to look at.
pub fn split(text: &str) -> Vec<Document<'_>> {
    let mut documents = Vec::new();
    let (mut start, mut line, mut marked) = (0, 1, false);
    let (mut at, mut number) = (0, 1);
    let mut push = |from: usize, to: usize, line: usize, marked: bool| {
        let piece = &text[from..to];
        if marked || has_content(piece) {
            documents.push(Document { index: documents.len(), line, start: from, text: piece });
        }
    };
    for full in text.split_inclusive('\n') {
        let bom = if at == 0 && full.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let content = full[bom..].trim_end_matches(['\n', '\r']);
        let is_marker = |marker: &str| {
            let rest = content.strip_prefix(marker);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
        };
        if is_marker("---") {
            push(start, at, line, marked);
            // What follows the marker on its line belongs to the document.
            (start, line, marked) = (at + bom + 3, number, true);
        } else if is_marker("...") {
            push(start, at, line, marked);
            (start, line, marked) = (at + full.len(), number + 1, false);
        }
        at += full.len();
        number += 1;
    }
    push(start, text.len(), line, marked);
    documents
}

/// Whether a piece holds more than blank lines, comments and directives.
fn has_content(piece: &str) -> bool {
    piece
        .lines()
        .map(|line| line.trim_start_matches('\u{feff}').trim())
        .any(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with('%'))
}

impl Document<'_> {
    /// Decodes the document as `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Undecodable> {
        serde_saphyr::from_str(self.text).map_err(|error| {
            let within = error.location().map_or(1, |l| usize::try_from(l.line()).unwrap_or(1));
            let cause = error.without_snippet().to_string();
            Undecodable { line: self.line + within.max(1) - 1, cause: one_line(&cause) }
        })
    }
}

/// The first sentence of a parser's message; the rest shows the file, which the user has.
fn one_line(cause: &str) -> String {
    cause.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_markers_and_nowhere_else() {
        #[rustfmt::skip]
        let rows: [(&str, &[(usize, &str)]); 9] = [
            ("a: 1\n", &[(1, "a: 1\n")]),
            ("", &[]),
            ("# only a comment\n", &[]),
            ("# head\n---\na: 1\n---\nb: 2\n", &[(2, "\na: 1\n"), (4, "\nb: 2\n")]),
            ("a: 1\n--- # next\nb: 2\n", &[(1, "a: 1\n"), (2, " # next\nb: 2\n")]),
            ("a: ---\nb: |\n  ---\n", &[(1, "a: ---\nb: |\n  ---\n")]),
            ("a: 1\r\n---\r\nb: 2\r\n", &[(1, "a: 1\r\n"), (2, "\r\nb: 2\r\n")]),
            ("a: 1\n...\n# between\n---\nb: 2\n", &[(1, "a: 1\n"), (4, "\nb: 2\n")]),
            ("\u{feff}---\na: 1\n", &[(1, "\na: 1\n")]),
        ];
        for (text, expected) in rows {
            let found: Vec<(usize, &str)> = split(text).iter().map(|d| (d.line, d.text)).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn a_broken_document_names_its_line_in_the_file() {
        let text = "kind: A\n---\nkind: B\nspec: [\n";
        let documents = split(text);
        assert_eq!(documents[0].decode::<Head>().unwrap().kind.as_deref(), Some("A"));
        let error = documents[1].decode::<Head>().unwrap_err();
        assert!(error.line >= 4, "{error:?}");
        assert!(!error.cause.contains('\n'), "{error:?}");
    }
}
