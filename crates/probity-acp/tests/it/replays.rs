//! The scripted agent by itself: ids, modes, and scripts that say nonsense.

use std::io;

use probity_acp::{HostAction, Mode, ReplayEnd, ReplayError, Script, replay};

/// What the agent writes when the client writes `input` and closes.
fn play(script: &str, mode: Mode, input: &str) -> (Vec<String>, Result<ReplayEnd, ReplayError>) {
    let mut output = Vec::new();
    let script = Script::parse(script).unwrap();
    let ended = replay(&script, input.as_bytes(), &mut output, mode, &mut |_| Ok(()));
    (String::from_utf8(output).unwrap().lines().map(str::to_owned).collect(), ended)
}

#[test]
fn answers_carry_the_id_that_was_asked_byte_for_byte() {
    let recording = r#"
{"at":0,"from":"client","frame":{"id":1,"method":"a","params":{"x":1.0,"cwd":"/a","_meta":1}}}
{"at":1,"from":"client","frame":{"id":"1","method":"b"}}
{"at":2,"from":"agent","frame":{"result": 1e2,"id":"1","dup":1,"dup":2}}
{"at":3,"from":"agent","frame":{"result":{},"id":1}}
"#;
    let input = "{\"id\":\"\\u0061\",\"method\":\"a\",\"params\":{\"cwd\":\"/b\",\"x\":1.0}}\n{\"id\":12345678901234567890123,\"method\":\"b\"}\n";
    let (lines, ended) = play(recording, Mode::Strict, input);
    assert_eq!(
        lines,
        [
            r#"{"result": 1e2,"id":12345678901234567890123,"dup":1,"dup":2}"#,
            r#"{"result":{},"id":"\u0061"}"#
        ]
    );
    assert_eq!(ended.unwrap(), ReplayEnd::InputClosed);
}

#[test]
fn strict_keeps_to_method_order_and_parameters_and_lenient_to_the_method_alone() {
    let script = r#"
{"from":"client","frame":{"id":1,"method":"a","params":{"x":1}}}
{"answer":"first"}
{"on":"b"}
{"answer":"second"}
{"on":"a"}
{"answer":"third"}
"#;
    let ask = |method: &str, x: u8| {
        format!("{{\"id\":9,\"method\":\"{method}\",\"params\":{{\"x\":{x}}}}}\n")
    };
    let answer = |text: &str| format!(r#"{{"jsonrpc":"2.0","id":9,"result":"{text}"}}"#);
    for (input, strict, lenient) in [
        (ask("a", 1) + &ask("b", 5) + &ask("a", 7), 3, vec!["first", "second", "third"]),
        (ask("b", 1) + &ask("a", 2) + &ask("a", 3), 0, vec!["second", "first", "third"]),
        (ask("a", 2), 0, vec!["first"]),
    ] {
        let (lines, ended) = play(script, Mode::Strict, &input);
        let answered = lines.iter().filter(|line| line.contains("result")).count();
        assert_eq!((answered, ended.is_ok()), (strict, strict == 3), "{input}");
        let (lines, ended) = play(script, Mode::Lenient, &input);
        assert_eq!(lines, lenient.into_iter().map(answer).collect::<Vec<_>>());
        assert_eq!(ended.unwrap(), ReplayEnd::InputClosed);
    }
}

#[test]
fn a_request_too_many_is_refused() {
    let input = "{\"id\":1,\"method\":\"a\"}\n";
    for mode in [Mode::Strict, Mode::Lenient] {
        let (lines, ended) = play("", mode, input);
        insta::allow_duplicates! {
            insta::assert_snapshot!(lines.concat(), @r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the script has no further answer to a"}}"#);
        }
        assert_eq!(ended.is_ok(), mode == Mode::Lenient);
    }
}

#[test]
fn misbehaviour_is_written_as_it_was_ordered() {
    let script = "{\"noise\":\"hello\"}\n{\"flood\":70000}\n{\"half\":\"{\"}\n{\"close\":\"output\"}\n{\"noise\":\"unheard\"}\n{\"exit\":9}";
    let (lines, ended) = play(script, Mode::Lenient, "");
    assert_eq!(lines, ["hello".to_owned(), "x".repeat(70_000) + "{"]);
    assert_eq!(ended.unwrap(), ReplayEnd::Exit(9));
}

#[test]
fn what_only_a_process_can_do_is_asked_of_the_host() {
    let script = Script::parse("{\"ignore\":\"TERM\"}\n{\"spawn\":[\"sleep\",\"600\"]}").unwrap();
    let mut asked = Vec::new();
    let mut host = |action: &HostAction| {
        asked.push(action.clone());
        if asked.len() == 2 { Err(io::Error::other("no sleep")) } else { Ok(()) }
    };
    let error = replay(&script, io::empty(), io::sink(), Mode::Strict, &mut host).unwrap_err();
    assert_eq!(error.to_string(), "line 2 of the script: no sleep");
    let spawn = HostAction::Spawn(vec!["sleep".to_owned(), "600".to_owned()]);
    assert_eq!(asked, [HostAction::IgnoreTerminate, spawn]);
}

#[test]
fn a_script_that_says_nonsense_is_refused_with_its_line() {
    let lines = [
        "{",
        "7",
        "{}",
        r#"{"say":"x","tiems":2}"#,
        r#"{"say":7}"#,
        r#"{"hang":"quietly"}"#,
        r#"{"close":"input"}"#,
        r#"{"ignore":"KILL"}"#,
        r#"{"on":"x","capture":{"a":["b"]}}"#,
        r#"{"from":"nobody","frame":{"id":1}}"#,
        r#"{"from":"agent","frame":{}}"#,
        r#"{"from":"agent","fram":{}}"#,
    ];
    let shown = lines.map(|line| {
        let error = Script::parse(&format!("# a comment\n\n{line}")).unwrap_err();
        format!("{line}\n    {error}\n")
    });
    insta::assert_snapshot!(shown.concat(), @r#"
    {
        line 3: EOF while parsing an object at line 1 column 1
    7
        line 3: invalid type: integer `7`, expected a map at line 1 column 1
    {}
        line 3: none of the keys answer, fail, say, update, ask, await, noise, half, flood, sleep, hang, close, exit, spawn, ignore
    {"say":"x","tiems":2}
        line 3: unknown key "tiems"
    {"say":7}
        line 3: say: invalid type: integer `7`, expected a string
    {"hang":"quietly"}
        line 3: hang is "listening" or "deaf"
    {"close":"input"}
        line 3: only "output" can be closed
    {"ignore":"KILL"}
        line 3: only "TERM" can be ignored
    {"on":"x","capture":{"a":["b"]}}
        line 3: capture: invalid length 1, expected an array of length 2
    {"from":"nobody","frame":{"id":1}}
        line 3: a message is from "client" or "agent", not "nobody"
    {"from":"agent","frame":{}}
        line 3: the frame is not a message
    {"from":"agent","fram":{}}
        line 3: unknown field `fram`, expected one of `at`, `from`, `frame`, `withheld` at line 1 column 22
    "#);
}
