//! Models and servers that fail: one skill's failure is that skill's, and the report is written.

use std::time::Duration;

use super::{
    INVENTED, LOOK, NOTHING, SPEND, TRUE, about_findings, audit, project, report,
    server::{Play, Server, skill, told, turn},
    state, statuses, wait_for,
};
use crate::binary::{directory, stable};

/// Everything is well but for the second skill.
fn failing(what: impl Fn() -> Play + Send + Sync + 'static) -> Server {
    Server::new(move |_, body| match skill(body).as_str() {
        "missing-address-validation-002" => what(),
        _ => Play::Says(TRUE.to_owned()),
    })
}

#[test]
fn a_skill_that_fails_fails_alone_and_says_why() {
    let status = |code, body: &'static str| {
        move || Play::Status(code, "retry-after-ms: 1\r\n", body.to_owned())
    };
    let cases: Vec<(Server, usize)> = vec![
        (failing(status(400, r#"{"error":{"message":"bad words"}}"#)), 3),
        (failing(status(401, r#"{"error":{"message":"no such key"}}"#)), 3),
        (failing(status(404, "{}")), 3),
        (failing(status(429, r#"{"error":{"message":"slow down"}}"#)), 6),
        (failing(status(503, "down")), 6),
        (failing(|| Play::Says("I cannot.".to_owned())), 4),
        (failing(|| Play::Says("{}".to_owned())), 4),
        (failing(|| Play::Status(200, "", "<html>".to_owned())), 3),
    ];
    let mut errors = Vec::new();
    for (server, requests) in cases {
        let dir = project();
        let output = audit(&dir, &server).run().code(3);
        let state = state(dir.path());
        assert_eq!(statuses(&state), ["completed", "failed", "completed"], "{}", output.stderr);
        let error = state["iterations"][1]["error"].as_str().unwrap();
        let report = report(dir.path());
        let listed = report.lines().find(|line| line.contains("(failed)")).unwrap();
        errors.push(format!("state:  {error}\nreport: {listed}\n{}", output.stderr));
        assert_eq!(server.requests().len(), requests, "{error}");
    }
    insta::assert_snapshot!(stable(&errors.join("\n")), @r"
    state:  openai: asking: HTTP 400: bad words; check the model and the endpoint http://127.0.0.1:[port]/v1/chat/completions
    report: - `missing-address-validation-002` (failed): openai: asking: HTTP 400: bad words; check the model and the endpoint http://127.0.0.1:[port]/v1/chat/completions
    error: skill 'missing-address-validation-002' failed: openai: asking: HTTP 400: bad words; check the model and the endpoint http://127.0.0.1:[port]/v1/chat/completions

    state:  openai: asking: HTTP 401: no such key; check the key in OPENAI_API_KEY
    report: - `missing-address-validation-002` (failed): openai: asking: HTTP 401: no such key; check the key in OPENAI_API_KEY
    error: skill 'missing-address-validation-002' failed: openai: asking: HTTP 401: no such key; check the key in OPENAI_API_KEY

    state:  openai: asking: HTTP 404: {}; check the endpoint, and that it serves `gpt-4.1-mini`; choose another with `--model`
    report: - `missing-address-validation-002` (failed): openai: asking: HTTP 404: {}; check the endpoint, and that it serves `gpt-4.1-mini`; choose another with `--model`
    error: skill 'missing-address-validation-002' failed: openai: asking: HTTP 404: {}; check the endpoint, and that it serves `gpt-4.1-mini`; choose another with `--model`

    state:  openai: asking: HTTP 429: slow down; asked 4 times; wait a while, or ask for a higher limit
    report: - `missing-address-validation-002` (failed): openai: asking: HTTP 429: slow down; asked 4 times; wait a while, or ask for a higher limit
    error: skill 'missing-address-validation-002' failed: openai: asking: HTTP 429: slow down; asked 4 times; wait a while, or ask for a higher limit

    state:  openai: asking: HTTP 503: down; asked 4 times; the provider reports an internal error; try again later
    report: - `missing-address-validation-002` (failed): openai: asking: HTTP 503: down; asked 4 times; the provider reports an internal error; try again later
    error: skill 'missing-address-validation-002' failed: openai: asking: HTTP 503: down; asked 4 times; the provider reports an internal error; try again later

    state:  the model's answer could not be used, twice in a row: there is no JSON object in the answer
    report: - `missing-address-validation-002` (failed): the model's answer could not be used, twice in a row: there is no JSON object in the answer
    error: skill 'missing-address-validation-002' failed: the model's answer could not be used, twice in a row: there is no JSON object in the answer

    state:  the model's answer could not be used, twice in a row: the object has no `action`, no `findings` and no `status`
    report: - `missing-address-validation-002` (failed): the model's answer could not be used, twice in a row: the object has no `action`, no `findings` and no `status`
    error: skill 'missing-address-validation-002' failed: the model's answer could not be used, twice in a row: the object has no `action`, no `findings` and no `status`

    state:  openai: reading the answer: this is not an answer of a chat API: <html>; check that http://127.0.0.1:[port]/v1/chat/completions is the right endpoint
    report: - `missing-address-validation-002` (failed): openai: reading the answer: this is not an answer of a chat API: \<html>; check that http://127.0.0.1:[port]/v1/chat/completions is the right endpoint
    error: skill 'missing-address-validation-002' failed: openai: reading the answer: this is not an answer of a chat API: <html>; check that http://127.0.0.1:[port]/v1/chat/completions is the right endpoint
    ");
}

#[test]
fn what_passes_is_asked_again_after_the_wait_that_the_server_names() {
    let cut: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\":[{\"mess";
    let broken: Vec<fn() -> Play> = vec![
        || Play::Status(429, "retry-after-ms: 5\r\n", "{}".to_owned()),
        || Play::Status(529, "retry-after: 0\r\n", "{}".to_owned()),
        || Play::Status(408, "retry-after-ms: 5\r\n", "{}".to_owned()),
        || Play::Status(500, "retry-after-ms: 5\r\n", "{}".to_owned()),
        || Play::Bytes(Vec::new()),
    ];
    for play in broken.into_iter().map(Some).chain([None]) {
        let dir = project();
        let server = Server::new(move |number, _| match (number, play) {
            (0, Some(play)) => play(),
            // In the middle of the answer the connection ends.
            (0, None) => Play::Bytes(cut.to_vec()),
            _ => Play::Says(TRUE.to_owned()),
        });
        audit(&dir, &server).run().code(0);
        let requests = server.requests();
        assert_eq!(requests.len(), 4);
        assert_eq!(requests[0], requests[1], "the same request, byte for byte");
        assert_eq!(state(dir.path())["iterations"][0]["usage"]["requests"], 2);
    }
}

#[test]
fn a_server_that_never_answers_costs_its_time_and_no_more() {
    let dir = project();
    let began = std::time::Instant::now();
    audit(&dir, &failing(|| Play::Silence)).args(["--timeout", "1s"]).run().code(3);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    insta::assert_snapshot!(state(dir.path())["iterations"][1]["error"].as_str().unwrap(), @"openai: asking: no answer within 1 s; allow more time, or use a faster model");
}

#[test]
fn a_model_that_talks_nonsense_half_of_the_time_still_yields_a_finished_audit() {
    let dir = project();
    // Every second answer of each conversation is of no use, and each of another kind.
    let server = Server::new(|_, body| {
        let nonsense =
            ["I think…", "{}", "[1,2]", "{\"action\":\"dance\"}", "```\nno\n```", "{\"act"];
        let turn = turn(body);
        Play::Says(match turn {
            0 | 2 | 4 | 6 | 8 | 10 => nonsense[turn / 2].to_owned(),
            1 => r#"{"action":"list_dir","path":"."}"#.to_owned(),
            3 => r#"{"action":"find_files","glob":"*.ak"}"#.to_owned(),
            5 => r#"Sure: {"action":"read_file","path":"validators/spend.ak"} ok?"#.to_owned(),
            7 => r#"{"action":"grep","pattern":"datum","path":"validators/spend.ak"}"#.to_owned(),
            9 => r#"{"action":"read_file","path":"invented.ak"}"#.to_owned(),
            _ if skill(body) == "unvalidated-datum-003" => TRUE.to_owned(),
            _ if skill(body) == "strict-value-equality-001" => INVENTED.to_owned(),
            _ => NOTHING.to_owned(),
        })
    });
    audit(&dir, &server).run().code(0);
    let state = state(dir.path());
    assert_eq!(statuses(&state), ["completed"; 3]);
    let report = report(dir.path());
    let (verified, _) = report.split_once("## Unverified findings").unwrap();
    insta::assert_snapshot!(about_findings(&report), @"
    - **Datum not checked** (`high`)
      - Summary: Any datum passes.
      - Recommendation: Compare it.
      - Location: validators/spend.ak:3
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `unvalidated-datum-003`

    ## Coverage

    - `strict-value-equality-001`: 6 of 6 lines in 1 file
    - `missing-address-validation-002`: 6 of 6 lines in 1 file
    - `unvalidated-datum-003`: 6 of 6 lines in 1 file

    ## Unverified findings

    No quote of these was found where they say it is; the model may have made them up.

    - **Backdoor** (`critical`)
      - Summary: s
      - Recommendation: r
      - Location: validators/spend.ak:3
      - Evidence: `if admin == attacker { True }`
      - Found by: `strict-value-equality-001`

    ## Executive summary

    The audit found 1 vulnerability: 0 exploited and fixed, 0 exploited, 1 quoted only.
    The highest severity is high.
    ");

    assert!(!verified.contains("Backdoor"), "{report}");
    let bodies = server.bodies();
    let repaired = bodies.iter().filter(|body| told(body).contains("could not be used")).count();
    assert_eq!(repaired, 3 * 6, "one repair message for each");
}

#[test]
fn a_model_that_finds_nothing_in_what_it_never_read_is_told_so_and_then_counts_as_unread() {
    // Too long for the first prompt.
    let long = SPEND.repeat(200);
    let dir = directory(&[("validators/spend.ak", &long)]);
    let server = Server::new(|_, body| {
        Play::Says(match (skill(body).as_str(), turn(body)) {
            // The first does as it is told.
            ("strict-value-equality-001", 1) => LOOK.to_owned(),
            _ => NOTHING.to_owned(),
        })
    });
    let output = audit(&dir, &server).run().code(3);
    assert_eq!(statuses(&state(dir.path())), ["completed", "unread", "unread"]);
    assert_eq!(server.requests().len(), 3 + 2 + 2);
    let bodies = server.bodies();
    let told = told(&bodies[1]);
    insta::assert_snapshot!(told, @r#"
    Your last answer could not be used: you report no findings, but you have not seen every line of the sources. These are missing:
    - validators/spend.ak: 0 of 1200 lines seen; {"action":"read_file","path":"validators/spend.ak","offset":1}
    Answer with your next action; 24 steps are left.
    "#);
    insta::assert_snapshot!(output.stderr, @"
    error: skill 'missing-address-validation-002' unread: the model found nothing, but did not read 1 of 1 source files to the end, not even when asked to
    error: skill 'unvalidated-datum-003' unread: the model found nothing, but did not read 1 of 1 source files to the end, not even when asked to
    ");
    let report = report(dir.path());
    insta::assert_snapshot!(about_findings(&report), @"
    - *(none, but only 1 of 3 skills finished)*

    ## Skills that did not finish

    - `missing-address-validation-002` (unread): the model found nothing, but did not read 1 of 1 source files to the end, not even when asked to
    - `unvalidated-datum-003` (unread): the model found nothing, but did not read 1 of 1 source files to the end, not even when asked to

    ## Coverage

    - `strict-value-equality-001`: 1200 of 1200 lines in 1 file
    - `missing-address-validation-002`: 0 of 1200 lines in 1 file
      - validators/spend.ak: 0 of 1200 lines
    - `unvalidated-datum-003`: 0 of 1200 lines in 1 file
      - validators/spend.ak: 0 of 1200 lines

    ## Executive summary

    The audit found no vulnerability whose quotes exist in the sources.
    The audit is incomplete: 2 of 3 skills did not finish.
    ");
    // It was no answer, and is asked for again.
    audit(&dir, &server).args(["--resume"]).run().code(3);
    assert_eq!(server.requests().len(), 3 + 2 * (2 + 2));
}

#[test]
fn the_25th_step_is_the_last_and_the_model_is_told_so() {
    let dir = project();
    let server = Server::saying(&[r#"{"action":"list_dir","path":"."}"#]);
    let output = audit(&dir, &server).args(["--jobs", "3"]).run().code(3);
    assert_eq!(server.requests().len(), 3 * 25);
    insta::assert_snapshot!(output.stderr, @"
    error: skill 'strict-value-equality-001' max-steps: AI provider exceeded max interactive read steps (25) for skill 'strict-value-equality-001' (enable --ai-logs to inspect progress)
    error: skill 'missing-address-validation-002' max-steps: AI provider exceeded max interactive read steps (25) for skill 'missing-address-validation-002' (enable --ai-logs to inspect progress)
    error: skill 'unvalidated-datum-003' max-steps: AI provider exceeded max interactive read steps (25) for skill 'unvalidated-datum-003' (enable --ai-logs to inspect progress)
    ");
    let bodies = server.bodies();
    let last = bodies.iter().find(|body| turn(body) == 24).unwrap();
    insta::assert_snapshot!(told(last), @r#"
    You asked to list directory '.' before, and the answer has not changed: it is in this conversation. Use it, or ask for something else.
    This is your last step: answer with the action "final".
    "#);
    assert_eq!(statuses(&state(dir.path())), ["max-steps"; 3]);
}

#[test]
fn the_budget_ends_the_questions_and_the_rest_can_be_resumed() {
    let dir = project();
    let server = Server::saying(&[TRUE]);
    let output = audit(&dir, &server).args(["--budget", "150"]).run().code(3);
    assert_eq!(statuses(&state(dir.path())), ["completed", "completed", "over-budget"]);
    assert_eq!(server.requests().len(), 2);
    insta::assert_snapshot!(output.stdout, @"
    Incomplete audit: 1 of 3 skills have no result; see below for the reasons
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.md
    Findings: 1 verified, 0 unverified, 0 ignored, 0 known
      strict-value-equality-001: completed, findings: 1, requests: 1, tokens: 100 in, 10 out
      missing-address-validation-002: completed, findings: 1, requests: 1, tokens: 100 in, 10 out
      unvalidated-datum-003: over-budget, findings: 0, requests: 0, tokens: 0 in, 0 out
    Total, requests: 2, tokens: 200 in, 20 out
    ");
    audit(&dir, &server).args(["--resume"]).run().code(0);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn places_that_cannot_be_written_are_told_before_the_first_question() {
    let mut refusals = Vec::new();
    for args in [
        &["--report-out", "validators"][..],
        &["--state-out", "validators"],
        &["--report-out", "validators/spend.ak"],
        &["--state-out", "./validators/../validators/spend.ak"],
        &["--state-out", "validators/spend.ak/state.json"],
        &["--report-out", "/proc/x/y.md"],
        &["--report-out", "x.json", "--state-out", "./x.json"],
    ] {
        let (dir, server) = (project(), Server::saying(&[TRUE]));
        let output = audit(&dir, &server).args(args).run().code(1);
        refusals.push(format!("{args:?}\n{}", output.stderr));
        assert_eq!(server.requests().len(), 0, "{args:?}");
        let source = std::fs::read_to_string(dir.path().join("validators/spend.ak")).unwrap();
        assert_eq!(source, SPEND, "{args:?}");
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    ["--report-out", "validators"]
    error: cannot write to --report-out validators: it is a directory
      help: name another file with --report-out

    ["--state-out", "validators"]
    error: cannot write to --state-out validators: it is a directory
      help: name another file with --state-out

    ["--report-out", "validators/spend.ak"]
    error: cannot write to --report-out validators/spend.ak: it is one of the sources
      help: name another file with --report-out

    ["--state-out", "./validators/../validators/spend.ak"]
    error: cannot write to --state-out ./validators/../validators/spend.ak: it is one of the sources
      help: name another file with --state-out

    ["--state-out", "validators/spend.ak/state.json"]
    error: cannot write to --state-out validators/spend.ak/state.json
      cause: Not a directory (os error 20)
      help: name another file with --state-out

    ["--report-out", "/proc/x/y.md"]
    error: cannot write to --report-out /proc/x/y.md
      cause: No such file or directory (os error 2)
      help: name another file with --report-out

    ["--report-out", "x.json", "--state-out", "./x.json"]
    error: --state-out and --report-out are the same file: x.json
      help: name another file with --report-out
    "#);
}

#[test]
fn a_main_file_that_is_missing_or_outside_is_told_before_the_first_question() {
    for (main, code) in [("gone.tx3", 1), ("../../../etc/passwd", 1), (".", 1), ("main.tx3", 0)] {
        let toml = format!(
            "[protocol]\nname = \"x\"\nversion = \"0\"\nmain = \"{main}\"\n[ledger]\nfamily = \"cardano\"\n"
        );
        let dir = directory(&[("trix.toml", &toml), ("main.tx3", "tx spend() {}\n")]);
        let server = Server::saying(&[TRUE]);
        let output = audit(&dir, &server).run().code(code);
        assert_eq!(server.requests().is_empty(), code == 1, "{main}");
        assert_eq!(output.stderr.contains("`protocol.main`"), code == 1, "{}", output.stderr);
    }
}

#[test]
fn an_interrupt_during_a_question_keeps_the_state_for_resume() {
    let dir = project();
    let server = Server::new(|_, body| match skill(body).as_str() {
        "strict-value-equality-001" => Play::Says(TRUE.to_owned()),
        _ => Play::Silence,
    });
    let mut command = audit(&dir, &server).into_command();
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_for(|| server.requests().len() == 2);
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    insta::assert_snapshot!(stderr, @"error: the audit was cancelled; .tx3/audit/state.json has the finished skills, and `--resume` continues");
    assert_eq!(state(dir.path())["iterations"][0]["status"], "completed");
    let asked = server.requests().len();
    assert_eq!(asked, 2, "no further skill is begun");
}

#[test]
fn answers_that_cannot_be_kept_where_they_should_be_are_kept_elsewhere() {
    let (dir, home) = (project(), directory(&[]));
    let place = dir.path().join(".tx3");
    let server = Server::new(move |number, _| {
        if number == 1 {
            // As if the disk were gone: nothing can be written there any more.
            std::fs::remove_dir_all(&place).unwrap();
            std::fs::write(&place, "").unwrap();
        }
        Play::Says(TRUE.to_owned())
    });
    let output =
        audit(&dir, &server).env("XDG_STATE_HOME", home.path().to_str().unwrap()).run().code(1);
    let file = output.stderr.split_whitespace().find(|word| word.contains("rescued/audit-"));
    let file = file.unwrap_or_else(|| panic!("{}", output.stderr)).trim_end_matches([';', '`']);
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(statuses(&kept), ["completed", "completed"]);
    assert_eq!(server.requests().len(), 2, "nobody is paid for what cannot be kept");
    // And they are where to go on from.
    std::fs::remove_file(dir.path().join(".tx3")).unwrap();
    audit(&dir, &server).args(["--resume", "--state-out", file]).run().code(0);
    assert_eq!(server.requests().len(), 3);
}
