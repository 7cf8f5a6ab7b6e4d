//! Agents and editors that do what nobody should: noise, half lines, wrong ids, floods, stalls.

use std::{
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::stage::{Part, Setting, other_place, place};

#[test]
fn an_agents_nonsense_does_not_reach_the_editor_and_its_sense_does() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            if task["method"] != "session/prompt" {
                continue;
            }
            for line in [
                "Loaded cached credentials.",
                "{\"half\":",
                "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]",
                "{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}",
                "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}",
                "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"nobody\"}}",
                "{\"method\":\"$/cancel_request\",\"params\":{\"requestId\":7}}",
                "\u{1b}[31mred\u{1b}[0m",
                "",
            ] {
                part.write_raw(line);
            }
            part.output.write_all(&[0xff, 0xfe, b'\n']).unwrap();
            part.answer(&task, &json!({"stopReason": "end_turn"}));
            part.answer(&task, &json!({"stopReason": "twice"}));
        }
        0
    });
    let session = stage.session(&place());
    for _ in 0..3 {
        let prompt = stage.prompt(&session, "go");
        let answer = stage.receive();
        assert_eq!(
            (&answer["id"], &answer["result"]["stopReason"]),
            (&json!(prompt), &json!("end_turn"))
        );
    }
    let notes = stage.memory.notes.lock().unwrap().join("\n");
    assert!(notes.contains("wrote no message"), "{notes}");
}

#[test]
fn a_line_over_the_limit_is_dropped_and_said_aloud() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while part.next_task().is_some() {}
        0
    });
    let mut line = vec![b'x'; (32 << 20) + 1];
    line.push(b'\n');
    stage.input.as_mut().unwrap().write_all(&line).unwrap();
    stage.session(&place());
    let notes = stage.memory.notes.lock().unwrap().join("\n");
    insta::assert_snapshot!(notes, @"warning: the editor wrote a line of more than 32 MiB, which was dropped");
}

#[test]
fn an_editors_nonsense_is_answered_or_passed_over() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            if task["method"] == "session/prompt" {
                part.answer(&task, &json!({"stopReason": "end_turn"}));
            }
        }
        0
    });
    stage.send_raw("not json");
    stage.send_raw("[1,2]");
    assert_eq!(stage.receive()["error"]["code"], -32600);
    stage.send(&json!({"id": 5, "result": {}}));
    stage.send(&json!({"method": "session/cancel", "params": {"sessionId": "none"}}));
    stage.send(&json!({"method": "$/cancel_request", "params": {}}));
    stage.send(&json!({"id": {"a": [1]}, "method": "session/prompt", "params": []}));
    assert_eq!(stage.receive()["id"], json!({"a": [1]}));
    let session = stage.session(&place());
    // The same id twice at a time is answered twice.
    let prompt = json!({"id": 7, "method": "session/prompt", "params": {"sessionId": session, "prompt": []}});
    stage.send(&prompt);
    stage.send(&prompt);
    assert_eq!(stage.receive()["id"], 7);
    assert_eq!(stage.receive()["id"], 7);
}

#[test]
fn a_line_of_nearly_32_mebibytes_passes_both_ways() {
    const LENGTH: usize = (32 << 20) - 1000;
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        assert_eq!(part.next_task().unwrap()["method"], "_next_is_long");
        let line = part.next_raw();
        assert!(line.len() > LENGTH, "{}", line.len());
        let text = "y".repeat(LENGTH);
        part.write_raw(&format!(
            r#"{{"method":"_long","params":{{"sessionId":"0","t":"{text}"}}}}"#
        ));
        0
    });
    let session = stage.session(&place());
    stage.send(&json!({"method": "_next_is_long", "params": {"sessionId": session}}));
    let text = "x".repeat(LENGTH);
    stage.send_raw(&format!(
        r#"{{"method":"_long","params":{{"sessionId":"{session}","t":"{text}"}}}}"#
    ));
    assert!(stage.raw().len() > LENGTH);
}

