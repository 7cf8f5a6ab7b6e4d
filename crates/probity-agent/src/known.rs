//! The agents that can be named without writing their command.

use crate::AgentRef;

/// One agent: how it is started, and what of the user's it may be given when it is contained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    pub name: String,
    /// The command that speaks the Agent Client Protocol.
    pub acp: Vec<String>,
    /// How it is asked once on its command line, where it can be.
    pub command_line: Option<CommandLine>,
    /// Variables that carry its keys and endpoints. None is passed unless the user lists it.
    pub variables: Vec<String>,
    /// Files below the home directory that hold its login. None is passed unless the user lists it.
    pub credential_files: Vec<String>,
    /// Variables that tell it that it is contained.
    pub inside: Vec<(String, String)>,
}

/// The command lines that we know how to drive, each with its own flags and envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandLine {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// Every agent with a name: ours, and those that the user's configuration adds.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        match AgentRef::parse(name) {
            Ok(AgentRef::Known(name)) => self.agents.iter().find(|agent| agent.name == name),
            Ok(_) | Err(_) => None,
        }
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
    command_line: Option<CommandLine>,
    variables: &'static [&'static str],
    credential_files: &'static [&'static str],
    inside: &'static [(&'static str, &'static str)],
}

impl Row {
    fn agent(&self) -> KnownAgent {
        let owned = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        KnownAgent {
            name: self.name.to_owned(),
            acp: owned(self.acp),
            command_line: self.command_line,
            variables: owned(self.variables),
            credential_files: owned(self.credential_files),
            inside: self
                .inside
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }
}

const SHIPPED: &[Row] = &[
    Row {
        name: "claude",
        acp: &["claude-agent-acp"],
        command_line: Some(CommandLine::Claude),
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_MODEL",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        credential_files: &[".claude/.credentials.json", ".claude/settings.json", ".claude.json"],
        // As root, which is what containers run as, it works only where it is told so.
        inside: &[("IS_SANDBOX", "1")],
    },
    Row {
        name: "codex",
        acp: &["codex-acp"],
        command_line: Some(CommandLine::Codex),
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
        credential_files: &[".codex/auth.json", ".codex/config.toml"],
        inside: &[],
    },
    Row {
        name: "gemini",
        acp: &["gemini", "--acp"],
        command_line: Some(CommandLine::Gemini),
        variables: &[
            "GEMINI_API_KEY",
            "GEMINI_MODEL",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_LOCATION",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_GEMINI_BASE_URL",
        ],
        credential_files: &[
            ".gemini/google_accounts.json",
            ".gemini/oauth_creds.json",
            ".gemini/settings.json",
        ],
        inside: &[],
    },
    Row {
        name: "opencode",
        acp: &["opencode", "acp"],
        command_line: Some(CommandLine::Opencode),
        variables: &["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        credential_files: &[".config/opencode/opencode.json", ".local/share/opencode/auth.json"],
        inside: &[],
    },
    Row {
        name: "qwen",
        acp: &["qwen", "--acp"],
        command_line: None,
        variables: &["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
        credential_files: &[".qwen/oauth_creds.json", ".qwen/settings.json"],
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
        let mine = |name: &str| KnownAgent {
            name: name.to_owned(),
            acp: vec!["mine".to_owned()],
            command_line: None,
            variables: Vec::new(),
            credential_files: Vec::new(),
            inside: Vec::new(),
        };
        table.add(mine("gemini"));
        table.add(mine("mine"));
        assert_eq!(table.get("gemini").unwrap().acp, ["mine"]);
        assert_eq!(table.names(), "claude, codex, opencode, qwen, gemini, mine");
    }

    #[test]
    fn credentials_stay_below_the_home_directory() {
        for agent in AgentTable::shipped().iter() {
            assert!(!agent.acp.is_empty());
            for file in &agent.credential_files {
                assert!(!file.starts_with('/') && !file.contains(".."), "{file}");
            }
        }
    }
}
