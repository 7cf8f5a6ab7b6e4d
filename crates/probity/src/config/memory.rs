//! An amount of memory, as container engines write it: `512m`, `4g`.

/// The JSON Schema's pattern of what [`parse`] reads.
pub(crate) const PATTERN: &str = "^[0-9]*[1-9][0-9]*([bkmgtBKMGT]|[kmgtKMGT][bB])?$";

/// Reads an amount; none when malformed, zero or out of range.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: u64 = match lower.strip_prefix(digits)? {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|bytes| *bytes > 0)
}

/// Writes an amount so that [`parse`] reads the same back.
pub(crate) fn render(bytes: u64) -> String {
    let units = [(40, "t"), (30, "g"), (20, "m"), (10, "k")];
    let fitting = units.into_iter().find(|(shift, _)| bytes.trailing_zeros() >= *shift);
    match fitting {
        Some((shift, unit)) if bytes > 0 => format!("{}{unit}", bytes >> shift),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, render};

    #[test]
    fn amounts_are_read_as_engines_read_them() {
        for (text, bytes) in [
            ("512m", Some(512 << 20)),
            ("4G", Some(4 << 30)),
            ("1024", Some(1024)),
            ("0", None),
            ("4 g", None),
            ("-1g", None),
            ("g", None),
            ("1x", None),
            ("99999999999t", None),
        ] {
            assert_eq!(parse(text), bytes, "{text}");
            assert_eq!(bytes.and_then(|bytes| parse(&render(bytes))), bytes, "{text}");
        }
    }
}
