//! Models and servers that fail: one skill's failure is that skill's, and the report is written.

use std::time::Duration;

use super::{
    INVENTED, LOOK, NOTHING, SPEND, TRUE, audit, project, report,
    server::{Play, Server, skill, told, turn},
    state, statuses, wait_for,
};
use crate::binary::directory;

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
    let cases: Vec<(Server, &str, usize)> = vec![
        (failing(status(400, r#"{"error":{"message":"bad words"}}"#)), "HTTP 400: bad words", 3),
        (
            failing(status(401, r#"{"error":{"message":"no such key"}}"#)),
            "check the key in OPENAI_API_KEY",
            3,
        ),
        (failing(status(404, "{}")), "choose another with `--model`", 3),
        (failing(status(429, r#"{"error":{"message":"slow down"}}"#)), "HTTP 429: slow down", 6),
        (failing(status(503, "down")), "HTTP 503", 6),
        (
            failing(|| Play::Says("I cannot.".to_owned())),
            "there is no JSON object in the answer",
            4,
        ),
        (failing(|| Play::Says("{}".to_owned())), "no `action`, no `findings` and no `status`", 4),
        (
            failing(|| Play::Status(200, "", "<html>".to_owned())),
            "this is not an answer of a chat API",
            3,
        ),
    ];
    for (server, why, requests) in cases {
        let dir = project();
        let output = audit(&dir, &server).run().code(3);
        let state = state(dir.path());
        assert_eq!(statuses(&state), ["completed", "failed", "completed"], "{why}");
        let error = state["iterations"][1]["error"].as_str().unwrap();
        assert!(error.contains(why), "{error} lacks {why}");
        assert!(output.stderr.contains("error: skill 'missing-address-validation-002' failed"));
        assert!(report(dir.path()).contains("`missing-address-validation-002` (failed)"));
        assert_eq!(server.requests().len(), requests, "{why}");
    }
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
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(
        state(dir.path())["iterations"][1]["error"]
            .as_str()
            .unwrap()
            .contains("no answer within 1 s")
    );
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
    let (verified, unverified) = report.split_once("## Unverified findings").unwrap();
    assert!(verified.contains("- **Datum not checked** (`high`)"), "{report}");
    assert!(verified.contains("  - Location: validators/spend.ak:3\n"), "corrected: {report}");
    assert!(unverified.contains("- **Backdoor** (`critical`)"), "{report}");
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
    assert!(told.contains("- validators/spend.ak: 0 of 1200 lines seen; "), "{told}");
    assert!(output.stderr.contains("error: skill 'unvalidated-datum-003' unread: the model found"));
    let report = report(dir.path());
    assert!(report.contains("- `missing-address-validation-002` (unread): "), "{report}");
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
    assert!(output.stderr.contains(
        "AI provider exceeded max interactive read steps (25) for skill 'unvalidated-datum-003' (enable --ai-logs to inspect progress)"
    ));
    let bodies = server.bodies();
    let last = bodies.iter().find(|body| turn(body) == 24).unwrap();
    assert!(told(last).contains("This is your last step"), "{}", told(last));
    assert_eq!(statuses(&state(dir.path())), ["max-steps"; 3]);
}

#[test]
fn the_budget_ends_the_questions_and_the_rest_can_be_resumed() {
    let dir = project();
    let server = Server::saying(&[TRUE]);
    let output = audit(&dir, &server).args(["--budget", "150"]).run().code(3);
    assert_eq!(statuses(&state(dir.path())), ["completed", "completed", "over-budget"]);
    assert_eq!(server.requests().len(), 2);
    assert!(
        output.stdout.contains("Total, requests: 2, tokens: 200 in, 20 out\n"),
        "{}",
        output.stdout
    );
    audit(&dir, &server).args(["--resume"]).run().code(0);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn places_that_cannot_be_written_are_told_before_the_first_question() {
    for (args, says) in [
        (&["--report-out", "validators"][..], "--report-out validators: it is a directory"),
        (&["--state-out", "validators"], "--state-out validators: it is a directory"),
        (
            &["--report-out", "validators/spend.ak"],
            "--report-out validators/spend.ak: it is one of the sources",
        ),
        (&["--state-out", "./validators/../validators/spend.ak"], "it is one of the sources"),
        (
            &["--state-out", "validators/spend.ak/state.json"],
            "--state-out validators/spend.ak/state.json",
        ),
        (&["--report-out", "/proc/x/y.md"], "--report-out /proc/x/y.md"),
        (
            &["--report-out", "x.json", "--state-out", "./x.json"],
            "--state-out and --report-out are the same file",
        ),
    ] {
        let (dir, server) = (project(), Server::saying(&[TRUE]));
        let output = audit(&dir, &server).args(args).run().code(1);
        assert!(output.stderr.contains(says), "{args:?}: {}", output.stderr);
        assert_eq!(server.requests().len(), 0, "{args:?}");
        let source = std::fs::read_to_string(dir.path().join("validators/spend.ak")).unwrap();
        assert_eq!(source, SPEND, "{args:?}");
    }
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
    assert!(stderr.contains("`--resume` continues"), "{stderr}");
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
