//! Agents that hang, die, flood and fork: a clear error in time, and nothing left behind.

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use super::{ask, replaying, script};

/// Well above the limit that the tests set, since the machine may be busy.
const IN_TIME: Duration = Duration::from_secs(60);

const ENDLESS: &str = "86";

/// Both places at once, since most of the time is spent in waiting for limits.
#[test]
fn each_way_to_misbehave_is_told_apart_and_leaves_no_process() {
    thread::scope(|scope| {
        for sandbox in ["bwrap", "none"] {
            scope.spawn(move || misbehave_in(sandbox));
        }
    });
}

/// What is said about agents that do not answer the first message.
const IS_NO_AGENT: &str = "help: this command does not speak the Agent Client Protocol; if it reads a \
    prompt on standard input, write `cmd:` before it, for example `cmd:llm -m MODEL`";
const TOO_SLOW: &str =
    "asking: no answer within 4 s\n  help: allow more time, or ask for less (--timeout)";

fn misbehave_in(sandbox: &str) {
    let no_start = format!("initializing: no answer within 4 s\n  {IS_NO_AGENT} (--timeout)");
    // In a sandbox its first process holds the pipe open, and only the time tells.
    let closed = match sandbox {
        "none" => {
            &format!("initializing: the agent ended with the end of its output\n  {IS_NO_AGENT}")
        }
        _ => &no_start,
    };
    let place = if sandbox == "none" { "none, as requested" } else { "bubblewrap" };
    for (index, (steps, says)) in [
        (r#"{"on":"initialize"}{"hang":"listening"}"#, no_start.as_str()),
        (r#"{"on":"session/prompt"}{"hang":"deaf"}"#, TOO_SLOW),
        (r#"{"on":"session/prompt"}{"ignore":"TERM"}{"hang":"deaf"}"#, TOO_SLOW),
        (
            r#"{"on":"session/prompt"}{"say":"half of it"}{"exit":7}"#,
            "asking: the agent ended with exit code 7\n  help: run the agent by hand to see more",
        ),
        (r#"{"on":"initialize"}{"close":"output"}{"hang":"deaf"}"#, closed),
        (r#"{"on":"session/prompt"}{"flood":50000000}{"hang":"deaf"}"#, TOO_SLOW),
        (
            r#"{"on":"session/prompt"}{"say":"LONG","times":30}{"answer":{"stopReason":"end_turn"}}"#,
            "reading the answer: the answer is longer than 2097152 bytes\n  help: ask for less",
        ),
        (
            r#"{"on":"session/prompt"}{"half":"{\"jsonrpc\":"}{"exit":0}"#,
            "asking: the agent ended with exit code 0\n  help: run the agent by hand to see more",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let marker = marker(index, sandbox);
        // Each of them also leaves a child that would outlive it.
        let spawn = format!(r#"{{"spawn":["sleep","{marker}"]}}"#);
        let text = format!("{}\n", steps.replace("LONG", &"x".repeat(100_000)).replace("}{", "}\n{").replacen('\n', &format!("\n{spawn}\n"), 1));
        let (_dir, file) = script(&text);
        // Only those that wait for the end of the time are to reach it, on a busy machine too.
        let timeout = if says.contains("within") { "4s" } else { "30s" };
        let began = Instant::now();
        let output = ask(&replaying(&file))
            .args(["--timeout", timeout, "--sandbox", sandbox])
            .run()
            .code(2);
        assert!(began.elapsed() < IN_TIME, "{text}: {:?}", began.elapsed());
        assert_eq!(
            output.stderr,
            format!("probity: sandbox: {place}\nerror: probity: {says}\n"),
            "{sandbox}: {text}"
        );
        assert_eq!(output.stdout, "", "{text}");
        assert_eq!(left(&marker), Vec::<String>::new(), "{sandbox}: {text}");
        assert_eq!(left(&file.display().to_string()), Vec::<String>::new(), "{sandbox}: {text}");
    }
}

#[test]
fn an_agent_that_answers_leaves_no_process_either() {
    for sandbox in ["bwrap", "none"] {
        let marker = marker(99, sandbox);
        let (_dir, file) = script(&format!(
            "{{\"on\":\"session/prompt\"}}\n{{\"spawn\":[\"sleep\",\"{marker}\"]}}\n\
             {{\"say\":\"done\"}}\n{{\"answer\":{{\"stopReason\":\"end_turn\"}}}}\n"
        ));
        let output = ask(&replaying(&file)).args(["--sandbox", sandbox]).run().code(0);
        assert_eq!(output.stdout, "done\n");
        assert_eq!(left(&marker), Vec::<String>::new(), "{sandbox}");
        assert_eq!(left(&file.display().to_string()), Vec::<String>::new(), "{sandbox}");
    }
}

#[test]
fn ctrl_c_ends_the_agent_too() {
    for sandbox in ["bwrap", "none"] {
        let marker = marker(77, sandbox);
        let (_dir, file) = script(&format!(
            "{{\"on\":\"session/prompt\"}}\n{{\"spawn\":[\"sleep\",\"{marker}\"]}}\n{{\"hang\":\"deaf\"}}\n"
        ));
        let mut command = ask(&replaying(&file)).args(["--sandbox", sandbox]).into_command();
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| left(&marker).iter().any(|line| line.starts_with("sleep")));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it ends by the signal");
        wait_until(|| left(&marker).is_empty() && left(&file.display().to_string()).is_empty());
    }
}

#[track_caller]
pub(crate) fn wait_until(done: impl Fn() -> bool) {
    let until = Instant::now() + IN_TIME;
    while !done() {
        assert!(Instant::now() < until, "it did not come about in {IN_TIME:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_the_agent_asks_for_is_denied_and_told() {
    let (_dir, file) = script(
        r#"{"on":"session/prompt"}
{"ask":"fs/read_text_file","params":{"sessionId":"${session}","path":"/etc/passwd"}}
{"say":"denied, then"}
{"answer":{"stopReason":"end_turn"}}
"#,
    );
    let output = ask(&replaying(&file)).run().code(0);
    assert_eq!(output.stdout, "denied, then\n");
    insta::assert_snapshot!(output.stderr, @"
    probity: sandbox: bubblewrap
    warning: denied: fs/read_text_file /etc/passwd
    ");
}

/// A number of seconds that no other process sleeps for.
fn marker(index: usize, sandbox: &str) -> String {
    format!("{ENDLESS}{}.{index}{}", std::process::id(), sandbox.len())
}

/// Command lines of processes that name this.
pub(crate) fn left(marker: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}
