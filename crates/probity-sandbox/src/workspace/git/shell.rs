//! The words of a shell command in git's configuration, as far as they are known without running it.
//!
//! Too many words are better than too few: each is only looked for among the files of the workspace.

use std::{collections::BTreeMap, env, iter::Peekable, path::Path, str::Chars};

/// Stands for text that only running the command would tell.
pub(super) const UNKNOWN: char = '\u{0}';

/// Stands for what the user types, or has in a variable that is not set now.
pub(super) const TYPED: char = '\u{1}';

/// Scripts in words of scripts that are looked into.
const MOST_DEPTH: usize = 4;

/// Programs whose arguments are programs.
const RUN_ARGUMENTS: &[&str] = &[
    ".", "ash", "bash", "bun", "busybox", "command", "dash", "deno", "doas", "env", "eval", "exec",
    "fish", "ksh", "lua", "nice", "node", "nohup", "perl", "php", "python", "python3", "ruby",
    "setsid", "sh", "source", "sudo", "time", "timeout", "xargs", "zsh",
];

/// Words after which a command begins.
const BEFORE_COMMANDS: &[&str] =
    &["!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "done", "fi"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes, and with [`UNKNOWN`] and [`TYPED`] in the place of what is not known.
    pub(super) text: String,
    /// Whether it may be run: a command, or an argument of an interpreter.
    pub(super) is_program: bool,
}

/// The words of a command that git runs in this working tree.
pub(super) fn words(value: &str, tree: &Path) -> Vec<Word> {
    // An alias and a helper say by this that they are commands of the shell.
    let script = value.trim_start().trim_start_matches('!');
    let mut reader = Reader { tree, variables: BTreeMap::new(), words: Vec::new() };
    reader.script(script, 0);
    reader.words
}

struct Reader<'a> {
    tree: &'a Path,
    /// Those that the script sets.
    variables: BTreeMap<String, String>,
    words: Vec<Word>,
}

/// Where in a command the next word is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Command,
    Argument,
    /// Of a program that runs its arguments.
    RunArgument,
}

impl Reader<'_> {
    fn script(&mut self, text: &str, depth: usize) {
        if depth > MOST_DEPTH {
            return;
        }
        let mut letters = text.chars().peekable();
        let (mut word, mut position) = (None::<String>, Position::Command);
        while let Some(letter) = letters.next() {
            match letter {
                '\'' => {
                    let quoted = until(&mut letters, '\'');
                    word.get_or_insert_default().push_str(&quoted);
                }
                '"' => {
                    let mut quoted = String::new();
                    while let Some(inner) = letters.next() {
                        match inner {
                            '"' => break,
                            '\\' => quoted.extend(letters.next()),
                            '$' => self.expand(&mut letters, &mut quoted, depth),
                            '`' => {
                                let inner = until(&mut letters, '`');
                                self.substitute(&inner, &mut quoted, depth);
                            }
                            inner => quoted.push(inner),
                        }
                    }
                    word.get_or_insert_default().push_str(&quoted);
                }
                '\\' => match letters.next() {
                    Some('\n') | None => {}
                    Some(escaped) => word.get_or_insert_default().push(escaped),
                },
                '$' => self.expand(&mut letters, word.get_or_insert_default(), depth),
                '`' => {
                    let inner = until(&mut letters, '`');
                    self.substitute(&inner, word.get_or_insert_default(), depth);
                }
                ';' | '&' | '|' | '(' | ')' | '\n' => {
                    self.end(word.take(), position, depth);
                    position = Position::Command;
                }
                letter if letter.is_whitespace() || matches!(letter, '<' | '>') => {
                    position = self.end(word.take(), position, depth);
                }
                letter => word.get_or_insert_default().push(letter),
            }
        }
        self.end(word, position, depth);
    }

    /// Takes a word, and gives the position of the next one.
    fn end(&mut self, word: Option<String>, position: Position, depth: usize) -> Position {
        let Some(text) = word else { return position };
        if BEFORE_COMMANDS.contains(&text.as_str()) {
            return Position::Command;
        }
        if text.contains(|letter: char| letter.is_whitespace() || ";&|".contains(letter)) {
            // A script in quotes, such as that of `sh -c`.
            self.script(&text, depth + 1);
        }
        if position == Position::Command
            && let Some((name, value)) = text.split_once('=')
            && is_name(name)
        {
            self.variables.insert(name.to_owned(), value.to_owned());
            self.words.push(Word { text: value.to_owned(), is_program: false });
            return position;
        }
        let last = text.rsplit('/').next().unwrap_or_default();
        let next = match position {
            Position::Command if RUN_ARGUMENTS.contains(&last) => Position::RunArgument,
            Position::Command => Position::Argument,
            position => position,
        };
        self.words.push(Word { text, is_program: position != Position::Argument });
        next
    }

    /// After a `$`.
    fn expand(&mut self, letters: &mut Peekable<Chars<'_>>, to: &mut String, depth: usize) {
        match letters.peek() {
            Some('(') => {
                letters.next();
                let inner = balanced(letters);
                self.substitute(&inner, to, depth);
            }
            Some('{') => {
                letters.next();
                let inner = until(letters, '}');
                let (name, rest) =
                    inner.split_at(inner.find(|c| !is_of_name(c)).unwrap_or(inner.len()));
                let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
                match (self.variable(name), default) {
                    (Some(value), _) if rest.is_empty() || default.is_some() => to.push_str(&value),
                    (None, Some(default)) => to.push_str(default),
                    (None, None) if rest.is_empty() => unset(letters, to),
                    _ => to.push(UNKNOWN),
                }
            }
            Some(first) if is_of_name(*first) && !first.is_ascii_digit() => {
                let mut name = String::new();
                while let Some(letter) = letters.next_if(|letter| is_of_name(*letter)) {
                    name.push(letter);
                }
                match self.variable(&name) {
                    Some(value) => to.push_str(&value),
                    None => unset(letters, to),
                }
            }
            Some(first) if first.is_ascii_digit() || "@*#?$!-".contains(*first) => {
                letters.next();
                to.push(TYPED);
            }
            _ => to.push('$'),
        }
    }

    /// A command whose output is part of a word.
    fn substitute(&mut self, command: &str, to: &mut String, depth: usize) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["pwd"] | ["git", "rev-parse", "--show-toplevel"] => {
                to.push_str(&self.tree.to_string_lossy());
            }
            ["git", "rev-parse", "--show-cdup"] => {}
            ["git", "rev-parse", "--git-dir" | "--absolute-git-dir" | "--git-common-dir"] => {
                to.push_str(&self.tree.join(".git").to_string_lossy());
            }
            _ => {
                self.script(command, depth + 1);
                to.push(UNKNOWN);
            }
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "PWD" | "GIT_WORK_TREE" => Some(self.tree.to_string_lossy().into_owned()),
            "GIT_DIR" => Some(self.tree.join(".git").to_string_lossy().into_owned()),
            "GIT_PREFIX" => Some(String::new()),
            name => self.variables.get(name).cloned().or_else(|| env::var(name).ok()),
        }
    }
}

