//! Which shell runs a text, and with which options: read from the words of a `SHELL` instruction,
//! of a shebang or of a command line.

/// The language of a shell text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// `sh`, whatever stands behind it.
    Sh,
    Dash,
    /// That of busybox.
    Ash,
    Bash,
    Ksh,
    Mksh,
    Zsh,
    PowerShell,
    /// The Windows command interpreter.
    Cmd,
    /// A program that is no shell we know: `python`, a script of the image.
    Other,
}

/// A shell as it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub dialect: Dialect,
    /// `-e`, `-o errexit`
    pub errexit: bool,
    /// `-u`, `-o nounset`
    pub nounset: bool,
    /// `-o pipefail`
    pub pipefail: bool,
    /// `-x`, `-o xtrace`
    pub xtrace: bool,
    /// `-c`, `/C`, `-Command`: the text is the next word.
    pub takes_command: bool,
}

impl Dialect {
    /// The dialect of the words that start a shell, such as `["/bin/bash", "-o", "pipefail", "-c"]`.
    #[must_use]
    pub fn of_shell<S: AsRef<str>>(argv: &[S]) -> Self {
        Invocation::of_argv(argv).dialect
    }

    /// The dialect of a program: a name or a path, with or without `.exe`.
    #[must_use]
    pub fn of_program(program: &str) -> Self {
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
        match name.strip_suffix(".exe").unwrap_or(&name) {
            "sh" => Self::Sh,
            "dash" => Self::Dash,
            "ash" | "busybox" => Self::Ash,
            "bash" | "rbash" => Self::Bash,
            "ksh" | "ksh93" => Self::Ksh,
            "mksh" | "oksh" | "loksh" => Self::Mksh,
            "zsh" => Self::Zsh,
            "powershell" | "pwsh" => Self::PowerShell,
            "cmd" => Self::Cmd,
            _ => Self::Other,
        }
    }

    /// Whether the text is of the family that is parsed here.
    #[must_use]
    pub fn is_posix(self) -> bool {
        !matches!(self, Self::PowerShell | Self::Cmd | Self::Other)
    }

    /// Whether `{a,b}` is expanded.
    #[must_use]
    pub fn has_braces(self) -> bool {
        matches!(self, Self::Bash | Self::Ksh | Self::Mksh | Self::Zsh)
    }

    /// Whether `set -o pipefail` works in every version that images ship.
    #[must_use]
    pub fn has_pipefail(self) -> bool {
        matches!(self, Self::Ash | Self::Bash | Self::Ksh | Self::Mksh | Self::Zsh)
    }
}

impl Invocation {
    /// A shell without options that takes a text.
    #[must_use]
    pub fn plain(dialect: Dialect) -> Self {
        Self {
            dialect,
            errexit: false,
            nounset: false,
            pipefail: false,
            xtrace: false,
            takes_command: false,
        }
    }

    /// Reads the words that start a shell. `env` and `busybox` before it are looked through.
    #[must_use]
    pub fn of_argv<S: AsRef<str>>(argv: &[S]) -> Self {
        let mut words =
            argv.iter().map(AsRef::as_ref).skip_while(|word| is_prefix(word)).peekable();
        let mut program = words.next().unwrap_or_default();
        if Dialect::of_program(program) == Dialect::Ash
            && let Some(applet) = words.next_if(|word| !word.starts_with('-'))
        {
            program = applet;
        }
        let mut found = Self::plain(Dialect::of_program(program));
        if !found.dialect.is_posix() {
            let dialect = found.dialect;
            found.takes_command = words.any(|word| is_command_flag(word, dialect));
            return found;
        }
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some("") => break,
                Some(_) => continue,
                None => {}
            }
            let Some(on) = switch(word) else { break };
            for letter in word.chars().skip(1) {
                if letter == 'o' {
                    found.set(words.next().unwrap_or_default(), on);
                } else {
                    found.set_letter(letter, on);
                }
            }
        }
        found
    }

    /// Turns an option on or off by its long name.
    pub(crate) fn set(&mut self, name: &str, on: bool) {
        match name {
            "errexit" => self.errexit = on,
            "nounset" => self.nounset = on,
            "pipefail" => self.pipefail = on,
            "xtrace" => self.xtrace = on,
            _ => {}
        }
    }

    pub(crate) fn set_letter(&mut self, letter: char, on: bool) {
        match letter {
            'e' => self.errexit = on,
            'u' => self.nounset = on,
            'x' => self.xtrace = on,
            'c' => self.takes_command = on,
            _ => {}
        }
    }
}

/// Whether a word of options switches on (`-e`) or off (`+e`); nothing for other words.
pub(crate) fn switch(word: &str) -> Option<bool> {
    match word.as_bytes() {
        [b'-', _, ..] => Some(true),
        [b'+', _, ..] => Some(false),
        _ => None,
    }
}

/// Whether the text to run is behind this flag of a shell. PowerShell takes the beginning of a flag
/// for the whole.
pub(crate) fn is_command_flag(word: &str, dialect: Dialect) -> bool {
    let lower = word.to_ascii_lowercase();
    match dialect {
        Dialect::PowerShell | Dialect::Other => {
            let name = lower.strip_prefix(['-', '/']).unwrap_or_default();
            !name.is_empty() && "command".starts_with(name)
        }
        Dialect::Cmd => lower == "/c" || lower == "/k",
        _ => switch(word) == Some(true) && !word.starts_with("--") && word.ends_with('c'),
    }
}

fn is_prefix(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("env")) || word == "-S" || is_assignment(word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests;
