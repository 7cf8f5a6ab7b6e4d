//! Durations as people write them: `90s`, `1m30s`, `1.5h`.

use std::time::Duration;

/// What [`parse`] accepts but for zero, for the JSON Schema of the file.
pub(crate) const PATTERN: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";
/// What is a well-formed duration of no length.
pub(crate) const ZERO_PATTERN: &str = r"^(0+(\.0+)?(ms|s|m|h))+$";

/// Reads numbers with units, one after the other; none when malformed, zero or out of range.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at_checked(number_end)?;
        let unit_end = behind.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(unit_end)?;
        let unit = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        total = total.checked_add(part(number, unit)?)?;
        rest = behind;
    }
    (!total.is_zero()).then_some(total)
}

/// Writes a duration so that [`parse`] reads the same back, in whole milliseconds.
pub(crate) fn render(duration: Duration) -> String {
    let mut milliseconds = duration.as_millis();
    let mut text = String::new();
    for (name, unit) in UNITS {
        let unit = unit.as_millis();
        if milliseconds >= unit {
            text.push_str(&format!("{}{name}", milliseconds / unit));
            milliseconds %= unit;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

const UNITS: [(&str, Duration); 4] = [
    ("h", Duration::from_secs(3600)),
    ("m", Duration::from_secs(60)),
    ("s", Duration::from_secs(1)),
    ("ms", Duration::from_millis(1)),
];

fn part(number: &str, unit: Duration) -> Option<Duration> {
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
        None => (number, "0"),
    };
    let whole = unit.checked_mul(whole.parse().ok()?)?;
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    whole.checked_add(unit.mul_f64(fraction))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse, render};

    #[test]
    fn durations_are_read_and_written() {
        for (text, milliseconds, rendered) in [
            ("90s", 90_000, "1m30s"),
            ("1m30s", 90_000, "1m30s"),
            ("1.5h", 5_400_000, "1h30m"),
            ("250ms", 250, "250ms"),
            ("1h0m1s", 3_601_000, "1h1s"),
        ] {
            let duration = parse(text).unwrap();
            assert_eq!(duration, Duration::from_millis(milliseconds), "{text}");
            assert_eq!(render(duration), rendered, "{text}");
            assert_eq!(parse(rendered), Some(duration), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "90",
            "s",
            "-5s",
            "1d",
            "90 s",
            "1.s",
            ".5s",
            "1..5s",
            "0s",
            "0m0s",
            "9s9",
            "1é",
            "99999999999999999999h",
            "4294967295h4294967295h4294967295h9999999999h",
            "1S",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
