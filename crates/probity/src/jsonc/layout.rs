//! How new text is laid out so that it looks like the text around it.

use serde_json::Value;

use super::{Node, NodeKind};

/// A value to write, with the order of its keys.
pub(super) enum Tree<'a> {
    Object(Vec<(&'a str, Tree<'a>)>),
    Leaf(&'a Value),
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Empty if everything goes on one line.
    pub(super) newline: &'static str,
    unit: String,
}

impl Layout {
    pub(super) fn usual() -> Self {
        Self { newline: "\n", unit: "  ".to_owned() }
    }

    pub(super) fn one_line() -> Self {
        Self { newline: "", unit: String::new() }
    }

    /// The newlines of a text, and the indentation of its first key.
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let first_line = text.split_inclusive('\n').next().unwrap_or_default();
        let newline = if first_line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let NodeKind::Object(object) = &root.kind else { return Self { newline, ..Self::usual() } };
        let outside = line_indent(text, root.span.start);
        let first = object.members.first().map(|member| line_indent(text, member.key_span.start));
        let unit = first.and_then(|indent| indent.strip_prefix(outside)).unwrap_or_default();
        let unit = if unit.is_empty() { Self::usual().unit } else { unit.to_owned() };
        Self { newline, unit }
    }

    pub(super) fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit)
    }

    /// A key with its value, as it stands at this indentation.
    pub(super) fn member(&self, key: &str, value: &Tree<'_>, indent: &str) -> String {
        format!("{}: {}", Value::from(key), value.render(self, indent))
    }
}

impl Tree<'_> {
    pub(super) fn render(&self, layout: &Layout, indent: &str) -> String {
        let members = match self {
            // Arrays of arguments are short.
            Self::Leaf(value) => return leaf(value),
            Self::Object(members) => members,
        };
        let inside = layout.deeper(indent);
        let members: Vec<String> =
            members.iter().map(|(key, value)| layout.member(key, value, &inside)).collect();
        let newline = layout.newline;
        if newline.is_empty() {
            return format!("{{ {} }}", members.join(", "));
        }
        let members = members.join(&format!(",{newline}{inside}"));
        format!("{{{newline}{inside}{members}{newline}{indent}}}")
    }
}

fn leaf(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// What a line begins with, up to the first character that is no space or tab.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let begin =
        text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let line = text.get(begin..).unwrap_or_default().trim_start_matches('\u{feff}');
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..length).unwrap_or_default()
}

/// Where the comments end that follow on the same line; what is added there does not part them from
/// what they are about.
pub(super) fn after_comments(text: &str, from: usize, limit: usize) -> usize {
    let mut at = from;
    while let Some(rest) = text.get(at..limit) {
        let comment = rest.trim_start_matches([' ', '\t']);
        let skipped = rest.len() - comment.len();
        if comment.starts_with("//") {
            let line = comment.split('\n').next().unwrap_or_default();
            return at + skipped + line.strip_suffix('\r').unwrap_or(line).len();
        }
        let block = comment.strip_prefix("/*").and_then(|inner| inner.find("*/"));
        match block.and_then(|end| comment.get(..end + 4)) {
            Some(block) if !block.contains('\n') => at += skipped + block.len(),
            _ => return at,
        }
    }
    at
}
