//! Commands that need no shell: words that any shell hands on as they are written.

/// The words of a command in which nothing is left to a shell; none where anything might be.
pub(super) fn plain_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(open) => {
                if open == '"' && matches!(c, '$' | '`' | '\\' | '!') {
                    return None;
                }
                word.get_or_insert_default().push(c);
            }
            None => match c {
                ' ' | '\t' => words.extend(word.take()),
                '"' | '\'' => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                c if is_plain(c) => word.get_or_insert_default().push(c),
                _ => return None,
            },
        }
    }
    words.extend(word);
    let is_program = words.first().is_some_and(|first| is_program(first));
    (quote.is_none() && is_program && !words.iter().any(|word| word.contains(char::is_control)))
        .then_some(words)
}

/// Characters that mean nothing to a shell, wherever they stand in a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c) || !c.is_ascii()
}

/// Whether the first word can only be a file to execute. What a shell has built in may be missing
/// as a file, or do something else.
fn is_program(word: &str) -> bool {
    !word.is_empty() && !word.contains('=') && !word.starts_with('-') && !BUILT_IN.contains(&word)
}

const BUILT_IN: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "print",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "whence",
    "which",
    "while",
];

#[cfg(test)]
mod tests {
    use super::plain_words;

    #[test]
    fn words_are_split_and_unquoted() {
        for (command, expected) in [
            ("nginx -g \"daemon off;\"", &["nginx", "-g", "daemon off;"][..]),
            ("/bin/a  --b='c d' ''", &["/bin/a", "--b=c d", ""]),
            ("python -m http.server 80", &["python", "-m", "http.server", "80"]),
            ("a 'b\"c' \"d'e\"", &["a", "b\"c", "d'e"]),
            ("a '$x' '\\n'", &["a", "$x", "\\n"]),
            ("cowsay grün", &["cowsay", "grün"]),
        ] {
            assert_eq!(plain_words(command).unwrap(), expected, "{command}");
        }
    }

    #[test]
    fn whatever_a_shell_might_touch_stays() {
        for command in [
            "",
            "a $x",
            "a \"$x\"",
            "a `b`",
            "a && b",
            "a; b",
            "a | b",
            "a > b",
            "a &",
            "a *",
            "a ?",
            "a [b]",
            "a {b,c}",
            "~/a",
            "a ~",
            "A=1 b",
            "exec a",
            "cd a",
            "echo a",
            "printf a",
            "kill 1",
            "test a",
            "pwd",
            ". a",
            "a # b",
            "a \\ b",
            "a \"b",
            "!a",
            "(a)",
            "-x",
            "a\nb",
            "a \"b\\n\"",
            "[ \"b\"",
            "a 'b\u{7}'",
        ] {
            assert_eq!(plain_words(command), None, "{command}");
        }
    }
}
