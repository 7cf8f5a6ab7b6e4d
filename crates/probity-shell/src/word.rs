//! Words: what the shell splits a command into, with the parts that it expands.

use std::{borrow::Cow, slice};

use probity_finding::{Span, TextSlice};

/// A word as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(Form);

/// Nearly every word is one part that says the same as the word, and a file has a million of them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// A text of no quotes and no escapes, which is also the word's.
    Plain(Part),
    Other(Box<Composed>),
}

/// A word of several parts, or of one that is written in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Composed {
    span: Span,
    text: TextSlice,
    parts: Box<[Part]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Without the quotes around it.
    pub span: Span,
    pub quote: Quote,
    pub kind: PartKind,
}

/// The quotes around a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    None,
    /// `'…'` and `$'…'`
    Single,
    /// `"…"` and `$"…"`
    Double,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// What stays as it is, with the escapes resolved.
    Text(TextSlice),
    /// An unquoted pattern for file names (`*`, `?`, `[a-z]`), as it is written.
    Glob(TextSlice),
    /// An unquoted `{a,b}` or `{1..3}` where the dialect expands it, as it is written.
    Brace(TextSlice),
    /// An unquoted `~` or `~user` at the beginning, as it is written.
    Tilde(TextSlice),
    /// `$X`, `${X}`, `${X:-default}`
    Variable(Box<Variable>),
    /// `$(…)` or backticks; the block holds the commands.
    Substitution { block: usize, backticks: bool },
    /// `<(…)` or `>(…)`; the block holds the commands.
    ProcessSubstitution { block: usize },
    /// `$((…))`; the parts within it that are expanded.
    Arithmetic(Box<[Part]>),
}

/// An expansion of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// `X`, `1`, `@`, `?`
    pub name: String,
    pub operation: Operation,
    /// What stands behind the operator: the default, the pattern, the replacement.
    pub operand: Option<Word>,
}

/// What an expansion does with the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `$X`, `${X}`
    Value,
    /// `${X:-d}`; without the colon an empty value counts as set.
    Default { colon: bool },
    /// `${X:=d}`
    Assign { colon: bool },
    /// `${X:+d}`
    Alternative { colon: bool },
    /// `${X:?message}`
    Require { colon: bool },
    /// `${#X}`
    Length,
    /// `${X%…}`, `${X/…/…}`, `${X[0]}`, `${!X}` and whatever else there is.
    Other,
}

impl Word {
    pub(crate) fn new(span: Span, text: TextSlice, parts: Vec<Part>) -> Self {
        match <[Part; 1]>::try_from(parts) {
            Ok([part]) if part.says(span, &text) => Self(Form::Plain(part)),
            Ok(parts) => Self::composed(span, text, parts.into()),
            Err(parts) => Self::composed(span, text, parts.into()),
        }
    }

    fn composed(span: Span, text: TextSlice, parts: Box<[Part]>) -> Self {
        Self(Form::Other(Box::new(Composed { span, text, parts })))
    }

    #[must_use]
    pub fn span(&self) -> Span {
        match &self.0 {
            Form::Plain(part) => part.span,
            Form::Other(word) => word.span,
        }
    }

    /// As the shell sees it: joined over line continuations, quotes and escapes kept.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.0 {
            Form::Plain(part) => part.text().unwrap_or_default(),
            Form::Other(word) => &word.text,
        }
    }

    /// In the order of the source. Quotes are no parts; what stands in them is.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        match &self.0 {
            Form::Plain(part) => slice::from_ref(part),
            Form::Other(word) => &word.parts,
        }
    }

    /// The value, where it is the same on every run: no expansion, no pattern.
    #[must_use]
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        self.parts()
            .iter()
            .all(|part| matches!(part.kind, PartKind::Text(_)))
            .then(|| self.prefix())
    }

    /// The value with patterns left as they are written (`/var/lib/apt/lists/*`), where nothing but
    /// patterns is expanded.
    #[must_use]
    pub fn pattern(&self) -> Option<String> {
        let mut value = String::new();
        for part in self.parts() {
            value.push_str(part.text()?);
        }
        Some(value)
    }

    /// The constant beginning of the value, up to the first expansion or pattern.
    #[must_use]
    pub fn prefix(&self) -> Cow<'_, str> {
        let texts = || {
            self.parts().iter().map_while(|part| match &part.kind {
                PartKind::Text(text) => Some(text.as_str()),
                _ => None,
            })
        };
        // Rules ask this of every word, and few words have a second part.
        match texts().nth(1) {
            Some(_) => texts().collect(),
            None => texts().next().unwrap_or_default().into(),
        }
    }

    /// Whether the value is this, whatever the quotes.
    #[must_use]
    pub fn is(&self, value: &str) -> bool {
        self.literal().is_some_and(|literal| literal == value)
    }

    /// Whether any part of it is quoted; escapes do not count.
    #[must_use]
    pub fn is_quoted(&self) -> bool {
        self.text().contains(['"', '\''])
            && self.parts().iter().any(|part| part.quote != Quote::None)
            || self.parts().is_empty() && !self.text().is_empty()
    }

    /// The variables, those within operands and arithmetic included; those within `$(…)` belong to
    /// the commands there.
    #[must_use]
    pub fn variables(&self) -> Vec<(&Part, &Variable)> {
        let mut found = Vec::new();
        collect_variables(self.parts(), &mut found);
        found
    }

    /// `NAME=value`, as the words of `env` and `docker run -e` have it: the name.
    #[must_use]
    pub fn assigned_name(&self) -> Option<&str> {
        let (name, _) = self.text().split_once('=')?;
        let first = name.bytes().next()?;
        let valid = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (valid && !first.is_ascii_digit()).then_some(name)
    }
}

impl Part {
    /// Whether a word of this part alone, of that place and text, is nothing but the part.
    fn says(&self, span: Span, word: &str) -> bool {
        let is_plain = matches!(self.kind, PartKind::Text(_)) && self.quote == Quote::None;
        is_plain && self.span == span && self.text() == Some(word)
    }

    /// The text of a part that is no expansion of a variable or a command.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            PartKind::Text(text)
            | PartKind::Glob(text)
            | PartKind::Brace(text)
            | PartKind::Tilde(text) => Some(text),
            _ => None,
        }
    }
}

fn collect_variables<'w>(parts: &'w [Part], found: &mut Vec<(&'w Part, &'w Variable)>) {
    for part in parts {
        match &part.kind {
            PartKind::Variable(variable) => {
                found.push((part, variable));
                if let Some(operand) = &variable.operand {
                    collect_variables(operand.parts(), found);
                }
            }
            PartKind::Arithmetic(parts) => collect_variables(parts, found),
            _ => {}
        }
    }
}
