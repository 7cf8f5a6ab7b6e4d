//! Adding one entry to an object of a settings file, and changing nothing else.

use std::ops::Range;

use serde_json::Value;

use super::{
    Node, NodeKind, Object, SyntaxError,
    layout::{Layout, Tree, after_comments, line_indent},
    parse, start,
};

/// What is wanted: `{TABLE: {NAME: {FIELDS}}}`.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key of the settings that lists agents.
    pub(crate) table: &'static str,
    pub(crate) name: String,
    /// In the order in which they are written.
    pub(crate) fields: Vec<(&'static str, Value)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// The text has the entry already.
    Same,
    Added(String),
    /// An older entry of ours has new values.
    Updated(String),
}

/// Why a text was left alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InsertError {
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    #[error("expected an object")]
    NotAnObject { at: usize },
    #[error("the key `{key}` appears twice")]
    Twice { at: usize, key: String },
    #[error("`{name}` already exists and runs another command")]
    Taken { at: usize, name: String },
    #[error("the entry cannot be added without changing something else")]
    NotFaithful,
}

impl InsertError {
    /// The byte offset.
    pub(crate) fn at(&self) -> usize {
        match self {
            Self::Syntax(SyntaxError { at, .. })
            | Self::NotAnObject { at }
            | Self::Twice { at, .. }
            | Self::Taken { at, .. } => *at,
            Self::NotFaithful => 0,
        }
    }
}

impl Entry {
    fn fields(&self) -> Tree<'_> {
        let fields = self.fields.iter().map(|(key, value)| (*key, Tree::Leaf(value)));
        Tree::Object(fields.collect())
    }

    fn table(&self) -> Tree<'_> {
        Tree::Object(vec![(self.name.as_str(), self.fields())])
    }

    /// The whole setting, for a file that has nothing else.
    pub(crate) fn render(&self) -> String {
        Tree::Object(vec![(self.table, self.table())]).render(&Layout::usual(), "")
    }
}

/// The text with the entry in it. An entry of that name which `is_ours` gets our fields and keeps
/// all others; one that is not is an error.
pub(crate) fn insert(
    text: &str,
    entry: &Entry,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<Inserted, InsertError> {
    let Some(root) = parse(text)? else {
        let mut whole = text.to_owned();
        // After comments it begins on a line of its own.
        if !text.ends_with('\n') && text.len() > start(text) {
            whole.push('\n');
        }
        whole.push_str(&entry.render());
        whole.push('\n');
        return Ok(Inserted::Added(whole));
    };
    let mut edits = Edits { text, layout: Layout::of(text, &root), edits: Vec::new() };
    let is_update = edits.plan(&root, entry, is_ours)?;
    if edits.edits.is_empty() {
        return Ok(Inserted::Same);
    }
    let after = edits.apply();
    if !is_faithful(&root.value(text), &after, entry) {
        return Err(InsertError::NotFaithful);
    }
    Ok(if is_update { Inserted::Updated(after) } else { Inserted::Added(after) })
}

/// Whether the new text has the entry, and otherwise what the old one had.
fn is_faithful(before: &Value, after: &str, entry: &Entry) -> bool {
    let Ok(Some(root)) = parse(after) else { return false };
    let (mut before, mut after) = (before.clone(), root.value(after));
    let found = after.get(entry.table).and_then(|table| table.get(&entry.name));
    let is_there = entry
        .fields
        .iter()
        .all(|(key, value)| found.and_then(|fields| fields.get(key)) == Some(value));
    for side in [&mut before, &mut after] {
        let Some(root) = side.as_object_mut() else { return false };
        // A table that only this entry is in may be new.
        let table = root.entry(entry.table).or_insert_with(|| Value::Object(Default::default()));
        if let Some(table) = table.as_object_mut() {
            table.remove(&entry.name);
        }
    }
    is_there && before == after
}

struct Edits<'a> {
    text: &'a str,
    layout: Layout,
    edits: Vec<(Range<usize>, String)>,
}

