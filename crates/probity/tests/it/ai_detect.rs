//! `--ai-detect` through the built binary: what an agent reports counts only with a quote that exists.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    ai_fix::{GO, TWO_STAGES, patch, turn},
    binary::{Output, Run, directory, named, probity},
};

fn finding(name: &str, line: usize, quote: &str) -> Value {
    json!({"name": name, "line": line, "quote": quote, "message": "Copy go.mod first.\nIt is cheap."})
}

/// A turn in which the agent reports these.
fn reporting(findings: &[Value]) -> String {
    turn(&json!({ "findings": findings }).to_string())
}

fn project(script: &str) -> TempDir {
    directory(&[("Dockerfile", GO), ("agent.ndjson", script)])
}

fn command(dir: &Path) -> String {
    format!("{} agent replay {}", env!("CARGO_BIN_EXE_probity"), dir.join("agent.ndjson").display())
}

/// `check --ai-detect` of the Dockerfile in a directory.
fn detect(dir: &Path) -> Run {
    probity()
        .dir(dir)
        .args(["check", "--ai-detect", "--fail-level", "info", "Dockerfile"])
        .args(["--acp-command", &command(dir)])
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap()
}

/// `rule:line` for the findings of the agent.
fn detected(report: &Value) -> Vec<String> {
    let files = report["files"].as_array().unwrap().iter();
    let findings = files.flat_map(|file| file["violations"].as_array().unwrap());
    let own = findings.filter(|finding| finding["rule"].as_str().unwrap().starts_with("ai/"));
    own.map(|finding| {
        format!("{}:{}", finding["rule"].as_str().unwrap(), finding["location"]["start"]["line"])
    })
    .collect()
}

#[test]
fn only_a_quote_that_is_where_it_says_counts() {
    let build = "go build -o /usr/local/bin/app ./cmd/app";
    let dir = project(&reporting(&[
        finding("wasted-cache", 5, "COPY . ."),
        finding(
            "ai/broken-bootstrap",
            7,
            "RUN --mount=type=cache,target=/go/pkg/mod \\\n    --mount",
        ),
        finding("wasted-cache", 5, "COPY . ."),
        // None of these counts.
        finding("wasted-cache", 6, "COPY . ."),
        finding("wasted-cache", 5, "COPY src ."),
        finding("wasted-cache", 99, build),
        finding("wasted-cache", 0, "FROM golang:1.22"),
        finding("wasted-cache", 1, ""),
        finding("wasted-cache", 1, " F "),
        finding("invented-name", 1, "FROM golang:1.22"),
        finding("hadolint/DL3008", 1, "FROM golang:1.22"),
        json!({"name": "wasted-cache", "line": 1, "quote": "FROM golang:1.22", "message": " "}),
        finding("wasted-cache", 1, &"FROM golang:1.22".repeat(200)),
    ]));
    let output = detect(dir.path()).args(["--format", "json"]).run().code(1);
    let report = json_of(&output);
    assert_eq!(detected(&report), ["ai/wasted-cache:5", "ai/broken-bootstrap:7"]);
    let detection = &report["ai_detections"][0];
    assert_eq!((&detection["outcome"], &detection["accepted"]), (&json!("asked"), &json!(2)));
    let there = "its quote is not on this line of the file";
    assert_eq!(
        detection["unaccepted"],
        json!([
            format!("wasted-cache on line 6: {there}"),
            format!("wasted-cache on line 5: {there}"),
            format!("wasted-cache on line 99: {there}"),
            format!("wasted-cache on line 0: {there}"),
            "wasted-cache on line 1: it quotes nothing",
            "wasted-cache on line 1: it quotes nothing",
            "invented-name on line 1: it was not asked to look for this",
            "hadolint/DL3008 on line 1: it was not asked to look for this",
            "wasted-cache on line 1: it has no message",
            "wasted-cache on line 1: its quote is too long",
        ])
    );
    assert_eq!(detection["session"]["containedBy"], "bubblewrap");
}

#[test]
fn every_format_has_the_label() {
    let dir = project(&reporting(&[finding("wasted-cache", 5, "COPY . .")]));
    for format in [
        "text",
        "json",
        "sarif",
        "github-actions",
        "markdown",
        "checkstyle",
        "codeclimate",
        "gitlab",
        "junit",
        "gnu",
        "sonarqube",
    ] {
        let output =
            detect(dir.path()).args(["--select", "ai/*", "--format", format]).run().code(1);
        // In Markdown a file's name is code: GitHub makes links of such words.
        let file = if format == "markdown" { "`go.mod`" } else { "go.mod" };
        let label = format!("AI detection: Copy {file} first. It is cheap.");
        assert!(output.stdout.contains(&label), "{format}: {}", output.stdout);
        assert!(output.stdout.contains("ai/wasted-cache"), "{format}: {}", output.stdout);
    }
}

