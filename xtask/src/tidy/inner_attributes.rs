//! The `#![…]` attributes at the head of a file, read as tokens.

use super::lexer::Token;

/// Whether the clippy lint is on at the head of the file, at least outside tests. Any other
/// condition could be false, and does not count. As in the compiler, the last word holds.
pub(crate) fn turns_on(tokens: &[Token<'_>], lint: &str) -> bool {
    let mut levels = inner_attributes(tokens).into_iter().filter_map(|attribute| {
        let words: Vec<&str> = attribute.iter().map(|token| token.text).collect();
        match words.as_slice() {
            ["cfg_attr", "(", "not", "(", "test", ")", ",", list @ ..] => sets(list, lint),
            ["cfg_attr", ..] => None,
            list => sets(list, lint),
        }
    });
    levels.next_back() == Some(true)
}

/// Whether the attributes of a comma-separated list turn the lint on or off, if they name it.
fn sets(list: &[&str], lint: &str) -> Option<bool> {
    let mut levels = list.iter().enumerate().filter_map(|(position, word)| {
        let is_on = match *word {
            "warn" | "deny" | "forbid" => true,
            "allow" | "expect" => false,
            _ => return None,
        };
        let lints = parenthesised(list.get(position + 1..)?);
        let named = lints.windows(4).any(|window| window == ["clippy", ":", ":", lint]);
        named.then_some(is_on)
    });
    levels.next_back()
}

/// The tokens between `#![` and `]` of each attribute before the first item.
fn inner_attributes<'tokens, 'text>(
    tokens: &'tokens [Token<'text>],
) -> Vec<&'tokens [Token<'text>]> {
    let mut found = Vec::new();
    let mut rest = tokens;
    while let [hash, bang, open, inside @ ..] = rest {
        if (hash.text, bang.text, open.text) != ("#", "!", "[") {
            break;
        }
        let length = closing(inside.iter().map(|token| token.text)).unwrap_or(inside.len());
        found.push(inside.get(..length).unwrap_or_default());
        rest = inside.get(length + 1..).unwrap_or_default();
    }
    found
}

/// What is between the parentheses that the words begin with.
fn parenthesised<'words, 'text>(words: &'words [&'text str]) -> &'words [&'text str] {
    let [first, inside @ ..] = words else { return &[] };
    if *first != "(" {
        return &[];
    }
    let length = closing(inside.iter().copied()).unwrap_or(inside.len());
    inside.get(..length).unwrap_or_default()
}

/// Where the bracket closes that was opened just before.
fn closing<'text>(words: impl Iterator<Item = &'text str>) -> Option<usize> {
    let mut depth = 0_usize;
    for (position, word) in words.enumerate() {
        match word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return Some(position),
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{super::lexer::tokens, turns_on};

    #[test]
    fn only_a_level_that_holds_outside_tests_counts() {
        let cases = [
            ("//! Doc.\n#![warn(clippy::disallowed_methods)]", true),
            ("#![deny(dead_code, clippy::disallowed_methods, reason = \"pure\")]", true),
            ("#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = \"x\"))]", true),
            ("#![cfg_attr(not(test), no_std, warn(clippy::disallowed_methods))]", true),
            ("#![feature(x)]\n#![forbid(clippy::disallowed_methods)]\nfn f() {}", true),
            ("#![allow(clippy::disallowed_methods)]", false),
            ("#![cfg_attr(feature = \"x\", warn(clippy::disallowed_methods))]", false),
            ("#![cfg_attr(test, warn(clippy::disallowed_methods))]", false),
            ("// #![warn(clippy::disallowed_methods)]\nfn f() {}", false),
            ("#![doc = \"#![warn(clippy::disallowed_methods)]\"]", false),
            ("fn f() {\n#![warn(clippy::disallowed_methods)]\n}", false),
            ("#![warn(disallowed_methods)]", false),
            ("#![warn(dead_code)]\n#![allow(clippy::disallowed_methods)]", false),
            ("#![warn(clippy::disallowed_methods)]\n#![allow(clippy::disallowed_methods)]", false),
            ("#![warn(", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(turns_on(&tokens(text), "disallowed_methods"), expected, "{text}");
        }
    }
}
