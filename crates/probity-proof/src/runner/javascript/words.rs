//! The words of a script in `package.json`, as far as it is a plain list of commands.

/// A word of a command, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether only a shell could say what it stands for.
    pub(super) is_dynamic: bool,
    /// Whether a shell leaves the wildcards in it alone.
    pub(super) is_quoted: bool,
}

/// The commands of a script, whatever joins them; none if it is more than a list of them.
pub(super) fn commands(script: &str) -> Option<Vec<Vec<Word>>> {
    let mut reader = Reader::default();
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = reader.word();
                word.is_quoted = true;
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '\\' if letter == '"' => word.text.push(letters.next()?),
                        '$' | '`' if letter == '"' => {
                            word.is_dynamic = true;
                            word.text.push('$');
                        }
                        other => word.text.push(other),
                    }
                }
            }
            '\\' => reader.word().text.push(letters.next()?),
            '$' if letters.peek() == Some(&'(') => return None,
            '$' => {
                let word = reader.word();
                word.is_dynamic = true;
                word.text.push('$');
            }
            '`' | '(' | ')' => return None,
            '>' | '<' => {
                reader.redirect();
                while letters.next_if(|next| ['>', '&'].contains(next)).is_some() {}
            }
            '&' if letters.peek() == Some(&'>') => {}
            '&' | '|' | ';' | '\n' => reader.end_command(),
            space if space.is_whitespace() => reader.end_word(),
            other => reader.word().text.push(other),
        }
    }
    reader.end_command();
    Some(reader.commands)
}

#[derive(Default)]
struct Reader {
    commands: Vec<Vec<Word>>,
    command: Vec<Word>,
    current: Option<Word>,
    /// Whether the next word is a file that something is redirected to.
    is_target: bool,
}

impl Reader {
    fn word(&mut self) -> &mut Word {
        let empty = || Word { text: String::new(), is_dynamic: false, is_quoted: false };
        self.current.get_or_insert_with(empty)
    }

    fn end_word(&mut self) {
        let Some(word) = self.current.take() else { return };
        if !std::mem::take(&mut self.is_target) {
            self.command.push(word);
        }
    }

    /// The number of a stream right before the sign is not a word.
    fn redirect(&mut self) {
        let is_stream = |word: &Word| word.text.chars().all(|letter| letter.is_ascii_digit());
        if self.current.as_ref().is_some_and(is_stream) {
            self.current = None;
        }
        self.end_word();
        self.is_target = true;
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_target = false;
        if !self.command.is_empty() {
            self.commands.push(std::mem::take(&mut self.command));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn scripts_are_lists_of_commands() {
        for (script, expected) in [
            ("mocha", Some("[mocha]")),
            ("  eslint . && mocha -R dot;tsc ", Some("[eslint|.] [mocha|-R|dot] [tsc]")),
            ("mocha 'test/**/*.js' \"a b\" c\\ d", Some("[mocha|test/**/*.js|a b|c d]")),
            ("X=1 Y='a b' jest", Some("[X=1|Y=a b|jest]")),
            ("tape test/*.js | tap-spec", Some("[tape|test/*.js] [tap-spec]")),
            ("mocha > out.txt 2>&1 && x", Some("[mocha] [x]")),
            ("mocha 2> err --bail", Some("[mocha|--bail]")),
            ("mocha $FILES \"$A\" '$b'", Some("[mocha|$FILES!|$A!|$b]")),
            ("jasmine \"spec/*.?(c|m)js\"", Some("[jasmine|spec/*.?(c|m)js]")),
            ("(cd a && mocha)", None),
            ("mocha $(ls)", None),
            ("mocha `ls`", None),
            ("mocha 'a", None),
        ] {
            let shown = commands(script).map(|commands| {
                let word = |word: &super::Word| {
                    format!("{}{}", word.text, if word.is_dynamic { "!" } else { "" })
                };
                let command = |words: &Vec<super::Word>| {
                    format!("[{}]", words.iter().map(word).collect::<Vec<_>>().join("|"))
                };
                commands.iter().map(command).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(shown.as_deref(), expected, "{script}");
        }
    }
}
