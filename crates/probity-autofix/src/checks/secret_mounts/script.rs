//! The commands of a RUN, each by itself where a failure of one ends the script.

use probity_dockerfile::Instruction;

use crate::checks::{View, commands::chained_texts};

pub(super) fn commands_of(view: &View<'_>, index: usize, instruction: &Instruction) -> Vec<String> {
    chained_texts(view, index).unwrap_or_else(|| {
        vec![match instruction.heredocs() {
            [] => instruction.rest_text().to_owned(),
            [heredoc] => heredoc.content(view.text).replace("\\\n", " "),
            _ => instruction.body_text().to_owned(),
        }]
    })
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
    use super::words;

    #[test]
    fn words_keep_their_quotes() {
        assert_eq!(words("A=\"b c\" d $(e f)"), ["A=\"b c\"", "d", "$(e f)"]);
    }
}
