//! Agents that speak ACP: this binary, started again for the same test, plays a script.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use probity_acp::{HostAction, Mode, ReplayEnd, Script, replay};
use probity_agent::{
    AcpAgent, Agent as _, AgentError, Answer, Cancel, Cause, Limits, Seat, StopReason, Turn, Usage,
};

use crate::{ask::LIMITS, command::seat};

const SCRIPT: &str = "PROBITY_TEST_SCRIPT";

/// In the process that was started again: is the agent.
pub(crate) fn played_here() -> bool {
    let Ok(script) = std::env::var(SCRIPT) else { return false };
    let script = Script::parse(&script).unwrap();
    let mut host = |action: &HostAction| match action {
        HostAction::Spawn(argv) => Command::new(&argv[0]).args(&argv[1..]).spawn().map(drop),
        HostAction::IgnoreTerminate => Err(io::Error::from(io::ErrorKind::Unsupported)),
    };
    io::stderr().write_all(b"ready\n").unwrap();
    match replay(&script, io::stdin(), io::stdout(), Mode::Lenient, &mut host).unwrap() {
        ReplayEnd::Exit(code) => std::process::exit(code),
        ReplayEnd::InputClosed | ReplayEnd::OutputClosed => true,
    }
}

/// The agent that plays this script for this test.
fn scripted(test: &str, script: &str) -> AcpAgent {
    let mut seat = seat(Path::new("/"));
    let argv = scripted_command(test, script, &mut seat);
    AcpAgent::command("scripted", &argv, seat, "be brief", None)
}

/// The command that becomes that agent in this seat.
pub(crate) fn scripted_command(test: &str, script: &str, seat: &mut Seat) -> [String; 6] {
    seat.spec.env.push((SCRIPT.into(), script.into()));
    let exe = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    // What the harness itself prints is noise between the messages.
    [&exe, "--exact", test, "--nocapture", "--quiet", "--test-threads=2"].map(str::to_owned)
}

fn ask(agent: &mut AcpAgent, prompt: &str, limits: &Limits) -> Result<Answer, AgentError> {
    agent.ask(&Turn::new(prompt), limits, &Cancel::new())
}

