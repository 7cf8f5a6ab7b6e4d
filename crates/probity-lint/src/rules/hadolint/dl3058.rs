//! Labels that should be an email address and are not.

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
    /// Checks that configured labels contain a valid email address.
    ///
    /// The option `labels` lists the labels to check. If the list is empty, the rule reports
    /// nothing. The rule ignores a value with a variable. DL3051 reports an empty value.
    ///
    /// # Why it is bad
    ///
    /// A program that reads the label expects an email address and cannot use another value.
    ///
    /// # Examples
    ///
    /// With `labels = ["org.opencontainers.image.authors"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.authors="me"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.authors="me@example.com"
    /// ```
    Dl3058 {
        name: "hadolint/DL3058",
        severity: Warning,
        category: Correctness,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Labels whose value must be an email address.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3058",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    labels::flag_values(context, is_mail, "an email address", findings);
}

/// Something on both sides of one sign, without blanks, and a host of named parts.
fn is_mail(value: &str) -> bool {
    let Some((name, host)) = value.rsplit_once('@') else { return false };
    let is_plain = |text: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && !br#"@<>,":;()[]\"#.contains(&byte);
        !text.is_empty() && text.bytes().all(is_allowed)
    };
    let parts = || host.split('.');
    is_plain(name)
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
        && is_plain(host)
        && parts().all(|part| {
            let is_named = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            !part.is_empty() && is_named && !part.starts_with('-') && !part.ends_with('-')
        })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3058";

    #[test]
    fn the_value_is_underlined() {
        for wrong in ["me", "a@", "@b", "a b@c", "a@b..c", "a@@b", ".a@b"] {
            let text = format!("FROM a\nLABEL other=1 x=\"{wrong}\"\n");
            let said = "label x is not an email address".to_owned();
            assert_eq!(flagged(RULE, &text, &["x"]), [(format!("\"{wrong}\""), said)]);
            assert_eq!(flagged(RULE, &text, &["y"]), []);
        }
    }

    #[test]
    fn right_open_and_empty_values_are_silent() {
        for right in ["a@b.c", "first.last+tag@sub.example.com", "a@localhost", "$V", ""] {
            assert_eq!(
                flagged(RULE, &format!("FROM a\nLABEL x=\"{right}\"\n"), &["x"]),
                [],
                "{right}"
            );
        }
    }
}
