//! YAML as a tree in which every value knows its place.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{Location, Spanned};

/// A value and where it stands; both counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl<T> Placed<T> {
    /// Another value at the same place.
    pub(super) fn with<U>(&self, value: U) -> Placed<U> {
        Placed { value, line: self.line, column: self.column }
    }
}

/// A value of any kind. Numbers are the text that they are written as, more or less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Text(String),
    List(Vec<Placed<Self>>),
    Map(Vec<(Placed<String>, Placed<Self>)>),
}

/// The whole text, or the place and the reason why it cannot be read.
pub(super) fn parse(text: &str) -> Result<Placed<Node>, (usize, usize, String)> {
    if text.trim().is_empty() {
        return Ok(Placed { value: Node::Null, line: 1, column: 1 });
    }
    let root: Result<Spanned<Node>, _> = serde_saphyr::from_str(text);
    root.map(placed).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), line_and_column);
        let message = error.to_string();
        // What follows the first line is an excerpt of the file, and the place stands before it already.
        let first = message.lines().next().unwrap_or_default();
        let told = first.strip_prefix("error: line ").and_then(|rest| rest.split_once(": "));
        let told = told.map_or(first, |(_, message)| message);
        // The parser's advice is for those who write Rust.
        (line, column, told.split(", set ").next().unwrap_or(told).to_owned())
    })
}

fn placed<T>(spanned: Spanned<T>) -> Placed<T> {
    let (line, column) = line_and_column(spanned.referenced);
    Placed { value: spanned.value, line, column }
}

fn line_and_column(location: Location) -> (usize, usize) {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    (number(location.line()), number(location.column()))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        Node::deserialize(inner)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Text(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Text(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Node>>()? {
            list.push(placed(item));
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<String>, Spanned<Node>>()? {
            map.push((placed(key), placed(value)));
        }
        Ok(Node::Map(map))
    }
}
