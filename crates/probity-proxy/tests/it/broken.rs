//! Lines that are no message: who waits for an answer to one gets it.

use std::{io::Write as _, sync::mpsc::channel};

use serde_json::{Value, json};

use crate::stage::{Part, Setting, place};

const TOO_LONG: usize = (32 << 20) + 1;

#[test]
fn a_request_of_the_editor_that_cannot_be_read_is_answered_if_its_id_can() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while part.next_task().is_some() {}
        0
    });
    for (line, id, code) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{oops}}"#, json!(1), -32700),
        (r#"{"jsonrpc":"2.0","id":"two","method":["initialize"]}"#, json!("two"), -32600),
        (r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{}"#, json!(3), -32700),
    ] {
        stage.send_raw(line);
        let answer = stage.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}");
    }
    let text = "x".repeat(TOO_LONG);
    stage.send_raw(&format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{{"prompt":"{text}"}}}}"#
    ));
    // It comes at once, and not with the next line.
    let answer = stage.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(4), &json!(-32600)));
    insta::assert_snapshot!(answer["error"]["message"].as_str().unwrap(), @"the line is longer than 32 MiB");
    stage.send_raw(&format!(r#"{{"params":{{"prompt":"{text}"}},"id":5,"method":"m"}}"#));
    stage.session(&place());
    let notes = stage.memory.notes.lock().unwrap().join("\n");
    assert_eq!(notes.matches("warning: the editor wrote a line of more than 32 MiB").count(), 2);
}

#[test]
fn what_an_agent_answers_in_a_broken_line_fails_and_nobody_waits_for_ever() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":ID,"result":{oops}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"x":"{}"}}}}"#, "x".repeat(TOO_LONG)),
    ] {
        let mut stage = Setting::new().play(move |_, input, output| {
            let mut part = Part::new(input, output);
            while let Some(task) = part.next_task() {
                part.write_raw(&answer.replacen("ID", &task["id"].to_string(), 1));
            }
            0
        });
        let session = stage.session(&place());
        let prompt = stage.prompt(&session, "go");
        let answer = stage.receive();
        assert_eq!(answer["id"], prompt);
        assert!(answer["error"]["code"].as_i64().is_some(), "{answer}");
    }
}

#[test]
fn a_question_of_an_agent_and_an_answer_of_the_editor_in_broken_lines_fail_at_the_agent() {
    let (told, heard) = channel::<Value>();
    let mut stage = Setting::new().play(move |_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            if task["method"] == "session/prompt" {
                part.write_raw(r#"{"jsonrpc":"2.0","id":8,"method":"fs/read_text_file","params":{"#);
                let params = json!({"sessionId": "0", "path": "/srv/one/a"});
                part.write(&json!({"jsonrpc": "2.0", "id": 9, "method": "fs/read_text_file", "params": params}));
            } else {
                told.send(task).unwrap();
            }
        }
        0
    });
    let session = stage.session(&place());
    stage.prompt(&session, "go");
    let question = stage.receive();
    let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":""#, question["id"]);
    let input = stage.input.as_mut().unwrap();
    input.write_all(head.as_bytes()).unwrap();
    input.write_all("x".repeat(TOO_LONG).as_bytes()).unwrap();
    input.write_all(b"\"}}\n").unwrap();
    for (id, code) in [(8, -32700), (9, -32600)] {
        let told = heard.recv_timeout(crate::stage::PATIENCE).unwrap();
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!(id), &json!(code)), "{told}");
    }
}
