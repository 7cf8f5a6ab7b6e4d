//! Recordings made by a client, and played back.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use probity_acp::{Client, Mode, Recorder, Session, Turn};

use crate::agent::{Agent, WHO, agent, agent_in, limits};

const SCRIPT: &str = r#"
{"on":"session/prompt","capture":{"key":["key=",";"]}}
{"say":"the key is ${key}. "}
{"ask":"fs/read_text_file","params":{"path":"/x"},"id":"a-1"}
{"say":"no file"}
{"answer":{"stopReason":"end_turn","n":1e2}}
{"on":"session/prompt"}
{"say":"again"}
{"answer":{"stopReason":"refusal"}}
"#;

fn two_turns(client: &mut Client, session: &Session) -> [Turn; 2] {
    [client.prompt(session, "key=hunter2;").unwrap(), client.prompt(session, "b").unwrap()]
}

/// Shared with the tap, which outlives the client by a moment.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn recorded() -> ([Turn; 2], String) {
    let sink = Sink::default();
    let mask = |text: &str| text.replace("hunter2", "***");
    let recorder = Mutex::new(Recorder::new(sink.clone(), mask));
    let tap =
        Box::new(move |side, text: &str| recorder.lock().unwrap().message(side, text).unwrap());
    let Agent { output, input, thread } = agent(SCRIPT);
    let mut client = Client::connect(output, input, WHO, limits(), Some(tap)).unwrap();
    let session = client.open_session("/work").unwrap();
    let turns = two_turns(&mut client, &session);
    client.close().unwrap();
    thread.join().unwrap().unwrap();
    let recording = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    (turns, recording)
}

#[test]
fn a_recording_holds_no_secret_and_every_message() {
    let (turns, recording) = recorded();
    assert_eq!(turns[0].text, "the key is hunter2. no file");
    assert!(!recording.contains("hunter2"), "{recording}");
    assert!(recording.contains("the key is ***."), "{recording}");
    for line in recording.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["at"].is_u64() && line["frame"].is_object(), "{line}");
    }
    assert_eq!(recording.matches(r#""from":"client""#).count(), 6);
}

#[test]
fn a_recording_plays_back_as_it_was() {
    let (turns, recording) = recorded();
    for (mode, prompt) in [(Mode::Strict, "key=***;"), (Mode::Lenient, "something else")] {
        let Agent { output, input, thread } = agent_in(mode, &recording);
        let mut client = Client::connect(output, input, WHO, limits(), None).unwrap();
        let session = client.open_session("/elsewhere").unwrap();
        let first = client.prompt(&session, prompt).unwrap();
        assert_eq!(first.text, turns[0].text.replace("hunter2", "***"));
        assert_eq!(client.prompt(&session, "b").unwrap(), turns[1]);
        assert_eq!(client.denied().1, 1);
        client.close().unwrap();
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn a_strict_replay_says_where_the_client_left_the_recording() {
    let (_, recording) = recorded();
    let Agent { output, input, thread } = agent_in(Mode::Strict, &recording);
    let mut client = Client::connect(output, input, WHO, limits(), None).unwrap();
    let session = client.open_session("/work").unwrap();
    let told = client.prompt(&session, "something else").unwrap_err().to_string();
    let error = thread.join().unwrap().unwrap_err().to_string();
    insta::assert_snapshot!(told, @r#"waiting for the agent's answer: the agent answered with error -32603: line 5 of the script expects session/prompt {"sessionId":"replay-1","prompt":[{"type":"text","text":"key=***;"}]}, but the client sent session/prompt {"sessionId":"replay-1","prompt":[{"type":"text","text":"something else"}]}"#);
    insta::assert_snapshot!(error, @r#"line 5 of the script expects session/prompt {"sessionId":"replay-1","prompt":[{"type":"text","text":"key=***;"}]}, but the client sent session/prompt {"sessionId":"replay-1","prompt":[{"type":"text","text":"something else"}]}"#);
}
