//! The shipped rows of the agent table, one for each agent that npm or PyPI has.
//!
//! Every program name, flag, variable and login file was tried with the agent itself. A login file
//! is listed only if it holds no settings that could start programs or widen trust.

use super::{CommandLine, Granted, KnownAgent};

pub(super) struct Row {
    name: &'static str,
    acp: &'static [&'static str],
    starts: &'static [&'static str],
    install: &'static str,
    log_in: &'static str,
    command_line: Option<CommandLine>,
    variables: &'static [&'static str],
    logins: &'static [&'static str],
    inside: &'static [(&'static str, &'static str)],
}

impl Row {
    pub(super) fn agent(&self) -> KnownAgent {
        let owned = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        KnownAgent {
            name: self.name.to_owned(),
            acp: owned(self.acp),
            starts: owned(self.starts),
            install: Some(self.install.to_owned()),
            log_in: Some(self.log_in.to_owned()),
            image: None,
            command_line: self.command_line,
            variables: owned(self.variables),
            logins: owned(self.logins),
            inside: self.inside.iter().map(pair).collect(),
            granted: Granted::default(),
        }
    }
}

pub(super) const SHIPPED: &[Row] = &[
    Row {
        name: "claude",
        acp: &["claude-agent-acp"],
        starts: &[],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        log_in: "claude auth login",
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
        // Containers run it as root, which it accepts only with this variable.
        inside: &[("IS_SANDBOX", "1")],
    },
    Row {
        name: "codex",
        acp: &["codex-acp"],
        starts: &[],
        install: "npm install -g @agentclientprotocol/codex-acp",
        log_in: "codex login",
        command_line: Some(CommandLine::Codex),
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
        logins: &[".codex/auth.json"],
        // Its own sandbox cannot be made inside ours, so every command would fail in its usual mode.
        inside: &[("INITIAL_AGENT_MODE", "agent-full-access")],
    },
    Row {
        name: "gemini",
        acp: &["gemini", "--acp"],
        starts: &[],
        install: "npm install -g @google/gemini-cli",
        log_in: "gemini",
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
        starts: &[],
        install: "npm install -g opencode-ai",
        log_in: "opencode auth login",
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
        starts: &[],
        install: "npm install -g @qwen-code/qwen-code",
        log_in: "qwen --auth-type=openai",
        command_line: None,
        variables: &["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
        logins: &[".qwen/oauth_creds.json"],
        inside: &[],
    },
    Row {
        name: "copilot",
        acp: &["copilot", "--acp"],
        starts: &[],
        install: "npm install -g @github/copilot",
        log_in: "copilot login",
        command_line: None,
        // GH_TOKEN and GITHUB_TOKEN work too, but they are not this agent's alone.
        variables: &[
            "COPILOT_GITHUB_TOKEN",
            "COPILOT_MODEL",
            "COPILOT_OFFLINE",
            "COPILOT_PROVIDER_API_KEY",
            "COPILOT_PROVIDER_BASE_URL",
            "COPILOT_PROVIDER_TYPE",
        ],
        // Its token is in a file that also says which directories and plugins it trusts.
        logins: &[],
        // An update would replace the installed version by one in the agent's home.
        inside: &[("COPILOT_AUTO_UPDATE", "false")],
    },
    Row {
        name: "cline",
        acp: &["cline", "--acp"],
        starts: &[],
        install: "npm install -g cline",
        log_in: "cline auth",
        command_line: None,
        // Keys of other providers open no session over ACP.
        variables: &["CLINE_API_KEY"],
        // Keys with the name, model and URL of their provider; nothing in it is run.
        logins: &[".cline/data/settings/providers.json"],
        inside: &[],
    },
    Row {
        name: "auggie",
        acp: &["auggie", "--acp"],
        starts: &[],
        install: "npm install -g @augmentcode/auggie",
        log_in: "auggie login",
        command_line: None,
        variables: &["AUGMENT_SESSION_AUTH"],
        logins: &[".augment/session.json"],
        // Its own installation is read-only.
        inside: &[("AUGMENT_DISABLE_AUTO_UPDATE", "1")],
    },
    Row {
        name: "goose",
        acp: &["goose", "acp"],
        starts: &[],
        install: "npm install -g @aaif/goose-acp",
        log_in: "goose configure",
        command_line: None,
        // The provider and the model have no default.
        variables: &[
            "ANTHROPIC_API_KEY",
            "GOOSE_MODEL",
            "GOOSE_PROVIDER",
            "OPENAI_API_KEY",
            "OPENAI_HOST",
            "OPENROUTER_API_KEY",
        ],
        logins: &[".config/goose/secrets.yaml"],
        // No keyring can be reached from a sandbox.
        inside: &[("GOOSE_DISABLE_KEYRING", "1")],
    },
    Row {
        name: "kimi",
        acp: &["kimi", "acp"],
        starts: &[],
        install: "npm install -g @moonshot-ai/kimi-code",
        log_in: "kimi login",
        command_line: None,
        variables: &[
            "KIMI_MODEL_API_KEY",
            "KIMI_MODEL_BASE_URL",
            "KIMI_MODEL_NAME",
            "KIMI_MODEL_PROVIDER_TYPE",
        ],
        logins: &[".kimi-code/credentials/kimi-code.json"],
        inside: &[("KIMI_CODE_NO_AUTO_UPDATE", "1")],
    },
    Row {
        name: "vibe",
        acp: &["vibe-acp"],
        starts: &[],
        install: "pip install mistral-vibe",
        log_in: "vibe --setup",
        command_line: None,
        variables: &["MISTRAL_API_KEY"],
        logins: &[".vibe/.env"],
        inside: &[],
    },
    Row {
        name: "pi",
        acp: &["pi-acp"],
        starts: &["pi"],
        install: "npm install -g @earendil-works/pi-coding-agent pi-acp",
        log_in: "pi-acp --terminal-login",
        command_line: None,
        variables: &["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        logins: &[".pi/agent/auth.json"],
        inside: &[],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_row_is_complete_and_harmless() {
        let mut names = HashSet::new();
        for row in SHIPPED {
            let name = row.name;
            assert!(names.insert(name), "{name} has two rows");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()), "{name}");
            let (program, rest) = row.acp.split_first().unwrap();
            assert!(!program.contains('/') && !program.starts_with('-'), "{name}: {program}");
            assert!(rest.len() <= 1, "{name}: {rest:?}");
            let install = row.install;
            let known = ["npm install -g ", "pip install "];
            assert!(known.iter().any(|start| install.starts_with(start)), "{name}: {install}");
            assert!(!row.log_in.is_empty(), "{name} has no way to log in");
            assert!(!row.variables.is_empty(), "{name} takes no key");
            let sorted = row.variables.is_sorted_by(|one, two| one < two);
            assert!(sorted, "{name}: {:?}", row.variables);
            let given = row.variables.iter().chain(row.inside.iter().map(|(name, _)| name));
            for variable in given {
                let word = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
                assert!(variable.bytes().all(word), "{name}: {variable}");
            }
            let twice = row.inside.iter().find(|(inside, _)| row.variables.contains(inside));
            assert_eq!(twice, None, "{name}: the user's value would be overwritten");
        }
    }

    /// What tools other than agents read: as a key of one agent it would be kept from the others.
    #[test]
    fn no_row_claims_a_variable_of_everyone() {
        for row in SHIPPED {
            for shared in ["GH_TOKEN", "GITHUB_TOKEN", "HOME", "PATH", "HTTPS_PROXY"] {
                assert!(!row.variables.contains(&shared), "{}: {shared}", row.name);
            }
        }
    }

    #[test]
    fn logins_stay_below_the_home_directory_and_hold_no_settings() {
        for row in SHIPPED {
            for file in row.logins {
                assert!(!file.starts_with('/') && !file.contains(".."), "{file}");
                let name = file.rsplit('/').next().unwrap();
                assert!(!name.starts_with("settings") && !name.starts_with("config"), "{file}");
            }
        }
    }
}
