//! `probity acp setup`: settings printed and written for editors, into files of many shapes.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Output, Run, probity};

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
    for (editor, file) in FILES {
        let output = desk.run(&[editor]).run().code(0);
        let printed = output.stdout.replace(&program(), "probity");
        let language = if editor == "nvim" { "lua" } else { "json" };
        assert!(guide.contains(&format!("```{language}\n{printed}```")), "{editor}:\n{printed}");
        let hint = format!("or run `probity acp setup {editor} --agent claude --write`");
        assert!(output.stderr.contains(&hint), "{}", output.stderr);
        assert!(output.stderr.contains("install it with `npm install -g @agentclient"), "{editor}");
        assert!(!desk.file(file).exists(), "{editor} was written");
        assert_eq!(desk.run(&[editor, "--quiet"]).run().code(0).stderr, "", "{editor}");
    }
}

#[test]
fn a_missing_file_is_made_and_a_second_agent_joins_the_first() {
    for (editor, file) in FILES {
        let desk = Desk::new();
        let path = desk.file(file);
        let first = desk.run(&[editor, "--write"]).run().code(0);
        assert!(first.stdout.contains("to the new file"), "{}", first.stdout);
        let alone = fs::read_to_string(&path).unwrap();
        let again = desk.run(&[editor, "--write"]).run().code(0);
        assert!(again.stdout.contains("is already in"), "{}", again.stdout);
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
    assert!(output.code(0).stdout.starts_with("Updated `claude-sandbox`"));
    let expected =
        before.replace("\"cai\"", &json!(program()).to_string()).replace("\"--acp\"", "\"acp\"");
    assert_eq!(after, expected);
}

#[test]
fn what_cannot_be_merged_is_left_alone_with_its_place_and_the_text_to_paste() {
    let desk = Desk::new();
    for (editor, before, says) in [
        ("zed", "{\n  \"a\": 1\n  \"b\": 2\n}\n", "settings.json:3:3: expected a comma or `}`"),
        ("vscode", "\u{feff}{é", "settings.json:1:2: expected a key in double quotes"),
        ("jetbrains", "[]", "acp.json:1:1: expected an object"),
        (
            "zed",
            "{\"agent_servers\": {\"claude-sandbox\": {\"command\": \"docker\"}}}",
            "settings.json:1:38: `claude-sandbox` already exists and runs another command",
        ),
        ("nvim", "return {}\n", "probity_acp.lua: probity did not write this file"),
    ] {
        let (output, after) = desk.written(editor, "claude", before);
        let output = output.code(2);
        assert_eq!(after, before, "{editor}");
        for word in [says, "the file is as it was", &program(), "add this to"] {
            assert!(output.stderr.contains(word), "{editor} lacks `{word}`: {}", output.stderr);
        }
        assert_eq!(output.stdout, "", "{editor}");
        let backups = desk.0.path().join(".config/zed/settings.json.probity-backup");
        assert!(!backups.exists(), "{editor} left a backup");
    }
}

#[test]
fn links_are_followed_only_to_files_of_the_user() {
    let desk = Desk::new();
    let link = desk.file(".config/zed/settings.json");
    let target = desk.file("dotfiles/zed.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    symlink("../../dotfiles/zed.json", &link).unwrap();
    let refused = |says: &str| {
        let output = desk.run(&["zed", "--write"]).run().code(2);
        assert!(output.stderr.contains(says), "{says}: {}", output.stderr);
        assert!(output.stderr.contains("\"claude-sandbox\""), "{}", output.stderr);
        assert!(link.is_symlink());
    };
    refused("it is a link to ../../dotfiles/zed.json, which does not exist");
    fs::create_dir(&target).unwrap();
    refused("it is not a regular file");
    fs::remove_dir(&target).unwrap();
    fs::write(&target, b"{\xff}").unwrap();
    refused("it is not UTF-8");
    fs::write(&target, "{}").unwrap();
    fs::hard_link(&target, desk.file("dotfiles/other.json")).unwrap();
    refused("it has 2 names (hard links)");
    fs::remove_file(desk.file("dotfiles/other.json")).unwrap();
    // Only root can give a file away.
    if fs::metadata(&target).unwrap().uid() == 0 {
        std::os::unix::fs::chown(&target, Some(1000), None).unwrap();
        refused("which belongs to another user");
        std::os::unix::fs::chown(&target, Some(0), None).unwrap();
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    desk.run(&["zed", "--write"]).run().code(0);
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("claude-sandbox"));
    for file in [target, desk.file("dotfiles/zed.json.probity-backup")] {
        let mode = fs::metadata(&file).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

#[test]
fn a_name_that_is_not_known_and_a_file_of_ones_choice() {
    let desk = Desk::new();
    let output = desk.run(&["zed", "--agent", "gemni"]).run().code(2);
    assert!(output.stderr.contains("did you mean `gemini`?"), "{}", output.stderr);
    desk.run(&["emacs"]).run().code(2);
    let other = desk.file("codium.json");
    let args = ["vscode", "--agent", "claude-code", "--write", "--file", other.to_str().unwrap()];
    desk.run(&args).run().code(0);
    let text = fs::read_to_string(other).unwrap();
    assert!(text.contains("\"claude-sandbox\""), "{text}");
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
    assert!(here.contains("\"claude-sandbox\""), "{here}");
    let bin = desk.file("bin").to_str().unwrap().to_owned();
    let output = desk.run(&["nvim", "--agent", "my agent"]).env("PATH", &bin).run().code(0).stdout;
    // The link, which an update leaves where it is, and not what it leads to today.
    let command = format!("{{ \"{bin}/probity\", \"acp\", \"my agent\" }}");
    assert!(output.contains(&command), "{output}");
    assert!(output.contains("my_agent_sandbox = function()"), "{output}");
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
