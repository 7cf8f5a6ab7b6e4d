//! Types and macros, which are never run themselves.

use std::collections::BTreeSet;

use super::{
    super::{constant::closing, runner::Flagged},
    marks::opening,
};

/// Names that every declaration may have in it.
const USUAL: [&str; 12] = [
    "String", "Vec", "Option", "Result", "Box", "HashMap", "T", "Self", "Some", "None", "Ok", "Err",
];

/// The names of the types and macros that these lines declare, and those of what they have inside.
pub(super) fn flagged<'a>(bare: &'a str, flagged: &Flagged) -> BTreeSet<&'a str> {
    let line = |offset: usize| {
        let lines = bare.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
    };
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut found = BTreeSet::new();
    for word in ["struct ", "enum ", "union ", "macro_rules! "] {
        for (start, _) in bare.match_indices(word) {
            let before = bare.get(..start).unwrap_or_default();
            let from = start + word.len();
            let end = match opening(bare.as_bytes(), from) {
                Some(open) => closing(bare.as_bytes(), open),
                None => bare.get(from..).and_then(|it| it.find(';')).map(|at| from + at),
            };
            let inside = end.and_then(|end| bare.get(from..end));
            let Some(inside) = inside.filter(|_| !before.ends_with(is_word)) else { continue };
            // What is said of it above belongs to it.
            let said = before.rfind([';', '}', '{']).map_or(0, |at| at + 1);
            let said = said + before.get(said..).map_or(0, |it| it.len() - it.trim_start().len());
            if flagged.holds(line(said), line(from + inside.len())) {
                let words = inside.split(|it| !is_word(it)).filter(|it| !it.is_empty());
                let named =
                    |it: &&str| it.starts_with(char::is_uppercase) || inside.starts_with(*it);
                found.extend(words.filter(named).filter(|it| !USUAL.contains(it)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{super::marks::bare, Flagged, flagged};

    #[test]
    fn types_and_macros_are_declared_with_what_is_said_of_them() {
        let source = "use a::B;\n\n#[derive(PartialEq)]\npub enum Level {\n    High,\n    \
            Low(Option<u8>),\n}\nstruct Unit;\nmacro_rules! twice { ($a:expr) => { $a } }\n";
        let names = |line: u32| {
            let lines = Flagged { file: String::new(), first: line, last: line };
            let bare = bare(source);
            flagged(&bare, &lines).into_iter().collect::<Vec<_>>().join(" ")
        };
        let found: Vec<String> = [1, 3, 6, 8, 9].into_iter().map(names).collect();
        assert_eq!(found, ["", "High Level Low", "High Level Low", "Unit", "twice"]);
        for nonsense in ["struct ", "enum {", "struct A(", "}{;struct \u{fc}"] {
            let lines = Flagged { file: String::new(), first: 1, last: 1 };
            assert!(flagged(nonsense, &lines).len() < 2, "{nonsense}");
        }
    }
}