#[test]
fn turns_share_one_process_and_one_session() {
    if played_here() {
        return;
    }
    let script = r#"
{"on":"session/prompt"}
{"ask":"fs/read_text_file","params":{"path":"/etc/passwd","sessionId":"x"}}
{"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}
{"update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.5,"currency":"USD"}}}
{"say":"<${prompt}> in ${session}"}
{"answer":{"stopReason":"end_turn","usage":{"inputTokens":7,"outputTokens":2,"totalTokens":9}}}
{"on":"session/prompt"}
{"update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.75,"currency":"USD"}}}
{"say":"<${prompt}> in ${session}"}
{"answer":{"stopReason":"max_turn_requests"}}
"#;
    let mut agent = scripted("acp::turns_share_one_process_and_one_session", script);
    let first = ask(&mut agent, "one", &LIMITS).unwrap();
    let session = first.text.rsplit(' ').next().unwrap();
    assert_eq!(first.text, format!("<be brief\n\none> in {session}"));
    assert_eq!(first.stop, StopReason::EndTurn);
    assert_eq!(first.denied, ["fs/read_text_file /etc/passwd"]);
    let usage = Usage { input_tokens: 7, output_tokens: 2, cost: Some(0.5), ..Usage::default() };
    assert_eq!(first.usage, Some(usage));
    let second = ask(&mut agent, "two", &LIMITS).unwrap();
    assert_eq!(second.text, format!("<two> in {session}"), "it knows the rest");
    assert_eq!(second.stop, StopReason::Other("max_turn_requests".to_owned()));
    assert_eq!(second.denied, [] as [&str; 0], "what was denied before is told before");
    assert_eq!(second.usage.unwrap().cost, Some(0.25), "what this turn has cost");
}

#[test]
fn an_agent_that_costs_more_than_it_may_is_stopped_in_the_middle_of_its_turn() {
    if played_here() {
        return;
    }
    let test = "acp::an_agent_that_costs_more_than_it_may_is_stopped_in_the_middle_of_its_turn";
    let cost = |dollars: f64| {
        format!(
            r#"{{"update":{{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{{"amount":{dollars},"currency":"USD"}}}}}}"#
        )
    };
    let limits = Limits { dollars: Some(0.5), ..LIMITS };
    // It goes on only after the client cancels the turn.
    let waits = r#"{"await":"session/cancel"}"#;
    let (on, say) = (r#"{"on":"session/prompt"}"#, r#"{"say":"done"}"#);
    let ends = |reason: &str| format!(r#"{{"answer":{{"stopReason":"{reason}"}}}}"#);

    let lines = [on, &cost(0.3), &cost(0.7), waits, &ends("cancelled")];
    let error = ask(&mut scripted(test, &lines.join("\n")), "hello", &limits).unwrap_err();
    assert_eq!(error.cause, Cause::OverBudget { spent: 0.7 });
    assert_eq!(
        error.to_string(),
        "scripted: asking: the agent was stopped because it exceeded its budget: this answer has cost 0.70 US dollars"
    );
    assert_eq!(error.way_out(), "raise the budget, or ask for less");

    // One that had finished has an answer, whenever it reports its cost.
    let lines = [on, say, &cost(0.7), waits, &ends("end_turn")];
    let answer = ask(&mut scripted(test, &lines.join("\n")), "hello", &limits).unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.unwrap().cost), ("done", Some(0.7)));

    // What earlier turns have cost does not count for this one.
    let lines = [
        on,
        &cost(0.4),
        say,
        &ends("end_turn"),
        on,
        &cost(0.8),
        &cost(1.5),
        waits,
        &ends("refusal"),
    ];
    let mut agent = scripted(test, &lines.join("\n"));
    assert_eq!(ask(&mut agent, "one", &limits).unwrap().usage.unwrap().cost, Some(0.4));
    let error = ask(&mut agent, "two", &limits).unwrap_err();
    assert_eq!(error.cause, Cause::OverBudget { spent: 1.1 });
}

#[test]
fn every_failure_says_how_far_it_had_come() {
    if played_here() {
        return;
    }
    let test = "acp::every_failure_says_how_far_it_had_come";
    for (script, message, way_out) in [
        (
            r#"{"on":"initialize"}
{"exit":3}"#,
            "scripted: initializing: the agent ended with exit code 3: ready",
            "this command does not speak the Agent Client Protocol; if it reads a prompt on standard \
             input, write `cmd:` before it, for example `cmd:llm -m MODEL`",
        ),
        (
            r#"{"on":"initialize"}
{"answer":{"protocolVersion":2}}"#,
            "scripted: initializing: the agent speaks protocol version 2, not 1",
            "use a version of the agent that speaks version 1 of the protocol",
        ),
        (
            r#"{"on":"session/new"}
{"fail":{"code":-32000,"message":"Authentication required"}}"#,
            "scripted: opening a session: the agent needs a login: Authentication required",
            "log in to scripted once by hand, or pass its key",
        ),
        (
            r#"{"on":"session/prompt"}
{"fail":{"code":-32603,"message":"hush-hush \u001b[1mbroke"}}"#,
            "scripted: asking: the agent reports an error: [key] broke (-32603)",
            "see what the agent says about it",
        ),
        (
            r#"{"on":"session/prompt"}
{"say":"half"}
{"exit":0}"#,
            "scripted: asking: the agent ended with exit code 0: ready",
            "run the agent by hand to see more",
        ),
    ] {
        let error = ask(&mut scripted(test, script), "hello", &LIMITS).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}\n{message}");
        assert_eq!(error.way_out(), way_out);
        assert_eq!(&*error.stderr, "ready\n");
    }
}

#[test]
fn every_limit_of_an_acp_agent_holds() {
    if played_here() {
        return;
    }
    let test = "acp::every_limit_of_an_acp_agent_holds";
    let short = Duration::from_millis(400);
    let total = Limits { total: short, ..LIMITS };
    let step = Limits { attempt: short, ..LIMITS };
    let small = Limits { answer_bytes: 1_000, ..LIMITS };
    let prompt = Limits { prompt_bytes: 14, ..LIMITS };
    for (script, limits, cause) in [
        (
            r#"{"on":"initialize"}
{"hang":"deaf"}"#,
            step,
            Cause::TimedOut(short),
        ),
        (
            r#"{"on":"session/new"}
{"hang":"listening"}"#,
            step,
            Cause::TimedOut(short),
        ),
        (
            r#"{"on":"initialize"}
{"hang":"deaf"}"#,
            total,
            Cause::TimedOut(short),
        ),
        (
            r#"{"on":"session/prompt"}
{"hang":"listening"}"#,
            total,
            Cause::TimedOut(short),
        ),
        (
            r#"{"on":"session/prompt"}
{"hang":"deaf"}"#,
            total,
            Cause::TimedOut(short),
        ),
        (
            r#"{"on":"session/prompt"}
{"say":"0123456789","times":101}
{"answer":{"stopReason":"end_turn"}}"#,
            small,
            Cause::AnswerTooLarge { limit: 1_000 },
        ),
        ("", prompt, Cause::PromptTooLarge { bytes: 15, limit: 14 }),
    ] {
        let start = Instant::now();
        let error = ask(&mut scripted(test, script), "hello", &limits).unwrap_err();
        assert_eq!(error.cause, cause, "{script}");
        assert!(start.elapsed() < LIMITS.total / 2, "{script} took {:?}", start.elapsed());
    }
}

#[test]
fn after_a_failure_another_process_is_told_what_was_said() {
    if played_here() {
        return;
    }
    let script = r#"
{"on":"session/prompt"}
{"say":"<${prompt}>"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/prompt"}
{"exit":1}
"#;
    let mut agent = scripted("acp::after_a_failure_another_process_is_told_what_was_said", script);
    ask(&mut agent, "one", &LIMITS).unwrap();
    ask(&mut agent, "lost", &LIMITS).unwrap_err();
    let third = ask(&mut agent, "three", &LIMITS).unwrap();
    assert_eq!(
        third.text,
        "<be brief\n\nEarlier in this conversation you received:\n\none\n\nYou answered:\n\n\
         <be brief\n\none>\n\nNow:\n\nthree>"
    );
}

#[test]
fn called_off_or_let_go_it_is_gone_with_its_children() {
    if played_here() {
        return;
    }
    let test = "acp::called_off_or_let_go_it_is_gone_with_its_children";
    for end in [r#"{"hang":"deaf"}"#, r#"{"answer":{"stopReason":"end_turn"}}"#] {
        let directory = tempfile::tempdir().unwrap();
        let pids = directory.path().join("pids");
        let shell = format!("echo $$ > {0}.part; mv {0}.part {0}; exec sleep 600", pids.display());
        let spawn = serde_json::json!({"spawn": ["setsid", "sh", "-c", shell]});
        let script = format!("{{\"on\":\"session/prompt\"}}\n{spawn}\n{end}");
        let mut agent = scripted(test, &script);
        let cancel = Cancel::new();
        let asked = thread::scope(|scope| {
            let asking = scope.spawn(|| agent.ask(&Turn::new("hello"), &LIMITS, &cancel));
            let start = Instant::now();
            while !pids.exists() && start.elapsed() < LIMITS.total {
                thread::sleep(Duration::from_millis(2));
            }
            if end.contains("hang") {
                cancel.cancel();
            }
            asking.join().unwrap()
        });
        assert_eq!(asked.is_err_and(|error| error.is_cancelled()), end.contains("hang"));
        drop(agent);
        let pid = fs::read_to_string(&pids).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{pid} is still there");
    }
}
