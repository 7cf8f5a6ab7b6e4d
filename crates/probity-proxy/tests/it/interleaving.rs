//! Random interleavings of many sessions come out complete, in order per session, ids restored.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stage::{Part, Setting, Stage};

/// Answers a prompt with as many updates and questions as it says, in that order, then its end.
/// Questions are under ids that repeat; each answer comes back as an update.
fn talking(_: usize, input: std::io::PipeReader, output: std::io::PipeWriter) -> i32 {
    let mut part = Part::new(input, output);
    while let Some(task) = part.next_task() {
        let Some(text) = task["params"]["prompt"][0]["text"].as_str() else { continue };
        let session = task["params"]["sessionId"].clone();
        for (n, step) in text.chars().enumerate() {
            match step {
                'u' => part.update(&session, &json!({"sessionUpdate": "said", "n": n, "of": text})),
                _ => {
                    let params = json!({"sessionId": session, "n": n});
                    part.write(&json!({"id": n % 2, "method": "_ask", "params": params}));
                    let answer = part.next().unwrap();
                    assert_eq!(answer["id"], n % 2);
                    part.update(
                        &session,
                        &json!({"sessionUpdate": "got", "n": n, "of": answer["result"]}),
                    );
                }
            }
        }
        part.answer(&task, &json!({"stopReason": "end_turn", "of": text}));
    }
    0
}

/// What the editor must see of one prompt, but for the questions.
fn expected(text: &str, answers: &str) -> Vec<Value> {
    let update = |n: usize, step: char| match step {
        'u' => json!({"sessionUpdate": "said", "n": n, "of": text}),
        _ => json!({"sessionUpdate": "got", "n": n, "of": answers}),
    };
    text.chars().enumerate().map(|(n, step)| update(n, step)).collect()
}

fn run(stage: &mut Stage, sessions: &[String], prompts: &[(usize, String)]) {
    let mut open: HashMap<Value, (usize, String)> = HashMap::new();
    let mut seen: HashMap<usize, Vec<Value>> = HashMap::new();
    let mut wanted: HashMap<usize, Vec<Value>> = HashMap::new();
    for (index, (at, text)) in prompts.iter().enumerate() {
        // Ids of all kinds, never in order.
        let id = if index % 2 == 0 { json!(1000 - index) } else { json!(format!("p{index}")) };
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": sessions[*at], "prompt": prompt});
        stage.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params}),
        );
        wanted.entry(*at).or_default().extend(expected(text, &sessions[*at]));
        wanted.entry(*at).or_default().push(json!({"end": text}));
        open.insert(id, (*at, text.clone()));
    }
    while !open.is_empty() {
        let message = stage.receive();
        let named = |message: &Value| {
            sessions.iter().position(|session| message["params"]["sessionId"] == **session).unwrap()
        };
        match message["method"].as_str() {
            Some("session/update") => {
                seen.entry(named(&message)).or_default().push(message["params"]["update"].clone());
            }
            Some("_ask") => {
                // The answer says whose question it was.
                let of = &message["params"]["sessionId"];
                stage.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": of}));
            }
            _ => {
                let (at, text) = open.remove(&message["id"]).expect("an answer to nothing");
                assert_eq!(message["result"]["of"], text);
                seen.entry(at).or_default().push(json!({"end": text}));
            }
        }
    }
    assert_eq!(seen, wanted);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn interleavings_come_out_complete_and_in_order(
        count in 1..5_usize,
        prompts in prop::collection::vec((0..5_usize, "[uq]{0,6}"), 1..20),
    ) {
        let mut stage = Setting::new().play(talking);
        let sessions: Vec<String> = (0..count)
            .map(|n| stage.session(std::path::Path::new(&format!("/srv/{n}"))))
            .collect();
        // A session answers one prompt after the other, so that one waits for an answer at a time.
        let prompts: Vec<(usize, String)> =
            prompts.into_iter().map(|(at, text)| (at % count, text)).collect();
        for round in rounds(&prompts) {
            run(&mut stage, &sessions, &round);
        }
    }
}

/// Prompts that can be under way together: one for each session.
fn rounds(prompts: &[(usize, String)]) -> Vec<Vec<(usize, String)>> {
    let mut rounds: Vec<Vec<(usize, String)>> = Vec::new();
    for (at, text) in prompts {
        let free = |round: &Vec<(usize, String)>| round.iter().all(|(other, _)| other != at);
        match rounds.iter_mut().find(|round| free(round)) {
            Some(round) => round.push((*at, text.clone())),
            None => rounds.push(vec![(*at, text.clone())]),
        }
    }
    rounds
}
