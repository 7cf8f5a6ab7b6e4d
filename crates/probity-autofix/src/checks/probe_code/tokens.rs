//! The code of a probe as words, texts, numbers and signs, with the container's variables in their places.

use crate::checks::endpoints::Endpoints;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Number(String),
    Sign(char),
}

impl Token {
    pub(super) fn is_word(&self, words: &[&str]) -> bool {
        matches!(self, Self::Word(word) if words.contains(&word.as_str()))
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }

    /// The value of a text or a number.
    fn value(&self) -> Option<&str> {
        match self {
            Self::Text(value) | Self::Number(value) => Some(value),
            Self::Word(_) | Self::Sign(_) => None,
        }
    }
}

/// How a language reads variables, writes texts, and joins them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Node,
    Python,
    Php,
    Ruby,
}

/// The tokens of a code; nothing where there is a sign that probes do not need, or a variable whose value
/// the file does not tell.
pub(super) fn tokens(syntax: Syntax, code: &str, endpoints: &Endpoints) -> Option<Vec<Token>> {
    let plain = split(syntax, code, endpoints)?;
    let known = with_variables(syntax, plain, endpoints)?;
    Some(joined(syntax, known))
}

fn split(syntax: Syntax, code: &str, endpoints: &Endpoints) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = code.trim();
    while let Some(first) = rest.chars().next() {
        let length = |is_part: fn(char) -> bool| {
            rest.find(|character| !is_part(character)).unwrap_or(rest.len())
        };
        let is_template = first == '`' && syntax == Syntax::Node;
        let end = match first {
            _ if matches!(first, '\'' | '"') || is_template => {
                let inner = rest.get(1..)?;
                let is_format = syntax == Syntax::Python && found.last() == Some(&word("f"));
                let opening = match (syntax, first) {
                    (Syntax::Node, '`') => "${",
                    (Syntax::Ruby, '"') => "#{",
                    (Syntax::Python, _) if is_format => "{",
                    _ => "",
                };
                let (text, end) = filled(syntax, inner, (first, opening), endpoints)?;
                if is_format {
                    found.pop();
                }
                found.push(Token::Text(text));
                end + 1
            }
            it if it.is_ascii_digit() => {
                let end = length(|character| character.is_ascii_digit() || character == '_');
                found.push(Token::Number(rest.get(..end)?.replace('_', "")));
                end
            }
            it if it.is_ascii_alphabetic() || it == '_' => {
                let end = length(|character| character.is_ascii_alphanumeric() || character == '_');
                found.push(word(rest.get(..end)?));
                end
            }
            it if it.is_whitespace() => first.len_utf8(),
            '(' | ')' | '{' | '}' | '[' | ']' | '.' | ',' | ';' | ':' | '?' | '!' | '=' | '<'
            | '>' | '&' | '@' | '|' | '+' => {
                found.push(Token::Sign(first));
                1
            }
            '$' if syntax == Syntax::Php => 1,
            _ => return None,
        };
        rest = rest.get(end..)?;
    }
    Some(found)
}

fn word(text: &str) -> Token {
    Token::Word(text.to_owned())
}

/// A text up to its closing quote, with the values of what it interpolates.
fn filled(
    syntax: Syntax,
    inner: &str,
    (quote, opening): (char, &str),
    endpoints: &Endpoints,
) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut place = 0;
    loop {
        let rest = inner.get(place..)?;
        if rest.starts_with(quote) {
            return Some((text, place + 1));
        }
        if !opening.is_empty() && rest.starts_with(opening) {
            let code = rest.get(opening.len()..)?;
            let end = code.find('}')?;
            let tokens = tokens(syntax, code.get(..end)?, endpoints)?;
            let [value] = tokens.as_slice() else { return None };
            text.push_str(value.value()?);
            place += opening.len() + end + 1;
            continue;
        }
        let sign = rest.chars().next()?;
        // An escape, or an interpolation of another kind.
        if sign == '\\' || (sign == '$' && syntax == Syntax::Php && quote == '"') {
            return None;
        }
        text.push(sign);
        place += sign.len_utf8();
    }
}

