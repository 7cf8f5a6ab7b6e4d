//! Neovim with CodeCompanion: adapters in a module of their own.
//!
//! A second call of CodeCompanion's `setup` would forget the first, so the file that we write calls
//! nothing. It returns a table, which the user's own setup takes in once. Each agent is one line of
//! it, so that a line can be added and no Lua has to be understood.

use super::editor::Setting;
use crate::jsonc::Inserted;

/// The name by which Lua requires the file.
pub(super) const MODULE: &str = "probity_acp";

const BEGIN: &str = r#"-- Sandboxed agents for CodeCompanion; `probity acp setup nvim --write` adds one line for each.
-- In your own setup: adapters = { acp = require("probity_acp") }
local function agent(name, base, command)
  return function()
    return require("codecompanion.adapters").extend(base, {
      name = name,
      formatted_name = name,
      commands = { default = command },
    })
  end
end

return {
"#;

const END: &str = "}\n";

/// CodeCompanion's own adapters, which know how each agent logs in.
const BASES: &[(&str, &str)] = &[
    ("auggie", "auggie_cli"),
    ("claude", "claude_code"),
    ("cline", "cline_cli"),
    ("codex", "codex"),
    ("copilot", "copilot_acp"),
    ("gemini", "gemini_cli"),
    ("goose", "goose"),
    ("kimi", "kimi_cli"),
    ("vibe", "mistral_vibe"),
];

/// An adapter that adds nothing of its own.
const PLAIN_BASE: &str = "opencode";

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LuaError {
    #[error("probity did not write this file")]
    NotOurs,
}

/// A key of a Lua table. CodeCompanion looks adapters up by this name alone: under the name of the
/// adapter that it extends, the agent would be started without a sandbox.
pub(super) fn name(agent: &str) -> String {
    let word = |char: char| if char.is_ascii_alphanumeric() { char } else { '_' };
    format!("{}_sandbox", agent.chars().map(word).collect::<String>())
}

/// The whole setup, for a configuration that has none.
pub(super) fn setup(setting: &Setting) -> String {
    let (name, base, command) = (setting.name(), quoted(base(setting)), command(setting));
    let key = key(&name);
    let name = quoted(&name);
    format!(
        r#"require("codecompanion").setup({{
  adapters = {{
    acp = {{
      {key} = function()
        return require("codecompanion.adapters").extend({base}, {{
          name = {name},
          formatted_name = {name},
          commands = {{ default = {command} }},
        }})
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = {name} }} }},
}})"#
    )
}

/// The text of the module with this agent in it.
pub(super) fn insert(before: &str, setting: &Setting) -> Result<Inserted, LuaError> {
    let (name, base, command) = (setting.name(), quoted(base(setting)), command(setting));
    let line = format!("  {} = agent({}, {base}, {command}),\n", key(&name), quoted(&name));
    if before.is_empty() {
        return Ok(Inserted::Added(format!("{BEGIN}{line}{END}")));
    }
    let lines = before.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    let lines: Vec<&str> = lines.ok_or(LuaError::NotOurs)?.split_inclusive('\n').collect();
    let is_agent = |line: &&str| line.contains(" = agent(") && line.ends_with("),\n");
    if !lines.iter().all(is_agent) {
        return Err(LuaError::NotOurs);
    }
    let start = format!("  {} = ", key(&name));
    let old = lines.iter().position(|line| line.starts_with(&start));
    Ok(match old {
        Some(at) if lines.get(at) == Some(&line.as_str()) => Inserted::Same,
        Some(_) => {
            let new =
                |old: &&str| if old.starts_with(&start) { line.clone() } else { (*old).to_owned() };
            let lines: String = lines.iter().map(new).collect();
            Inserted::Updated(format!("{BEGIN}{lines}{END}"))
        }
        None => Inserted::Added(format!("{BEGIN}{}{line}{END}", lines.concat())),
    })
}

fn base(setting: &Setting) -> &'static str {
    let known = BASES.iter().find(|(agent, _)| *agent == setting.agent);
    known.map_or(PLAIN_BASE, |(_, base)| base)
}

fn command(setting: &Setting) -> String {
    let words = [setting.program.as_str(), "acp", setting.agent.as_str()].map(quoted);
    format!("{{ {} }}", words.join(", "))
}

/// A name that begins with a digit is no identifier.
fn key(name: &str) -> String {
    if name.starts_with(|char: char| char.is_ascii_digit()) {
        format!("[{}]", quoted(name))
    } else {
        name.to_owned()
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if char.is_ascii_control() => quoted.push_str(&format!("\\{:03}", char as u32)),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
