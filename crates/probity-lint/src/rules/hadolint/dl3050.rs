//! Labels that nobody asked for.

use probity_finding::Finding;

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::labels,
};

rule! {
    /// # What it does
    ///
    /// Flags a label that is not in the list of allowed labels.
    ///
    /// The option `labels` lists the allowed labels. If the list is empty, the rule reports
    /// nothing. The rule ignores keys with a variable.
    ///
    /// # Why it is bad
    ///
    /// A misspelled label adds a key that nobody expects, and the intended key is missing.
    ///
    /// # Examples
    ///
    /// With `labels = ["maintainer"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL maintaner="me@example.com"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL maintainer="me@example.com"
    /// ```
    Dl3050 {
        name: "hadolint/DL3050",
        severity: Info,
        category: BestPractice,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Allowed labels.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3050",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let listed = context.list("labels");
    for label in labels::all(context) {
        if !listed.is_empty() && !listed.contains(&label.key) && !label.key.contains('$') {
            let message = format!("label {} is not among those allowed", label.key);
            findings.push(context.finding(label.key_span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3050";

    #[test]
    fn the_key_is_underlined() {
        let text = "FROM a\nLABEL k=1 \"l\"=2\nLABEL $m=3\n";
        let said = ("\"l\"".to_owned(), "label l is not among those allowed".to_owned());
        assert_eq!(flagged(RULE, text, &["k"]), [said]);
        assert_eq!(flagged(RULE, text, &["k", "l"]), []);
        assert_eq!(flagged(RULE, text, &[]), []);
    }
}
