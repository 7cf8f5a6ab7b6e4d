//! What a client makes of what an agent says.

use std::thread;
use std::time::Duration;

use probity_acp::{Cause, Phase, ReplayEnd, StopReason, Tokens, Usage};

use crate::agent::{ask, connect, limits};

#[test]
fn several_turns_in_one_session_each_with_its_own_text() {
    let script = r#"
{"on":"session/prompt"}
{"say":"one "}
{"say":"two"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/prompt","capture":{"marker":["MARK=",";"]}}
{"say":"got ${marker} in ${session}"}
{"answer":{"stopReason":"end_turn"}}
"#;
    let mut connected = connect(script, limits()).unwrap();
    let session = connected.client.open_session("/work").unwrap();
    let first = connected.client.prompt(&session, "first").unwrap();
    let second = connected.client.prompt(&session, "MARK=x\"y;").unwrap();
    assert_eq!((first.text.as_str(), &first.stop), ("one two", &StopReason::EndTurn));
    assert_eq!(second.text, "got x\"y in replay-1");
    connected.client.close().unwrap();
    assert_eq!(connected.thread.join().unwrap().unwrap(), ReplayEnd::InputClosed);
    assert_eq!(
        connected.messages.methods(),
        ["initialize", "session/new", "session/prompt", "session/prompt", "session/close"]
    );
}

#[test]
fn text_after_the_answer_is_part_of_no_turn() {
    let script = r#"
{"on":"session/prompt"}
{"answer":{"stopReason":"end_turn"}}
{"say":"late"}
{"ask":"fs/read_text_file"}
{"on":"session/prompt"}
{"say":"in time"}
{"answer":{"stopReason":"end_turn"}}
"#;
    let mut connected = connect(script, limits()).unwrap();
    let session = connected.client.open_session("/work").unwrap();
    assert_eq!(connected.client.prompt(&session, "x").unwrap().text, "");
    // When its question is denied, the text before it was read.
    for _ in 0..1000 {
        if connected.client.denied().1 == 1 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(connected.client.prompt(&session, "x").unwrap().text, "in time");
}

#[test]
fn only_message_text_of_the_session_counts() {
    let script = r#"
{"on":"session/prompt"}
{"say":"other","session":"replay-2"}
{"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"thought"}}}
{"update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"user"}}}
{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","text":"image"}}}
{"update":{"sessionUpdate":"agent_message_chunk","content":"strange"}}
{"update":{"sessionUpdate":"from_the_future","text":"future"}}
{"update":7}
{"from":"agent","frame":{"jsonrpc":"2.0","method":"session/update"}}
{"from":"agent","frame":{"jsonrpc":"2.0","method":"_custom/notice","params":[]}}
{"from":"agent","frame":[]}
{"from":"agent","frame":{"error":{"code":-32700,"message":"parse"}}}
{"noise":"Loaded cached credentials."}
{"noise":""}
{"say":"this"}
{"answer":{"stopReason":"end_turn"}}
"#;
    let (turn, connected) = ask(script, limits());
    assert_eq!(turn.unwrap().text, "this");
    let skipped = connected.client.skipped();
    assert_eq!((skipped.noise, skipped.sample.as_deref()), (1, Some("Loaded cached credentials.")));
}

#[test]
fn the_last_message_is_told_from_those_before_it() {
    let script = r#"
{"on":"session/prompt"}
{"say":"Warning: old. "}
{"update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"the "}}}
{"update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"answer"}}}
{"answer":{"stopReason":"end_turn"}}
"#;
    let turn = ask(script, limits()).0.unwrap();
    assert_eq!(
        (turn.text.as_str(), turn.last_message()),
        ("Warning: old. the answer", "the answer")
    );
}

#[test]
fn a_character_cut_in_two_comes_together_again() {
    let chunk = |text: &str| {
        format!(
            r#"{{"from":"agent","frame":{{"method":"session/update","params":{{"update":{{"content":{{"type":"text","text":"{text}"}},"sessionUpdate":"agent_message_chunk"}},"sessionId":"replay-1"}}}}}}"#
        )
    };
    let script = format!(
        "{}\n{}\n{}\n{}",
        r#"{"on":"session/prompt"}"#,
        chunk(r"a\ud83d"),
        chunk(r"\ude00b\n"),
        r#"{"answer":{"stopReason":"end_turn"}}"#
    );
    assert_eq!(ask(&script, limits()).0.unwrap().text, "a\u{1f600}b\n");
}

#[test]
fn stop_reasons_are_values_and_unknown_ones_too() {
    for (answer, stop) in [
        (r#"{"stopReason":"end_turn"}"#, StopReason::EndTurn),
        (r#"{"stopReason":"max_tokens"}"#, StopReason::MaxTokens),
        (r#"{"stopReason":"max_turn_requests"}"#, StopReason::MaxTurnRequests),
        (r#"{"stopReason":"refusal"}"#, StopReason::Refusal),
        (r#"{"stopReason":"cancelled"}"#, StopReason::Cancelled),
        (r#"{"stopReason":"tired"}"#, StopReason::Other("tired".to_owned())),
        ("{}", StopReason::Other(String::new())),
        ("null", StopReason::Other(String::new())),
    ] {
        let script = format!("{{\"on\":\"session/prompt\"}}\n{{\"answer\":{answer}}}");
        assert_eq!(ask(&script, limits()).0.unwrap().stop, stop, "{answer}");
    }
}

#[test]
fn ids_that_come_back_as_strings_and_answers_that_come_twice_are_taken_once() {
    let script = r#"
{"on":"initialize"}
{"answer":{"protocolVersion":"1"},"id":"string","times":2}
{"on":"session/new"}
{"answer":{"sessionId":"s"},"id":"string","times":3}
{"on":"session/prompt"}
{"from":"agent","frame":{"id":999,"result":{"stopReason":"refusal"}}}
{"say":"yes"}
{"answer":{"stopReason":"end_turn"},"id":"string","times":2}
"#;
    let turn = ask(script, limits()).0.unwrap();
    assert_eq!((turn.text.as_str(), turn.stop), ("yes", StopReason::EndTurn));
}

#[test]
fn usage_and_cost_are_kept_when_the_agent_tells() {
    let script = r#"
{"on":"session/prompt"}
{"update":{"sessionUpdate":"usage_update","used":10,"size":200,"cost":{"amount":0.5,"currency":"USD"}}}
{"update":{"sessionUpdate":"usage_update","used":20,"cost":"much"}}
{"answer":{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4,"totalTokens":9}}}
"#;
    let (turn, connected) = ask(script, limits());
    assert_eq!(turn.unwrap().tokens, Some(Tokens { input: 3, output: 4, total: 9 }));
    let cost = Some((0.5, "USD".to_owned()));
    assert_eq!(
        connected.client.usage(),
        Usage { context_used: Some(20), context_size: Some(200), cost }
    );
}

#[test]
fn an_agent_that_cannot_be_used_is_explained() {
    let methods =
        r#"[{"id":"key","name":"API key","description":"set KEY"},{"id":"web"},{"no":1}]"#;
    let cases = [
        (
            r#"{"on":"initialize"}
{"answer":{"protocolVersion":2}}"#
                .to_owned(),
            "starting the agent: the agent speaks protocol version 2, not 1",
        ),
        (
            format!(
                r#"{{"on":"initialize"}}
{{"answer":{{"protocolVersion":1,"authMethods":{methods}}}}}
{{"on":"session/new"}}
{{"fail":{{"code":-32000,"message":"Authentication required"}}}}"#
            ),
            "opening a session: the agent needs a login: Authentication required; it offers API key (set KEY), web",
        ),
        (
            format!(
                r#"{{"on":"session/new"}}
{{"fail":{{"code":-32603,"message":"no","data":{{"authMethods":{methods}}}}}}}"#
            ),
            "opening a session: the agent needs a login: no; it offers API key (set KEY), web",
        ),
        (
            r#"{"on":"session/new"}
{"answer":{}}"#
                .to_owned(),
            "opening a session: the answer to session/new has no sessionId",
        ),
        (
            r#"{"noise":"please log in"}
{"on":"session/prompt"}
{"fail":{"code":-32603,"message":"Internal error","data":{"details":"no model"}}}"#
                .to_owned(),
            "waiting for the agent's answer: the agent answered with error -32603: Internal error ({\"details\":\"no model\"}); it also wrote: please log in",
        ),
    ];
    for (script, expected) in cases {
        let error = connect(&script, limits())
            .and_then(|mut connected| {
                let session = connected.client.open_session("/work")?;
                connected.client.prompt(&session, "x")
            })
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn an_agent_that_is_gone_fails_the_phase_it_was_in() {
    for (script, phase) in [
        (r#"{"exit":3}"#, Phase::Start),
        ("{\"on\":\"session/new\"}\n{\"exit\":3}", Phase::Session),
        ("{\"on\":\"session/prompt\"}\n{\"half\":\"{\\\"id\\\":3\"}\n{\"exit\":3}", Phase::Prompt),
        (
            "{\"on\":\"session/prompt\"}\n{\"close\":\"output\"}\n{\"hang\":\"listening\"}",
            Phase::Prompt,
        ),
    ] {
        let error = connect(script, limits())
            .and_then(|mut connected| {
                let session = connected.client.open_session("/work")?;
                connected.client.prompt(&session, "x")
            })
            .unwrap_err()
            .with_stderr("panic: out of cheese\n");
        assert_eq!(error.phase, phase, "{error}");
        assert!(matches!(error.cause, Cause::Ended | Cause::Pipe { .. }), "{error}");
        assert!(error.to_string().ends_with("ends with:\npanic: out of cheese"), "{error}");
    }
}
