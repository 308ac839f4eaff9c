//! Markdown as far as links need it: links, link labels and anchors, outside of code.

/// What one Markdown file links to, and what can be linked to in it.
#[derive(Default)]
pub(super) struct Page {
    pub(super) links: Vec<Link>,
    anchors: Vec<String>,
    labels: Vec<String>,
    used_labels: Vec<(usize, String)>,
}

pub(super) struct Link {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) target: String,
}

impl Page {
    pub(super) fn read(text: &str) -> Self {
        let mut page = Self::default();
        let mut fence: Option<&str> = None;
        for (at, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            match fence {
                Some(mark) => fence = fence.filter(|_| !trimmed.starts_with(mark)),
                None => match ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
                    Some(mark) => fence = Some(mark),
                    None => page.read_line(at + 1, line),
                },
            }
        }
        page
    }

    pub(super) fn has_anchor(&self, anchor: &str) -> bool {
        self.anchors.iter().any(|known| known == anchor)
    }

    /// Labels in `[text][label]` that no line defines, with the lines that use them.
    pub(super) fn undefined_labels(&self) -> impl Iterator<Item = (usize, &str)> {
        let undefined = self.used_labels.iter().filter(|(_, label)| !self.labels.contains(label));
        undefined.map(|(line, label)| (*line, label.as_str()))
    }

    fn read_line(&mut self, number: usize, line: &str) {
        if let Some(title) = heading(line) {
            self.add_heading(title);
        }
        let line = without_code(line);
        for mark in ["id=\"", "name=\""] {
            self.anchors.extend(
                line.split(mark)
                    .skip(1)
                    .filter_map(|rest| rest.split_once('"').map(|(anchor, _)| anchor.to_owned())),
            );
        }
        if let Some((label, target)) = definition(&line) {
            self.labels.push(label.to_lowercase());
            self.links.push(Link { line: number, target: destination(target).to_owned() });
        }
        for rest in line.split("](").skip(1) {
            self.links.push(Link { line: number, target: destination(rest).to_owned() });
        }
        for rest in line.split("][").skip(1) {
            if let Some((label, _)) = rest.split_once(']').filter(|(label, _)| !label.is_empty()) {
                self.used_labels.push((number, label.to_lowercase()));
            }
        }
    }

    /// Adds the anchor that a heading gets; a repeated one is numbered.
    fn add_heading(&mut self, title: &str) {
        let slug = slug(title);
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let free =
            std::iter::once(slug.clone()).chain(numbered).find(|name| !self.has_anchor(name));
        self.anchors.extend(free);
    }
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' '))
        .then(|| title.trim().trim_end_matches(" #"))
}

/// Lower case, spaces as hyphens, no punctuation but hyphens and underscores; of a link, its text.
fn slug(title: &str) -> String {
    let mut shown = String::new();
    let mut rest = title;
    while let Some((text, after)) = rest.split_once("](") {
        shown.push_str(text);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    let kept = shown.to_lowercase();
    let kept = kept.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// `[label]: target`, which defines a label.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (label, target) = line.trim_start().strip_prefix('[')?.split_once("]: ")?;
    (!label.contains(']')).then_some((label, target))
}

/// The target at the start of the text: up to a space or the closing parenthesis, or in `<…>`.
fn destination(text: &str) -> &str {
    let text = text.trim_start();
    if let Some((target, _)) = text.strip_prefix('<').and_then(|text| text.split_once('>')) {
        return target;
    }
    let mut depth = 0_usize;
    let end = text.find(|c: char| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        c => c == ')' || c.is_whitespace(),
    });
    &text[..end.unwrap_or(text.len())]
}

/// The line with its code spans blanked.
fn without_code(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let (before, span) = rest.split_at(at);
        let (mark, inside) = span.split_at(ticks);
        kept.push_str(before);
        // A mark that nothing closes is text.
        let (shown, after) = match inside.find(mark) {
            Some(end) => ("", &inside[end + ticks..]),
            None => (mark, inside),
        };
        kept.push_str(shown);
        rest = after;
    }
    kept.push_str(rest);
    kept
}
