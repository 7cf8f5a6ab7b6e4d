//! What a first turn costs of our own: `cargo run --release -p probity-agent --example first_turn`.
//!
//! The agent is this program again: it plays a script that answers at once, and does nothing else.
//! What the machine takes to start and end a process that does nothing stands in the first row; what
//! a first turn takes beyond that is ours.
//! Run by hand; the figures depend on the machine, so nothing asserts them.
#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::{
    env, io,
    path::PathBuf,
    time::{Duration, Instant},
};

use probity_acp::{Mode, Script, replay};
use probity_agent::{AcpAgent, Agent as _, Cancel, Limits, Seat, Turn};
use probity_sandbox::{Backend, Mount, Network, Spec, spawn};

const SCRIPT: &str = r#"{"on":"session/prompt"}
{"say":"at once"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/prompt"}
{"say":"at once"}
{"answer":{"stopReason":"end_turn"}}"#;

const RUNS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match env::args().nth(1).as_deref() {
        Some("agent") => {
            let script = Script::parse(SCRIPT)?;
            replay(&script, io::stdin(), io::stdout(), Mode::Lenient, &mut |_| Ok(()))?;
            return Ok(());
        }
        Some("nothing") => return Ok(()),
        _ => {}
    }
    let program = env::current_exe()?;
    for (name, backend) in [
        ("uncontained", Backend::None),
        ("bubblewrap", Backend::Bubblewrap { program: PathBuf::from("/usr/bin/bwrap") }),
    ] {
        let [mut bare, mut first, mut second, mut end] = [const { Vec::new() }; 4];
        for _ in 0..RUNS {
            let mut spec = Spec::new(Vec::<String>::new(), "/");
            spec.network = Network::Open;
            spec.mounts.push(Mount::read_only(&program, &program));
            let began = Instant::now();
            let nothing = [program.display().to_string(), "nothing".to_owned()];
            let same = Spec { argv: Spec::new(nothing, "/").argv, ..spec.clone() };
            spawn(&backend, &same)?.wait();
            bare.push(began.elapsed());
            let seat = Seat { backend: backend.clone(), spec, stderr: None };
            let argv = [program.display().to_string(), "agent".to_owned()];
            let mut agent = AcpAgent::command("scripted", &argv, seat, "", None);
            let limits = Limits::within(Duration::from_secs(30));
            for times in [&mut first, &mut second] {
                let began = Instant::now();
                agent.ask(&Turn::new("hello"), &limits, &Cancel::new())?;
                times.push(began.elapsed());
            }
            let began = Instant::now();
            drop(agent);
            end.push(began.elapsed());
        }
        let rows = [("process", bare), ("first turn", first), ("next turn", second), ("end", end)];
        for (what, times) in rows {
            print(name, what, times);
        }
    }
    Ok(())
}

fn print(name: &str, what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let milliseconds = |at: usize| times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!(
        "{name:>12} {what:<10}: {:>7.2} ms in the middle, {:>7.2} ms at best, {:>7.2} ms at worst",
        milliseconds(RUNS / 2),
        milliseconds(0),
        milliseconds(RUNS - 1),
    );
}
