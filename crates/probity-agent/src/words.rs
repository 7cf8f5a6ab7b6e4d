//! A command line as people write it, split into the words a process is started with.
//!
//! Quotes and backslashes mean what they mean in a POSIX shell. Nothing is expanded, so that a
//! command from a file cannot read variables or run another command.

/// The words of a shell-quoted command line.
pub fn split_words(line: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '\0' => return Err(WordsError::Nul { at }),
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            '#' if word.is_none() => {
                // A comment would silently drop what the writer may have meant as an argument.
                return Err(WordsError::Comment { at });
            }
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        Some((_, '\'')) => break,
                        Some((_, c)) => word.push(c),
                        None => return Err(WordsError::Unclosed { quote: '\'', at }),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        Some((_, '"')) => break,
                        Some((_, '\\')) => match rest.next() {
                            Some((_, '\n')) => {}
                            Some((_, c @ ('"' | '\\' | '$' | '`'))) => word.push(c),
                            Some((_, c)) => word.extend(['\\', c]),
                            None => return Err(WordsError::Unclosed { quote: '"', at }),
                        },
                        Some((_, c)) => word.push(c),
                        None => return Err(WordsError::Unclosed { quote: '"', at }),
                    }
                }
            }
            '\\' => match rest.next() {
                Some((_, '\n')) => {}
                Some((_, c)) => word.get_or_insert_default().push(c),
                None => return Err(WordsError::TrailingBackslash),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The opposite of [`split_words`]: one line that splits into these words again.
#[must_use]
pub fn join_words(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    quoted.join(" ")
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    #[error("the quote {quote} at byte {at} is not closed")]
    Unclosed { quote: char, at: usize },
    #[error("the backslash at the end escapes nothing")]
    TrailingBackslash,
    #[error("a comment begins at byte {at}; quote the word if `#` is part of it")]
    Comment { at: usize },
    #[error("a NUL at byte {at} cannot be part of a command")]
    Nul { at: usize },
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_a_shell_would_make() {
        for (line, words) in [
            ("", &[][..]),
            ("  gemini   --acp \n", &["gemini", "--acp"]),
            (r#"a 'b c' "d e" f\ g"#, &["a", "b c", "d e", "f g"]),
            (r#"x"y"'z'"#, &["xyz"]),
            (r#"'' """#, &["", ""]),
            (r#""\"\\\$\a""#, &[r#""\$\a"#]),
            (r"'\n'", &[r"\n"]),
            ("a\\\nb", &["ab"]),
            ("$HOME `id` a#b", &["$HOME", "`id`", "a#b"]),
            ("ä 'ö ü'", &["ä", "ö ü"]),
        ] {
            assert_eq!(split_words(line).unwrap(), words, "{line:?}");
        }
    }

    #[test]
    fn half_a_command_line_is_refused() {
        for (line, error) in [
            ("a 'b", WordsError::Unclosed { quote: '\'', at: 2 }),
            ("a \"b", WordsError::Unclosed { quote: '"', at: 2 }),
            ("a \"b\\", WordsError::Unclosed { quote: '"', at: 2 }),
            ("a \\", WordsError::TrailingBackslash),
            ("a # b", WordsError::Comment { at: 2 }),
            ("a\0", WordsError::Nul { at: 1 }),
        ] {
            assert_eq!(split_words(line), Err(error), "{line:?}");
        }
    }

    #[test]
    fn joined_words_split_into_themselves() {
        for words in [&["a", "b c", "", "it's", "#x", "$y", "\\", "ä", "\""][..], &[]] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(split_words(&join_words(&words)).unwrap(), words);
        }
    }
}
