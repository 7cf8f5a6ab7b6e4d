//! Edits, the fixes made of them, and what an agent is asked for when no rule can fix.

use std::borrow::Cow;

use crate::Span;

/// How far a fix may be trusted, from the most to the least.
///
/// A run applies every fix at or below its ceiling. There is no default: whoever writes a fix
/// states the promise by the constructor it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applicability {
    /// Changes neither the image nor what runs in it, and keeps the comments.
    Safe,
    /// Most likely what is wanted, but the image may change.
    Suggestion,
    /// May change behaviour; needs a person's word. A model's fix is never better than this.
    Unsafe,
}

impl Applicability {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Suggestion => "suggestion",
            Self::Unsafe => "unsafe",
        }
    }
}

/// Replaces the text under `span` by `text`; an empty span inserts, an empty text deletes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

impl Edit {
    #[must_use]
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    #[must_use]
    pub fn insert(offset: usize, text: impl Into<String>) -> Self {
        Self::replace(Span::at(offset), text)
    }

    #[must_use]
    pub fn delete(span: Span) -> Self {
        Self::replace(span, "")
    }
}

/// Edits that belong together: all of them are applied, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an editor's menu would say it.
    pub title: Cow<'static, str>,
    pub applicability: Applicability,
    pub edits: Vec<Edit>,
    /// Orders objectives within one agent session and is shown in reports. The fix loop ignores it:
    /// no order between named rules.
    pub priority: i32,
    /// Set when the edits are not known yet and an agent has to propose them.
    pub objective: Option<Objective>,
}

impl Fix {
    /// Promises that the image and what runs in it stay the same.
    #[must_use]
    pub fn safe(title: impl Into<Cow<'static, str>>, edits: Vec<Edit>) -> Self {
        Self::of(title, Applicability::Safe, edits)
    }

    /// Promises only that this is most likely what is wanted.
    #[must_use]
    pub fn suggestion(title: impl Into<Cow<'static, str>>, edits: Vec<Edit>) -> Self {
        Self::of(title, Applicability::Suggestion, edits)
    }

    /// Promises nothing; behaviour may change.
    #[must_use]
    pub fn risky(title: impl Into<Cow<'static, str>>, edits: Vec<Edit>) -> Self {
        Self::of(title, Applicability::Unsafe, edits)
    }

    /// A fix that an agent has to propose; unsafe by definition.
    #[must_use]
    pub fn by_agent(
        title: impl Into<Cow<'static, str>>,
        priority: i32,
        objective: Objective,
    ) -> Self {
        Self {
            priority,
            objective: Some(objective),
            ..Self::of(title, Applicability::Unsafe, Vec::new())
        }
    }

    fn of(
        title: impl Into<Cow<'static, str>>,
        applicability: Applicability,
        edits: Vec<Edit>,
    ) -> Self {
        Self { title: title.into(), applicability, edits, priority: 0, objective: None }
    }
}

/// What an agent is asked to achieve, with the evidence that it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// The objective's name, as probity-autofix knows it.
    pub kind: &'static str,
    pub score: u32,
    pub signals: Vec<Signal>,
    /// The share of the file's lines that a proposal may change, in percent; any where it is absent.
    pub max_churn: Option<u32>,
}

/// One piece of evidence for an objective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// `package_install`, `build_step`, `download_install` and the like.
    pub kind: &'static str,
    /// The package manager or tool that gave it away.
    pub tool: Option<String>,
    pub packages: Vec<String>,
    /// The text itself, as short as it can be quoted.
    pub evidence: String,
    pub span: Span,
}
