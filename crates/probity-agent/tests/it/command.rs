//! Agents on their command line, played by shell scripts.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use probity_agent::{
    Agent as _, AgentError, Answer, Cancel, Cause, CommandAgent, CommandOptions, Limits, Seat,
    StopReason, Turn,
};
use probity_sandbox::{Backend, Spec};

use crate::ask::LIMITS;

/// A seat without containment, whose `PATH` begins with that directory.
pub(crate) fn seat(directory: &Path) -> Seat {
    let mut spec = Spec::new([""; 0], directory);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display());
    spec.env = vec![("PATH".into(), path.into()), ("A_KEY".into(), "hush-hush".into())];
    Seat { backend: Backend::None, spec, stderr: None }
}

fn shell(script: &str) -> CommandAgent {
    let argv = ["sh", "-c", script].map(str::to_owned);
    CommandAgent::any("sh", &argv, CommandOptions::default(), seat(Path::new("/"))).unwrap()
}

fn run(script: &str, limits: &Limits) -> Result<Answer, AgentError> {
    shell(script).ask(&Turn::new("hello"), limits, &Cancel::new())
}

#[test]
fn a_command_hears_the_whole_conversation() {
    let options = CommandOptions { system: "be brief".to_owned(), ..CommandOptions::default() };
    let argv = ["cat".to_owned()];
    let mut agent = CommandAgent::any("cat", &argv, options, seat(Path::new("/"))).unwrap();
    let first = agent.ask(&Turn::new("one"), &LIMITS, &Cancel::new()).unwrap();
    assert_eq!((first.text.as_str(), first.stop), ("be brief\n\none", StopReason::EndTurn));
    let second = agent.ask(&Turn::new("two"), &LIMITS, &Cancel::new()).unwrap();
    assert_eq!(
        second.text,
        "be brief\n\nEarlier in this conversation you received:\n\none\n\nYou answered:\n\n\
         be brief\n\none\n\nNow:\n\ntwo"
    );
}

#[test]
fn what_goes_wrong_is_told_with_the_end_of_stderr() {
    for (script, message, stderr) in [
        (
            "echo half; echo oh >&2; echo 'bad \u{1b}[1mthing' >&2; exit 3",
            "sh: asking: the agent ended with exit code 3: bad thing",
            "oh\nbad thing\n",
        ),
        ("kill -9 $$", "sh: asking: the agent ended with signal 9", ""),
        ("exit 0", "sh: reading the answer: there is no answer in what the agent wrote", ""),
        (
            "echo ' '; echo my A_KEY is $A_KEY >&2",
            "sh: reading the answer: there is no answer in what the agent wrote",
            "my A_KEY is [key]\n",
        ),
        (
            r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}'; exit 1"#,
            "sh: asking: the agent needs a login: Not logged in · Please run /login",
            "",
        ),
        (
            r#"echo '{"type":"result","subtype":"error_max_budget_usd","is_error":false}'"#,
            "sh: asking: the agent reports an error: error_max_budget_usd",
            "",
        ),
        (
            r#"echo '{"type":"result","is_error":true,"result":"hush-hush is wrong"}'"#,
            "sh: asking: the agent reports an error: [key] is wrong",
            "",
        ),
    ] {
        let error = run(script, &LIMITS).unwrap_err();
        assert_eq!(error.to_string(), message, "{script}");
        assert_eq!(&*error.stderr, stderr, "{script}");
        assert!(!error.way_out().is_empty());
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let argv = ["no-such-agent".to_owned()];
    let options = CommandOptions::default();
    let mut agent = CommandAgent::any("mine", &argv, options, seat(Path::new("/"))).unwrap();
    let error = agent.ask(&Turn::new("hello"), &LIMITS, &Cancel::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mine: starting: cannot start `no-such-agent`: no-such-agent: program not found"
    );
    assert_eq!(error.way_out(), "install it, or give the path of the program");
}

