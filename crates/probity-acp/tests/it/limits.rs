//! Every limit of the client, reached.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use probity_acp::{Cause, Client, ClientError, Limits, Phase, ReplayEnd, StopReason};

use crate::agent::{WHO, ask, connect, limits};

const SHORT: Duration = Duration::from_millis(150);

fn timed_out(error: &ClientError, phase: Phase) {
    assert_eq!((error.phase, &error.cause), (phase, &Cause::TimedOut { limit: SHORT }));
}

#[test]
fn an_agent_that_does_not_start_is_given_up() {
    let script = "{\"on\":\"initialize\"}\n{\"hang\":\"listening\"}";
    let error = connect(script, Limits { start: SHORT, ..limits() }).err().unwrap();
    timed_out(&error, Phase::Start);
}

#[test]
fn a_session_that_does_not_open_is_given_up() {
    let script = "{\"on\":\"session/new\"}\n{\"hang\":\"listening\"}";
    let mut connected = connect(script, Limits { session: SHORT, ..limits() }).unwrap();
    timed_out(&connected.client.open_session("/work").unwrap_err(), Phase::Session);
}

/// The agent ends with a code only if it was told to cancel.
#[test]
fn a_turn_that_takes_too_long_is_cancelled_and_given_up() {
    let script = "{\"on\":\"session/prompt\"}\n{\"await\":\"session/cancel\"}\n{\"exit\":7}";
    let (turn, connected) = ask(script, Limits { prompt: SHORT, ..limits() });
    timed_out(&turn.unwrap_err(), Phase::Prompt);
    assert_eq!(connected.thread.join().unwrap().unwrap(), ReplayEnd::Exit(7));
}

#[test]
fn a_cancelled_turn_that_is_acknowledged_leaves_the_session_usable() {
    let script = r#"
{"on":"session/prompt"}
{"say":"too early"}
{"await":"session/cancel"}
{"say":"too late"}
{"answer":{"stopReason":"cancelled"}}
{"on":"session/prompt"}
{"say":"in time"}
{"answer":{"stopReason":"end_turn"}}
"#;
    // Ample for the second turn on a busy machine; the first never ends by itself.
    let prompt = Duration::from_secs(2);
    let mut connected = connect(script, Limits { prompt, ..limits() }).unwrap();
    let session = connected.client.open_session("/work").unwrap();
    let error = connected.client.prompt(&session, "x").unwrap_err();
    assert_eq!(error.cause, Cause::TimedOut { limit: prompt });
    assert_eq!(connected.client.prompt(&session, "x").unwrap().text, "in time");
}

#[test]
fn an_agent_that_ignores_a_cancellation_gets_no_more_than_the_grace_time() {
    let script = "{\"on\":\"session/prompt\"}\n{\"hang\":\"listening\"}";
    let limits = Limits { prompt: SHORT, grace: SHORT, ..limits() };
    timed_out(&ask(script, limits).0.unwrap_err(), Phase::Prompt);
}

#[test]
fn an_agent_that_does_not_close_a_session_gets_no_more_than_the_grace_time() {
    let script = "{\"on\":\"session/close\"}\n{\"hang\":\"listening\"}";
    let mut connected = connect(script, Limits { grace: SHORT, ..limits() }).unwrap();
    connected.client.open_session("/work").unwrap();
    timed_out(&connected.client.close().unwrap_err(), Phase::Close);
    assert_eq!(connected.thread.join().unwrap().unwrap(), ReplayEnd::InputClosed);
}

#[test]
fn a_session_is_only_closed_where_the_agent_knows_how() {
    let script =
        "{\"on\":\"initialize\"}\n{\"answer\":{\"protocolVersion\":1,\"agentCapabilities\":{}}}";
    let mut connected = connect(script, limits()).unwrap();
    connected.client.open_session("/work").unwrap();
    connected.client.close().unwrap();
    assert_eq!(connected.thread.join().unwrap().unwrap(), ReplayEnd::InputClosed);
    assert_eq!(connected.messages.methods(), ["initialize", "session/new"]);
}

#[test]
fn the_whole_is_limited_over_all_turns() {
    let exchange = "{\"on\":\"session/prompt\"}\n{\"sleep\":600}\n{\"answer\":{\"stopReason\":\"end_turn\"}}\n";
    let whole = Duration::from_secs(2);
    let mut connected = connect(&exchange.repeat(9), Limits { whole, ..limits() }).unwrap();
    let session = connected.client.open_session("/work").unwrap();
    let turns: Vec<_> = (0..9).map(|_| connected.client.prompt(&session, "x")).collect();
    let failed: Vec<_> = turns.into_iter().filter_map(Result::err).collect();
    assert!(failed.len() >= 5);
    for error in failed {
        assert_eq!(error.cause, Cause::WholeTimedOut { limit: whole });
    }
    let prompts = connected.messages.methods().into_iter();
    assert!(prompts.filter(|method| method == "session/prompt").count() <= 4);
}

