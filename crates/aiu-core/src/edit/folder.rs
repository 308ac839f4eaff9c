//! Which files of a folder are plain manifests, as Argo CD finds them (spec 40 B3).

use std::sync::Arc;

use crate::batch::FilePath;
use crate::regexp::GoRegexp;

/// Endings of files that Argo CD reads as manifests and that can be edited.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// A folder of plain manifests, and which of its files count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManifestFolder {
    /// The folder.
    pub folder: FilePath,
    /// Whether folders inside it count too (`directory.recurse`).
    pub recurse: bool,
    /// Only files that match, if there is such a pattern (`directory.include`).
    pub include: Option<Arc<str>>,
    /// No files that match (`directory.exclude`).
    pub exclude: Option<Arc<str>>,
}

/// The patterns of a [`ManifestFolder`], compiled.
#[derive(Clone, Debug)]
pub struct FolderFilter<'a> {
    prefix: String,
    recurse: bool,
    include: Pattern<'a>,
    exclude: Pattern<'a>,
}

/// A pattern that cannot be read matches nothing, as in Argo CD.
#[derive(Clone, Debug)]
enum Pattern<'a> {
    Absent,
    Literal(&'a str),
    Glob(Option<GoRegexp>),
}

impl ManifestFolder {
    /// Compiles the patterns.
    pub fn filter(&self) -> FolderFilter<'_> {
        let prefix = match self.folder.as_str() {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        FolderFilter {
            prefix,
            recurse: self.recurse,
            include: Pattern::new(self.include.as_deref()),
            exclude: Pattern::new(self.exclude.as_deref()),
        }
    }
}

impl FolderFilter<'_> {
    /// Whether the file at `path`, from the root of the repository, counts.
    pub fn admits(&self, path: &str) -> bool {
        let Some(relative) = path.strip_prefix(&self.prefix) else { return false };
        ENDINGS.iter().any(|ending| relative.ends_with(ending))
            && (self.recurse || !relative.contains('/'))
            && !self.exclude.matches(relative, false)
            && self.include.matches(relative, true)
    }
}

impl<'a> Pattern<'a> {
    fn new(text: Option<&'a str>) -> Self {
        match text {
            None | Some("") => Self::Absent,
            Some(text) if !text.contains(['*', '?', '[', '{', '\\']) => Self::Literal(text),
            Some(text) => Self::Glob(expression(text).and_then(|e| GoRegexp::new(&e).ok())),
        }
    }

    fn matches(&self, path: &str, absent: bool) -> bool {
        match self {
            Self::Absent => absent,
            Self::Literal(text) => *text == path,
            Self::Glob(compiled) => compiled.as_ref().is_some_and(|glob| glob.is_match(path)),
        }
    }
}

/// The globs of Argo CD's directories as an expression: `*` and `**` match anything, `/` too;
/// `{a,b}` is a choice, `[!a]` a negation. `None` if brackets do not pair up.
fn expression(glob: &str) -> Option<String> {
    let mut out = String::from("(?s)^");
    let mut depth = 0_usize;
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            '\\' => literal(&mut out, chars.next()?),
            '{' => {
                depth += 1;
                out.push_str("(?:");
            }
            '}' => {
                depth = depth.checked_sub(1)?;
                out.push(')');
            }
            ',' if depth > 0 => out.push('|'),
            '[' => {
                out.push('[');
                let rest = chars.as_str();
                let (negated, rest) = rest.strip_prefix('!').map_or((false, rest), |r| (true, r));
                let (inside, behind) = rest.split_once(']')?;
                out.push_str(if negated { "^" } else { "" });
                for c in inside.chars() {
                    match c {
                        '-' => out.push('-'),
                        c => literal(&mut out, c),
                    }
                }
                out.push(']');
                chars = behind.chars();
            }
            c => literal(&mut out, c),
        }
    }
    out.push('$');
    (depth == 0).then_some(out)
}

fn literal(out: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_as_argo_cd_counts_them() {
        #[rustfmt::skip]
        let rows = [
            // folder, recurse, include, exclude; what counts of the files below
            ("apps", false, "", "", "a.yaml b.yml c.json"),
            ("apps", true, "", "", "a.yaml b.yml c.json sub/a.yaml sub/deep/d.yaml"),
            ("apps", true, "*.yaml", "", "a.yaml sub/a.yaml sub/deep/d.yaml"),
            ("apps", true, "{a.yaml,sub/*}", "", "a.yaml sub/a.yaml sub/deep/d.yaml"),
            ("apps", true, "sub/?.yaml", "", "sub/a.yaml"),
            ("apps", true, "a.yaml", "", "a.yaml"),
            ("apps", true, "", "**/d.*", "a.yaml b.yml c.json sub/a.yaml"),
            ("apps", true, "[a-b].y*", "", "a.yaml b.yml"),
            ("apps", true, "[!a-b].*", "", "c.json"),
            ("apps", true, "*.yaml", "sub/*", "a.yaml"),
            ("apps", true, "{a", "", ""),
            ("apps", true, "", "{a", "a.yaml b.yml c.json sub/a.yaml sub/deep/d.yaml"),
            ("apps", true, "\\a.yaml", "", "a.yaml"),
            ("", false, "", "", "root.yaml"),
            ("app", true, "", "", ""),
        ];
        let files = "apps/a.yaml apps/b.yml apps/c.json apps/d.jsonnet apps/e.txt apps/sub/a.yaml apps/sub/deep/d.yaml root.yaml";
        for (folder, recurse, include, exclude, expected) in rows {
            let text = |text: &str| (!text.is_empty()).then(|| text.into());
            let manifests = ManifestFolder {
                folder: FilePath::join("", folder).unwrap(),
                recurse,
                include: text(include),
                exclude: text(exclude),
            };
            let filter = manifests.filter();
            let admitted: Vec<_> = files
                .split(' ')
                .filter(|path| filter.admits(path))
                .map(|path| path.strip_prefix("apps/").unwrap_or(path))
                .collect();
            assert_eq!(admitted.join(" "), expected, "{manifests:?}");
        }
    }
}