#[test]
fn findings_are_chosen_raised_and_suppressed_like_those_of_rules() {
    let both =
        [finding("wasted-cache", 5, "COPY . ."), finding("broken-startup", 13, "ENTRYPOINT")];
    let (cache, startup) = ("ai/wasted-cache:5", "ai/broken-startup:13");
    for (args, config, expected) in [
        (&[][..], "", &[cache, startup][..]),
        (&["--select", "ai/wasted-cache"], "", &[cache]),
        (&["--ignore", "wasted-cache"], "", &[startup]),
        (&[], "[rules.ai.broken-startup]\nseverity = 'off'\n", &[cache]),
        (&[], "[rules]\nexclude = ['ai/wasted-cache']\n", &[startup]),
        (&[], "[rules.ai.wasted-cache.exclude]\npaths = ['Dockerfile']\n", &[startup]),
    ] {
        let dir = project(&reporting(&both));
        fs::write(dir.path().join(".tally.toml"), config).unwrap();
        let output = detect(dir.path()).args(["--format", "json"]).args(args).run();
        assert_eq!(detected(&json_of(&output)), expected, "{args:?} {config}: {}", output.stderr);
    }
    // A severity counts for the exit code.
    for (severity, code) in [("info", 0), ("error", 1)] {
        let dir = project(&reporting(&both));
        let config = format!("[rules.ai.wasted-cache]\nseverity = '{severity}'\n");
        fs::write(dir.path().join(".tally.toml"), config).unwrap();
        detect(dir.path()).args(["--fail-level", "error", "--select", "ai/*"]).run().code(code);
    }
    // A directive is used by it, and is no mistake.
    let directive = "# tally ignore=ai/wasted-cache;reason=small\nCOPY . .";
    let text = GO.replace("COPY . .", directive);
    let dir = project(&reporting(&[finding("wasted-cache", 6, "COPY . .")]));
    fs::write(dir.path().join("Dockerfile"), text).unwrap();
    let run = detect(dir.path()).args(["--warn-unused-directives", "--format", "json"]);
    let report = json_of(&run.run());
    assert_eq!(detected(&report), [""; 0]);
    assert_eq!(report["ai_detections"][0]["accepted"], 1);
    assert!(!report.to_string().contains("ignore-directive"), "{report}");
}

