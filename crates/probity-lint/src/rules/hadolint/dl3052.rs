//! Labels that should be an address and are not.

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
    /// Checks that configured labels contain a valid URL.
    ///
    /// The option `labels` lists the labels to check. If the list is empty, the rule reports
    /// nothing. The rule ignores a value with a variable. DL3051 reports an empty value.
    ///
    /// # Why it is bad
    ///
    /// A program that reads the label expects a URL and cannot use another value.
    ///
    /// # Examples
    ///
    /// With `labels = ["org.opencontainers.image.url"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.url="example"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.url="https://example.com/"
    /// ```
    Dl3052 {
        name: "hadolint/DL3052",
        severity: Warning,
        category: Correctness,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Labels whose value must be a URL.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3052",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    labels::flag_values(context, is_address, "an address", findings);
}

/// A scheme, and a host behind it.
fn is_address(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let is_scheme =
        scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let port = host.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
    let is_port = port.is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !br#"<>"{}|\^`"#.contains(&byte);
    is_scheme
        && !host.is_empty()
        && is_port
        && value.bytes().all(is_plain)
        && has_whole_escapes(value)
}

/// Whether two hexadecimal digits follow every `%`.
fn has_whole_escapes(value: &str) -> bool {
    let is_escape = |rest: &str| {
        rest.get(..2).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    value.split('%').skip(1).all(is_escape)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3052";

    #[test]
    fn the_value_is_underlined() {
        for wrong in ["x", "://x", "http://", "http:/x", "1x://y", "http://a b"] {
            let text = format!("FROM a\nLABEL other=1 x=\"{wrong}\"\n");
            let said = "label x is not an address".to_owned();
            assert_eq!(flagged(RULE, &text, &["x"]), [(format!("\"{wrong}\""), said)]);
            assert_eq!(flagged(RULE, &text, &["y"]), []);
        }
    }

    #[test]
    fn right_open_and_empty_values_are_silent() {
        for right in ["http://a.b/", "https://x", "git+ssh://a@b/c?d#e", "$V", ""] {
            assert_eq!(
                flagged(RULE, &format!("FROM a\nLABEL x=\"{right}\"\n"), &["x"]),
                [],
                "{right}"
            );
        }
    }
}
