//! How people name an agent: `NAME`, the path of a known agent's program, `acp:COMMAND`, `cmd:COMMAND`
//! or `replay:FILE`.
//!
//! The same forms stand in flags, environment variables and configuration files, and are
//! parsed here alone.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::words::{WordsError, join_words, split_words};

/// An agent as it was named; nothing is looked up or started yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentRef {
    /// An agent of the table, by its name there.
    Known(String),
    /// The program of an agent of the table, by its path.
    Program(String),
    /// A command that speaks the Agent Client Protocol on stdin and stdout.
    Acp(Vec<String>),
    /// A command that takes a prompt on stdin and writes its answer to stdout.
    Command(Vec<String>),
    /// A recorded conversation.
    Replay(PathBuf),
}

impl AgentRef {
    pub fn parse(text: &str) -> Result<Self, RefError> {
        let text = text.trim();
        if let Some(line) = text.strip_prefix("acp:") {
            return Ok(Self::Acp(command("acp:", line)?));
        }
        if let Some(line) = text.strip_prefix("cmd:") {
            return Ok(Self::Command(command("cmd:", line)?));
        }
        if let Some(file) = text.strip_prefix("replay:") {
            return match file.trim() {
                "" => Err(RefError::NoFile),
                file => Ok(Self::Replay(PathBuf::from(file))),
            };
        }
        if text.is_empty() {
            return Err(RefError::Empty);
        }
        if text.contains('/') && !text.contains(char::is_whitespace) {
            return Ok(Self::Program(text.to_owned()));
        }
        if let Some(c) = text.chars().find(|&c| !c.is_ascii_alphanumeric() && !"-_.".contains(c)) {
            return Err(RefError::BadName { name: text.to_owned(), character: c });
        }
        // The command is `claude`, the product and older configurations say `claude-code`.
        let name = if text == "claude-code" { "claude" } else { text };
        Ok(Self::Known(name.to_owned()))
    }

    /// An agent where a command is expected: it speaks the Agent Client Protocol, unless its first word
    /// begins with another form.
    pub fn of_command(argv: &[String]) -> Result<Self, RefError> {
        let Some((first, arguments)) = argv.split_first() else { return Err(RefError::Empty) };
        let (form, program) = match first.split_once(':') {
            Some(("acp", program)) => ("acp:", program),
            Some(("cmd", program)) => ("cmd:", program),
            Some(("replay", _)) => return Self::parse(&argv.join(" ")),
            _ => return Ok(Self::Acp(argv.to_vec())),
        };
        // `cmd: llm` is as good as `cmd:llm`.
        let program = (!program.is_empty()).then(|| program.to_owned());
        let argv: Vec<_> = program.into_iter().chain(arguments.iter().cloned()).collect();
        match argv.first().map(String::as_str) {
            None | Some("") => Err(RefError::NoCommand { form }),
            Some(_) if form == "cmd:" => Ok(Self::Command(argv)),
            Some(_) => Ok(Self::Acp(argv)),
        }
    }

    /// What stands in reports and errors: never the arguments, which may hold keys.
    #[must_use]
    pub fn label(&self) -> String {
        let last = |path: &Path| {
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        match self {
            Self::Known(name) => name.clone(),
            Self::Program(path) => last(Path::new(path)),
            Self::Acp(argv) | Self::Command(argv) => {
                argv.first().map_or_else(String::new, |program| last(Path::new(program)))
            }
            Self::Replay(file) => format!("replay of {}", last(file)),
        }
    }
}

impl fmt::Display for AgentRef {
    /// The form it is parsed from, arguments included.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) | Self::Program(name) => formatter.write_str(name),
            Self::Acp(argv) => write!(formatter, "acp:{}", join_words(argv)),
            Self::Command(argv) => write!(formatter, "cmd:{}", join_words(argv)),
            Self::Replay(file) => write!(formatter, "replay:{}", file.display()),
        }
    }
}

