//! Aiken text into tokens. Spaces and comments are left out, and unknown characters are skipped.

/// A token and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Aiken has no separator between statements: a `(` or `-` on a new line begins another one.
    pub(super) after_newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name that begins with a small letter or `_`, and every keyword.
    Lower,
    Upper,
    Int,
    /// `"..."`, `@"..."` and `#"..."`.
    Text,
    /// One operator or bracket, the longest that fits.
    Symbol,
    End,
}

/// Longest first, so that `|>` is not `|` and `>`.
const SYMBOLS: &[&str] = &[
    "|>", "->", "<-", "==", "!=", "<=", ">=", "&&", "||", "..", "(", ")", "{", "}", "[", "]", "<",
    ">", "=", "+", "-", "*", "/", "%", "!", "?", ",", ".", ":", "|", "&", "@", "#",
];

/// All tokens of the text; the last one is [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut after_newline = true;
    while let Some(rest) = text.get(at..) {
        let Some(first) = rest.chars().next() else { break };
        if first.is_whitespace() {
            after_newline |= first == '\n';
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (kind, length) = next(rest, first);
        if let Some(kind) = kind {
            found.push(Token { kind, start: at, end: at + length, after_newline });
            after_newline = false;
        }
        at += length;
    }
    let end = text.len();
    found.push(Token { kind: TokenKind::End, start: end, end, after_newline: true });
    found
}

/// The kind and length of what begins here; no kind for a character that Aiken does not know.
fn next(rest: &str, first: char) -> (Option<TokenKind>, usize) {
    if first.is_ascii_alphabetic() || first == '_' {
        let length = word(rest);
        let kind = if first.is_ascii_uppercase() { TokenKind::Upper } else { TokenKind::Lower };
        return (Some(kind), length);
    }
    if first.is_ascii_digit() {
        return (Some(TokenKind::Int), word(rest));
    }
    let prefix = usize::from(rest.starts_with("@\"") || rest.starts_with("#\""));
    if rest.get(prefix..).is_some_and(|quoted| quoted.starts_with('"')) {
        return (Some(TokenKind::Text), prefix + quoted(rest.get(prefix..).unwrap_or_default()));
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    (symbol.map(|_| TokenKind::Symbol), symbol.map_or(first.len_utf8(), |symbol| symbol.len()))
}

fn word(rest: &str) -> usize {
    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// The length of a quoted text with its quotes. One that is never closed ends with its line.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            b'\n' => return at,
            _ => {}
        }
    }
    rest.len()
}
