//! Starts that fail or take long, deaths, second lives, and the end of it all.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::stage::{PATIENCE, Part, Setting, other_place, place};

/// Dies of the prompt "die"; can take its session up again if `able`.
fn mortal(
    able: bool,
) -> impl Fn(usize, std::io::PipeReader, std::io::PipeWriter) -> i32 + Send + Sync {
    move |number, input, output| {
        let mut part = Part::new(input, output);
        part.capabilities = json!({"loadSession": able});
        while let Some(task) = part.next_task() {
            let session = task["params"]["sessionId"].clone();
            match task["method"].as_str() {
                Some("session/load") => {
                    assert_eq!(task["params"]["cwd"], "/home/agent/workspace");
                    assert_eq!(task["params"]["mcpServers"][0]["name"], "kept");
                    part.update(&session, &json!({"sessionUpdate": "repeated"}));
                    part.answer(&task, &json!(null));
                }
                Some("session/prompt") if task["params"]["prompt"][0]["text"] == "die" => {
                    return 42;
                }
                Some("session/prompt") => {
                    part.update(&session, &json!({"sessionUpdate": "life", "number": number}));
                    part.answer(&task, &json!({"stopReason": "end_turn"}));
                }
                _ => {}
            }
        }
        0
    }
}

#[test]
fn a_death_is_told_at_once_the_others_go_on_and_the_next_prompt_starts_it_again() {
    let mut stage = Setting::new().play(mortal(true));
    let servers = json!([{"name": "kept", "command": "x", "args": [], "env": []}]);
    let new = stage.call("session/new", &json!({"cwd": place(), "mcpServers": servers}));
    let session = new["result"]["sessionId"].as_str().unwrap().to_owned();
    let other = stage.session(&other_place());
    let prompt = stage.prompt(&session, "die");
    let dead = stage.receive();
    assert_eq!(dead["id"], prompt);
    assert_eq!(dead["error"]["code"], -32603);
    assert_eq!(dead["error"]["message"], "the agent player ended with exit code 42");
    assert_eq!(dead["error"]["data"]["exitCode"], 42);
    assert_eq!(dead["error"]["data"]["stderr"], "agent 0 starts\nagent 0 says goodbye");

    let prompt = stage.prompt(&other, "hello");
    assert_eq!(stage.receive()["params"]["update"]["number"], 1);
    assert_eq!(stage.receive()["id"], prompt);

    let prompt = stage.prompt(&session, "hello");
    let update = stage.receive();
    assert_eq!(update["params"]["update"]["number"], 2, "the replay is not repeated: {update}");
    assert_eq!(update["params"]["sessionId"], session);
    assert_eq!(stage.receive()["id"], prompt);
    assert_eq!(stage.starts.load(Ordering::SeqCst), 3);
}

#[test]
fn a_session_that_cannot_be_taken_up_again_says_so() {
    let mut stage = Setting::new().play(mortal(false));
    let session = stage.session(&place());
    for text in ["die", "hello", "hello"] {
        let prompt = stage.prompt(&session, text);
        let answer = stage.answer(prompt);
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        if text == "hello" {
            let says =
                "the agent player ended with exit code 42 and cannot take up its session again";
            assert_eq!(answer["error"]["message"], says);
            assert_eq!(answer["error"]["data"]["exitCode"], 42);
        }
    }
}

#[test]
fn an_agent_that_cannot_start_fails_its_session_and_nothing_else() {
    let mut stage = Setting::new().play(mortal(true));
    let initialized = stage.call("initialize", &json!({"protocolVersion": 1}));
    assert_eq!(initialized["result"]["protocolVersion"], 1);
    let failed = stage.call("session/new", &json!({"cwd": "/srv/missing", "mcpServers": []}));
    assert_eq!(
        failed["error"]["message"],
        "Failed to create session: the agent player cannot be started: there is no such agent"
    );
    let relative = stage.call("session/new", &json!({"cwd": "x", "mcpServers": []}));
    assert_eq!(relative["error"]["code"], -32602);
    assert_eq!(relative["error"]["message"], "params.cwd is not an absolute path");
    assert_eq!(stage.call("session/new", &json!({}))["error"]["code"], -32602);
    stage.session(&place());
}

