//! Durations as Go writes them: `1h30m`, `1.5s`, `300ms`.

/// Why BuildKit would refuse the duration of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadDuration<'a> {
    #[error("duration {text:?} of --{flag} has no unit, write it like 30s or 1m30s")]
    NoUnit { flag: &'a str, text: &'a str },
    #[error("duration {text:?} of --{flag} is not valid, write it like 30s or 1m30s")]
    NotDuration { flag: &'a str, text: &'a str },
    #[error("--{flag} cannot be less than 1ms")]
    TooShort { flag: &'a str },
}

/// Checks the duration of a flag. Zero means the default; anything else must be a millisecond at
/// least.
pub(super) fn check<'a>(flag: &'a str, text: &'a str) -> Result<(), BadDuration<'a>> {
    match seconds(text) {
        Some(seconds) if seconds == 0.0 || seconds >= 0.001 => Ok(()),
        Some(_) => Err(BadDuration::TooShort { flag }),
        None if text.parse::<f64>().is_ok() => Err(BadDuration::NoUnit { flag, text }),
        None => Err(BadDuration::NotDuration { flag, text }),
    }
}

/// What Go can hold, in seconds.
const LONGEST: f64 = 9_223_372_036.854_776;

fn seconds(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(number_end);
        let unit_end = behind.find(|c: char| c.is_ascii_digit() || c == '.');
        let (unit, behind) = behind.split_at(unit_end.unwrap_or(behind.len()));
        if !number.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        // Go takes `.5` and `5.`, as does this parser; two points are wrong for both.
        total += number.parse::<f64>().ok()? * unit_in_seconds(unit)?;
        rest = behind;
    }
    (total <= LONGEST).then_some(sign * total)
}

fn unit_in_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}
