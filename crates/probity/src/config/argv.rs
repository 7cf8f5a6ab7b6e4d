//! A command line in one string, split into words as a shell splits it.

/// Splits at blanks; single and double quotes group, a backslash takes the next character as it is.
///
/// Nothing is expanded: the words start a program, not a shell. In double quotes a backslash
/// escapes only `"` and `\`, so that Windows paths survive there.
pub(crate) fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(quoted) => word.push(quoted),
                        None => return Err("a single quote is not closed"),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => match chars.next_if(|&next| next == '"' || next == '\\') {
                            Some(escaped) => word.push(escaped),
                            None => word.push('\\'),
                        },
                        Some(quoted) => word.push(quoted),
                        None => return Err("a double quote is not closed"),
                    }
                }
            }
            '\\' => match chars.next() {
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => return Err("nothing follows the last backslash"),
            },
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (text, words) in [
            ("", vec![]),
            ("  gemini   --acp ", vec!["gemini", "--acp"]),
            ("'my agent' --name \"a b\"", vec!["my agent", "--name", "a b"]),
            (r#"a\ b c\"d "e\"f\\g\h" ''"#, vec!["a b", "c\"d", "e\"f\\g\\h", ""]),
            ("--x='$HOME y'z", vec!["--x=$HOME yz"]),
            ("one\ntwo", vec!["one", "two"]),
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_eq!(split(text), Ok(words), "{text}");
        }
    }

    #[test]
    fn what_is_left_open_is_refused() {
        for (text, reason) in [
            ("a 'b", "a single quote is not closed"),
            ("a \"b", "a double quote is not closed"),
            ("a \\", "nothing follows the last backslash"),
        ] {
            assert_eq!(split(text), Err(reason), "{text}");
        }
    }
}
