//! The little XML that STS answers with: texts of elements, by name.

/// The text of the first element of that name, if it holds text alone.
pub(super) fn text(document: &str, name: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    (!text.contains('<')).then(|| unescaped(text.trim()))
}

fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'")];
    let text = pairs.into_iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    // Last, lest what it makes be taken for another.
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn texts_are_found_by_name() {
        let document = "<?xml version=\"1.0\"?>\n<A xmlns=\"x\"><B> a/b+c== </B><C><D>1</D></C><E>&amp;lt; &#39;x&#39;</E><F/></A>";
        #[rustfmt::skip]
        let rows = [
            ("B", Some("a/b+c==")),
            ("C", None),
            ("D", Some("1")),
            ("E", Some("&lt; 'x'")),
            ("F", None),
            ("G", None),
        ];
        for (name, expected) in rows {
            assert_eq!(text(document, name).as_deref(), expected, "{name}");
        }
    }
}
