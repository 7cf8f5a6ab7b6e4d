//! Real agents of five codebases, from npm, with our model behind them.
//!
//! Contained agents are on the host's network here: the model is on its loopback.

mod audited;
mod called_off;
mod fixes;
mod turns;

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{binary::tools, model_server::ModelServer};

/// An agent that `script/tools` has installed, and how it is pointed at a model of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealAgent {
    /// Its name in the table of known agents.
    pub(crate) name: &'static str,
    /// Its command.
    pub(crate) command: &'static [&'static str],
    /// What is in the path of its requests to the model.
    pub(crate) wire: &'static str,
    /// Its keys, endpoints and models.
    variables: fn(&ModelServer) -> Vec<(&'static str, String)>,
    /// Settings below its home directory.
    settings: fn(&ModelServer) -> Option<(&'static str, Value)>,
}

pub(crate) const ALL: [RealAgent; 3] = [CLAUDE, GEMINI, OPENCODE];

pub(crate) const CLAUDE: RealAgent = RealAgent {
    name: "claude",
    command: &["claude-agent-acp"],
    wire: "/v1/messages",
    variables: |server| {
        vec![
            ("ANTHROPIC_API_KEY", "no-real-key".to_owned()),
            ("ANTHROPIC_BASE_URL", server.url("")),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            // As root and uncontained it works only where it is told that it can do no harm.
            ("IS_SANDBOX", "1".to_owned()),
        ]
    },
    settings: |_| None,
};

pub(crate) const GEMINI: RealAgent = RealAgent {
    name: "gemini",
    command: &["gemini", "--acp"],
    wire: "gemini-2.5-flash:streamGenerateContent",
    variables: |server| {
        vec![
            ("GEMINI_API_KEY", "no-real-key".to_owned()),
            ("GEMINI_MODEL", "gemini-2.5-flash".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", server.url("")),
        ]
    },
    settings: |_| {
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": false},
            "general": {"enableAutoUpdate": false},
        });
        Some((".gemini/settings.json", settings))
    },
};

pub(crate) const OPENCODE: RealAgent = RealAgent {
    name: "opencode",
    command: &["opencode", "acp"],
    wire: "/v1/chat/completions",
    variables: |server| {
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Loopback",
            "options": {"baseURL": server.url("/v1"), "apiKey": "no-real-key"},
            "models": {"model": {"name": "Model"}},
        });
        let settings = json!({
            "provider": {"loopback": provider},
            "model": "loopback/model",
            "small_model": "loopback/model",
            "autoupdate": false,
            "share": "disabled",
            // By default it runs commands without asking anybody.
            "permission": {"bash": "ask"},
        });
        vec![("OPENCODE_CONFIG_CONTENT", settings.to_string())]
    },
    settings: |_| None,
};

pub(crate) const CODEX: RealAgent = RealAgent {
    name: "codex",
    command: &["codex-acp"],
    wire: "/v1/responses",
    variables: |server| {
        let provider = json!({
            "name": "Loopback",
            "base_url": server.url("/v1"),
            "env_key": "CODEX_API_KEY",
            "wire_api": "responses",
        });
        let settings = json!({
            "model_provider": "loopback",
            "model": "model",
            "model_providers": {"loopback": provider},
        });
        vec![
            ("CODEX_API_KEY", "no-real-key".to_owned()),
            ("CODEX_CONFIG", settings.to_string()),
            ("MODEL_PROVIDER", "loopback".to_owned()),
        ]
    },
    settings: |_| None,
};

pub(crate) const QWEN: RealAgent = RealAgent {
    name: "qwen",
    command: &["qwen", "--acp"],
    wire: "/v1/chat/completions",
    variables: |server| {
        vec![
            ("OPENAI_API_KEY", "no-real-key".to_owned()),
            ("OPENAI_BASE_URL", server.url("/v1")),
            ("OPENAI_MODEL", "model".to_owned()),
        ]
    },
    settings: |_| None,
};

impl RealAgent {
    pub(crate) fn variables(&self, server: &ModelServer) -> Vec<(&'static str, String)> {
        (self.variables)(server)
    }

    /// Writes its settings into this home directory, and says where below it they are.
    pub(crate) fn settle(&self, server: &ModelServer, home: &Path) -> Option<&'static str> {
        let (path, settings) = (self.settings)(server)?;
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), settings.to_string()).unwrap();
        Some(path)
    }
}

/// The `PATH` that has the agents' programs first.
pub(crate) fn path() -> String {
    let programs = tools().join("agents/node_modules/.bin");
    assert!(
        tools().join("agents/stamp").exists(),
        "{} is missing: run script/tools once",
        programs.display()
    );
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default())
}
