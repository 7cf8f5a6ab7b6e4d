//! `demo`: the main jobs done in a temporary directory, by this program itself, on recorded agents.
//!
//! Nothing that is shown is written here beforehand: every step runs the command that it prints, in
//! a shell, and reads exit codes and files. A step whose verifier lets something through says so,
//! and then the demo fails. It is therefore also a test of the installation.

mod audit;
mod check;
mod convert;
mod editor;
mod place;
mod review;
mod sandboxes;
mod sessions;
mod shell;
mod stage;

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process, thread,
    time::Instant,
};

use crate::{commands::exec::signals, config::words::Sandbox, exit::Exit};
use place::DemoDirectory;
use sandboxes::Sandboxes;
use stage::Stage;

const STEPS: &[fn(&mut Stage<'_>) -> anyhow::Result<()>] =
    &[check::show, convert::show, audit::show, review::show, sessions::show];

/// Plays the editor of the last step: two sessions in the repositories below the directory.
pub(crate) fn as_editor(directory: &Path, sandbox: Sandbox) -> anyhow::Result<Exit> {
    editor::run(directory, sandbox)
}

/// Shows all steps; `keep` leaves the directory, so that every command can be run by hand.
pub(crate) fn run(keep: bool, sandbox: Sandbox) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let sandboxes = Sandboxes::find(sandbox);
    let mut place = DemoDirectory::make(sandboxes.chosen())?;
    if keep {
        place.keep();
    }
    end_at_a_signal((!keep).then(|| place.root().to_owned()))?;
    let mut stage = Stage::new(&place, sandboxes);
    stage.line(
        "Five jobs with recorded agents: no key, no network, and no file outside one directory.",
    )?;
    for step in STEPS {
        step(&mut stage)?;
    }
    let (failed, missing) = (stage.failed(), stage.missing());
    let verdict = match (failed, missing) {
        (0, 0) => "All five jobs are proven".to_owned(),
        (0, _) => {
            format!("Every job that ran is proven; {missing} of {} could not run", STEPS.len())
        }
        _ => format!("FAILED: {failed} of the checks above"),
    };
    stage.line(&format!("\n{verdict}; {:.1} s.", started.elapsed().as_secs_f64()))?;
    if keep {
        let directory = place.root().display();
        stage.line("To run the commands above again:")?;
        stage.line(&format!("  cd {directory} && . ./env"))?;
    } else {
        stage.line(
            "`probity demo --keep` keeps the files, so you can run these commands yourself.",
        )?;
    }
    stage.line("What to try next:")?;
    for next in [
        "probity check              in your repository; --diff shows what --fix would do",
        "probity doctor             which sandboxes and agents this machine has",
        "probity review --agent …   your change; `probity review --help` has examples",
        "probity acp …              in your editor; `probity acp --help` has examples",
    ] {
        stage.line(&format!("  {next}"))?;
    }
    Ok(if failed == 0 { Exit::Clean } else { Exit::Findings })
}

/// The commands are in process groups of their own, so that the terminal's signals miss them.
fn end_at_a_signal(directory: Option<PathBuf>) -> anyhow::Result<()> {
    let mut signals = signals::catch()?;
    thread::spawn(move || {
        let mut number = [0];
        if signals.read_exact(&mut number).is_ok() {
            shell::end_running();
            if let Some(directory) = &directory {
                place::remove(directory);
            }
            process::exit(128 + i32::from(number[0]));
        }
    });
    Ok(())
}

/// A test can swap what an agent says, to see that the demo notices: a list of names.
fn is_swapped(name: &str) -> bool {
    std::env::var("PROBITY_DEMO_SWAP").is_ok_and(|list| list.split(',').any(|part| part == name))
}
