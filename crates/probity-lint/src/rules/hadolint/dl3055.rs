//! Labels that should be a git hash and are not.

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
    /// Checks that configured labels contain a Git hash.
    ///
    /// A hash has 7 to 40 or exactly 64 hexadecimal digits. The option `labels` lists the labels to
    /// check. If the list is empty, the rule reports nothing. The rule ignores a value with a
    /// variable. DL3051 reports an empty value.
    ///
    /// # Why it is bad
    ///
    /// A program that reads the label expects a Git hash and cannot use another value.
    ///
    /// # Examples
    ///
    /// With `labels = ["org.opencontainers.image.revision"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.revision="main"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.revision="2dbfae9"
    /// ```
    Dl3055 {
        name: "hadolint/DL3055",
        severity: Warning,
        category: Correctness,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Labels whose value must be a Git hash.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3055",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    labels::flag_values(context, is_hash, "a git hash", findings);
}

/// Abbreviated, whole, or of a repository with SHA-256.
fn is_hash(value: &str) -> bool {
    (matches!(value.len(), 7..=40 | 64)) && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3055";

    #[test]
    fn the_value_is_underlined() {
        for wrong in ["main", "2dbfae", "2dbfaeg"] {
            let text = format!("FROM a\nLABEL other=1 x=\"{wrong}\"\n");
            let said = "label x is not a git hash".to_owned();
            assert_eq!(flagged(RULE, &text, &["x"]), [(format!("\"{wrong}\""), said)]);
            assert_eq!(flagged(RULE, &text, &["y"]), []);
        }
    }

    #[test]
    fn right_open_and_empty_values_are_silent() {
        for right in ["2dbfae9", "0123456789012345678901234567890123456789", "$V", ""] {
            assert_eq!(
                flagged(RULE, &format!("FROM a\nLABEL x=\"{right}\"\n"), &["x"]),
                [],
                "{right}"
            );
        }
    }
}
