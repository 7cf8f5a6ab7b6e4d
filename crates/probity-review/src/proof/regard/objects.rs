//! The objects of a test: what they are made of, and the calls that they are given to.

use std::collections::BTreeSet;

use super::statements::{Statement, assigned, declares_function, is_word, words};

/// A name, and those of the test that went into what it stands for: what is done to an object may be
/// done to them.
pub(super) fn made_of<'a>(statements: &[Statement<'a>], name: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::from([name]);
    loop {
        let before = found.len();
        for (number, statement) in statements.iter().enumerate() {
            let Some((left, right)) = assigned(statement.text) else { continue };
            if words(left).any(|it| found.contains(it)) {
                let parts = words(right).chain(inside(statements, number));
                found.extend(parts.filter(|it| is_made(statements, it)));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The words in the braces of a statement that holds values: fields, and functions among them.
pub(super) fn inside<'a>(
    statements: &[Statement<'a>],
    number: usize,
) -> impl Iterator<Item = &'a str> {
    let decides = |text: &str| {
        let first = words(text).next().unwrap_or_default();
        ["if", "for", "while", "switch", "match", "else", "try", "with"].contains(&first)
            || declares_function(text)
    };
    let holds = statements.get(number).is_some_and(|it| !decides(it.text));
    let within = statements.iter().filter(move |it| holds && it.above.contains(&number));
    let texts: Vec<&'a str> = within.map(|it| it.text).collect();
    texts.into_iter().flat_map(words)
}

/// The name of a function that this statement declares.
pub(super) fn function_name(text: &str) -> Option<&str> {
    if let Some((left, right)) = assigned(text) {
        let is_function = ["=>", "func(", "function", "lambda"].iter().any(|it| right.contains(it));
        return words(left).last().filter(|_| is_function);
    }
    let mut words = words(text).skip_while(|it| ["export", "pub", "async"].contains(it));
    let declares = words.next().is_some_and(|it| ["func", "fn", "function", "def"].contains(&it));
    words.next().filter(|_| declares)
}

/// Whether the test has made this itself, and not imported it.
pub(super) fn is_made(statements: &[Statement<'_>], name: &str) -> bool {
    ["self", "this"].contains(&name)
        || statements.iter().any(|statement| {
            let text = statement.text.trim_start();
            let made = assigned(text).is_some_and(|(left, right)| {
                words(left).any(|it| it == name) && !right.starts_with("require")
            });
            let declared = ["var ", "let "].iter().any(|begin| text.starts_with(begin))
                || (text.starts_with("def ") || text.starts_with("async def "));
            made || (declared && words(text).skip(1).any(|it| it == name))
        })
}

/// A statement that is a call, and what it is given.
pub(super) struct Call<'a> {
    /// What its result is kept in.
    pub(super) kept: bool,
    pub(super) receiver: Option<&'a str>,
    pub(super) names: Vec<&'a str>,
    pub(super) given: Vec<&'a str>,
}

impl Call<'_> {
    /// Whether nothing comes of it but what it does: neither an assertion nor a value.
    pub(super) fn is_apart(&self) -> bool {
        let asserts = ["assert", "expect", "t", "require", "self", "pytest", "check", "fail"];
        !self.kept
            && self.receiver.is_some_and(|receiver| !asserts.contains(&receiver))
            && self.names.iter().all(|name| {
                // A mock is asked itself.
                !asserts.contains(name) && !name.starts_with("assert")
            })
    }
}

pub(super) fn called(text: &str) -> Option<Call<'_>> {
    let text = text.trim();
    let kept =
        assigned(text).is_some_and(|(left, _)| words(left).any(|it| it != "_" && it != "let"));
    let mut rest = assigned(text).map_or(text, |(_, right)| right);
    for word in ["await ", "new "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let path_end = rest.find(|it: char| !is_word(it) && !".:*&$".contains(it))?;
    let path = rest.get(..path_end)?;
    if path.is_empty() || !rest.get(path_end..)?.starts_with('(') {
        return None;
    }
    let mut segments: Vec<&str> = words(path).collect();
    let mut names: Vec<&str> = segments.pop().into_iter().collect();
    let (mut depth, mut given) = (0_i32, Vec::new());
    let mut word = 0;
    let behind = rest.get(path_end..)?;
    for (at, character) in behind.char_indices() {
        if is_word(character) {
            continue;
        }
        let before = behind.get(word..at).unwrap_or_default();
        if !before.is_empty() {
            match (depth, character) {
                (0, '(') => names.push(before),
                (1.., _) => given.push(before),
                _ => {}
            }
        }
        word = at + character.len_utf8();
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    Some(Call { kept, receiver: segments.first().copied(), names, given })
}