#[test]
fn a_slow_start_holds_up_nobody_and_its_time_is_limited() {
    let mut setting = Setting::new();
    setting.options.limits.setup = Duration::from_secs(4);
    let mut stage = setting.play(|number, mut input, output| {
        if number == 0 {
            // It answers nothing, for as long as it lives.
            io::copy(&mut input, &mut io::sink()).unwrap();
            return 0;
        }
        mortal(true)(number, input, output)
    });
    let slow = stage.ask("session/new", &json!({"cwd": place(), "mcpServers": []}));
    while stage.starts.load(Ordering::SeqCst) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    let session = stage.session(&other_place());
    for _ in 0..20 {
        let prompt = stage.prompt(&session, "hello");
        stage.answer(prompt);
    }
    // The end of the slow one comes after all this: what came before would have been passed over.
    let failed = stage.answer(slow);
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.ends_with(" in time"), "{message}");
}

#[test]
fn the_end_of_input_waits_for_sessions_under_way_and_for_last_words() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            thread::sleep(Duration::from_millis(100));
            let session = task["params"]["sessionId"].clone();
            part.update(&session, &json!({"sessionUpdate": "heard", "what": task["method"]}));
        }
        0
    });
    let session = stage.session(&place());
    stage.prompt(&session, "one");
    let late = stage.ask("session/new", &json!({"cwd": other_place(), "mcpServers": []}));
    let (lines, finished) = stage.finish();
    let text = lines.join("\n");
    assert!(text.contains(&format!("\"id\":{late},\"result\"")), "{text}");
    assert!(text.contains("\"what\":\"session/prompt\""), "{text}");
    assert!(text.contains("\"what\":\"session/end\""), "{text}");
    assert!(text.contains("\"error\""), "the prompt is not left without an answer: {text}");
    assert_eq!(finished.sessions.len(), 2);
}

#[test]
fn a_session_ends_by_whatever_the_agent_understands() {
    for (close, method) in [(true, "session/close"), (false, "session/end")] {
        for asked in ["session/close", "session/end"] {
            let mut stage = Setting::new().play(move |_, input, output| {
                let mut part = Part::new(input, output);
                if close {
                    part.capabilities = json!({"sessionCapabilities": {"close": {}}});
                }
                while let Some(task) = part.next_task() {
                    let session = task["params"]["sessionId"].clone();
                    part.update(&session, &json!({"sessionUpdate": "told", "by": task["method"]}));
                    if task.get("id").is_some() {
                        part.answer(&task, &json!({}));
                    }
                }
                0
            });
            let session = stage.session(&place());
            let id = stage.ask(asked, &json!({"sessionId": session}));
            assert_eq!(stage.receive()["params"]["update"]["by"], method, "{close} {asked}");
            let answer = stage.receive();
            assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &json!({})));
            let again = stage.call(asked, &json!({"sessionId": session}));
            assert_eq!(again["error"]["code"], -32001);
        }
    }
}

#[test]
fn a_session_that_is_called_off_while_its_agent_starts_is_answered_and_the_agent_ended() {
    let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begun, over) = (Arc::clone(&started), Arc::clone(&stopped));
    let mut stage = Setting::new().play(move |_, input, output| {
        begun.fetch_add(1, Ordering::SeqCst);
        let mut part = Part::new(input, output);
        // It answers nothing, and ends when its input does.
        while part.next().is_some() {}
        over.fetch_add(1, Ordering::SeqCst);
        0
    });
    let cancel = |id: &Value| json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}});
    let first = stage.ask("session/new", &json!({"cwd": place(), "mcpServers": []}));
    let waiting = stage.ask("session/new", &json!({"cwd": other_place(), "mcpServers": []}));
    stage.send(&cancel(&json!(first)));
    let answer = stage.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(first), &json!(-32800)));
    // The other one is still being made, and its agent lives.
    let until = Instant::now() + PATIENCE;
    while stopped.load(Ordering::SeqCst) + 1 < started.load(Ordering::SeqCst)
        || started.load(Ordering::SeqCst) == 0
    {
        assert!(Instant::now() < until, "the agent that nobody waits for goes on");
        thread::sleep(Duration::from_millis(5));
    }
    stage.send(&cancel(&json!("nobody's")));
    stage.send(&cancel(&json!(waiting)));
    let answer = stage.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(waiting), &json!(-32800)));
    let (rest, finished) = stage.finish();
    assert_eq!((rest, finished.sessions), (Vec::new(), Vec::new()), "and nothing after it");
}
