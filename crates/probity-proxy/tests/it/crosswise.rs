//! Two agents at once, both of which count their requests from zero.

use serde_json::{Value, json};

use crate::stage::{Part, Setting, other_place, place};

/// Asks for permission under the id 0, and says in its answer what it was allowed.
fn asking(_: usize, input: std::io::PipeReader, output: std::io::PipeWriter) -> i32 {
    let mut part = Part::new(input, output);
    while let Some(task) = part.next_task() {
        if task["method"] != "session/prompt" {
            continue;
        }
        let session = &task["params"]["sessionId"];
        let name = &task["params"]["prompt"][0]["text"];
        let params = json!({"sessionId": session, "toolCall": {"toolCallId": "1", "title": name}});
        part.write(&json!({"id": 0, "method": "session/request_permission", "params": params}));
        let answer = part.next().unwrap();
        assert_eq!(answer["id"], 0);
        part.answer(&task, &json!({"stopReason": "end_turn", "chosen": answer["result"]}));
    }
    0
}

#[test]
fn permissions_answered_crosswise_land_where_they_belong() {
    let mut stage = Setting::new().play(asking);
    let sessions = [stage.session(&place()), stage.session(&other_place())];
    assert_ne!(sessions[0], sessions[1]);
    let prompts = [stage.prompt(&sessions[0], "first"), stage.prompt(&sessions[1], "second")];
    let mut questions: Vec<Value> = vec![stage.receive(), stage.receive()];
    questions.sort_by_key(|question| question["params"]["toolCall"]["title"].to_string());
    for (question, session) in questions.iter().zip(&sessions) {
        assert_eq!(question["method"], "session/request_permission");
        assert_eq!(question["params"]["sessionId"], **session);
    }
    assert_ne!(questions[0]["id"], questions[1]["id"]);
    for (index, prompt) in [(1, prompts[1]), (0, prompts[0])] {
        let chosen =
            json!({"outcome": {"outcome": "selected", "optionId": format!("for-{index}")}});
        stage.send(&json!({"jsonrpc": "2.0", "id": questions[index]["id"], "result": chosen}));
        let answer = stage.receive();
        assert_eq!(answer["id"], prompt);
        assert_eq!(answer["result"]["chosen"], chosen);
    }
    assert_eq!(stage.finish().1.sessions.len(), 2);
}

#[test]
fn requests_named_in_payloads_are_translated_both_ways() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            match task["method"].as_str() {
                Some("authenticate") => {
                    let params = json!({"requestId": task["id"], "mode": "form"});
                    part.write(
                        &json!({"id": "e", "method": "elicitation/create", "params": params}),
                    );
                    let params = json!({"requestId": "e"});
                    part.write(&json!({"method": "$/cancel_request", "params": params}));
                    let cancel = part.next().unwrap();
                    assert_eq!(cancel["method"], "$/cancel_request");
                    assert_eq!(cancel["params"]["requestId"], task["id"]);
                    part.answer(&task, &json!({}));
                }
                Some("session/cancel") => {
                    part.update(&task["params"]["sessionId"], &json!({"sessionUpdate": "seen"}));
                }
                _ => {}
            }
        }
        0
    });
    let session = stage.session(&place());
    let id = json!("the editor's own");
    stage.send(&json!({"id": id, "method": "authenticate", "params": {"methodId": "m"}}));
    let question = stage.receive();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["requestId"], id);
    let cancel = stage.receive();
    assert_eq!(cancel["method"], "$/cancel_request");
    assert_eq!(cancel["params"]["requestId"], question["id"]);
    stage.send(&json!({"method": "$/cancel_request", "params": {"requestId": id}}));
    assert_eq!(stage.receive()["id"], id);
    stage.send(&json!({"method": "session/cancel", "params": {"sessionId": session}}));
    assert_eq!(stage.receive()["params"]["sessionId"], session);
}