#[test]
fn nobody_is_asked_without_the_flag_or_without_anything_to_look_for() {
    let started = |args: &[&str]| {
        let dir = project("");
        let command = format!("touch {}", dir.path().join("started").display());
        let run = probity().dir(dir.path()).args(["check", "Dockerfile", "--ai-sandbox", "none"]);
        let output = run.args(["--acp-command", &command]).args(args).run();
        (dir.path().join("started").exists(), output)
    };
    assert!(!started(&[]).0);
    assert!(!started(&["--ai-detect", "--ignore", "ai/*"]).0);
    assert!(!started(&["--ai-detect", "--select", "DL3006"]).0);
    let (is_started, output) = started(&["--ai-detect", "--ai-dry-run"]);
    assert!(!is_started && output.stderr.contains("would be sent to touch"), "{output:?}");
    assert!(output.stderr.contains("- wasted-cache: "), "{}", output.stderr);
    assert!(output.stderr.contains("\n5\tCOPY . .\n"), "{}", output.stderr);
    // The one that is started speaks no protocol: the check goes on without it.
    let (is_started, output) = started(&["--ai-detect", "--select", "ai/*"]);
    assert!(is_started && output.code == Some(0), "{output:?}");
    insta::assert_snapshot!(output.stderr, @"warning: Dockerfile: AI detection skipped: agent-failed: touch: initializing: the agent ended with exit code 0; this command does not speak the Agent Client Protocol; if it reads a prompt on standard input, write `cmd:` before it, for example `cmd:llm -m MODEL`");
    let dir = project("");
    let output =
        probity().dir(dir.path()).args(["check", "--ai-detect", "Dockerfile"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: --ai-detect needs an agent, and none is named
      help: name one with --acp-command or --ai-provider, or set `ai.agent` in your configuration
    ");
}

#[test]
fn an_answer_is_kept_for_the_same_file_and_agent() {
    let dir = project(&reporting(&[finding("wasted-cache", 5, "COPY . .")]));
    let cache = dir.path().join("cache");
    let run = |args: &[&str]| {
        let run = detect(dir.path()).args(["--format", "json"]).args(args);
        let report = json_of(&run.env("XDG_CACHE_HOME", cache.to_str().unwrap()).run());
        (report["ai_detections"][0]["outcome"].clone(), detected(&report))
    };
    let found = vec!["ai/wasted-cache:5".to_owned()];
    assert_eq!(run(&[]), (json!("asked"), found.clone()));
    // From now on the agent fails.
    fs::write(dir.path().join("agent.ndjson"), "{\"exit\":1}\n").unwrap();
    assert_eq!(run(&[]), (json!("cached"), found.clone()));
    let other = format!("{} --strict", command(dir.path()));
    assert_eq!(run(&["--acp-command", &other]), (json!("skipped"), Vec::new()));
    assert_eq!(run(&["--ignore", "ai/broken-startup"]).0, "skipped", "another question");
    fs::write(dir.path().join("Dockerfile"), GO.replace("8080", "8081")).unwrap();
    assert_eq!(run(&[]), (json!("skipped"), Vec::new()));
    fs::write(dir.path().join("Dockerfile"), GO).unwrap();
    assert_eq!(run(&[]), (json!("cached"), found));
    // What is kept is verified as an answer is.
    let kept = fs::read_dir(cache.join("probity/detections")).unwrap().next().unwrap().unwrap();
    let forged = json!({"findings": [finding("wasted-cache", 5, "COPY /etc .")]}).to_string();
    fs::write(kept.path(), forged).unwrap();
    assert_eq!(run(&[]), (json!("cached"), Vec::new()));
    fs::write(kept.path(), "garbage").unwrap();
    assert_eq!(run(&[]).0, "skipped");
}

#[test]
fn an_unreadable_answer_is_asked_for_once_more() {
    let good = reporting(&[finding("wasted-cache", 5, "COPY . .")]);
    for (script, outcome, reason) in [
        (turn("I found nothing.") + &good, "asked", Value::Null),
        (turn("{\"findings\": 7}") + &turn("no"), "skipped", json!("malformed-output")),
        (turn("```json\n{\"findings\": []}\n```"), "asked", Value::Null),
    ] {
        let dir = project(&script);
        let output = detect(dir.path()).args(["--format", "json"]).run();
        let detection = json_of(&output)["ai_detections"][0].clone();
        assert_eq!((&detection["outcome"], &detection["reason"]), (&json!(outcome), &reason));
    }
}

#[test]
fn secrets_and_strange_words_do_not_get_through() {
    let secret = ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6", "LO0pINUx"].concat();
    let text = GO.replace("EXPOSE", &format!("ENV TOKEN={secret}\n\nEXPOSE"));
    let dir = project("{\"exit\":1}\n");
    fs::write(dir.path().join("Dockerfile"), &text).unwrap();
    let output = detect(dir.path()).args(["--format", "json"]).run();
    let detection = json_of(&output)["ai_detections"][0].clone();
    assert_eq!(detection["reason"], "secrets-found");
    assert!(detection.get("session").is_none(), "nobody was asked");
    // An agent that has it does not get it into a report.
    let mut told = finding("wasted-cache", 5, "COPY . .");
    told["message"] = format!("\u{1b}[31m{secret}\u{202e} {}", "x".repeat(5_000)).into();
    fs::write(dir.path().join("agent.ndjson"), reporting(&[told])).unwrap();
    let run = detect(dir.path()).env("TALLY_AI_SECRETS_POLICY", "allow");
    let output = run.args(["--format", "json", "--ai-trace", "trace"]).run();
    let report = json_of(&output);
    assert_eq!(detected(&report), ["ai/wasted-cache:5"]);
    let trace = fs::read_to_string(dir.path().join("trace")).unwrap();
    for text in [&output.stdout, &output.stderr, &trace] {
        assert!(!text.contains(&secret), "{text}");
    }
    assert!(!output.stdout.contains("\\u001b") && !output.stdout.contains(&"x".repeat(1_000)));
}

#[test]
fn a_detection_hands_its_objective_to_the_fix() {
    let build = "go build -o /usr/local/bin/app ./cmd/app";
    let dir = project("");
    fs::write(
        dir.path().join("find.ndjson"),
        reporting(&[finding("build-tools-in-image", 9, build)]),
    )
    .unwrap();
    fs::write(dir.path().join("fix.ndjson"), turn(&patch(GO, TWO_STAGES))).unwrap();
    // The first process finds, the second fixes.
    let script = format!(
        "cd {dir}\nif [ -e asked ]; then play=fix; else play=find; fi\ntouch asked\nexec {probity} agent \
         replay $play.ndjson\n",
        dir = dir.path().display(),
        probity = env!("CARGO_BIN_EXE_probity"),
    );
    fs::write(dir.path().join("agent.sh"), script).unwrap();
    let command = format!("sh {}", dir.path().join("agent.sh").display());
    let run = probity().dir(dir.path()).args(["check", "--ai-detect", "Dockerfile", "--fix"]);
    let run = run.args(["--fix-ai", "--fix-rule", "ai/build-tools-in-image", "--format", "json"]);
    let run = run.args(["--select", "ai/*", "--fail-level", "info"]);
    let output = run.args(["--ai-sandbox", "none", "--acp-command", &command]).run().code(0);
    let report = json_of(&output);
    assert_eq!(report["ai_fixes"][0]["rule"], "ai/build-tools-in-image", "{report}");
    assert_eq!(report["ai_fixes"][0]["outcome"], "applied", "{report}");
    assert_eq!(detected(&report), [""; 0], "what is fixed is not reported");
    assert_eq!(fs::read_to_string(dir.path().join("Dockerfile")).unwrap(), TWO_STAGES);
    assert!(!output.stderr.contains("no rule here has that name"), "{}", output.stderr);
}

#[test]
fn an_agent_may_read_the_context_and_such_answers_are_not_kept() {
    let mut lines = vec![
        json!({"on": "session/prompt"}),
        json!({"ask": "fs/read_text_file", "params": {"path": "/home/agent/workspace/go.mod"}}),
        json!({"ask": "fs/read_text_file", "params": {"path": "/etc/passwd"}}),
    ];
    let answer = json!({"findings": [finding("wasted-cache", 5, "COPY . .")]}).to_string();
    lines.push(json!({"say": answer}));
    lines.push(json!({"answer": {"stopReason": "end_turn"}}));
    let script: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let dir = project(&script);
    fs::write(dir.path().join("go.mod"), "module x\n").unwrap();
    let cache = dir.path().join("cache");
    for _ in 0..2 {
        let run = detect(dir.path()).args(["--ai-allow-fs", "--format", "json"]);
        let report = json_of(&run.env("XDG_CACHE_HOME", cache.to_str().unwrap()).run());
        let detection = &report["ai_detections"][0];
        assert_eq!(detection["outcome"], "asked");
        assert_eq!(
            detection["session"]["reads"],
            json!([
                {"path": "go.mod", "bytes": 9},
                {"path": "/etc/passwd", "refused": "/etc/passwd: outside the build context"},
            ])
        );
    }
}

#[test]
fn tally_analyzes_by_its_own_flag() {
    let dir = project(&reporting(&[finding("wasted-cache", 5, "COPY . .")]));
    let analyze =
        || named("tally").dir(dir.path()).args(["analyze", "--format", "json", "Dockerfile"]);
    let output = analyze().run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: analyze asks an AI agent, and --ai is missing
      help: add --ai, or use `tally lint` to run the rules alone
    ");
    let command = command(dir.path());
    let output = analyze().args(["--ai", "--acp-command", &command]).run();
    assert_eq!(detected(&json_of(&output)), ["ai/wasted-cache:5"], "{}", output.stderr);
    let output = named("tally")
        .dir(dir.path())
        .args(["lint", "--ai", "--format", "json", "--acp-command", &command, "Dockerfile"])
        .run();
    assert_eq!(detected(&json_of(&output)), [""; 0]);
}

#[test]
fn detectors_are_listed_and_explained() {
    let output = probity().args(["rules"]).run().code(0);
    assert!(output.stdout.contains("ai/wasted-cache"), "{}", output.stdout);
    let output = probity().args(["explain", "ai/build-tools-in-image"]).run().code(0);
    assert!(
        output.stdout.contains("an AI fix with the objective `multi-stage`"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_detection_that_is_selected_without_the_flag_is_warned_about() {
    let dir = directory(&[("Dockerfile", "FROM debian:12-slim\n")]);
    let check = |args: &[&str]| probity().dir(&dir).args(["check"]).args(args).run().stderr;
    let warning = "warning: --select ai/* has no effect without --ai-detect";
    assert_eq!(check(&["--select", "ai/*"]).lines().next(), Some(warning));
    assert!(!check(&["--select", "hadolint/*"]).contains("--ai-detect"));
}
