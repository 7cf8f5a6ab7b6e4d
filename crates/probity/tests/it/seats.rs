//! Every caller of an agent, through the binary: the same agent, and what each of them gives it.

mod configured;
mod engines;
mod homes;
mod installed;
mod logins;
mod run_homes;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    agent::executable,
    binary::{Output, Run, directory, probity},
};

/// An agent that writes down what it was given, and says it on standard error as well: some homes do
/// not outlive it. A probe in its working directory
/// tells whether that can be written to.
const PROBE: &str = r#"#!/bin/sh
touch probe 2>/dev/null && { writes=yes; rm probe; }
{
    echo "cwd $PWD"
    echo "home $HOME"
    echo "writes ${writes:-no}"
    echo "sees $(ls | tr '\n' ' ')"
    echo "variables $(env | sed -n 's/=.*//p' | grep -E '_KEY$|_TOKEN$|^CAI_|^IS_SANDBOX' | sort | tr '\n' ' ')"
    echo "login $(cat ~/.claude/.credentials.json 2>/dev/null)"
    echo "settings $(cat ~/.claude/settings.json 2>/dev/null)"
    echo "outside $(cat USERS_SECRET 2>/dev/null)"
    echo "network $(readlink /proc/self/ns/net)"
} > ~/report
sed 's/^/report: /' ~/report >&2
exit 3
"#;

/// A user with an agent, keys and logins of several agents, and a repository.
struct User {
    directory: TempDir,
}

impl User {
    fn new() -> Self {
        let directory = directory(&[
            ("bin/claude-agent-acp", PROBE),
            ("bin/claude", PROBE),
            ("home/secret", "a secret"),
            ("home/.claude/.credentials.json", "the login"),
            ("home/.claude/settings.json", "the settings"),
            (
                "home/.config/containai/config.toml",
                "[container]\nruntime = 'bwrap'\n\
                 [env]\nimport = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'SHARED_TOKEN']\n\
                 [import]\nadditional_paths = ['~/.claude', '~/.gemini']\n",
            ),
            ("repo/Dockerfile", crate::ai_fix::GO),
            ("repo/validators/spend.ak", "validator { spend() { True } }\n"),
            ("repo/main.go", "package main\n"),
        ]);
        let user = Self { directory };
        let secret = user.path("home/secret").display().to_string();
        for name in ["claude-agent-acp", "claude"] {
            let program = user.path("bin").join(name);
            fs::write(&program, PROBE.replace("USERS_SECRET", &secret)).unwrap();
            executable(&program);
        }
        for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "first"]] {
            let git = Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@b.test"])
                .args(args)
                .current_dir(user.path("repo"))
                .status();
            assert!(git.unwrap().success());
        }
        user
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(below)
    }

    fn settle(&self, run: Run) -> Run {
        let at = |below: &str| self.path(below).to_str().unwrap().to_owned();
        run.dir(self.path("repo"))
            .env("PATH", &format!("{}:/usr/bin:/bin", at("bin")))
            .env("HOME", &at("home"))
            .env("XDG_STATE_HOME", &at("state"))
            .env("ANTHROPIC_API_KEY", "k1")
            .env("OPENAI_API_KEY", "k2")
            .env("GEMINI_API_KEY", "k3")
            .env("SHARED_TOKEN", "k4")
            .env("UNLISTED_KEY", "k5")
    }

    fn run(&self, args: &[&str]) -> Output {
        self.settle(probity()).args(args).run()
    }

    /// What the agent wrote down since the last look, by its first word.
    fn report(&self) -> Vec<(String, String)> {
        let homes = fs::read_dir(self.path("state/probity/homes")).unwrap();
        let mut reports: Vec<PathBuf> = homes
            .map(|home| home.unwrap().path().join("report"))
            .filter(|report| report.exists())
            .collect();
        let report = reports.pop().unwrap();
        assert_eq!(reports, Vec::<PathBuf>::new(), "one home for an agent in a workspace");
        let text = fs::read_to_string(&report).unwrap();
        fs::remove_file(report).unwrap();
        lines(&text)
    }
}

/// What the agent said on standard error, when it was started first.
fn said(stderr: &str) -> Vec<(String, String)> {
    let lines_of_report = stderr.lines().filter_map(|line| line.strip_prefix("report: "));
    let first = lines_of_report
        .enumerate()
        .take_while(|(number, line)| *number == 0 || !line.starts_with("cwd "));
    lines(&first.map(|(_, line)| line).collect::<Vec<_>>().join("\n"))
}

fn lines(text: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let (word, rest) = line.split_once(' ').unwrap();
        (word.to_owned(), rest.trim().to_owned())
    };
    text.lines().map(line).collect()
}

/// The proxy, with one session in this directory.
fn one_session(user: &User, directory: &Path) {
    let path = format!("{}:/usr/bin:/bin", user.path("bin").display());
    session_with_path(user, directory, &path);
}

