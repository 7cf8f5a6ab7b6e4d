//! `agent ask`: one question, one answer, and how it came about on stderr.

use std::{
    borrow::Cow,
    env,
    io::{self, Read as _, Write as _},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use probity_agent::{
    AgentError, AgentRef, Answer, Cancel, Cause, CommandOptions, KnownAgent, Limits, StopReason,
    Turn,
};
use probity_seat::{Caller, NamedBy, Occupant, Request};
use probity_text::visible;
use serde_json::json;

use crate::{
    commands::{ListFormat, print_json},
    config::words::Sandbox,
    exit::Exit,
    failure::Failure,
    seats::seats,
    streams,
};

/// Lines of the agent's stderr that are shown with a failure.
const LAST_LINES: usize = 10;

/// What is asked of whom.
#[derive(Debug)]
pub(crate) struct AskOptions {
    pub(crate) agent: String,
    /// The question, or `-` for standard input.
    pub(crate) prompt: String,
    pub(crate) timeout: Duration,
    pub(crate) sandbox: Sandbox,
    pub(crate) variables: Vec<String>,
    pub(crate) format: ListFormat,
}

pub(crate) fn run(args: &AskOptions) -> anyhow::Result<Exit> {
    let way_out = "`probity agent list` names the agents that are known";
    let reference = AgentRef::parse(&args.agent)
        .with_context(|| Failure::new("there is no such agent", way_out))?;
    let (seats, terms) = seats(Caller::Ask)?;
    let request = Request {
        caller: Caller::Ask,
        occupant: Occupant::Agent(&reference),
        named_by: NamedBy::User,
        form: None,
        sandbox: args.sandbox,
        directory: &env::current_dir().context("cannot find the working directory")?,
        directories: &[],
        variables: &args.variables,
        terms: &terms,
    };
    let seated = seats.seat(&request).map_err(Failure::from)?;
    let prompt = prompt(&args.prompt)?;
    let how = seated.contained.to_string();
    if tracing::enabled!(tracing::Level::WARN) {
        // With stderr gone the answer is still worth having.
        drop(writeln!(streams::stderr(), "{}: sandbox: {how}", reference.label()));
    }
    let began = Instant::now();
    let limits = Limits::within(args.timeout);
    let known = match &reference {
        AgentRef::Known(name) => seats.table().get(name),
        AgentRef::Program(path) => seats.table().of_program(path),
        _ => None,
    };
    let answer = seated
        .open(CommandOptions::default(), None)
        .and_then(|mut agent| agent.ask(&Turn::new(prompt), &limits, &Cancel::new()))
        .map_err(|error| explained(&error, known))?;
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match args.format {
        ListFormat::Text => print(&answer)?,
        ListFormat::Json => {
            let page = page(&reference.label(), &how, &answer, milliseconds);
            print_json(&page)?;
        }
    }
    judged(&answer)
}

fn prompt(argument: &str) -> anyhow::Result<String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    // One byte more than is allowed, so that too much is seen as such.
    let most = Limits::PROMPT_BYTES as u64 + 1;
    io::stdin()
        .lock()
        .take(most)
        .read_to_string(&mut text)
        .context("cannot read the question from standard input")?;
    Ok(text)
}

fn explained(error: &AgentError, known: Option<&KnownAgent>) -> Failure {
    let mut what = error.to_string();
    let lines: Vec<&str> = error.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
    // An agent that asks for a login has said all there is to say.
    if !last.is_empty() && !matches!(error.cause, Cause::NeedsLogin(_)) {
        what.push_str("\nits standard error ends with:\n");
        what.push_str(&last.join("\n"));
    }
    let way_out = match (&error.cause, known) {
        (Cause::NeedsLogin(_), Some(agent)) => format!(
            "{}; a sandboxed agent gets your key with `--env {}`, or always if your own \
             configuration lists it",
            error.way_out(),
            agent.variables.first().map_or("NAME", String::as_str)
        ),
        (Cause::TimedOut(_), _) => format!("{} (--timeout)", error.way_out()),
        _ => error.way_out().to_owned(),
    };
    Failure::new(what, way_out)
}

fn print(answer: &Answer) -> io::Result<()> {
    let out = streams::stdout();
    // What an agent says must not move the cursor of a person who reads it.
    let text = if out.is_terminal() {
        visible::block(&answer.text)
    } else {
        Cow::Borrowed(answer.text.as_str())
    };
    let mut out = out.for_programs().lock();
    out.write_all(text.as_bytes())?;
    if !answer.text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn page(agent: &str, how: &str, answer: &Answer, milliseconds: u64) -> serde_json::Value {
    let usage = answer.usage.map(|usage| {
        json!({
            "inputTokens": usage.input_tokens,
            "outputTokens": usage.output_tokens,
            "cachedInputTokens": usage.cached_input_tokens,
            "cost": usage.cost,
        })
    });
    json!({
        "agent": agent,
        "containedBy": how,
        "answer": answer.text,
        "stopReason": stop(&answer.stop),
        "denied": answer.denied,
        "usage": usage,
        "milliseconds": milliseconds,
    })
}

fn stop(reason: &StopReason) -> &str {
    match reason {
        StopReason::EndTurn => "end_turn",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
        StopReason::Cancelled => "cancelled",
        StopReason::Other(other) => other,
    }
}

/// An answer that is none is printed all the same, and is a failure.
fn judged(answer: &Answer) -> anyhow::Result<Exit> {
    for denied in &answer.denied {
        tracing::warn!("denied: {denied}");
    }
    match &answer.stop {
        StopReason::EndTurn => Ok(Exit::Clean),
        StopReason::MaxTokens => {
            tracing::warn!("the answer is cut off: the agent reached its limit of tokens");
            Ok(Exit::Clean)
        }
        StopReason::Refusal => {
            Err(Failure::new("the agent refused to answer", "ask in another way").into())
        }
        StopReason::Cancelled | StopReason::Other(_) => {
            tracing::warn!("the agent stopped for another reason: {}", stop(&answer.stop));
            Ok(Exit::Clean)
        }
    }
}
