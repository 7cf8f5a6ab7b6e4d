//! The agents that can be named without writing their command.

mod rows;

use std::path::Path;

use crate::AgentRef;
use rows::SHIPPED;

/// One agent: how it is started, and what of the user's it may be given when it is sandboxed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    pub name: String,
    /// The command that speaks the Agent Client Protocol.
    pub acp: Vec<String>,
    /// Programs that it starts itself and that may be installed elsewhere.
    pub starts: Vec<String>,
    /// The command that installs it.
    pub install: Option<String>,
    /// What a person runs in a terminal to log in.
    pub log_in: Option<String>,
    /// The image that has it, where the user names one.
    pub image: Option<String>,
    /// How it is asked once on its command line, where it can be.
    pub command_line: Option<CommandLine>,
    /// Variables that carry its keys and endpoints. None is passed unless the user lists it.
    pub variables: Vec<String>,
    /// Files below the home directory that hold its login, and no settings. None is passed unless
    /// the user lists it.
    pub logins: Vec<String>,
    /// Variables that tell it what it cannot do in a sandbox, or need not do itself.
    pub inside: Vec<(String, String)>,
    /// What the user's own configuration gives to this agent in its own table.
    pub granted: Granted,
}

/// Variables and login files that need no further listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    pub variables: Vec<String>,
    pub logins: Vec<String>,
}

impl KnownAgent {
    /// An agent of the user's own, of which nothing is known but its command.
    #[must_use]
    pub fn new<Word: Into<String>>(
        name: impl Into<String>,
        acp: impl IntoIterator<Item = Word>,
    ) -> Self {
        Self {
            name: name.into(),
            acp: acp.into_iter().map(Into::into).collect(),
            starts: Vec::new(),
            install: None,
            log_in: None,
            image: None,
            command_line: None,
            variables: Vec::new(),
            logins: Vec::new(),
            inside: Vec::new(),
            granted: Granted::default(),
        }
    }
}

/// The command lines that we know how to drive, each with its own flags and envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandLine {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl CommandLine {
    /// The program that is started.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// The command that installs it.
    #[must_use]
    pub const fn install(self) -> &'static str {
        match self {
            Self::Claude => "npm install -g @anthropic-ai/claude-code",
            Self::Codex => "npm install -g @openai/codex",
            Self::Gemini => "npm install -g @google/gemini-cli",
            Self::Opencode => "npm install -g opencode-ai",
        }
    }
}

/// Every agent with a name: ours, and those that the user's configuration adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTable {
    agents: Vec<KnownAgent>,
}

impl AgentTable {
    #[must_use]
    pub fn shipped() -> Self {
        Self { agents: SHIPPED.iter().map(rows::Row::agent).collect() }
    }

    /// Adds an agent, in the place of one that has the same name.
    pub fn add(&mut self, agent: KnownAgent) {
        self.agents.retain(|known| known.name != agent.name);
        self.agents.push(agent);
    }

    pub fn iter(&self) -> impl Iterator<Item = &KnownAgent> {
        self.agents.iter()
    }

    /// The agent of that name; aliases as in [`AgentRef::parse`].
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&KnownAgent> {
        let meant = match AgentRef::parse(name) {
            Ok(AgentRef::Known(meant)) => meant,
            // The user may call an agent whatever a key of TOML can be.
            Ok(_) | Err(_) => name.to_owned(),
        };
        self.agents.iter().find(|agent| agent.name == meant)
    }

    /// The agent whose program this is, by the name of its file.
    #[must_use]
    pub fn of_program(&self, path: &str) -> Option<&KnownAgent> {
        self.agents.iter().find(|agent| {
            let line = agent.command_line.map(CommandLine::program);
            let acp = agent.acp.first().map(String::as_str);
            acp.into_iter().chain(line).any(|program| is_program(path, program))
        })
    }

    /// The names, for the message that says a name is not among them.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.agents.iter().map(|agent| agent.name.as_str()).collect();
        names.join(", ")
    }
}

/// Whether a path ends with the name of a program.
#[must_use]
pub fn is_program(path: &str, program: &str) -> bool {
    Path::new(path).file_name() == Path::new(program).file_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = "claude, codex, gemini, opencode, qwen, copilot, cline, auggie, goose, \
                         kimi, vibe, pi";

    #[test]
    fn agents_are_found_by_name_and_alias() {
        let table = AgentTable::shipped();
        assert_eq!(table.get("claude-code").unwrap().acp, ["claude-agent-acp"]);
        assert_eq!(table.get("gemini").unwrap().acp, ["gemini", "--acp"]);
        assert_eq!(table.get("nobody"), None);
        for (path, name) in [
            ("/opt/x/claude", Some("claude")),
            ("tools/claude-agent-acp", Some("claude")),
            ("./gemini", Some("gemini")),
            ("/opt/claude/llm", None),
        ] {
            let agent = table.of_program(path).map(|agent| agent.name.as_str());
            assert_eq!(agent, name, "{path}");
        }
        assert_eq!(table.get("cmd:claude"), None);
        assert_eq!(table.names(), NAMES);
    }

    #[test]
    fn the_user_can_add_an_agent_and_replace_one() {
        let mut table = AgentTable::shipped();
        table.add(KnownAgent::new("gemini", ["mine"]));
        table.add(KnownAgent::new("mine", ["mine"]));
        assert_eq!(table.get("gemini").unwrap().acp, ["mine"]);
        assert_eq!(table.names(), format!("{}, gemini, mine", NAMES.replace(" gemini,", "")));
    }
}
