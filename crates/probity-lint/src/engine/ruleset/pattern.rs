//! How rules are named: in full, bare, by namespace, or all at once.

/// A rule's name, `namespace/*`, a bare name, or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn matches(&self, rule: &str) -> bool {
        match self.0.strip_suffix("/*") {
            Some(namespace) => rule.split_once('/').is_some_and(|(own, _)| own == namespace),
            None => self.0 == "*" || same_rule(&self.0, rule),
        }
    }
}

/// Whether two names mean one rule: equal, or equal but for a namespace that one of them lacks.
pub(crate) fn same_rule(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let bare_in = |bare: &str, full: &str| {
        !bare.contains('/')
            && full.split_once('/').is_some_and(|(_, name)| name.eq_ignore_ascii_case(bare))
    };
    bare_in(a, b) || bare_in(b, a)
}
