//! The commands of a RUN, each by itself where a failure of one ends the script.

use probity_dockerfile::Instruction;

use crate::checks::View;

/// Words that begin something that is more than one command after the other.
const CONTROL: &[&str] = &["if", "for", "while", "until", "case", "{", "(", "function"];

pub(super) fn commands_of(view: &View<'_>, instruction: &Instruction) -> Vec<String> {
    let text = match instruction.heredocs() {
        [] => instruction.rest_text().to_owned(),
        [heredoc] => heredoc.content(view.text).replace("\\\n", " "),
        _ => return vec![instruction.body_text().to_owned()],
    };
    split(&text).unwrap_or_else(|| vec![text])
}

/// Nothing where the commands do not simply follow each other.
fn split(text: &str) -> Option<Vec<String>> {
    let first = text.split([';', '\n', '&']).next().unwrap_or_default();
    let ends_early = first.trim().starts_with("set -e");
    let mut parts = vec![String::new()];
    let (mut quote, mut depth) = (None, 0_usize);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_open = quote.is_some() || depth > 0;
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        if quote != Some('\'') {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let is_twice = chars.peek() == Some(&c);
        match c {
            '&' if !is_open && is_twice => {
                chars.next();
                parts.push(String::new());
            }
            ';' | '\n' if !is_open && ends_early => parts.push(String::new()),
            '&' | ';' if !is_open => return None,
            '|' if !is_open && is_twice => return None,
            c => parts.last_mut()?.push(c),
        }
    }
    let parts: Vec<String> = parts.iter().map(|part| part.trim().to_owned()).collect();
    let is_control = |part: &String| CONTROL.contains(&part.split(' ').next().unwrap_or_default());
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.iter().any(is_control)).then_some(parts)
}

/// The words of one command, with their quotes.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut depth) = (None, 0_usize);
    for c in text.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (_, '(') => depth += 1,
            (_, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if quote.is_none() && depth == 0 && c.is_whitespace() {
            words.push(String::new())
        } else {
            words.last_mut().into_iter().for_each(|word| word.push(c))
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{split, words};

    #[test]
    fn commands_are_split_where_a_failure_ends_the_script() {
        for (text, expected) in [
            ("a && b \"c && d\"", Some(vec!["a", "b \"c && d\""])),
            ("set -e; a; b", Some(vec!["set -e", "a", "b"])),
            ("set -eu\na $(b; c)\n", Some(vec!["set -eu", "a $(b; c)"])),
            ("a; b", None),
            ("a || b", None),
            ("a && if b", None),
        ] {
            let found = split(text);
            let found =
                found.as_ref().map(|parts| parts.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(words("A=\"b c\" d $(e f)"), ["A=\"b c\"", "d", "$(e f)"]);
    }
}
