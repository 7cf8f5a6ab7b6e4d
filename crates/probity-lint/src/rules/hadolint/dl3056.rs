//! Labels that should be a semantic version and are not.

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
    /// Checks that configured labels contain a semantic version.
    ///
    /// The option `labels` lists the labels to check. If the list is empty, the rule reports
    /// nothing. The rule ignores a value with a variable. DL3051 reports an empty value.
    ///
    /// # Why it is bad
    ///
    /// A program that reads the label expects a semantic version and cannot use another value.
    ///
    /// # Examples
    ///
    /// With `labels = ["org.opencontainers.image.version"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.version="1"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.version="1.0.0"
    /// ```
    Dl3056 {
        name: "hadolint/DL3056",
        severity: Warning,
        category: Correctness,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Labels whose value must be a semantic version.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3056",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    labels::flag_values(context, is_version, "a semantic version", findings);
}

/// Three numbers, then a pre-release and a build.
fn is_version(value: &str) -> bool {
    let (rest, build) = value.split_once('+').map_or((value, None), |(a, b)| (a, Some(b)));
    let (core, pre) = rest.split_once('-').map_or((rest, None), |(a, b)| (a, Some(b)));
    let numbers: Vec<&str> = core.split('.').collect();
    let is_number = |it: &str| {
        !it.is_empty()
            && it.bytes().all(|byte| byte.is_ascii_digit())
            && (it == "0" || !it.starts_with('0'))
    };
    let is_word = |it: &str| {
        !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_pre =
        |it: &str| is_word(it) && (is_number(it) || !it.bytes().all(|byte| byte.is_ascii_digit()));
    numbers.len() == 3
        && numbers.iter().all(|number| is_number(number))
        && pre.is_none_or(|pre| pre.split('.').all(is_pre))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3056";

    #[test]
    fn the_value_is_underlined() {
        for wrong in ["1", "v1.0.0", "1.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+"] {
            let text = format!("FROM a\nLABEL other=1 x=\"{wrong}\"\n");
            let said = "label x is not a semantic version".to_owned();
            assert_eq!(flagged(RULE, &text, &["x"]), [(format!("\"{wrong}\""), said)]);
            assert_eq!(flagged(RULE, &text, &["y"]), []);
        }
    }

    #[test]
    fn right_open_and_empty_values_are_silent() {
        for right in ["1.0.0", "0.0.1-rc.1+build.7", "1.2.3--x", "$V", ""] {
            assert_eq!(
                flagged(RULE, &format!("FROM a\nLABEL x=\"{right}\"\n"), &["x"]),
                [],
                "{right}"
            );
        }
    }
}
