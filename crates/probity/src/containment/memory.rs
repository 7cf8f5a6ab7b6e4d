//! An amount of memory, as container engines write it: `512m`, `4g`.

use serde::{Deserialize, Deserializer, de::Error as _};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory(pub(super) u64);

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong =
            || D::Error::custom(format!("`{text}` is not an amount of memory such as 512m"));
        parse(&text).map(Memory).ok_or_else(wrong)
    }
}

fn parse(text: &str) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::parse;

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
        }
    }
}
