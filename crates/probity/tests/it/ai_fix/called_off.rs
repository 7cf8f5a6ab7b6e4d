//! Ctrl-C while agents work: they are gone, nothing is half done, and the code says why.

use std::{fs, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{GO, MULTI_STAGE, Stage, TWO_STAGES, patch, turn};
use crate::{agent::misbehaving::wait_until, binary::probity};

/// How many processes name this in their command line.
pub(crate) fn left(mark: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let says = |path: std::path::PathBuf| {
        let text = fs::read(path).unwrap_or_default();
        text.windows(mark.len()).any(|window| window == mark.as_bytes())
    };
    processes.filter(|process| says(process.join("cmdline"))).count()
}

#[test]
fn an_interrupt_stops_the_agents_and_writes_nothing() {
    for sandbox in ["bwrap", "none"] {
        // The first file has another fix too, which is not written either.
        let text = GO.replace("\n\nEXPOSE", "\nEXPOSE");
        let script = "{\"on\":\"session/prompt\"}\n{\"hang\":\"deaf\"}\n";
        let stage = Stage::new(&text, script);
        for number in 0..6 {
            let directory = stage.path().join(number.to_string());
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("Dockerfile"), GO).unwrap();
        }
        let trace = stage.path().join("trace.ndjson");
        let command = stage.command();
        let mark = stage.path().join("agent.ndjson").display().to_string();
        let run = probity().dir(stage.path()).args([
            "check",
            "--fail-level",
            "info",
            "--fix",
            "--fix-unsafe",
            ".",
        ]);
        let run = run.args(["--acp-command", &command, "--ai-sandbox", sandbox, "--jobs", "2"]);
        let run = run.args(["--ai-trace", "trace.ndjson", "--format", "json", "-o", "report.json"]);
        let mut command = run.into_command();
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until(|| fs::read_to_string(&trace).is_ok_and(|text| text.lines().count() == 2));
        // Ourselves, and two agents.
        wait_until(|| left(&mark) >= 3);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{sandbox}: {said}");
        assert_eq!(output.stdout, b"", "{sandbox}");
        assert_eq!(said, "error: cancelled: unfinished files are unchanged\n");
        wait_until(|| left(&mark) == 0);
        assert_eq!(stage.text(), text, "{sandbox}");
        for number in 0..6 {
            let path = stage.path().join(number.to_string()).join("Dockerfile");
            assert_eq!(fs::read_to_string(path).unwrap(), GO, "{sandbox}");
        }
        assert!(!stage.path().join("report.json").exists(), "{sandbox}");
        // Nobody was asked after the signal.
        assert_eq!(fs::read_to_string(&trace).unwrap().lines().count(), 2, "{sandbox}");
    }
}

#[test]
fn what_was_finished_before_the_interrupt_stays_whole() {
    let stage = Stage::new(GO, &turn(&patch(GO, TWO_STAGES)));
    let hanging = "{\"on\":\"session/prompt\"}\n{\"hang\":\"deaf\"}\n";
    fs::write(stage.path().join("hanging.ndjson"), hanging).unwrap();
    let directory = stage.path().join("z");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("Dockerfile"), GO).unwrap();
    let config = |command: &str| {
        let words: Vec<String> = command.split(' ').map(|word| format!("'{word}'")).collect();
        format!("[ai]\nenabled = true\ncommand = [{}]\n", words.join(", "))
    };
    let slow = stage.command().replace("agent.ndjson", "hanging.ndjson");
    fs::write(directory.join(".tally.toml"), config(&slow)).unwrap();
    fs::write(stage.path().join(".tally.toml"), config(&stage.command())).unwrap();
    let run = probity().dir(stage.path()).args([
        "check",
        "--fail-level",
        "info",
        "--fix",
        "--fix-unsafe",
        ".",
    ]);
    let run = run.args(["--jobs", "2", "--select", MULTI_STAGE]);
    let mut command = run.into_command();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mark = stage.path().join("hanging.ndjson").display().to_string();
    wait_until(|| stage.text() == TWO_STAGES && left(&mark) > 0);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    wait_until(|| left(&mark) == 0);
    assert_eq!(stage.text(), TWO_STAGES);
    assert_eq!(fs::read_to_string(directory.join("Dockerfile")).unwrap(), GO);
}
