//! Rust text as tokens, without comments: enough to tell code from what only looks like it.
//!
//! It accepts anything. A literal that never ends goes to the end of the text; the compiler will
//! have said so already.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'text> {
    pub(crate) text: &'text str,
    pub(crate) kind: Kind,
    /// Counted from one; where the token begins.
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword; a raw identifier keeps its `r#`.
    Word,
    /// One character of punctuation.
    Mark,
    /// A string, a character, a number or a lifetime.
    Literal,
}

/// What looks for something in a text.
pub(crate) const SEARCHES: &[&str] = &[
    "contains",
    "ends_with",
    "find",
    "match_indices",
    "matches",
    "rfind",
    "rsplit",
    "split",
    "split_once",
    "split_whitespace",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];

pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = next(rest, first);
        // Every length counts whole characters from the front, so the split cannot fail.
        let Some((piece, after)) = rest.split_at_checked(length.max(first.len_utf8())) else {
            break;
        };
        if let Some(kind) = kind {
            found.push(Token { text: piece, kind, line });
        }
        line += piece.matches('\n').count();
        rest = after;
    }
    found
}

/// The tokens before the tests that stand at the end of a file.
pub(crate) fn before_tests<'t, 'text>(tokens: &'t [Token<'text>]) -> &'t [Token<'text>] {
    let is_start = |window: &[Token<'_>]| {
        let words: Vec<&str> = window.iter().map(|token| token.text).collect();
        words == ["#", "[", "cfg", "(", "test", ")", "]"]
    };
    let end = tokens.windows(7).position(is_start).unwrap_or(tokens.len());
    tokens.get(..end).unwrap_or(tokens)
}

/// The kind of the first token, none for what is left out, and its length in bytes.
fn next(rest: &str, first: char) -> (Option<Kind>, usize) {
    if first.is_whitespace() {
        return (None, first.len_utf8());
    }
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (None, block_comment(rest));
    }
    if let Some(length) = string(rest) {
        return (Some(Kind::Literal), length);
    }
    if first == '\'' {
        return (Some(Kind::Literal), character_or_lifetime(rest));
    }
    if first.is_ascii_digit() {
        return (Some(Kind::Literal), word_length(rest));
    }
    if is_word(first) {
        let raw = rest.strip_prefix("r#").filter(|name| name.starts_with(is_word));
        let length = raw.map_or_else(|| word_length(rest), |name| 2 + word_length(name));
        return (Some(Kind::Word), length);
    }
    (Some(Kind::Mark), first.len_utf8())
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn word_length(rest: &str) -> usize {
    rest.find(|character| !is_word(character)).unwrap_or(rest.len())
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut bytes = rest.bytes().enumerate().peekable();
    while let Some((position, byte)) = bytes.next() {
        match (byte, bytes.peek().map(|(_, byte)| *byte)) {
            (b'/', Some(b'*')) => depth += 1,
            (b'*', Some(b'/')) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return position + 2;
                }
            }
            _ => continue,
        }
        bytes.next();
    }
    rest.len()
}

/// The length of a string literal of any kind, if one begins here.
fn string(rest: &str) -> Option<usize> {
    let unprefixed = ["br", "cr", "r"].iter().find_map(|prefix| rest.strip_prefix(prefix));
    if let Some(raw) = unprefixed {
        let inside = raw.trim_start_matches('#');
        let hashes = raw.len() - inside.len();
        if let Some(body) = inside.strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let length = body.find(&end).map_or(body.len(), |position| position + end.len());
            return Some(rest.len() - body.len() + length);
        }
    }
    let body = ["b\"", "c\"", "\""].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    Some(rest.len() - body.len() + quoted(body, '"'))
}

/// Up to and with the quote that is not escaped.
fn quoted(body: &str, quote: char) -> usize {
    let mut characters = body.char_indices();
    while let Some((position, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return position + quote.len_utf8();
        }
    }
    body.len()
}

fn character_or_lifetime(rest: &str) -> usize {
    let body = rest.trim_start_matches('\'');
    let body = if rest.len() - body.len() == 1 { body } else { rest.get(1..).unwrap_or_default() };
    let mut characters = body.chars();
    match (characters.next(), characters.next()) {
        (Some('\\'), _) => 1 + quoted(body, '\''),
        (Some(first), Some('\'')) => 1 + first.len_utf8() + 1,
        _ => 1 + word_length(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let found = tokens(text);
        let shown = found.iter().filter(|token| token.kind != Kind::Literal);
        shown.map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        let cases = [
            ("a // todo!()\nb", "a b"),
            ("a /* x /* todo!() */ y */ b", "a b"),
            ("a /*/ b */ c", "a c"),
            ("/// todo!()\n//! todo!()\na", "a"),
            (r#"a "todo!() \" b" c"#, "a c"),
            (r##"a r#"todo!() " "# c"##, "a c"),
            (r##"a br#"x"# cr"y" b"z" c"w" d"##, "a d"),
            (r"a '\'' b '\\' c '\u{1F600}' d", "a b c d"),
            ("a '\"' b 'x' c 'é' d", "a b c d"),
            ("fn f<'a>(x: &'a str, y: &'static str) {}", "fn f < > ( x : & str , y : & str ) { }"),
            ("'outer: loop { break 'outer; }", ": loop { break ; }"),
            ("r#type + r + b", "r#type + r + b"),
            ("1_000u32 0xff 1.5e3 a", ". a"),
            ("a \"never ends b", "a"),
            ("a /* never ends b", "a"),
            ("a r#\"never ends\" b", "a"),
            ("a '", "a"),
            ("a b'\\'' todo", "a b todo"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn tokens_know_their_line_after_anything_that_spans_lines() {
        let found = tokens("a\n\"x\ny\" b /*\n*/ c\n// d\ne");
        let lines: Vec<_> = found
            .iter()
            .filter(|token| token.kind == Kind::Word)
            .map(|token| (token.text, token.line))
            .collect();
        assert_eq!(lines, [("a", 1), ("b", 3), ("c", 4), ("e", 6)]);
    }

    #[test]
    fn every_prefix_of_a_text_is_accepted() {
        let text = "r#\"é\"# '\\u{e9}' b'\\'' /* é /* */ */ \"\\é\" 'é' '' r# é";
        for (end, _) in text.char_indices() {
            tokens(text.get(..end).expect("a boundary"));
        }
    }
}
