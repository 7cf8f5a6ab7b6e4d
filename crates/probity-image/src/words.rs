//! The commands of a shell text, as far as a comparison of two images needs them.
//!
//! Not a parser: a command that is missed is a check less, and one that is seen where none is asks
//! for a program that the original would have to have as well.

/// Words that precede a command.
const PREFIXES: [&str; 14] = [
    "exec", "env", "command", "nice", "nohup", "then", "do", "else", "if", "while", "!", "{",
    "tini", "--",
];

pub(crate) fn is_prefix(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    PREFIXES.contains(&name) || name == "dumb-init"
}

/// `-c` and its relatives: a text follows.
pub(crate) fn is_shell_switch(word: &str) -> bool {
    matches!(word, "-c" | "-ec" | "-ce" | "-lc" | "-exc" | "-euxc")
}

/// The words of each command.
pub(crate) fn commands(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut command: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut letters = text.chars().peekable();
    let end_word = |word: &mut String, command: &mut Vec<String>| {
        let is_assignment = command.is_empty() && word.contains('=');
        let is_keyword = command.is_empty() && is_prefix(word);
        if !word.is_empty() && !is_assignment && !is_keyword {
            command.push(std::mem::take(word));
        }
        word.clear();
    };
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(end)) if letter == end => quote = None,
            // In single quotes a backslash is an ordinary character.
            ('\\', None | Some('"')) => {
                // A backslash before a newline continues the line and is not part of a word.
                word.extend(letters.next().filter(|next| *next != '\n'));
            }
            (letter, Some(_)) => word.push(letter),
            ('"' | '\'', None) => quote = Some(letter),
            ('#', None) if word.is_empty() => {
                while letters.next_if(|next| *next != '\n').is_some() {}
            }
            (' ' | '\t', None) => end_word(&mut word, &mut command),
            ('\n' | ';' | '|' | '&' | '(' | ')' | '`', None) => {
                end_word(&mut word, &mut command);
                if !command.is_empty() {
                    all.push(std::mem::take(&mut command));
                }
            }
            (letter, None) => word.push(letter),
        }
    }
    end_word(&mut word, &mut command);
    if !command.is_empty() {
        all.push(command);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn quotes_and_backslashes_mean_what_they_mean_in_a_shell() {
        for (text, expected) in [
            ("echo 'a\\' && b c", vec![vec!["echo", "a\\"], vec!["b", "c"]]),
            ("A=1 exec \"x y\" \\\n z", vec![vec!["x y", "z"]]),
            ("a; # b\nc|d", vec![vec!["a"], vec!["c"], vec!["d"]]),
        ] {
            assert_eq!(commands(text), expected, "{text}");
        }
    }
}
