//! Writing a value so that BuildKit reads the very same value back.

use probity_dockerfile::{Expander, Facts, ImageContract, parse};

/// The value between double quotes, every character of it meant as it is; none where that cannot be
/// written.
pub(crate) fn quoted(value: &str, escape: char) -> Option<String> {
    let mut text = String::from("\"");
    for c in value.chars() {
        if c == '"' || c == '$' || c == escape {
            text.push(escape);
        }
        text.push(c);
    }
    text.push('"');
    let reads_as = Expander::new(escape, &|_| None).expand(&text).ok()?;
    (reads_as.text == value && !value.contains(['\n', '\r'])).then_some(text)
}

/// Whether two instructions of a stage mean the same, variables of the base image included.
pub(crate) fn mean_the_same(one: &str, other: &str, escape: char) -> bool {
    let contract = |instruction: &str| -> Option<ImageContract> {
        let text = format!("# escape={escape}\nFROM unknown\n{instruction}\n");
        let file = parse(&text);
        file.errors.is_empty().then(|| Facts::of(&file).contract().clone())
    };
    contract(one).is_some_and(|meant| contract(other) == Some(meant))
}

#[cfg(test)]
mod tests {
    use super::{mean_the_same, quoted};

    #[test]
    fn what_is_quoted_reads_back() {
        for escape in ['\\', '`'] {
            for value in ["", "a b", "a \"b\" 'c'", "$HOME", "C:\\dir\\", "`x`", "é", "a  $ b\\"] {
                let text = quoted(value, escape).unwrap();
                let word = format!("LABEL a={text}");
                let file = format!("# escape={escape}\nFROM a\n{word}\n");
                let parsed = probity_dockerfile::parse(&file);
                let facts = probity_dockerfile::Facts::of(&parsed);
                let entries = facts.final_runtime();
                let read: Vec<String> =
                    entries.entries().iter().map(|entry| entry.entry.value.to_string()).collect();
                assert_eq!(read, [value], "{word}");
            }
        }
        assert_eq!(quoted("a\nb", '\\'), None);
    }

    #[test]
    fn sameness_is_about_values_and_variables() {
        let same = |one, other| mean_the_same(one, other, '\\');
        assert!(same("ENV A b c", "ENV A=\"b c\""));
        assert!(same("ENV A $B", "ENV A=$B"));
        assert!(!same("ENV A '$B'", "ENV A=$B"));
        assert!(!same("ENV A \"b\"", "ENV A=\"\\\"b\\\"\""));
        assert!(!same("ENV A b", "ENV A b c"));
        assert!(!same("ENV", "ENV"), "what is no instruction means nothing");
    }
}
