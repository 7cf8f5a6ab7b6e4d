//! From a name to a conversation; recordings are what can be opened without a program.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use probity_agent::{
    AgentError, AgentRef, AgentTable, Answer, Cancel, Cause, CommandOptions, Interface, Limits,
    OpenOptions, Side, Turn, open,
};

use crate::{ask::LIMITS, command::seat};

fn ask(reference: &str, interface: Interface, limits: &Limits) -> Result<Answer, AgentError> {
    ask_for(reference, interface, limits, CommandOptions::default())
}

fn ask_for(
    reference: &str,
    interface: Interface,
    limits: &Limits,
    command: CommandOptions,
) -> Result<Answer, AgentError> {
    let table = AgentTable::shipped();
    let options = OpenOptions {
        table: &table,
        interface,
        seat: seat(Path::new("/")),
        command,
        tap: None,
        files: None,
    };
    let mut agent = open(&AgentRef::parse(reference).unwrap(), options)?;
    agent.ask(&Turn::new("hello"), limits, &Cancel::new())
}

fn script(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn a_name_leads_to_the_command_of_its_way() {
    // None of these programs is there, so that the error names what would have been started.
    for (reference, interface, program) in [
        ("claude", Interface::Acp, "claude-agent-acp"),
        ("claude-code", Interface::CommandLine, "claude"),
        ("codex", Interface::Acp, "codex-acp"),
        ("codex", Interface::CommandLine, "codex"),
        ("gemini", Interface::CommandLine, "gemini"),
        ("opencode", Interface::Acp, "opencode"),
        ("qwen", Interface::CommandLine, "qwen"),
        ("acp:no-such-agent --acp", Interface::CommandLine, "no-such-agent"),
        ("cmd:/no/such/agent x", Interface::Acp, "/no/such/agent"),
    ] {
        let error = ask(reference, interface, &LIMITS).unwrap_err();
        let found = matches!(&error.cause, Cause::NotStarted { program: p, .. } if p == program);
        assert!(found, "{reference}: {error}");
    }
    let error = ask("nobody", Interface::Acp, &LIMITS).unwrap_err();
    assert_eq!(error.to_string(), "nobody: preparing: no agent of this name is known");
    assert_eq!(
        error.way_out(),
        "known are claude, codex, gemini, opencode, qwen, copilot, cline, auggie, goose, kimi, \
         vibe, pi; any other is named by its command, acp:COMMAND or cmd:COMMAND"
    );
}

#[test]
fn a_command_answers_and_a_model_goes_where_it_can() {
    let model = || CommandOptions { model: Some("m".to_owned()), ..CommandOptions::default() };
    let answer = ask_for("cmd:echo '{model}'", Interface::Acp, &LIMITS, model()).unwrap();
    assert_eq!(answer.text, "m\n");
    let error = ask_for("acp:agent", Interface::Acp, &LIMITS, model()).unwrap_err();
    assert_eq!(error.to_string(), "agent: preparing: the model `m` cannot be chosen over ACP");
}

#[test]
fn a_recording_is_played_without_a_process() {
    let file = script(
        "{\"on\":\"session/prompt\"}\n{\"say\":\"<${prompt}>\"}\n{\"answer\":{\"stopReason\":\"end_turn\"}}\n",
    );
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    let table = AgentTable::shipped();
    let options = OpenOptions {
        table: &table,
        interface: Interface::Acp,
        seat: seat(Path::new("/")),
        command: CommandOptions { system: "be brief".to_owned(), ..CommandOptions::default() },
        tap: Some(Arc::new(move |side, frame: &str| {
            ear.lock().unwrap().push((side, frame.to_owned()));
        })),
        files: None,
    };
    let mut agent = open(&AgentRef::Replay(file.path().to_owned()), options).unwrap();
    let answer = agent.ask(&Turn::new("hello"), &LIMITS, &Cancel::new()).unwrap();
    assert_eq!(answer.text, "<be brief\n\nhello>");
    // There is nothing more in it.
    let error = agent.ask(&Turn::new("more"), &LIMITS, &Cancel::new()).unwrap_err();
    assert!(matches!(error.cause, Cause::Reported(_)), "{error}");
    let heard = heard.lock().unwrap();
    assert_eq!(heard[0].0, Side::Client);
    assert!(heard[0].1.contains("\"initialize\""), "{heard:?}");
    assert!(heard.iter().any(|(side, _)| *side == Side::Agent));
}

#[test]
fn a_recording_that_hangs_ends_with_the_turn() {
    let short = Duration::from_millis(300);
    for hang in ["listening", "deaf"] {
        let file = script(&format!("{{\"on\":\"session/prompt\"}}\n{{\"hang\":\"{hang}\"}}\n"));
        let start = Instant::now();
        let reference = format!("replay:{}", file.path().display());
        let limits = Limits { total: short, ..LIMITS };
        let error = ask(&reference, Interface::Acp, &limits).unwrap_err();
        assert_eq!(error.cause, Cause::TimedOut(short), "{hang}");
        assert!(start.elapsed() < LIMITS.total / 2, "{hang}");
    }
}

#[test]
fn what_cannot_be_played_says_why() {
    let bad = script("{\"on\":\"session/prompt\"}\n{\"no\":1}\n");
    for (path, why) in
        [("/no/such/file", "No such file"), (bad.path().to_str().unwrap(), "line 2:")]
    {
        let error = ask(&format!("replay:{path}"), Interface::Acp, &LIMITS).unwrap_err();
        assert!(matches!(&error.cause, Cause::BadOptions(text) if text.contains(why)), "{error}");
    }
}

#[test]
fn a_program_that_speaks_no_acp_is_quoted() {
    let argv = ["sh", "-c", "echo usage: agent FILE"].map(str::to_owned);
    let error =
        ask(&AgentRef::Acp(argv.to_vec()).to_string(), Interface::Acp, &LIMITS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sh: initializing: the agent ended with exit code 0: usage: agent FILE"
    );
}
