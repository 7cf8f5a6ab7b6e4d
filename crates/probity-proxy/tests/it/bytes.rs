//! What is not rewritten is what came: keys twice, odd numbers, escapes, unknown fields.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    sync::{Arc, Mutex},
};

use serde_json::Value;

use crate::stage::{Setting, place};

const ODD: &str = r#""a":1e2,"a":12345678901234567890123,"é\u00e9":"\/\ud83d\ude00","n":-0.0,"_meta":{ "x" : [ ] }"#;

/// Answers as a simple agent, keeps every line, and says each prompt's `echo` back as it is written.
fn echoing(
    seen: Arc<Mutex<Vec<String>>>,
) -> impl Fn(usize, std::io::PipeReader, std::io::PipeWriter) -> i32 + Send + Sync {
    move |_, input, mut output| {
        for line in BufReader::new(input).lines() {
            let line = line.unwrap();
            seen.lock().unwrap().push(line.clone());
            let message: Value = serde_json::from_str(&line.replace("1e999", "1")).unwrap();
            let id = &message["id"];
            let answer = match message["method"].as_str() {
                Some("initialize") => r#"{"protocolVersion":"1"}"#.to_owned(),
                Some("session/new") => format!(r#"{{"sessionId":"0",{ODD}}}"#),
                Some("session/prompt") => {
                    let update = format!(
                        r#"{{{ODD},"params":{{{ODD},"sessionId":"0","update":{{"sessionUpdate":"x","t":"\n"}}}},"method":"session\/update"}}"#
                    );
                    writeln!(output, "{update}").unwrap();
                    format!(r#"{{{ODD},"stopReason":"end_turn"}}"#)
                }
                _ => continue,
            };
            writeln!(output, r#"{{"result":{answer},{ODD}, "id" : "{id}" }}"#).unwrap();
        }
        0
    }
}

#[test]
fn every_byte_outside_the_rewritten_fields_passes_both_ways() {
    let seen = Arc::default();
    let mut stage = Setting::new().play(echoing(Arc::clone(&seen)));
    stage.send_raw(&format!(
        r#"{{"jsonrpc":"2.0","id":"a\u0062","method":"session/new","params":{{"cwd":"{}","mcpServers":[],{ODD}}}}}"#,
        place().display()
    ));
    let created = stage.raw();
    let session = serde_json::from_str::<Value>(&created).unwrap()["result"]["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        created,
        format!(r#"{{"result":{{"sessionId":"{session}",{ODD}}},{ODD}, "id" : "a\u0062" }}"#)
    );
    stage.send_raw(&format!(
        r#"{{ {ODD}, "params":{{"prompt":[],"big":1e999,"sessionId":"{session}" }},"method":"session/prompt","id":null}}"#
    ));
    assert_eq!(
        stage.raw(),
        format!(
            r#"{{{ODD},"params":{{{ODD},"sessionId":"{session}","update":{{"sessionUpdate":"x","t":"\n"}}}},"method":"session\/update"}}"#
        )
    );
    assert_eq!(
        stage.raw(),
        format!(r#"{{"result":{{{ODD},"stopReason":"end_turn"}},{ODD}, "id" : null }}"#)
    );
    drop(stage.finish());
    let seen = seen.lock().unwrap();
    // The proxy's own first request and the editor's may be numbered in either order.
    let number = serde_json::from_str::<Value>(&seen[1]).unwrap()["id"].to_string();
    assert_eq!(
        seen[1],
        format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"session/new","params":{{"cwd":"/home/agent/workspace","mcpServers":[],{ODD}}}}}"#
        )
    );
    assert_eq!(
        seen[2],
        format!(
            r#"{{ {ODD}, "params":{{"prompt":[],"big":1e999,"sessionId":"0" }},"method":"session/prompt","id":3}}"#
        )
    );
}
