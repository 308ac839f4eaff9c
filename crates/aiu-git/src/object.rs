//! Ids of git's objects, and the stream in which `cat-file --batch` hands them out.

use std::fmt;
use std::sync::Arc;

/// The id of a commit or of a file's content: 40 or 64 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(Arc<str>);

impl ObjectId {
    /// Reads an id as git prints it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let right = matches!(text.len(), 40 | 64) && text.bytes().all(hex);
        right.then(|| Self(text.into()))
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the hash function that made it.
    pub(crate) fn format(&self) -> &'static str {
        if self.0.len() == 64 { "sha256" } else { "sha1" }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text(Arc<str>),
    NotUtf8,
    TooBig { bytes: u64 },
}

/// Reads the output of `cat-file --batch` as it comes: objects above the limit are counted
/// and not kept.
pub(crate) struct BlobReader {
    limit: u64,
    state: State,
    /// What was found; `None` for objects that are not there.
    pub(crate) found: Vec<(ObjectId, Option<Content>)>,
    /// Whether something came that is no answer.
    pub(crate) confused: bool,
}

enum State {
    Header(Vec<u8>),
    /// The object, its size, how much of it and its final line feed is still to come, and what
    /// is kept of it.
    Body {
        id: ObjectId,
        bytes: u64,
        left: u64,
        kept: Vec<u8>,
    },
}

impl BlobReader {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, state: State::Header(Vec::new()), found: Vec::new(), confused: false }
    }

    /// Takes the next piece of output.
    pub(crate) fn take(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() && !self.confused {
            piece = match &mut self.state {
                State::Header(line) => {
                    let end = piece.iter().position(|byte| *byte == b'\n');
                    line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
                    let Some(end) = end else { return };
                    let line = std::mem::take(line);
                    self.header(&String::from_utf8_lossy(&line));
                    &piece[end + 1..]
                }
                State::Body { bytes, left, kept, .. } => {
                    let now = usize::try_from(*left).unwrap_or(usize::MAX).min(piece.len());
                    if *bytes <= self.limit {
                        kept.extend_from_slice(&piece[..now]);
                    }
                    *left -= now as u64;
                    if *left == 0 {
                        self.body_ends();
                    }
                    &piece[now..]
                }
            };
        }
    }

    /// `ID missing` or `ID TYPE SIZE`.
    fn header(&mut self, line: &str) {
        let mut words = line.split(' ');
        let id = words.next().and_then(ObjectId::parse);
        let size = words.nth(1).map(str::parse::<u64>);
        match (id, size) {
            (Some(id), None) => self.found.push((id, None)),
            (Some(id), Some(Ok(bytes))) => {
                self.state = State::Body { id, bytes, left: bytes + 1, kept: Vec::new() };
            }
            _ => self.confused = true,
        }
    }

    fn body_ends(&mut self) {
        let ended = std::mem::replace(&mut self.state, State::Header(Vec::new()));
        let State::Body { id, bytes, mut kept, .. } = ended else { return };
        let content = if bytes > self.limit {
            Content::TooBig { bytes }
        } else {
            kept.pop();
            String::from_utf8(kept).map_or(Content::NotUtf8, |text| Content::Text(text.into()))
        };
        self.found.push((id, Some(content)));
    }
}

#[cfg(test)]
mod tests {
    use super::{BlobReader, Content, ObjectId};

    #[test]
    fn objects_come_out_whole_however_the_stream_is_cut() {
        let (a, b, c, d) = ("a".repeat(40), "b".repeat(40), "c".repeat(64), "d".repeat(40));
        let stream = format!(
            "{a} blob 4\nx\ny\n\n{b} missing\n{c} blob 6\n123456\n{d} blob 0\n\n{a} blob 1\n"
        );
        let stream = [stream.as_bytes(), b"\xff\n"].concat();
        let text = |text: &str| Some(Content::Text(text.into()));
        let expected = vec![
            (a.clone(), text("x\ny\n")),
            (b, None),
            (c, Some(Content::TooBig { bytes: 6 })),
            (d, text("")),
            (a, Some(Content::NotUtf8)),
        ];
        let expected: Vec<_> =
            expected.into_iter().map(|(id, it)| (ObjectId::parse(&id).unwrap(), it)).collect();
        for size in [1, 2, 7, stream.len()] {
            let mut reader = BlobReader::new(5);
            stream.chunks(size).for_each(|piece| reader.take(piece));
            assert_eq!(reader.found, expected, "in pieces of {size}");
            assert!(!reader.confused);
        }
    }

    #[test]
    fn what_is_no_answer_is_noticed() {
        let mut reader = BlobReader::new(5);
        reader.take(b"fatal: something\n");
        assert!(reader.confused);
    }
}
