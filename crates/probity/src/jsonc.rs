//! JSON with comments and trailing commas, as editors write their settings: where everything is.
//!
//! The text stays what it was; nodes are ranges of it. An edit can then change one entry and leave
//! every other byte alone, which a parser that returns values cannot.

mod insert;
mod layout;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::Value;

pub(crate) use insert::{Entry, Inserted, insert};

/// Settings are not nested deeper, and a hostile file must not use up the stack.
const DEEPEST: usize = 128;

/// Where a text is not JSON with comments, as a byte offset, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub(crate) struct SyntaxError {
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: NodeKind,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Object(Object),
    /// The values of an array, or nothing for a string, a number or a word.
    Array(Vec<Node>),
    Scalar,
}

#[derive(Debug, Default)]
pub(crate) struct Object {
    pub(crate) members: Vec<Member>,
    /// Whether a comma comes after the last member, and where it ends.
    pub(crate) trailing_comma: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// The one value of a text, or none if there are only spaces and comments.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, SyntaxError> {
    let mut parser = Parser { text, at: start(text), depth: 0 };
    parser.skip()?;
    if parser.at == text.len() {
        return Ok(None);
    }
    let node = parser.value()?;
    parser.skip()?;
    if parser.at == text.len() { Ok(Some(node)) } else { Err(parser.error("the end of the file")) }
}

/// Where the text begins after a byte order mark.
fn start(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

impl Node {
    /// The value that an editor reads here. Of a key that appears twice the last one counts.
    pub(crate) fn value(&self, text: &str) -> Value {
        match &self.kind {
            NodeKind::Object(object) => object
                .members
                .iter()
                .map(|member| (member.key.clone(), member.value.value(text)))
                .collect(),
            NodeKind::Array(items) => items.iter().map(|item| item.value(text)).collect(),
            // The parser has read it with the same function.
            NodeKind::Scalar => {
                let scalar = text.get(self.span.clone()).unwrap_or_default();
                serde_json::from_str(scalar).unwrap_or_default()
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { at: self.at, expected }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest().as_bytes().first() == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// Passes over spaces and comments.
    fn skip(&mut self) -> Result<(), SyntaxError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            if blank > 0 {
                self.at += blank;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.get(2..).and_then(|inner| inner.find("*/"));
                self.at += end.ok_or_else(|| self.error("a comment that ends with */"))? + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Node, SyntaxError> {
        let begin = self.at;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("less nesting"));
        }
        let kind = if self.take(b'{') {
            NodeKind::Object(self.object()?)
        } else if self.take(b'[') {
            NodeKind::Array(self.array()?)
        } else {
            self.scalar()?;
            NodeKind::Scalar
        };
        self.depth -= 1;
        Ok(Node { span: begin..self.at, kind })
    }

    fn object(&mut self) -> Result<Object, SyntaxError> {
        let mut object = Object::default();
        loop {
            self.skip()?;
            if self.take(b'}') {
                return Ok(object);
            }
            if !object.members.is_empty() && object.trailing_comma.is_none() {
                return Err(self.error("a comma or `}`"));
            }
            let begin = self.at;
            if !self.rest().starts_with('"') {
                return Err(self.error("a key in double quotes or `}`"));
            }
            self.scalar()?;
            let key_span = begin..self.at;
            let quoted = self.text.get(key_span.clone()).unwrap_or_default();
            let key = serde_json::from_str(quoted).unwrap_or_default();
            self.skip()?;
            if !self.take(b':') {
                return Err(self.error("a colon"));
            }
            self.skip()?;
            let value = self.value()?;
            object.members.push(Member { key, key_span, value });
            self.skip()?;
            object.trailing_comma = if self.take(b',') { Some(self.at) } else { None };
        }
    }

    fn array(&mut self) -> Result<Vec<Node>, SyntaxError> {
        let mut items = Vec::new();
        let mut had_comma = true;
        loop {
            self.skip()?;
            if self.take(b']') {
                return Ok(items);
            }
            if !had_comma {
                return Err(self.error("a comma or `]`"));
            }
            items.push(self.value()?);
            self.skip()?;
            had_comma = self.take(b',');
        }
    }

    /// A string, a number or a word, which is whatever serde takes for one.
    fn scalar(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest();
        let length = match rest.strip_prefix('"') {
            Some(inner) => string_length(inner).ok_or_else(|| self.error("a string that ends"))?,
            None => rest
                .find(|char: char| !char.is_ascii_alphanumeric() && !"+-.".contains(char))
                .unwrap_or(rest.len()),
        };
        let scalar = rest.get(..length).unwrap_or_default();
        match serde_json::from_str::<Value>(scalar) {
            Ok(_) => {
                self.at += length;
                Ok(())
            }
            Err(_) => Err(self.error("a value")),
        }
    }
}

/// How long a string is, both quotes included, given what comes after its first.
fn string_length(inner: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'\n' => return None,
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}