#[test]
fn an_answer_may_be_as_long_as_the_limit_and_no_longer() {
    for (times, fits) in [(64, true), (65, false)] {
        let kilobytes = "x".repeat(32 * 1024);
        let script = format!(
            "{{\"on\":\"session/prompt\"}}\n{{\"say\":\"{kilobytes}\",\"times\":{times}}}\n{}",
            if fits {
                r#"{"answer":{"stopReason":"end_turn"}}"#
            } else {
                "{\"await\":\"session/cancel\"}\n{\"exit\":7}"
            }
        );
        let (turn, connected) = ask(&script, limits());
        match turn {
            Ok(turn) => assert!(fits && turn.text.len() == 2 << 20),
            Err(error) => {
                assert!(!fits);
                assert_eq!(error.cause, Cause::OutputLimit { limit: 2 << 20 });
                assert_eq!(connected.thread.join().unwrap().unwrap(), ReplayEnd::Exit(7));
            }
        }
    }
}

#[test]
fn a_line_over_the_limit_is_passed_over() {
    let script = r#"
{"on":"session/prompt"}
{"flood":100000000}
{"noise":""}
{"say":"short"}
{"answer":{"stopReason":"end_turn"}}
"#;
    let (turn, connected) = ask(script, limits());
    assert_eq!(turn.unwrap().text, "short");
    let skipped = connected.client.skipped();
    assert_eq!((skipped.too_long, skipped.bytes), (1, 100_000_000));
}

#[test]
fn an_agent_that_does_not_read_blocks_nobody() {
    let script =
        "{\"on\":\"session/new\"}\n{\"answer\":{\"sessionId\":\"s\"}}\n{\"hang\":\"deaf\"}";
    let short = Limits { prompt: SHORT, grace: SHORT, ..limits() };
    let mut connected = connect(script, short).unwrap();
    let session = connected.client.open_session("/work").unwrap();
    let error = connected.client.prompt(&session, &"x".repeat(2 << 20)).unwrap_err();
    timed_out(&error, Phase::Prompt);
}

/// It asks without end and reads no answer; what it can make us hold is bounded all the same.
#[test]
fn an_agent_that_only_asks_is_made_to_wait() {
    const ALL: u64 = 1_000_000;
    let (output, mut agent_output) = io::pipe().unwrap();
    let (mut agent_input, input) = io::pipe().unwrap();
    let written = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&written);
    thread::spawn(move || {
        agent_input.read_exact(&mut [0; 1]).unwrap();
        for number in 0..ALL {
            let line = format!("{{\"id\":{number},\"method\":\"x\"}}\n");
            if agent_output.write_all(line.as_bytes()).is_err() {
                return;
            }
            count.store(number, Ordering::Relaxed);
        }
        // The input stays open, so that it is the limit that ends the wait.
        thread::park();
        drop(agent_input);
    });
    let start = Duration::from_secs(3);
    let error =
        Client::connect(output, input, WHO, Limits { start, ..limits() }, None).unwrap_err();
    assert_eq!(error.cause, Cause::TimedOut { limit: start });
    // A mebibyte of answers, and what fits into two pipes and the reader.
    let written = written.load(Ordering::Relaxed);
    assert!(written < 40_000, "{written}");
}

#[test]
fn a_turn_is_called_off_from_another_thread_once() {
    let script = r#"
{"on":"session/prompt"}
{"say":"so far"}
{"await":"session/cancel"}
{"answer":{"stopReason":"cancelled"}}
{"on":"session/prompt"}
{"say":"again"}
{"answer":{"stopReason":"end_turn"}}
"#;
    let mut connected = connect(script, limits()).unwrap();
    let canceller = connected.client.canceller();
    assert!(!canceller.cancel(), "nothing is under way");
    let session = connected.client.open_session("/work").unwrap();
    let messages = connected.messages.clone();
    let turn = thread::scope(|threads| {
        let calling = threads.spawn(|| {
            while messages.from(probity_acp::Side::Agent).len() < 3 {
                thread::sleep(Duration::from_millis(1));
            }
            (canceller.cancel(), canceller.cancel())
        });
        let turn = connected.client.prompt(&session, "x").unwrap();
        assert_eq!(calling.join().unwrap(), (true, false));
        turn
    });
    assert_eq!((turn.text.as_str(), turn.stop), ("so far", StopReason::Cancelled));
    assert_eq!(connected.client.prompt(&session, "x").unwrap().text, "again");
    let methods = connected.messages.methods();
    assert_eq!(methods.iter().filter(|method| *method == "session/cancel").count(), 1);
}