#[test]
fn an_agent_that_does_not_read_stops_nobody_else() {
    let mut setting = Setting::new();
    setting.options.limits.queue = 1 << 20;
    let mut stage = setting.play(|number, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            if number == 0 {
                thread::park();
            }
            part.answer(&task, &json!({"stopReason": "end_turn"}));
        }
        0
    });
    let (stalled, other) = (stage.session(&place()), stage.session(&other_place()));
    let text = "x".repeat(100_000);
    let mut refused = 0;
    for _ in 0..30 {
        stage.prompt(&stalled, &text);
        let prompt = stage.prompt(&other, "hello");
        loop {
            let answer = stage.receive();
            if answer["id"] == prompt {
                assert_eq!(answer["result"]["stopReason"], "end_turn");
                break;
            }
            assert_eq!(answer["error"]["message"], "the agent player does not read its input");
            refused += 1;
        }
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn a_stalled_editor_stops_a_flooding_agent_and_can_still_cancel() {
    let (written, cancelled) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, told) = (Arc::clone(&written), Arc::clone(&cancelled));
    let mut stage = Setting::new().play(move |_, input, output| {
        let mut part = Part::new(input, output);
        let Some(task) = part.next_task() else { return 0 };
        let session = &task["params"]["sessionId"];
        let update = json!({"sessionUpdate": "flood", "text": "x".repeat(1000)});
        let params = json!({"sessionId": session, "update": update});
        let line = format!("{}\n", json!({"method": "session/update", "params": params}));
        let (mut output, counted) = (part.output.try_clone().unwrap(), Arc::clone(&counted));
        thread::spawn(move || {
            while output.write_all(line.as_bytes()).is_ok() {
                counted.fetch_add(line.len() as u64, Ordering::SeqCst);
            }
        });
        let cancel = part.next().unwrap();
        told.store(cancel["method"] == "session/cancel", Ordering::SeqCst);
        0
    });
    let session = stage.session(&place());
    stage.prompt(&session, "flood");
    let mut before = u64::MAX;
    while written.load(Ordering::SeqCst) != before || before == 0 {
        before = written.load(Ordering::SeqCst);
        thread::sleep(Duration::from_millis(100));
    }
    assert!(before < 4 << 20, "{before} bytes are somewhere");
    stage.send(&json!({"method": "session/cancel", "params": {"sessionId": session}}));
    let until = Instant::now() + Duration::from_secs(10);
    while !cancelled.load(Ordering::SeqCst) && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(cancelled.load(Ordering::SeqCst));
    assert_eq!(stage.receive()["params"]["sessionId"], session);
}

#[test]
fn too_many_early_messages_are_dropped_and_the_session_still_comes() {
    let mut setting = Setting::new();
    setting.options.limits.early = 10_000;
    let mut stage = setting.play(|_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next() {
            match task["method"].as_str() {
                Some("initialize") => part.answer(&task, &json!({"protocolVersion": 1})),
                Some("session/new") => {
                    for _ in 0..1000 {
                        part.update(&json!("s"), &json!({"sessionUpdate": "early"}));
                    }
                    part.answer(&task, &json!({"sessionId": "s"}));
                    part.update(&json!("s"), &json!({"sessionUpdate": "last"}));
                }
                _ => {}
            }
        }
        0
    });
    let session = stage.session(&place());
    let mut early = 0;
    loop {
        let update = stage.receive();
        assert_eq!(update["params"]["sessionId"], session);
        if update["params"]["update"]["sessionUpdate"] == "last" {
            break;
        }
        early += 1;
    }
    assert!((50..200).contains(&early), "{early}");
}

#[test]
fn an_agent_of_another_version_is_refused_and_one_that_answers_in_strings_is_not() {
    for (version, works) in [(json!(1), true), (json!("1"), true), (json!(2), false)] {
        let mut stage = Setting::new().play(move |_, input, output| {
            let mut part = Part::new(input, output);
            while let Some(task) = part.next() {
                let id = task["id"].to_string();
                let result = match task["method"].as_str() {
                    Some("initialize") => {
                        assert_eq!(task["params"]["protocolVersion"], 1);
                        json!({"protocolVersion": version})
                    }
                    Some("session/new") => json!({"sessionId": "s"}),
                    _ => continue,
                };
                part.write(&json!({"id": id, "result": result}));
            }
            0
        });
        let asked = json!({"protocolVersion": "2025-01-01", "clientInfo": {"name": "old"}});
        let answer = stage.call("initialize", &asked);
        assert_eq!(answer["result"]["protocolVersion"], "2025-01-01");
        let answer = stage.call("session/new", &json!({"cwd": place(), "mcpServers": []}));
        assert_eq!(answer.get("result").is_some(), works, "{answer}");
    }
}
