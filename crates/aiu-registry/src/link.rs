//! The `Link` header: where the next page is (spec 11 §2.4).

/// The target of the next page among the values of the `Link` header lines. A link without
/// any relation counts too, as registries do send those.
pub(crate) fn next<'a>(lines: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    lines.into_iter().flat_map(split_links).find_map(|link| {
        let (target, parameters) = split_target(link)?;
        is_next(parameters).then_some(target)
    })
}

/// Cuts at commas that stand neither in a target nor in quotes.
fn split_links(line: &str) -> Vec<&str> {
    let (mut in_target, mut quoted) = (false, false);
    line.split(move |c| {
        match c {
            '"' if !in_target => quoted = !quoted,
            '<' if !quoted => in_target = true,
            '>' if !quoted => in_target = false,
            _ => {}
        }
        c == ',' && !in_target && !quoted
    })
    .collect()
}

/// Target and parameters. Targets without angle brackets are understood (the reference does).
fn split_target(link: &str) -> Option<(&str, &str)> {
    let link = link.trim();
    let (target, parameters) = match link.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?,
        None => link.split_once(';').unwrap_or((link, "")),
    };
    let target = target.trim();
    (!target.is_empty()).then_some((target, parameters))
}

fn is_next(parameters: &str) -> bool {
    let relation = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("rel").then(|| value.trim().trim_matches('"'))
    });
    relation
        .is_none_or(|words| words.split_whitespace().any(|word| word.eq_ignore_ascii_case("next")))
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn links_of_the_field() {
        #[rustfmt::skip]
        let rows: [(&[&str], Option<&str>); 13] = [
            (&[r#"</v2/a/tags/list?last=x&n=10>; rel="next""#], Some("/v2/a/tags/list?last=x&n=10")),
            (&["<https://r.test/v2/a/tags/list?last=x>; rel=next"], Some("https://r.test/v2/a/tags/list?last=x")),
            (&["</v2/a/tags/list?last=x>"], Some("/v2/a/tags/list?last=x")),
            (&["/v2/a/tags/list?last=x"], Some("/v2/a/tags/list?last=x")),
            (&[r#"/v2/a/tags/list?last=x; rel="next""#], Some("/v2/a/tags/list?last=x")),
            (&[r#"</docs?a=1,2>; rel=help , </p2> ; title="a, b" ; REL="prefetch Next""#], Some("/p2")),
            (&[r#"</first>; rel="first""#, r#"</second>; rel="next""#], Some("/second")),
            (&[r#"</first>; rel="first", </last>; rel="last""#], None),
            (&[r#"</v2/a/tags/list?last=a;b>; rel="next""#], Some("/v2/a/tags/list?last=a;b")),
            (&["<>; rel=next"], None),
            (&["<unclosed"], None),
            (&[""], None),
            (&[], None),
        ];
        for (lines, expected) in rows {
            assert_eq!(next(lines.iter().copied()), expected, "{lines:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_to_its_end(line in "[ -~ü]{0,60}") {
            let _ = next([line.as_str()]);
        }
    }
}