#[test]
fn every_limit_of_a_command_holds() {
    let short = Limits { total: Duration::from_millis(200), ..LIMITS };
    let small = Limits { answer_bytes: 1_000, ..LIMITS };
    for (script, limits, cause) in [
        ("sleep 600", short, Cause::TimedOut(short.total)),
        // Its output is closed, and the time still counts.
        ("exec >&-; sleep 600", short, Cause::TimedOut(short.total)),
        ("while :; do echo flood; done", short, Cause::TimedOut(short.total)),
        ("yes", small, Cause::AnswerTooLarge { limit: 1_000 }),
        ("head -c 1001 /dev/zero", small, Cause::AnswerTooLarge { limit: 1_000 }),
        (
            "echo never",
            Limits { prompt_bytes: 4, ..LIMITS },
            Cause::PromptTooLarge { bytes: 5, limit: 4 },
        ),
    ] {
        let start = Instant::now();
        let error = run(script, &limits).unwrap_err();
        assert_eq!(error.cause, cause, "{script}");
        assert!(start.elapsed() < LIMITS.total / 2, "{script}");
    }
    assert_eq!(run("head -c 1000 /dev/zero", &small).unwrap().text.len(), 1_000);
}

#[test]
fn much_talk_on_stderr_neither_blocks_nor_stays() {
    let heard = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let ear = std::sync::Arc::clone(&heard);
    let argv = ["sh", "-c", "yes early | head -c 999996 >&2; echo 'la\u{7}te' >&2; exit 1"];
    let mut seat = seat(Path::new("/"));
    seat.stderr = Some(std::sync::Arc::new(move |piece| ear.lock().unwrap().push_str(piece)));
    let argv = argv.map(str::to_owned);
    let mut agent = CommandAgent::any("sh", &argv, CommandOptions::default(), seat).unwrap();
    let error = agent.ask(&Turn::new("hello"), &LIMITS, &Cancel::new()).unwrap_err();
    assert!(error.stderr.ends_with("early\nlate\n"));
    assert!(error.stderr.len() <= 32 << 10 && error.stderr.len() > 30 << 10);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 999_996 + "late\n".len());
    assert!(heard.ends_with("late\n"), "also here without the bell");
}

#[test]
fn a_prompt_that_nobody_reads_is_no_error() {
    let prompt = "x".repeat(1 << 20);
    let answer = shell("echo enough").ask(&Turn::new(prompt), &LIMITS, &Cancel::new()).unwrap();
    assert_eq!(answer.text, "enough\n");
}

#[test]
fn called_off_it_is_gone_with_its_children() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pids");
    let script = format!(
        "sleep 600 & echo $! > {0}.part; setsid sleep 600 & echo $! >> {0}.part; \
         mv {0}.part {0}; sleep 600",
        file.display()
    );
    let cancel = Cancel::new();
    let start = Instant::now();
    let error = thread::scope(|scope| {
        let asking = scope.spawn(|| shell(&script).ask(&Turn::new("hello"), &LIMITS, &cancel));
        while !file.exists() && start.elapsed() < LIMITS.total {
            thread::sleep(Duration::from_millis(2));
        }
        cancel.cancel();
        asking.join().unwrap().unwrap_err()
    });
    assert!(error.is_cancelled(), "{error}");
    assert!(start.elapsed() < LIMITS.total);
    for pid in fs::read_to_string(&file).unwrap().lines() {
        assert!(!Path::new("/proc").join(pid).exists(), "{pid} is still there");
    }
}

#[test]
fn a_template_gets_its_model() {
    let argv = ["echo", "--model={model}", "-x"].map(str::to_owned);
    let options = CommandOptions { model: Some("big".to_owned()), ..CommandOptions::default() };
    let mut agent = CommandAgent::any("echo", &argv, options, seat(Path::new("/"))).unwrap();
    let answer = agent.ask(&Turn::new("hello"), &LIMITS, &Cancel::new()).unwrap();
    assert_eq!(answer.text, "--model=big -x\n");
    let none = CommandOptions::default();
    let error = CommandAgent::any("echo", &argv, none, seat(Path::new("/"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "echo: preparing: the command has a `{model}`, and none is given"
    );
}