/// A variable that is not set here may lead to a file when the user has set it.
fn unset(letters: &mut Peekable<Chars<'_>>, to: &mut String) {
    to.push(if letters.peek() == Some(&'/') { UNKNOWN } else { TYPED });
}

fn until(letters: &mut Peekable<Chars<'_>>, end: char) -> String {
    letters.by_ref().take_while(|letter| *letter != end).collect()
}

/// Up to the parenthesis that closes.
fn balanced(letters: &mut Peekable<Chars<'_>>) -> String {
    let (mut text, mut open) = (String::new(), 1_usize);
    for letter in letters.by_ref() {
        match letter {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
        text.push(letter);
    }
    text
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::words;

    /// Programs are marked with a star, what is not known with a question mark.
    fn shown(script: &str) -> Vec<String> {
        let words = words(script, Path::new("/tree"));
        let text = |text: &str| text.replace('\u{0}', "?").replace('\u{1}', "%");
        words
            .iter()
            .map(|word| format!("{}{}", if word.is_program { "*" } else { "" }, text(&word.text)))
            .collect()
    }

    #[test]
    fn words_are_told_as_a_shell_would() {
        for (script, expected) in [
            ("FOO=1 sh \"$PWD/tools/f.sh\" x", &["1", "*sh", "*/tree/tools/f.sh", "*x"][..]),
            ("!cd tools && ./f.sh", &["*cd", "tools", "*./f.sh"]),
            ("$(git rev-parse --show-toplevel)/tools/f.sh", &["*/tree/tools/f.sh"]),
            ("\"tools\"/f'.'s\\h", &["*tools/f.sh"]),
            ("tools/f*", &["*tools/f*"]),
            (
                "sh -c 'cd tools; ./f.sh'",
                &["*sh", "*-c", "*cd", "tools", "*./f.sh", "*cd tools; ./f.sh"],
            ),
            ("D=tools; $D/f.sh", &["tools", "*tools/f.sh"]),
            ("${NO_SUCH_VARIABLE}/f.sh", &["*?/f.sh"]),
            ("$NO_SUCH_VARIABLE", &["*%"]),
            ("${NO_SUCH_VARIABLE:-tools}/f.sh", &["*tools/f.sh"]),
            ("`dirname x`/f.sh", &["*dirname", "x", "*?/f.sh"]),
            ("!f() { git log \"$@\"; }; f", &["*f", "*git", "log", "%", "*f"]),
            ("if true; then tools/f.sh; fi", &["*true", "*tools/f.sh"]),
            ("cat < in | tools/f.sh", &["*cat", "in", "*tools/f.sh"]),
            ("'unfinished", &["*unfinished"]),
        ] {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
