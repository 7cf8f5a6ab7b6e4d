//! What a check found, and where.

use std::borrow::Cow;

use crate::{Fix, Severity, Span};

/// One thing that is wrong with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `namespace/name`, as configurations and directives spell it.
    pub rule: Cow<'static, str>,
    /// The name that another tool has for the same finding.
    pub alias: Option<&'static str>,
    pub severity: Severity,
    /// Where it is; `None` when it is true of the file as a whole.
    pub span: Option<Span>,
    /// Further places of the same thing, each of which needs the same change.
    pub also_at: Vec<Span>,
    /// What is wrong, why it matters, what to do; one sentence or two, no line breaks.
    pub message: String,
    /// More than fits a line: evidence, figures, consequences.
    pub detail: Option<String>,
    /// Where the rule is documented.
    pub docs: Option<Cow<'static, str>>,
    /// Other places that explain this one.
    pub related: Vec<Related>,
    /// Ways to mend it, the preferred one first.
    pub fixes: Vec<Fix>,
}

/// Another place that helps to understand a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub span: Span,
    pub message: String,
}

impl Finding {
    /// A finding at `span`, with nothing but its message.
    #[must_use]
    pub fn new(
        rule: impl Into<Cow<'static, str>>,
        severity: Severity,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self { span: Some(span), ..Self::of_file(rule, severity, message) }
    }

    /// A finding about the file as a whole.
    #[must_use]
    pub fn of_file(
        rule: impl Into<Cow<'static, str>>,
        severity: Severity,
        message: impl Into<String>,
    ) -> Self {
        Self {
            rule: rule.into(),
            alias: None,
            severity,
            span: None,
            also_at: Vec::new(),
            message: message.into(),
            detail: None,
            docs: None,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }

    #[must_use]
    pub fn with_alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    #[must_use]
    pub fn with_more_places(mut self, places: impl IntoIterator<Item = Span>) -> Self {
        self.also_at.extend(places);
        self
    }

    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    #[must_use]
    pub fn with_docs(mut self, docs: impl Into<Cow<'static, str>>) -> Self {
        self.docs = Some(docs.into());
        self
    }

    #[must_use]
    pub fn with_related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.reserve_exact(1);
        self.related.push(Related { span, message: message.into() });
        self
    }

    #[must_use]
    pub fn with_fix(mut self, fix: Fix) -> Self {
        // A finding has one or two, and a list makes room for four.
        self.fixes.reserve_exact(1);
        self.fixes.push(fix);
        self
    }

    /// Every place of the finding, the first one first; none for a finding of the whole file.
    pub fn spans(&self) -> impl Iterator<Item = Span> {
        self.span.into_iter().chain(self.also_at.iter().copied())
    }

    /// The order of a report: findings of the whole file first, then by place, then by rule.
    #[must_use]
    pub fn report_order(&self, other: &Self) -> std::cmp::Ordering {
        self.span
            .cmp(&other.span)
            .then_with(|| self.rule.cmp(&other.rule))
            .then_with(|| self.message.cmp(&other.message))
    }
}
