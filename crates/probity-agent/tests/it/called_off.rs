//! Turns that take too long or are called off: the agent is asked to stop before it is ended.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use probity_agent::{AcpAgent, Agent as _, AgentError, Cancel, Cause, Limits, Side, Turn};

use crate::{
    acp::{played_here, scripted_command},
    ask::LIMITS,
    command::seat,
};

/// Long enough for the agent to be asked, also on a busy machine.
const SHORT: Duration = Duration::from_secs(2);

/// What the agent was sent, and what it said.
type Heard = Arc<Mutex<Vec<(Side, String)>>>;

fn agent(test: &str, script: &str) -> (AcpAgent, Heard) {
    let mut seat = seat(Path::new("/"));
    let argv = scripted_command(test, script, &mut seat);
    let heard = Heard::default();
    let ear = Arc::clone(&heard);
    let tap = Arc::new(move |side, frame: &str| ear.lock().unwrap().push((side, frame.to_owned())));
    (AcpAgent::command("scripted", &argv, seat, "", Some(tap)), heard)
}

fn cancellations(heard: &Heard) -> usize {
    let heard = heard.lock().unwrap();
    let cancels =
        |(side, frame): &&(Side, String)| *side == Side::Client && frame.contains("session/cancel");
    heard.iter().filter(cancels).count()
}

const OBEYS: &str = r#"{"on":"session/prompt"}
{"say":"half of it"}
{"await":"session/cancel"}
{"say":", stopped"}
{"answer":{"stopReason":"cancelled"}}
{"on":"session/prompt"}
{"say":"<${prompt}>"}
{"answer":{"stopReason":"end_turn"}}"#;

/// Says that its turn has ended as if nothing had been cancelled.
const FEIGNS: &str = r#"{"on":"session/prompt"}
{"await":"session/cancel"}
{"answer":{"stopReason":"end_turn"}}"#;

const LISTENS: &str = "{\"on\":\"session/prompt\"}\n{\"hang\":\"listening\"}";

#[test]
fn an_agent_out_of_time_is_asked_to_stop_before_it_is_ended() {
    if played_here() {
        return;
    }
    let test = "called_off::an_agent_out_of_time_is_asked_to_stop_before_it_is_ended";
    for (script, obeys) in [(OBEYS, true), (FEIGNS, true), (LISTENS, false)] {
        let (mut agent, heard) = agent(test, script);
        let began = Instant::now();
        let limits = Limits { total: SHORT, ..LIMITS };
        let error = agent.ask(&Turn::new("one"), &limits, &Cancel::new()).unwrap_err();
        let took = began.elapsed();
        assert_eq!(error.cause, Cause::TimedOut(SHORT), "{script}");
        assert_eq!(cancellations(&heard), 1, "{script}: {heard:?}");
        let grace = Duration::from_secs(2);
        // Whoever obeys is not waited for; who does not gets all of the grace time.
        assert_eq!(took < SHORT + grace, obeys, "{script} took {took:?}");
        let last = heard.lock().unwrap().last().cloned().unwrap();
        assert_eq!(last.1.contains("stopReason"), obeys, "{script}: {last:?}");
    }
}

#[test]
fn a_turn_called_off_leaves_no_trace_in_the_next() {
    if played_here() {
        return;
    }
    let test = "called_off::a_turn_called_off_leaves_no_trace_in_the_next";
    // The second process waits for its first question too, so that it is the one that is answered.
    let script = OBEYS.replace("{\"await\":\"session/cancel\"}\n", "{\"sleep\":1500}\n");
    for (script, called_off) in [(OBEYS, true), (script.as_str(), false)] {
        let (mut agent, heard) = agent(test, script);
        let cancel = Cancel::new();
        let asked: Result<_, AgentError> = thread::scope(|scope| {
            let asking = scope.spawn(|| agent.ask(&Turn::new("one"), &LIMITS, &cancel));
            let until = Instant::now() + LIMITS.total;
            while !heard.lock().unwrap().iter().any(|(_, frame)| frame.contains("half of it")) {
                assert!(Instant::now() < until, "{heard:?}");
                thread::sleep(Duration::from_millis(2));
            }
            if called_off {
                cancel.cancel();
            }
            asking.join().unwrap()
        });
        assert_eq!(asked.is_err_and(|error| error.is_cancelled()), called_off);
        assert_eq!(cancellations(&heard), usize::from(called_off), "{heard:?}");
        if !called_off {
            let second = agent.ask(&Turn::new("two"), &LIMITS, &Cancel::new()).unwrap();
            assert_eq!(second.text, "<two>", "one session, which knows the rest");
        }
    }
}
