//! Labels that should be a time of RFC 3339 and are not.

use jiff::Timestamp;
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
    /// Checks that configured labels contain an RFC 3339 timestamp.
    ///
    /// The date must exist: February 31 does not. The option `labels` lists the labels to check. If
    /// the list is empty, the rule reports nothing. The rule ignores a value with a variable.
    /// DL3051 reports an empty value.
    ///
    /// # Why it is bad
    ///
    /// A program that reads the label expects an RFC 3339 timestamp and cannot use another value.
    ///
    /// # Examples
    ///
    /// With `labels = ["org.opencontainers.image.created"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.created="2024-05-01"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.created="2024-05-01T12:00:00Z"
    /// ```
    Dl3053 {
        name: "hadolint/DL3053",
        severity: Warning,
        category: Correctness,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Labels whose value must be an RFC 3339 timestamp.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3053",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    labels::flag_values(context, is_time, "a time of RFC 3339", findings);
}

/// `2024-05-01T12:00:00.5+02:00`. jiff knows the calendar, and takes more than RFC 3339 has.
fn is_time(value: &str) -> bool {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let Some((head, tail)) = value.as_bytes().split_at_checked(shape.len()) else { return false };
    let fits = head.iter().zip(shape).all(|(byte, wanted)| match wanted {
        b'd' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b't'),
        wanted => byte == wanted,
    });
    fits && is_zone(without_fraction(tail)) && value.parse::<Timestamp>().is_ok()
}

fn without_fraction(tail: &[u8]) -> &[u8] {
    let [b'.', rest @ ..] = tail else { return tail };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 { tail } else { rest.get(digits..).unwrap_or_default() }
}

fn is_zone(zone: &[u8]) -> bool {
    match zone {
        [b'Z' | b'z'] => true,
        // jiff knows offsets of more than a day.
        [b'+' | b'-', a, b, b':', c, d] => {
            let are_digits = [a, b, c, d].iter().all(|byte| byte.is_ascii_digit());
            are_digits && (*a, *b) <= (b'2', b'3') && *c <= b'5'
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3053";

    #[test]
    fn the_value_is_underlined() {
        for wrong in [
            "2024-05-01",
            "2024-13-01T12:00:00Z",
            "2024-05-01T12:00:00",
            "2024-05-01T12:00:00.Z",
            "2024-05-01T25:00:00Z",
            "2024-02-31T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-04-31T00:00:00Z",
            "2024-05-01 12:00:00Z",
            "2024-05-01T12:00Z",
            "20240501T120000Z",
            "2024-05-01T12:00:00+24:00",
            "now",
        ] {
            let text = format!("FROM a\nLABEL other=1 x=\"{wrong}\"\n");
            let said = "label x is not a time of RFC 3339".to_owned();
            assert_eq!(flagged(RULE, &text, &["x"]), [(format!("\"{wrong}\""), said)]);
            assert_eq!(flagged(RULE, &text, &["y"]), []);
        }
    }

    #[test]
    fn right_open_and_empty_values_are_silent() {
        for right in [
            "2024-05-01T12:00:00Z",
            "2024-05-01T12:00:00.25+02:00",
            "2024-02-29T12:00:00Z",
            "2024-05-01t12:00:60z",
            "$V",
            "",
        ] {
            assert_eq!(
                flagged(RULE, &format!("FROM a\nLABEL x=\"{right}\"\n"), &["x"]),
                [],
                "{right}"
            );
        }
    }
}
