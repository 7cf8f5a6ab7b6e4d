//! Variables of a `.env` file.

use std::collections::BTreeMap;

/// The variables that the text of a `.env` file sets.
#[must_use]
pub fn env_variables(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let pairs = pairs.filter_map(|line| line.split_once('='));
    pairs.map(|(key, text)| (name(key), value(text))).collect()
}

fn name(text: &str) -> String {
    text.trim().trim_start_matches("export ").trim().to_owned()
}

/// A value without its quotes, or without the comment after it.
fn value(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        let quoted = text.strip_prefix(quote).and_then(|rest| rest.split_once(quote));
        if let Some((value, _)) = quoted {
            return value.to_owned();
        }
    }
    text.split_once(" #").map_or(text, |(value, _)| value.trim_end()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::env_variables;

    #[test]
    fn values_lose_their_quotes_and_comments() {
        let text = "# no=1\nA=1\nexport B = two # why\nC=\"a # b\"\nD='x' y\nE=\nnothing\n";
        let found = env_variables(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, [("A", "1"), ("B", "two"), ("C", "a # b"), ("D", "x"), ("E", "")]);
    }
}
