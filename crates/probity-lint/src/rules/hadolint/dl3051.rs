//! Labels without a value.

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
    /// Checks that configured labels are not empty.
    ///
    /// The option `labels` lists the labels to check. If the list is empty, the rule reports
    /// nothing.
    ///
    /// # Why it is bad
    ///
    /// An empty label gives no information.
    ///
    /// # Examples
    ///
    /// With `labels = ["maintainer"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL maintainer=""
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL maintainer="me@example.com"
    /// ```
    Dl3051 {
        name: "hadolint/DL3051",
        severity: Warning,
        category: BestPractice,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Labels that must not be empty.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3051",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let listed = context.list("labels");
    for label in labels::all(context) {
        if listed.contains(&label.key) && label.value.trim().is_empty() {
            let message = format!("label {} is empty", label.key);
            findings.push(context.finding(label.value_span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3051";

    #[test]
    fn the_value_is_underlined() {
        let text = "FROM a\nLABEL k=\"\" l=' ' m=1 n=$X\n";
        let said = |text: &str, key: &str| (text.to_owned(), format!("label {key} is empty"));
        assert_eq!(
            flagged(RULE, text, &["k", "l", "m", "n"]),
            [said("\"\"", "k"), said("' '", "l")]
        );
        assert_eq!(flagged(RULE, text, &["m"]), []);
    }
}
