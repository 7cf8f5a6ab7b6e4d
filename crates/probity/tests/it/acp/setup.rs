//! `probity acp setup`: settings printed and written for editors, into files of many shapes.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Output, Run, probity, stable};

/// A user with editors.
struct Desk(TempDir);

/// Where each editor has its settings below the home directory.
const FILES: [(&str, &str); 4] = [
    ("zed", ".config/zed/settings.json"),
    ("vscode", ".config/Code/User/settings.json"),
    ("jetbrains", ".jetbrains/acp.json"),
    ("nvim", ".config/nvim/lua/probity_acp.lua"),
];

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn run(&self, args: &[&str]) -> Run {
        let home = self.0.path().to_str().unwrap();
        probity().env("PATH", "").env("HOME", home).args(["acp", "setup"]).args(args)
    }

    /// Writes the setting over this text, and gives what came of it.
    fn written(&self, editor: &str, agent: &str, before: &str) -> (Output, String) {
        let path = self.file(FILES.iter().find(|(name, _)| *name == editor).unwrap().1);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, before).unwrap();
        let output = self.run(&[editor, "--agent", agent, "--write"]).run();
        (output, fs::read_to_string(path).unwrap())
    }
}

/// The path that is written: `PATH` is empty, so that it is the binary's own.
fn program() -> String {
    Path::new(env!("CARGO_BIN_EXE_probity")).canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn the_guide_shows_what_is_printed() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/editors.md");
    let guide = fs::read_to_string(guide).unwrap();
    let desk = Desk::new();
    let mut hints = Vec::new();
    for (editor, file) in FILES {
        let output = desk.run(&[editor]).run().code(0);
        let printed = output.stdout.replace(&program(), "probity");
        let language = if editor == "nvim" { "lua" } else { "json" };
        assert!(guide.contains(&format!("```{language}\n{printed}```")), "{editor}:\n{printed}");
        hints.push(format!("{editor}\n{}", output.stderr));
        assert!(!desk.file(file).exists(), "{editor} was written");
        assert_eq!(desk.run(&[editor, "--quiet"]).run().code(0).stderr, "", "{editor}");
    }
    insta::assert_snapshot!(stable(&hints.join("\n")), @"
    zed
    add this to [dir]/.config/zed/settings.json, or run `probity acp setup zed --agent claude --write`
    warning: `claude-agent-acp` is not in your PATH; install it with `npm install -g @agentclientprotocol/claude-agent-acp`

    vscode
    add this to [dir]/.config/Code/User/settings.json, or run `probity acp setup vscode --agent claude --write`
    warning: `claude-agent-acp` is not in your PATH; install it with `npm install -g @agentclientprotocol/claude-agent-acp`

    jetbrains
    add this to [dir]/.jetbrains/acp.json, or run `probity acp setup jetbrains --agent claude --write`
    warning: `claude-agent-acp` is not in your PATH; install it with `npm install -g @agentclientprotocol/claude-agent-acp`

    nvim
    add this to your Neovim configuration, or run `probity acp setup nvim --agent claude --write`
    warning: `claude-agent-acp` is not in your PATH; install it with `npm install -g @agentclientprotocol/claude-agent-acp`
    ");
}

#[test]
fn a_missing_file_is_made_and_a_second_agent_joins_the_first() {
    let mut printed = Vec::new();
    for (editor, file) in FILES {
        let desk = Desk::new();
        let path = desk.file(file);
        let first = desk.run(&[editor, "--write"]).run().code(0);
        let alone = fs::read_to_string(&path).unwrap();
        let again = desk.run(&[editor, "--write"]).run().code(0);
        printed.push(format!("{editor}\n{}{}", first.stdout, again.stdout));
        assert_eq!(fs::read_to_string(&path).unwrap(), alone, "{editor}");
        desk.run(&[editor, "--agent", "goose", "--write"]).run().code(0);
        let both = fs::read_to_string(&path).unwrap();
        for agent in ["claude", "goose"] {
            let args = format!("\"acp\", \"{agent}\"");
            assert_eq!(both.matches(&args).count(), 1, "{editor}: {both}");
        }
        let backup = path.with_file_name(format!(
            "{}.probity-backup",
            path.file_name().unwrap().to_str().unwrap()
        ));
        assert_eq!(fs::read_to_string(backup).unwrap(), alone, "{editor}");
    }
    insta::assert_snapshot!(stable(&printed.join("\n")), @r#"
    zed
    Added `claude-sandbox` to the new file [dir]/.config/zed/settings.json.
    In Zed, open the agent panel and start a `claude-sandbox` thread.
    `claude-sandbox` is already in [dir]/.config/zed/settings.json.
    In Zed, open the agent panel and start a `claude-sandbox` thread.

    vscode
    Added `claude-sandbox` to the new file [dir]/.config/Code/User/settings.json.
    In VS Code, install the extension `formulahendry.acp-client`, open its panel and connect to `claude-sandbox`.
    `claude-sandbox` is already in [dir]/.config/Code/User/settings.json.
    In VS Code, install the extension `formulahendry.acp-client`, open its panel and connect to `claude-sandbox`.

    jetbrains
    Added `claude-sandbox` to the new file [dir]/.jetbrains/acp.json.
    In your IDE, open AI Chat and choose `claude-sandbox` in the list of agents.
    `claude-sandbox` is already in [dir]/.jetbrains/acp.json.
    In your IDE, open AI Chat and choose `claude-sandbox` in the list of agents.

    nvim
    Added `claude_sandbox` to the new file [dir]/.config/nvim/lua/probity_acp.lua.
    In your CodeCompanion setup, set `adapters = { acp = require("probity_acp") }` and `interactions = { chat = { adapter = "claude_sandbox" } }`.
    `claude_sandbox` is already in [dir]/.config/nvim/lua/probity_acp.lua.
    In your CodeCompanion setup, set `adapters = { acp = require("probity_acp") }` and `interactions = { chat = { adapter = "claude_sandbox" } }`.
    "#);
}

#[test]
fn existing_settings_keep_every_byte() {
    let desk = Desk::new();
    let zed = "// Zed settings\n{\n  \"theme\": \"One\", // dark\n  \"agent_servers\": {\n    /* mine */\n    \
               \"other\": {\"type\": \"registry\"},\n  },\n}";
    for (editor, before) in [
        ("zed", zed),
        ("zed", "{}"),
        ("zed", "\u{feff}{\r\n\t\"vim_mode\": true\r\n}\r\n"),
        ("vscode", "{\n    \"editor.fontSize\": 12,\n    // \"acp.agents\": {}\n}\n"),
        ("jetbrains", "{\"default_mcp_settings\": {}, \"agent_servers\": {}}"),
    ] {
        let (output, after) = desk.written(editor, "codex", before);
        let output = output.code(0);
        assert!(output.stdout.contains("Added `codex-sandbox` in "), "{}", output.stdout);
        let mut rest = after.chars();
        for char in before.chars().filter(|char| !char.is_whitespace()) {
            assert!(rest.any(|found| found == char), "{before:?} lost {char:?}: {after:?}");
        }
        let table = if editor == "vscode" { "acp.agents" } else { "agent_servers" };
        assert!(after.contains(&format!("\"{table}\"")), "{after}");
        assert_eq!(after.contains("\"type\": \"custom\""), editor == "zed", "{after}");
        assert!(!after.contains("\r\n  "), "{after:?}");
        assert_eq!(after.matches("\r\n").count() > 0, before.contains("\r\n"), "{after:?}");
    }
}

#[test]
fn the_program_of_an_entry_of_ours_is_brought_up_to_date() {
    let desk = Desk::new();
    let before = "{\"agent_servers\": {\"claude-sandbox\": {\"type\": \"custom\", \"command\": \"cai\", \
                  \"args\": [\"--acp\", \"claude\"], \"env\": {\"A\": \"b\"}}}}";
    let (output, after) = desk.written("zed", "claude", before);
    insta::assert_snapshot!(stable(&output.code(0).stdout), @"
    Updated `claude-sandbox` in [dir]/.config/zed/settings.json. The previous version is [dir]/.config/zed/settings.json.probity-backup.
    In Zed, open the agent panel and start a `claude-sandbox` thread.
    ");
    let expected =
        before.replace("\"cai\"", &json!(program()).to_string()).replace("\"--acp\"", "\"acp\"");
    assert_eq!(after, expected);
}

#[test]
fn what_cannot_be_merged_is_left_alone_with_its_place_and_the_text_to_paste() {
    let desk = Desk::new();
    let mut refusals = Vec::new();
    for (editor, before) in [
        ("zed", "{\n  \"a\": 1\n  \"b\": 2\n}\n"),
        ("vscode", "\u{feff}{é"),
        ("jetbrains", "[]"),
        ("zed", "{\"agent_servers\": {\"claude-sandbox\": {\"command\": \"docker\"}}}"),
        ("nvim", "return {}\n"),
    ] {
        let (output, after) = desk.written(editor, "claude", before);
        let output = output.code(2);
        assert_eq!(after, before, "{editor}");
        refusals.push(output.stderr.replace(&program(), "[program]"));
        assert_eq!(output.stdout, "", "{editor}");
        let backups = desk.0.path().join(".config/zed/settings.json.probity-backup");
        assert!(!backups.exists(), "{editor} left a backup");
    }
    insta::assert_snapshot!(stable(&refusals.join("\n")), @r#"
    error: [dir]/.config/zed/settings.json:3:3: expected a comma or `}`; the file is as it was
      help: add this to [dir]/.config/zed/settings.json:
        {
          "agent_servers": {
            "claude-sandbox": {
              "type": "custom",
              "command": "[program]",
              "args": ["acp", "claude"]
            }
          }
        }

    error: [dir]/.config/Code/User/settings.json:1:2: expected a key in double quotes or `}`; the file is as it was
      help: add this to [dir]/.config/Code/User/settings.json:
        {
          "acp.agents": {
            "claude-sandbox": {
              "command": "[program]",
              "args": ["acp", "claude"]
            }
          }
        }

    error: [dir]/.jetbrains/acp.json:1:1: expected an object; the file is as it was
      help: add this to [dir]/.jetbrains/acp.json:
        {
          "agent_servers": {
            "claude-sandbox": {
              "command": "[program]",
              "args": ["acp", "claude"]
            }
          }
        }

    error: [dir]/.config/zed/settings.json:1:38: `claude-sandbox` already exists and runs another command; the file is as it was
      help: add this to [dir]/.config/zed/settings.json:
        {
          "agent_servers": {
            "claude-sandbox": {
              "type": "custom",
              "command": "[program]",
              "args": ["acp", "claude"]
            }
          }
        }

    error: [dir]/.config/nvim/lua/probity_acp.lua: probity did not write this file; the file is as it was
      help: add this to your Neovim configuration:
        require("codecompanion").setup({
          adapters = {
            acp = {
              claude_sandbox = function()
                return require("codecompanion.adapters").extend("claude_code", {
                  name = "claude_sandbox",
                  formatted_name = "claude_sandbox",
                  commands = { default = { "[program]", "acp", "claude" } },
                })
              end,
            },
          },
          interactions = { chat = { adapter = "claude_sandbox" } },
        })
    "#);
}

#[test]
fn links_are_followed_only_to_files_of_the_user() {
    let desk = Desk::new();
    let link = desk.file(".config/zed/settings.json");
    let target = desk.file("dotfiles/zed.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    symlink("../../dotfiles/zed.json", &link).unwrap();
    let refused = || {
        let output = desk.run(&["zed", "--write"]).run().code(2);
        assert!(link.is_symlink());
        output.stderr.replace(&program(), "[program]")
    };
    // The text to paste is the same for all.
    let first = refused();
    let (error, paste) = first.split_once("\n  help: ").unwrap();
    insta::assert_snapshot!(stable(paste), @r#"
    add this to [dir]/.config/zed/settings.json:
        {
          "agent_servers": {
            "claude-sandbox": {
              "type": "custom",
              "command": "[program]",
              "args": ["acp", "claude"]
            }
          }
        }
    "#);
    let mut errors = vec![error.to_owned()];
    let mut refused = || {
        let text = refused();
        let (error, help) = text.split_once("\n  help: ").unwrap();
        assert_eq!(help, paste);
        errors.push(error.to_owned());
    };
    fs::create_dir(&target).unwrap();
    refused();
    fs::remove_dir(&target).unwrap();
    fs::write(&target, b"{\xff}").unwrap();
    refused();
    fs::write(&target, "{}").unwrap();
    fs::hard_link(&target, desk.file("dotfiles/other.json")).unwrap();
    refused();
    fs::remove_file(desk.file("dotfiles/other.json")).unwrap();
    // Only root can give a file away.
    if fs::metadata(&target).unwrap().uid() == 0 {
        std::os::unix::fs::chown(&target, Some(1000), None).unwrap();
        refused();
        std::os::unix::fs::chown(&target, Some(0), None).unwrap();
        let last = errors.pop().unwrap();
        insta::assert_snapshot!(stable(&last), @"error: [dir]/.config/zed/settings.json: it is a link to [dir]/dotfiles/zed.json, which belongs to another user; the file is as it was");
    }
    insta::assert_snapshot!(stable(&errors.join("\n")), @"
    error: [dir]/.config/zed/settings.json: it is a link to ../../dotfiles/zed.json, which does not exist; the file is as it was
    error: [dir]/.config/zed/settings.json: it is not a regular file; the file is as it was
    error: [dir]/.config/zed/settings.json: it is not UTF-8; the file is as it was
    error: [dir]/.config/zed/settings.json: it has 2 names (hard links), and replacing it would part them; the file is as it was
    ");
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    desk.run(&["zed", "--write"]).run().code(0);
    assert!(link.is_symlink());
    let written = fs::read_to_string(&target).unwrap().replace(&program(), "[program]");
    insta::assert_snapshot!(written, @r#"
    {
      "agent_servers": {
        "claude-sandbox": {
          "type": "custom",
          "command": "[program]",
          "args": ["acp", "claude"]
        }
      }
    }
    "#);
    for file in [target, desk.file("dotfiles/zed.json.probity-backup")] {
        let mode = fs::metadata(&file).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

#[test]
fn a_name_that_is_not_known_and_a_file_of_ones_choice() {
    let desk = Desk::new();
    let output = desk.run(&["zed", "--agent", "gemni"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: there is no agent `gemni`
      help: did you mean `gemini`? known agents: claude, codex, gemini, opencode, qwen, copilot, cline, auggie, goose, kimi, vibe, pi; name any other by its command, acp:COMMAND or cmd:COMMAND
    ");
    desk.run(&["emacs"]).run().code(2);
    let other = desk.file("codium.json");
    let args = ["vscode", "--agent", "claude-code", "--write", "--file", other.to_str().unwrap()];
    desk.run(&args).run().code(0);
    let text = fs::read_to_string(other).unwrap().replace(&program(), "[program]");
    insta::assert_snapshot!(text, @r#"
    {
      "acp.agents": {
        "claude-sandbox": {
          "command": "[program]",
          "args": ["acp", "claude"]
        }
      }
    }
    "#);
}

#[test]
fn an_agent_of_ones_own_and_a_probity_on_the_path() {
    let desk = Desk::new();
    fs::create_dir_all(desk.file("bin")).unwrap();
    fs::create_dir_all(desk.file(".config/probity")).unwrap();
    let own = "[containment.agents.\"my agent\"]\ncommand = [\"mine\"]\n";
    fs::write(desk.file(".config/probity/probity.toml"), own).unwrap();
    symlink(program(), desk.file("bin/probity")).unwrap();
    // A repository has no say in the user's editor.
    let repository = desk.file("repository/.containai/config.toml");
    fs::create_dir_all(repository.parent().unwrap()).unwrap();
    fs::write(repository, "[agent]\ndefault = 'gemini'\n").unwrap();
    let here = desk.run(&["zed"]).dir(desk.file("repository")).run().code(0).stdout;
    insta::assert_snapshot!(stable(&here.replace(&program(), "[program]")), @r#"
    {
      "agent_servers": {
        "claude-sandbox": {
          "type": "custom",
          "command": "[dir]/bin/probity",
          "args": ["acp", "claude"]
        }
      }
    }
    "#);
    let bin = desk.file("bin").to_str().unwrap().to_owned();
    let output = desk.run(&["nvim", "--agent", "my agent"]).env("PATH", &bin).run().code(0).stdout;
    // The link, which an update leaves where it is, and not what it leads to today.
    insta::assert_snapshot!(stable(&output), @r#"
    require("codecompanion").setup({
      adapters = {
        acp = {
          my_agent_sandbox = function()
            return require("codecompanion.adapters").extend("opencode", {
              name = "my_agent_sandbox",
              formatted_name = "my_agent_sandbox",
              commands = { default = { "[dir]/bin/probity", "acp", "my agent" } },
            })
          end,
        },
      },
      interactions = { chat = { adapter = "my_agent_sandbox" } },
    })
    "#);
}

#[test]
fn what_is_written_starts_the_proxy() {
    let desk = Desk::new();
    desk.run(&["jetbrains", "--write"]).run().code(0);
    let text = fs::read_to_string(desk.file(".jetbrains/acp.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let entry = &settings["agent_servers"]["claude-sandbox"];
    let args = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let mut child = std::process::Command::new(entry["command"].as_str().unwrap())
        .args(args)
        .env_clear()
        .env("HOME", desk.0.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                            "params": {"protocolVersion": 1, "clientCapabilities": {}}});
    use std::io::Write as _;
    writeln!(child.stdin.take().unwrap(), "{initialize}").unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
}
