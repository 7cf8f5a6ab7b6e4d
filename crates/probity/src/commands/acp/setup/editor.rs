//! The editors: where each keeps its settings, and what the setting of an agent looks like there.

use std::{
    env,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::lua;
use crate::{config::word::words, failure::Failure, jsonc::Entry};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Editor {
    Zed,
    Vscode,
    Jetbrains,
    Nvim,
}

words! {
    Editor { Zed = "zed", Vscode = "vscode", Jetbrains = "jetbrains", Nvim = "nvim" }
}

impl Editor {
    /// The file that the editor reads.
    pub(super) fn file(self) -> anyhow::Result<PathBuf> {
        let variable = |name: &str| {
            env::var_os(name).map(PathBuf::from).filter(|directory| directory.is_absolute())
        };
        let home = variable("HOME").ok_or_else(|| {
            Failure::new("HOME is not set", "set it, or name the settings file with --file")
        })?;
        let config = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        Ok(match self {
            Self::Zed => config.join("zed/settings.json"),
            Self::Vscode if cfg!(target_os = "macos") => {
                home.join("Library/Application Support/Code/User/settings.json")
            }
            Self::Vscode => config.join("Code/User/settings.json"),
            Self::Jetbrains => home.join(".jetbrains/acp.json"),
            Self::Nvim => {
                let name = env::var_os("NVIM_APPNAME").filter(|name| !name.is_empty());
                let name = name.unwrap_or_else(|| "nvim".into());
                config.join(name).join("lua").join(lua::MODULE).with_extension("lua")
            }
        })
    }
}

/// One agent in one editor.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) editor: Editor,
    pub(super) agent: String,
    /// The path of this program.
    pub(super) program: String,
}

impl Setting {
    /// What the editor calls the agent; its own one keeps its name.
    pub(super) fn name(&self) -> String {
        match self.editor {
            Editor::Nvim => lua::name(&self.agent),
            Editor::Zed | Editor::Vscode | Editor::Jetbrains => format!("{}-sandbox", self.agent),
        }
    }

    pub(super) fn entry(&self) -> Entry {
        let mut fields = Vec::new();
        if self.editor == Editor::Zed {
            fields.push(("type", json!("custom")));
        }
        fields.push(("command", json!(self.program)));
        fields.push(("args", json!(["acp", self.agent])));
        let table = if self.editor == Editor::Vscode { "acp.agents" } else { "agent_servers" };
        Entry { table, name: self.name(), fields }
    }

    /// The whole setting, to paste into an empty file.
    pub(super) fn text(&self) -> String {
        match self.editor {
            Editor::Nvim => lua::setup(self),
            Editor::Zed | Editor::Vscode | Editor::Jetbrains => self.entry().render(),
        }
    }

    pub(super) fn where_to_paste(&self, file: &Path) -> String {
        match self.editor {
            Editor::Nvim => "add this to your Neovim configuration".to_owned(),
            Editor::Zed | Editor::Vscode | Editor::Jetbrains => {
                format!("add this to {}", file.display())
            }
        }
    }

    pub(super) fn next_step(&self) -> String {
        let name = self.name();
        match self.editor {
            Editor::Zed => format!("In Zed, open the agent panel and start a `{name}` thread."),
            Editor::Vscode => format!(
                "In VS Code, install the extension `formulahendry.acp-client`, open its panel and \
                 connect to `{name}`."
            ),
            Editor::Jetbrains => {
                format!("In your IDE, open AI Chat and choose `{name}` in the list of agents.")
            }
            Editor::Nvim => format!(
                "In your CodeCompanion setup, set `adapters = {{ acp = require(\"{}\") }}` and \
                 `interactions = {{ chat = {{ adapter = \"{name}\" }} }}`.",
                lua::MODULE
            ),
        }
    }
}

/// Whether an entry runs this program, wherever it was installed at the time.
pub(super) fn is_ours(entry: &Value) -> bool {
    let program = entry.get("command").and_then(Value::as_str).map(Path::new);
    let name = program.and_then(Path::file_name).and_then(|name| name.to_str());
    let first = entry.get("args").and_then(|args| args.get(0)).and_then(Value::as_str);
    matches!((name, first), (Some("probity"), Some("acp")) | (Some("cai"), Some("--acp" | "acp")))
}
