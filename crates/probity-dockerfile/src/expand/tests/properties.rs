//! What holds for every word.

use proptest::prelude::*;

use super::{super::Expander, expand, with};

/// Pieces that make every construct likely, and random text between them.
fn any_word() -> impl Strategy<Value = String> {
    let pieces = [
        "$",
        "{",
        "}",
        "${",
        "HOME",
        "UNSET",
        ":",
        "-",
        "+",
        "?",
        "#",
        "%",
        "/",
        "//",
        "'",
        "\"",
        "\\",
        "`",
        " ",
        "*",
        "a",
        "é",
        "${UNSET:-",
        "${TWO//",
        "${FILE%%",
        "1",
        "@",
        "\n",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_word_expands_or_fails_inside_itself(word in any_word(), backtick in any::<bool>()) {
        let escape = if backtick { '`' } else { '\\' };
        with(escape, |expander| {
            for expander in [expander, expander.keep_unset(), expander.keep_quotes().keep_escapes()] {
                match expander.expand(&word) {
                    Ok(expansion) => {
                        for reference in expansion.used.iter().chain(&expansion.unmatched) {
                            assert!(word[reference.range.clone()].starts_with('$'));
                            assert_eq!(&word[reference.name_range.clone()], reference.name);
                        }
                        for word_of in expander.expand_words(&word).unwrap() {
                            assert!(!word_of.text.is_empty());
                            assert!(word.get(word_of.range).is_some());
                        }
                    }
                    Err(error) => assert!(word.get(error.range).is_some()),
                }
            }
        });
    }

    #[test]
    fn a_text_without_special_characters_is_its_own_expansion(word in "[^$'\"\\\\]*") {
        prop_assert_eq!(expand(&word).unwrap().text, word);
    }

    #[test]
    fn single_quotes_keep_everything(text in "[^']*") {
        prop_assert_eq!(expand(&format!("'{text}'")).unwrap().text, text);
    }

    #[test]
    fn trimming_agrees_with_trying_every_split(value in "[ab]{0,8}", pattern in "[ab*?]{0,5}") {
        let lookup = |_: &str| Some(value.as_str());
        let expander = Expander::new('\\', &lookup);
        let splits: Vec<usize> = (0..=value.len()).collect();
        let prefix = |at: &&usize| naive(pattern.as_bytes(), &value.as_bytes()[..**at]);
        let suffix = |at: &&usize| naive(pattern.as_bytes(), &value.as_bytes()[**at..]);
        let after = |at: Option<&usize>| at.map_or(value.as_str(), |at| &value[*at..]).to_owned();
        let before = |at: Option<&usize>| at.map_or(value.as_str(), |at| &value[..*at]).to_owned();
        let cases = [
            ("#", after(splits.iter().find(prefix))),
            ("##", after(splits.iter().rev().find(prefix))),
            ("%", before(splits.iter().rev().find(suffix))),
            ("%%", before(splits.iter().find(suffix))),
        ];
        for (sign, expected) in cases {
            let text = expander.expand(&format!("${{V{sign}{pattern}}}")).unwrap().text;
            prop_assert_eq!(text, expected, "{}", sign);
        }
    }
}

/// Matches by trying everything.
fn naive(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            naive(rest, text) || (!text.is_empty() && naive(pattern, &text[1..]))
        }
        ([first, rest @ ..], [head, tail @ ..]) => {
            (*first == b'?' || first == head) && naive(rest, tail)
        }
        _ => false,
    }
}