impl Edits<'_> {
    /// Finds the place of the entry; says whether an old one of ours is changed instead.
    fn plan(
        &mut self,
        root: &Node,
        entry: &Entry,
        is_ours: impl Fn(&Value) -> bool,
    ) -> Result<bool, InsertError> {
        let Some(table) = root.object()?.only(entry.table)? else {
            self.add(root, entry.table, &entry.table())?;
            return Ok(false);
        };
        let Some(found) = table.object()?.only(&entry.name)? else {
            self.add(table, &entry.name, &entry.fields())?;
            return Ok(false);
        };
        let value = found.value(self.text);
        let taken = || InsertError::Taken { at: found.span.start, name: entry.name.clone() };
        let is_same = |(key, wanted): &(&str, Value)| value.get(key) == Some(wanted);
        if entry.fields.iter().all(is_same) {
            return Ok(false);
        }
        if !is_ours(&value) {
            return Err(taken());
        }
        for (key, wanted) in &entry.fields {
            let old = found.object()?.only(key)?.ok_or_else(taken)?;
            if old.value(self.text) != *wanted {
                self.edits.push((old.span.clone(), Tree::Leaf(wanted).render(&self.layout, "")));
            }
        }
        Ok(true)
    }

    /// Adds a member after the last one of an object.
    fn add(&mut self, node: &Node, key: &str, value: &Tree<'_>) -> Result<(), InsertError> {
        let object = node.object()?;
        let (inner, close) = (node.span.start + 1, node.span.end - 1);
        let outside = line_indent(self.text, node.span.start);
        let inside = self.layout.deeper(outside);
        let is_one_line = !self.text.get(inner..close).is_some_and(|text| text.contains('\n'));
        let newline = self.layout.newline;
        let Some(last) = object.members.last() else {
            let at = after_comments(self.text, inner, close);
            let new = format!("{newline}{inside}{}", self.layout.member(key, value, &inside));
            // A closing brace on the line of the opening one moves to a line of its own.
            self.edits.push(if is_one_line {
                (at..close, format!("{new}{newline}{outside}"))
            } else {
                (at..at, new)
            });
            return Ok(());
        };
        let end = object.trailing_comma.unwrap_or(last.value.span.end);
        let had_comma = object.trailing_comma.is_some();
        if is_one_line {
            let member = Layout::one_line().member(key, value, "");
            let new = if had_comma { format!(" {member},") } else { format!(", {member}") };
            self.edits.push((end..end, new));
            return Ok(());
        }
        let indent = line_indent(self.text, last.key_span.start);
        let begins_line = self.text.get(..last.key_span.start).is_some_and(|before| {
            before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
        });
        let indent = if begins_line { indent } else { &inside };
        let member = self.layout.member(key, value, indent);
        let comma = if had_comma { "," } else { "" };
        if !had_comma {
            self.edits.push((end..end, ",".to_owned()));
        }
        let at = after_comments(self.text, end, close);
        self.edits.push((at..at, format!("{newline}{indent}{member}{comma}")));
        Ok(())
    }

    fn apply(self) -> String {
        let mut after = self.text.to_owned();
        // From the end, so that earlier places stay where they are.
        for (span, new) in self.edits.into_iter().rev() {
            after.replace_range(span, &new);
        }
        after
    }
}

impl Node {
    fn object(&self) -> Result<&Object, InsertError> {
        match &self.kind {
            NodeKind::Object(object) => Ok(object),
            NodeKind::Array(_) | NodeKind::Scalar => {
                Err(InsertError::NotAnObject { at: self.span.start })
            }
        }
    }
}

impl Object {
    /// The value of a key that must not appear twice: editors disagree which one counts.
    fn only(&self, key: &str) -> Result<Option<&Node>, InsertError> {
        let mut found = self.members.iter().filter(|member| member.key == key);
        let first = found.next();
        match found.next() {
            Some(second) => {
                Err(InsertError::Twice { at: second.key_span.start, key: key.to_owned() })
            }
            None => Ok(first.map(|member| &member.value)),
        }
    }
}
