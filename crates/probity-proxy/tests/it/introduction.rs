//! The first `initialize`: answered with what the agent itself says, however the agent behaves.

use std::{
    io::{PipeReader, PipeWriter},
    sync::{Arc, atomic::Ordering, mpsc::channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::stage::{Memory, PATIENCE, Part, Setting, Stage, place};

fn able(_: usize, input: PipeReader, output: PipeWriter) -> i32 {
    let mut part = Part::new(input, output);
    part.capabilities = json!({"loadSession": true});
    while part.next_task().is_some() {}
    0
}

fn setting() -> Setting {
    Setting { scratch: true, ..Setting::new() }
}

fn initialize(stage: &mut Stage) -> Value {
    let client = json!({"fs": {"readTextFile": true}, "terminal": true});
    let asked = json!({"protocolVersion": 1, "clientCapabilities": client});
    stage.call("initialize", &asked)["result"].clone()
}

fn warnings(memory: &Memory) -> Vec<String> {
    let notes = memory.notes.lock().unwrap();
    notes.iter().filter_map(|note| Some(note.strip_prefix("warning: ")?.to_owned())).collect()
}

#[test]
fn the_first_answer_is_the_agents_own_and_the_second_start_asks_nobody() {
    let memory = Arc::default();
    for starts in [1, 0] {
        let mut stage = Setting { memory: Arc::clone(&memory), ..setting() }.play(able);
        assert_eq!(initialize(&mut stage)["agentCapabilities"]["loadSession"], true);
        assert_eq!(stage.starts.load(Ordering::SeqCst), starts);
        drop(stage.finish());
    }
    assert_eq!(warnings(&memory), Vec::<String>::new());
}

#[test]
fn an_agent_that_does_not_introduce_itself_is_reported_and_initialize_is_answered() {
    type Play = fn(usize, PipeReader, PipeWriter) -> i32;
    let dies: Play = |_, _, _| 3;
    let refuses: Play = |_, input, output| {
        let mut part = Part::new(input, output);
        let Some(task) = part.next() else { return 1 };
        let error = json!({"code": -32000, "message": "not today"});
        part.write(&json!({"jsonrpc": "2.0", "id": task["id"], "error": error}));
        0
    };
    let newer: Play = |_, input, output| {
        let mut part = Part::new(input, output);
        let Some(task) = part.next() else { return 1 };
        part.answer(&task, &json!({"protocolVersion": 2}));
        0
    };
    for (play, reason) in [
        (dies, "ended with exit code 3 without an answer to `initialize`: agent 0 starts"),
        (refuses, "refused `initialize`: {\"code\":-32000,\"message\":\"not today\"}"),
        (newer, "cannot be used: it speaks version 2 of the protocol, and not 1"),
    ] {
        let mut stage = setting().play(play);
        let answer = initialize(&mut stage);
        assert_eq!(answer["agentCapabilities"], json!({"sessionCapabilities": {"close": {}}}));
        assert_eq!(answer["agentInfo"]["name"], "player");
        let warnings = warnings(&stage.memory);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(reason), "{warnings:?}");
        assert_eq!(*stage.memory.capabilities.lock().unwrap(), None, "nothing is kept");
    }
}

#[test]
fn a_slow_agent_delays_nobody_for_longer_than_the_limit_and_its_answer_is_kept() {
    let (go, wait) = channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let mut setting = setting();
    setting.options.limits.introduction = Duration::from_millis(50);
    let mut stage = setting.play(move |number, input, output| {
        if number == 0 {
            wait.lock().unwrap().recv().unwrap_err();
        }
        able(number, input, output)
    });
    assert_eq!(initialize(&mut stage)["agentCapabilities"].get("loadSession"), None);
    insta::assert_snapshot!(warnings(&stage.memory)[0], @"the agent player did not say within 0 s what it can do; restart the editor's agent to see all of it");
    drop(go);
    let memory = Arc::clone(&stage.memory);
    let until = Instant::now() + PATIENCE;
    while memory.capabilities.lock().unwrap().is_none() {
        assert!(Instant::now() < until, "nothing is kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(initialize(&mut stage)["agentCapabilities"]["loadSession"], true);
    // A session goes on meanwhile, with an agent of its own.
    stage.session(&place());
    assert_eq!(stage.starts.load(Ordering::SeqCst), 2);
}

#[test]
fn an_editor_that_leaves_at_once_still_gets_the_truth() {
    let mut stage = setting().play(able);
    let id = stage.ask("initialize", &json!({"protocolVersion": 1}));
    drop(stage.input.take());
    let answer = stage.answer(id);
    assert_eq!(answer["result"]["agentCapabilities"]["loadSession"], true);
}

#[test]
fn a_scratch_agent_is_told_of_no_files_and_terminals_that_a_session_would_not_have() {
    let (sender, told) = channel();
    let sender = std::sync::Mutex::new(sender);
    let mut stage = Setting { terminals: false, ..setting() }.play(move |_, input, output| {
        let mut part = Part::new(input, output);
        let Some(task) = part.next() else { return 1 };
        sender.lock().unwrap().send(task["params"].clone()).unwrap();
        part.answer(&task, &json!({"protocolVersion": 1}));
        0
    });
    initialize(&mut stage);
    let fs = json!({"readTextFile": false, "writeTextFile": false});
    let expected =
        json!({"protocolVersion": 1, "clientCapabilities": {"fs": fs, "terminal": false}});
    assert_eq!(told.recv().unwrap(), expected);
}