impl FromStr for AgentRef {
    type Err = RefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefError {
    #[error("no agent is named; expected NAME, acp:COMMAND, cmd:COMMAND or replay:FILE")]
    Empty,
    #[error(
        "`{name}` has a {character:?} and is not the name of an agent; a command is written acp:COMMAND or cmd:COMMAND"
    )]
    BadName { name: String, character: char },
    #[error("`{form}` needs a command after it")]
    NoCommand { form: &'static str },
    #[error("the command after `{form}` cannot be read")]
    BadCommand { form: &'static str, source: WordsError },
    #[error("`replay:` needs a file after it")]
    NoFile,
}

fn command(form: &'static str, line: &str) -> Result<Vec<String>, RefError> {
    let argv = split_words(line).map_err(|source| RefError::BadCommand { form, source })?;
    match argv.first() {
        Some(program) if !program.is_empty() => Ok(argv),
        _ => Err(RefError::NoCommand { form }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_and_written_back() {
        for (text, debug, label, written) in [
            ("gemini", r#"Known("gemini")"#, "gemini", "gemini"),
            (" claude-code ", r#"Known("claude")"#, "claude", "claude"),
            ("/opt/x/claude", r#"Program("/opt/x/claude")"#, "claude", "/opt/x/claude"),
            ("./agent", r#"Program("./agent")"#, "agent", "./agent"),
            (
                "acp: /opt/x/agent --acp 'a b'",
                r#"Acp(["/opt/x/agent", "--acp", "a b"])"#,
                "agent",
                "acp:/opt/x/agent --acp 'a b'",
            ),
            ("cmd:claude -p", r#"Command(["claude", "-p"])"#, "claude", "cmd:claude -p"),
            (
                "replay:a/b.ndjson",
                r#"Replay("a/b.ndjson")"#,
                "replay of b.ndjson",
                "replay:a/b.ndjson",
            ),
        ] {
            let reference = AgentRef::parse(text).unwrap();
            assert_eq!(format!("{reference:?}"), debug);
            assert_eq!(reference.label(), label);
            assert_eq!(reference.to_string(), written);
            assert_eq!(written.parse(), Ok(reference));
        }
    }

    #[test]
    fn a_command_speaks_the_protocol_unless_its_first_word_begins_with_another_form() {
        for (argv, debug) in [
            (&["gemini", "--acp"] as &[&str], r#"Ok(Acp(["gemini", "--acp"]))"#),
            (&["acp:gemini", "--acp"], r#"Ok(Acp(["gemini", "--acp"]))"#),
            (&["cmd:llm", "-m", "a b"], r#"Ok(Command(["llm", "-m", "a b"]))"#),
            (&["cmd:", "llm"], r#"Ok(Command(["llm"]))"#),
            (&["llm", "cmd:x"], r#"Ok(Acp(["llm", "cmd:x"]))"#),
            (&["replay:a b.ndjson"], r#"Ok(Replay("a b.ndjson"))"#),
            (&["replay:a", "b.ndjson"], r#"Ok(Replay("a b.ndjson"))"#),
            (&["cmd:"], r#"Err(NoCommand { form: "cmd:" })"#),
            (&["cmd:", ""], r#"Err(NoCommand { form: "cmd:" })"#),
            (&[], "Err(Empty)"),
        ] {
            let argv: Vec<_> = argv.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(format!("{:?}", AgentRef::of_command(&argv)), debug);
        }
    }

    #[test]
    fn what_names_no_agent_says_why() {
        for (text, message) in [
            ("", "no agent is named; expected NAME, acp:COMMAND, cmd:COMMAND or replay:FILE"),
            (
                "gemini --acp",
                "`gemini --acp` has a ' ' and is not the name of an agent; a command is written acp:COMMAND or cmd:COMMAND",
            ),
            (
                "./agent --acp",
                "`./agent --acp` has a '/' and is not the name of an agent; a command is written acp:COMMAND or cmd:COMMAND",
            ),
            ("acp:", "`acp:` needs a command after it"),
            ("cmd: ''", "`cmd:` needs a command after it"),
            ("acp:a 'b", "the command after `acp:` cannot be read"),
            ("replay: ", "`replay:` needs a file after it"),
        ] {
            assert_eq!(AgentRef::parse(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }
}
