//! The agents that can be named without writing their command.

use crate::AgentRef;

/// One agent: how it is started, and what of the user's it may be given when it is sandboxed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    pub name: String,
    /// The command that speaks the Agent Client Protocol.
    pub acp: Vec<String>,
    /// The command that installs it.
    pub install: Option<String>,
    /// The image that has it, where that is not the usual one.
    pub image: Option<String>,
    /// How it is asked once on its command line, where it can be.
    pub command_line: Option<CommandLine>,
    /// Variables that carry its keys and endpoints. None is passed unless the user lists it.
    pub variables: Vec<String>,
    /// Files below the home directory that hold its login, and no settings. None is passed unless
    /// the user lists it.
    pub logins: Vec<String>,
    /// Variables that tell it that it is sandboxed.
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
            install: None,
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
        Self { agents: SHIPPED.iter().map(Row::agent).collect() }
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

    /// The names, for the message that says a name is not among them.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.agents.iter().map(|agent| agent.name.as_str()).collect();
        names.join(", ")
    }
}

struct Row {
    name: &'static str,
    acp: &'static [&'static str],
    install: &'static str,
    image: Option<&'static str>,
    command_line: Option<CommandLine>,
    variables: &'static [&'static str],
    logins: &'static [&'static str],
    inside: &'static [(&'static str, &'static str)],
}

impl Row {
    fn agent(&self) -> KnownAgent {
        let owned = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        KnownAgent {
            name: self.name.to_owned(),
            acp: owned(self.acp),
            install: Some(self.install.to_owned()),
            image: self.image.map(str::to_owned),
            command_line: self.command_line,
            variables: owned(self.variables),
            logins: owned(self.logins),
            inside: self
                .inside
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            granted: Granted::default(),
        }
    }
}

const SHIPPED: &[Row] = &[
    Row {
        name: "claude",
        acp: &["claude-agent-acp"],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        image: None,
        command_line: Some(CommandLine::Claude),
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_MODEL",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        logins: &[".claude/.credentials.json"],
        // As root, which is what containers run as, it works only where it is told so.
        inside: &[("IS_SANDBOX", "1")],
    },
    Row {
        name: "codex",
        acp: &["codex-acp"],
        install: "npm install -g @agentclientprotocol/codex-acp",
        image: Some("containai:codex"),
        command_line: Some(CommandLine::Codex),
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
        logins: &[".codex/auth.json"],
        // Its own sandbox cannot be made inside ours, so every command would fail in its usual mode.
        inside: &[("INITIAL_AGENT_MODE", "agent-full-access")],
    },
    Row {
        name: "gemini",
        acp: &["gemini", "--acp"],
        install: "npm install -g @google/gemini-cli",
        image: Some("containai:gemini"),
        command_line: Some(CommandLine::Gemini),
        variables: &[
            "GEMINI_API_KEY",
            "GEMINI_MODEL",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_LOCATION",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_GEMINI_BASE_URL",
        ],
        logins: &[".gemini/google_accounts.json", ".gemini/oauth_creds.json"],
        inside: &[],
    },
    Row {
        name: "opencode",
        acp: &["opencode", "acp"],
        install: "npm install -g opencode-ai",
        image: None,
        command_line: Some(CommandLine::Opencode),
        variables: &[
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "OPENAI_API_KEY",
            "OPENCODE_CONFIG_CONTENT",
            "OPENROUTER_API_KEY",
        ],
        logins: &[".local/share/opencode/auth.json"],
        inside: &[],
    },
    Row {
        name: "qwen",
        acp: &["qwen", "--acp"],
        install: "npm install -g @qwen-code/qwen-code",
        image: None,
        command_line: None,
        variables: &["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
        logins: &[".qwen/oauth_creds.json"],
        inside: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_found_by_name_and_alias() {
        let table = AgentTable::shipped();
        assert_eq!(table.get("claude-code").unwrap().acp, ["claude-agent-acp"]);
        assert_eq!(table.get("gemini").unwrap().acp, ["gemini", "--acp"]);
        assert_eq!(table.get("nobody"), None);
        assert_eq!(table.get("cmd:claude"), None);
        assert_eq!(table.names(), "claude, codex, gemini, opencode, qwen");
    }

    #[test]
    fn the_user_can_add_an_agent_and_replace_one() {
        let mut table = AgentTable::shipped();
        table.add(KnownAgent::new("gemini", ["mine"]));
        table.add(KnownAgent::new("mine", ["mine"]));
        assert_eq!(table.get("gemini").unwrap().acp, ["mine"]);
        assert_eq!(table.names(), "claude, codex, opencode, qwen, gemini, mine");
    }

    #[test]
    fn logins_stay_below_the_home_directory_and_hold_no_settings() {
        for agent in AgentTable::shipped().iter() {
            assert!(!agent.acp.is_empty());
            for file in &agent.logins {
                assert!(!file.starts_with('/') && !file.contains(".."), "{file}");
                assert!(!file.contains("settings") && !file.contains("config"), "{file}");
            }
        }
    }
}