/// Puts the values in the places of `process.env.X`, `os.environ["X"]`, `getenv("X")` and `ENV["X"]`.
fn with_variables(syntax: Syntax, tokens: Vec<Token>, endpoints: &Endpoints) -> Option<Vec<Token>> {
    let mut known = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        match reference(syntax, rest) {
            Some(Reference { name, default, length }) => {
                let value = endpoints.variable(&name).map(str::to_owned).or(default)?;
                let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
                known.push(if is_number { Token::Number(value) } else { Token::Text(value) });
                rest = rest.get(length..)?;
            }
            None => {
                known.push(first.clone());
                rest = behind;
            }
        }
    }
    Some(known)
}

struct Reference {
    name: String,
    default: Option<String>,
    length: usize,
}

fn reference(syntax: Syntax, tokens: &[Token]) -> Option<Reference> {
    let is = |place: usize, wanted: &str| {
        tokens.get(place).is_some_and(|token| match token {
            Token::Word(word) => word == wanted,
            Token::Sign(sign) => wanted.chars().eq([*sign]),
            _ => false,
        })
    };
    let are = |start: usize, all: &[&str]| {
        all.iter().enumerate().all(|(at, wanted)| is(start + at, wanted))
    };
    let named = |place: usize| match tokens.get(place)? {
        Token::Text(name) | Token::Word(name) => Some(name.clone()),
        _ => None,
    };
    let value = |place: usize| tokens.get(place).and_then(Token::value).map(str::to_owned);
    // After the name, `)` or `, default)`.
    let call = |open: usize| {
        let name = named(open)?;
        if is(open + 1, ")") {
            return Some(Reference { name, default: None, length: open + 2 });
        }
        let is_default = is(open + 1, ",") && is(open + 3, ")");
        is_default.then(|| Reference { name, default: value(open + 2), length: open + 4 })
    };
    let index = |open: usize| {
        is(open + 1, "]")
            .then(|| Some(Reference { name: named(open)?, default: None, length: open + 2 }))?
    };
    let mut found = match syntax {
        Syntax::Node if are(0, &["process", ".", "env", "."]) => {
            Some(Reference { name: named(4)?, default: None, length: 5 })
        }
        Syntax::Node if are(0, &["process", ".", "env", "["]) => index(4),
        Syntax::Python if are(0, &["os", ".", "environ", "["]) => index(4),
        Syntax::Python if are(0, &["os", ".", "environ", ".", "get", "("]) => call(6),
        Syntax::Python if are(0, &["os", ".", "getenv", "("]) => call(4),
        Syntax::Php if are(0, &["getenv", "("]) => call(2),
        Syntax::Ruby if are(0, &["ENV", "["]) => index(2),
        Syntax::Ruby if are(0, &["ENV", ".", "fetch", "("]) => call(4),
        _ => None,
    }?;
    let operator: &[&str] = match syntax {
        Syntax::Node if is(found.length, "?") => &["?", "?"],
        Syntax::Node | Syntax::Ruby => &["|", "|"],
        Syntax::Python => &["or"],
        Syntax::Php => &["?", ":"],
    };
    let behind = found.length + operator.len();
    if are(found.length, operator)
        && let Some(default) = value(behind)
    {
        found.default = Some(default);
        found.length = behind + 1;
    }
    Some(found)
}

/// Texts that are joined by an operator become one.
fn joined(syntax: Syntax, tokens: Vec<Token>) -> Vec<Token> {
    let operator = if syntax == Syntax::Php { '.' } else { '+' };
    let mut result: Vec<Token> = Vec::new();
    for token in tokens {
        let is_joined = result.last().is_some_and(|last| last.is_sign(operator));
        let before = result.len().checked_sub(2).and_then(|index| result.get(index));
        let text = match (before, &token) {
            (Some(Token::Text(before)), Token::Text(it) | Token::Number(it)) if is_joined => {
                Some(format!("{before}{it}"))
            }
            _ => None,
        };
        match text {
            Some(text) => {
                result.truncate(result.len().saturating_sub(2));
                result.push(Token::Text(text));
            }
            None => result.push(token),
        }
    }
    result
}