fn session_with_path(user: &User, directory: &Path, path: &str) {
    let run = user.settle(probity()).env("PATH", path).args(["acp", "claude"]);
    let mut command = run.into_command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let new = json!({
        "jsonrpc": "2.0", "id": 1, "method": "session/new",
        "params": {"cwd": directory, "mcpServers": []},
    });
    let first = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {}},
    });
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{first}\n{new}\n").as_bytes()).unwrap();
    // The probe says nothing and ends, which is the answer: no session.
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.find(|answer| answer["id"] == 1).unwrap();
    assert!(answer["error"].is_object(), "{answer}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_same_agent_is_placed_by_one_table_whoever_starts_it() {
    let user = User::new();
    let network = fs::read_link("/proc/self/ns/net").unwrap().display().to_string();
    let own = "ANTHROPIC_API_KEY IS_SANDBOX";
    let editors =
        "ANTHROPIC_API_KEY CAI_HOST_WORKSPACE CAI_NO_UPDATE_CHECK IS_SANDBOX SHARED_TOKEN";
    let questions: [(&[&str], &str, &str); 5] = [
        (&["agent", "ask", "claude", "hello"], "yes", ""),
        (&["agent", "list", "--timeout", "10s"], "yes", ""),
        (
            &["audit", "--provider", "acp", "--agent", "claude"],
            "no",
            "Dockerfile main.go validators",
        ),
        (
            &["review", "--agent", "claude", "--no-history", "--output", "../out"],
            "yes",
            "Dockerfile main.go validators",
        ),
        (&["check", "--fix", "--fix-ai", "--ai", "Dockerfile"], "yes", ""),
    ];
    let expected = |writes: &str, sees: &str, variables: &str| {
        [
            ("cwd", "/home/agent/workspace"),
            ("home", "/home/agent"),
            ("writes", writes),
            ("sees", sees),
            ("variables", variables),
            ("login", "the login"),
            ("settings", ""),
            ("outside", ""),
            ("network", network.as_str()),
        ]
        .map(|(word, rest)| (word.to_owned(), rest.to_owned()))
        .to_vec()
    };
    for (args, writes, sees) in questions {
        let run = user.settle(probity()).env("TALLY_AI_AGENT", "claude").args(args).args(["-v"]);
        let output = run.run();
        let mut reported = said(&output.stderr);
        if reported.is_empty() {
            // A list of agents says nothing of what they say, and their homes stay.
            reported = user.report();
        }
        assert_eq!(reported, expected(writes, sees, own), "{args:?}: {}", output.stderr);
    }
    fs::remove_dir_all(user.path("state/probity/homes")).unwrap();
    one_session(&user, &user.path("repo"));
    let sees = "Dockerfile main.go validators";
    assert_eq!(user.report(), expected("yes", sees, editors), "acp");
}

/// What each caller does where there is no sandbox: the table says it, and nobody else.
#[test]
fn without_a_sandbox_every_agent_is_refused_unless_the_user_says_none() {
    let user = User::new();
    let bin = user.path("bin").display().to_string();
    // The probe is a shell script; what contains is not to be found.
    let tools = user.path("tools");
    fs::create_dir(&tools).unwrap();
    for tool in
        ["sh", "git", "cat", "env", "ls", "sed", "grep", "sort", "tr", "touch", "rm", "readlink"]
    {
        let program = ["/usr/bin", "/bin"].map(|bin| Path::new(bin).join(tool));
        let program = program.into_iter().find(|program| program.exists()).unwrap();
        std::os::unix::fs::symlink(program, tools.join(tool)).unwrap();
    }
    let path = format!("{bin}:{}", tools.display());
    for (args, runs) in [
        (&["agent", "ask", "claude", "hello"][..], false),
        (&["audit", "--provider", "acp", "--agent", "claude"], false),
        (&["review", "--agent", "claude", "--no-history", "--output", "../out"], false),
        (&["check", "--fix", "--fix-ai", "--ai", "Dockerfile"], false),
        (
            &["review", "--agent", "claude", "--no-history", "-o", "../out", "--sandbox", "none"],
            true,
        ),
        (&["check", "--fix", "--fix-ai", "--ai", "--ai-sandbox", "none", "Dockerfile"], true),
        (&["agent", "ask", "claude", "hello", "--sandbox", "none"], true),
    ] {
        let run = user.settle(probity()).without_landlock().env("PATH", &path);
        let run = run.env("TALLY_AI_AGENT", "claude");
        let output = run.args(args).run();
        let report = user.path("home/report");
        assert_eq!(report.exists(), runs, "{args:?}: {}", output.stderr);
        if runs {
            let text = fs::read_to_string(&report).unwrap();
            fs::remove_file(report).unwrap();
            for foreign in ["OPENAI_API_KEY", "GEMINI_API_KEY"] {
                assert!(!text.contains(foreign), "{args:?}: {text}");
            }
            assert!(text.contains("ANTHROPIC_API_KEY"), "{args:?}: {text}");
        } else {
            for why in [
                "no sandbox is available for the",
                "bubblewrap: bwrap is not installed (the package is bubblewrap)",
                "landlock: the kernel has no Landlock",
            ] {
                assert!(output.stderr.contains(why), "{args:?}: {}", output.stderr);
            }
        }
    }
}

#[test]
fn callers_name_the_same_program_and_the_same_way_to_install_it() {
    let user = User::new();
    for name in ["claude-agent-acp", "claude"] {
        fs::remove_file(user.path("bin").join(name)).unwrap();
    }
    let acp = "npm install -g @agentclientprotocol/claude-agent-acp";
    let line = "npm install -g @anthropic-ai/claude-code";
    let run =
        |args: &[&str]| user.settle(probity()).env("TALLY_AI_AGENT", "claude").args(args).run();
    for (args, says) in [
        (&["agent", "list"][..], &[acp][..]),
        (&["doctor", "--quick"], &[acp]),
        (&["agent", "ask", "claude", "hello"], &[acp, line]),
        (&["audit", "--provider", "acp", "--agent", "claude"], &[acp]),
        (&["review", "--agent", "claude", "--no-history", "--output", "../out"], &[line, acp]),
        (&["check", "--fix", "--fix-ai", "--ai", "Dockerfile"], &[acp, line]),
    ] {
        let output = run(args);
        let said = format!("{}{}", output.stdout, output.stderr);
        for word in says {
            assert!(said.contains(word), "{args:?} lacks `{word}`: {said}");
        }
    }
}
