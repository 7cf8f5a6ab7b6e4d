//! What an agent asks for, and the answers it gets on the wire.

use probity_acp::{ReplayEnd, Side};
use serde_json::{Value, json};

use crate::agent::{ask, limits};

const PERMISSION: &str = r#""session/request_permission","params":{"sessionId":"${session}","toolCall":{"toolCallId":"t","title":"Run rm"},"options":[{"optionId":"a","name":"Allow","kind":"allow_once"},{"optionId":"r","name":"No","kind":"reject_once"}]}"#;

fn answers(messages: &[Value]) -> Vec<Value> {
    messages.iter().filter(|message| message.get("method").is_none()).cloned().collect()
}

#[test]
fn every_request_is_answered_with_its_own_id_and_denied() {
    let script = format!(
        r#"
{{"on":"session/prompt"}}
{{"ask":{PERMISSION},"id":0}}
{{"ask":"session/request_permission","params":{{"options":[{{"optionId":"a","kind":"allow_always"}}]}},"id":"uuid-\u00e9"}}
{{"ask":"fs/read_text_file","params":{{"path":"/etc/shadow"}},"id":1}}
{{"ask":"fs/write_text_file","params":{{"path":"/etc/shadow","content":""}},"id":2}}
{{"ask":"terminal/create","params":{{"command":"sh","args":["-c","id"]}},"id":3}}
{{"ask":"terminal/output","id":4}}
{{"ask":"elicitation/create","id":5}}
{{"ask":"craft/drainMidTurnQueue","id":6}}
{{"ask":"_vendor/thing","id":null}}
{{"say":"done"}}
{{"answer":{{"stopReason":"end_turn"}}}}
"#
    );
    let (turn, connected) = ask(&script, limits());
    assert_eq!(turn.unwrap().text, "done");

    let outcome = |id: Value, outcome: Value| json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}});
    let error = |id: Value, message: &str| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": message}});
    assert_eq!(
        answers(&connected.messages.from(Side::Client)),
        [
            outcome(json!(0), json!({"outcome": "selected", "optionId": "r"})),
            outcome(json!("uuid-\u{e9}"), json!({"outcome": "cancelled"})),
            error(json!(1), "filesystem is disabled"),
            error(json!(2), "filesystem is disabled"),
            error(json!(3), "terminal is disabled"),
            error(json!(4), "terminal is disabled"),
            error(json!(5), "method not found: elicitation/create"),
            error(json!(6), "method not found: craft/drainMidTurnQueue"),
            error(json!(null), "method not found: _vendor/thing"),
        ]
    );
    let (denied, count) = connected.client.denied();
    let denied: Vec<_> =
        denied.iter().map(|denied| (denied.method.as_str(), denied.what.as_str())).collect();
    assert_eq!(count, 9);
    assert_eq!(
        denied[..5],
        [
            ("session/request_permission", "Run rm"),
            ("session/request_permission", ""),
            ("fs/read_text_file", "/etc/shadow"),
            ("fs/write_text_file", "/etc/shadow"),
            ("terminal/create", "sh -c id"),
        ]
    );
}

/// The agent ends with a code only if its request was answered while nobody waited for it.
#[test]
fn a_request_between_turns_is_answered_too() {
    let script = r#"
{"on":"session/prompt"}
{"answer":{"stopReason":"end_turn"}}
{"ask":"fs/read_text_file"}
{"exit":5}
"#;
    let (turn, connected) = ask(script, limits());
    turn.unwrap();
    assert_eq!(connected.thread.join().unwrap().unwrap(), ReplayEnd::Exit(5));
}

#[test]
fn permission_that_is_asked_for_during_a_cancellation_is_cancelled() {
    let script = format!(
        r#"
{{"on":"session/prompt"}}
{{"await":"session/cancel"}}
{{"ask":{PERMISSION}}}
{{"answer":{{"stopReason":"cancelled"}}}}
"#
    );
    let mut limits = limits();
    limits.prompt = std::time::Duration::from_millis(100);
    let (turn, connected) = ask(&script, limits);
    turn.unwrap_err();
    let answers = answers(&connected.messages.from(Side::Client));
    assert_eq!(answers[0]["result"]["outcome"], json!({"outcome": "cancelled"}));
}

/// An id is echoed, so it is a way to make us hold and write what the agent likes.
#[test]
fn a_request_with_an_absurd_id_is_dropped() {
    let script = format!(
        r#"
{{"on":"session/prompt"}}
{{"from":"agent","frame":{{"id":"{}","method":"x"}}}}
{{"ask":"y","id":"{}"}}
{{"answer":{{"stopReason":"end_turn"}}}}
"#,
        "i".repeat(4095),
        "i".repeat(4094)
    );
    let (turn, connected) = ask(&script, limits());
    turn.unwrap();
    assert_eq!(connected.client.denied().0[0].method, "y");
    assert_eq!(answers(&connected.messages.from(Side::Client)).len(), 1);
}

#[test]
fn the_list_of_denials_is_bounded_and_the_count_is_not() {
    let asks = "{\"ask\":\"fs/read_text_file\"}\n".repeat(300);
    let script = format!(
        "{{\"on\":\"session/prompt\"}}\n{asks}{{\"answer\":{{\"stopReason\":\"end_turn\"}}}}"
    );
    let (turn, connected) = ask(&script, limits());
    turn.unwrap();
    let (denied, count) = connected.client.denied();
    assert_eq!((denied.len(), count), (100, 300));
}
