//! What a document quotes and links to, with lines; fenced blocks are left out.

/// One thing that a document points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mention<'text> {
    pub(crate) text: &'text str,
    pub(crate) kind: Kind,
    /// Counted from one.
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Between back quotes.
    Code,
    /// The target of a link or of an image.
    Link,
}

pub(crate) fn mentions(text: &str) -> Vec<Mention<'_>> {
    let mut found = Vec::new();
    // A code span may go over a line's end but not over a paragraph's, so paragraphs are the unit.
    let mut paragraph: Option<(usize, usize)> = None;
    let mut fence: Option<&str> = None;
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let trimmed = line.trim();
        let marker = fence_marker(trimmed);
        let is_prose = match (fence, marker) {
            (Some(open), Some(marker)) => {
                // A closing fence is at least as long as the opening one and says nothing else.
                if marker.starts_with(open) && marker.len() == trimmed.len() {
                    fence = None;
                }
                false
            }
            (Some(_), None) => false,
            (None, Some(marker)) => {
                fence = Some(marker);
                false
            }
            (None, None) => !trimmed.is_empty(),
        };
        if is_prose {
            paragraph.get_or_insert((offset, index + 1));
        } else if let Some((start, first_line)) = paragraph.take() {
            scan(text.get(start..offset).unwrap_or_default(), first_line, &mut found);
        }
        offset += line.len();
    }
    if let Some((start, first_line)) = paragraph {
        scan(text.get(start..).unwrap_or_default(), first_line, &mut found);
    }
    found
}

fn fence_marker(trimmed: &str) -> Option<&str> {
    ["`", "~"].into_iter().find_map(|mark| {
        let after = trimmed.trim_start_matches(mark);
        let marker = trimmed.strip_suffix(after)?;
        // A back quote after the marker makes it a code span within a line.
        (marker.len() >= 3 && !(mark == "`" && after.contains('`'))).then_some(marker)
    })
}

fn scan<'text>(paragraph: &'text str, first_line: usize, found: &mut Vec<Mention<'text>>) {
    let mut rest = paragraph;
    let mut line = first_line;
    while let Some(first) = rest.chars().next() {
        let mention = match first {
            '`' => code_span(rest),
            ']' => link_target(rest),
            _ => None,
        };
        let length = match mention {
            Some((kind, text, length)) => {
                found.push(Mention { text, kind, line });
                length
            }
            // A run of quotes that nothing closes is text, and so is each quote of it.
            None if first == '`' => rest.len() - rest.trim_start_matches('`').len(),
            None => first.len_utf8(),
        };
        let Some((passed, after)) = rest.split_at_checked(length) else { return };
        line += passed.matches('\n').count();
        rest = after;
    }
}

fn code_span(rest: &str) -> Option<(Kind, &str, usize)> {
    let body = rest.trim_start_matches('`');
    let quotes = rest.len() - body.len();
    let mut position = 0;
    while let Some(start) = body.get(position..)?.find('`') {
        let run = body.get(position + start..)?;
        let length = run.len() - run.trim_start_matches('`').len();
        if length == quotes {
            let end = position + start;
            return Some((Kind::Code, body.get(..end)?.trim(), quotes + end + length));
        }
        position += start + length;
    }
    None
}

/// `](target "title")`, or the `]: target` of a definition.
fn link_target(rest: &str) -> Option<(Kind, &str, usize)> {
    let (body, is_inline) = match rest.strip_prefix("](") {
        Some(body) => (body, true),
        None => (rest.strip_prefix("]: ")?, false),
    };
    let end =
        if is_inline { closing_parenthesis(body)? } else { body.find('\n').unwrap_or(body.len()) };
    let inside = body.get(..end)?;
    let target = match inside.trim_start().strip_prefix('<') {
        Some(bracketed) => bracketed.split('>').next(),
        None => inside.split_whitespace().next(),
    };
    Some((Kind::Link, target?, rest.len() - body.len() + end))
}

fn closing_parenthesis(body: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (position, character) in body.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(position),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_links_are_found_outside_fences() {
        let text = "\
# `a/b` and [x](docs/x.md#y \"title\") ![i](<i j.png>)
a `two
lines/long` and ``has ` inside``

```text
`not/this`
~~~
```
  - `c/d`
    ~~~~ sh
    ~~~
    [not](this.md)
    ~~~~
an ` open one

`e/f` [r]: g.md
[t]: h_(i).md 'title'
[a](b_(c).md) ```inline/fence``` `` ` ``
";
        let seen: Vec<_> =
            mentions(text).iter().map(|found| (found.line, found.kind, found.text)).collect();
        assert_eq!(
            seen,
            [
                (1, Kind::Code, "a/b"),
                (1, Kind::Link, "docs/x.md#y"),
                (1, Kind::Link, "i j.png"),
                (2, Kind::Code, "two\nlines/long"),
                (3, Kind::Code, "has ` inside"),
                (9, Kind::Code, "c/d"),
                (16, Kind::Code, "e/f"),
                (16, Kind::Link, "g.md"),
                (17, Kind::Link, "h_(i).md"),
                (18, Kind::Link, "b_(c).md"),
                (18, Kind::Code, "inline/fence"),
                (18, Kind::Code, "`"),
            ]
        );
    }
}
