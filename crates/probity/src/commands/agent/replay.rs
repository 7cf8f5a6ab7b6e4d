//! `agent replay`: an ACP agent that plays a recording or a script.
//!
//! Only here can a script do what takes a process: start others, ignore signals, end with a code.

use std::{
    fs::File,
    io,
    path::Path,
    process::{self, Command, Stdio},
};

use anyhow::Context as _;
use probity_acp::{HostAction, Mode, ReplayEnd, Script, replay};
use probity_scope::{MOST_BYTES, read_text};

use crate::{exit::Exit, failure::Failure, streams};

pub(crate) fn run(file: &Path, is_strict: bool) -> anyhow::Result<Exit> {
    let shown = file.display();
    let way_out = "pass a file that `probity agent record` wrote";
    let cannot = || Failure::new(format!("cannot play {shown}"), way_out);
    let text = read_text(file, MOST_BYTES).with_context(cannot)?;
    let script = Script::parse(&text).with_context(cannot)?;
    let mode = if is_strict { Mode::Strict } else { Mode::Lenient };
    let output = own_output().context("cannot take over standard output")?;
    match replay(&script, io::stdin().lock(), output, mode, &mut act) {
        Ok(ReplayEnd::InputClosed | ReplayEnd::OutputClosed) => Ok(Exit::Clean),
        Ok(ReplayEnd::Exit(code)) => process::exit(code),
        Err(error) => {
            let way_out = "record the conversation again, or play it without --strict";
            Err(error).with_context(|| Failure::new(format!("{shown} cannot go on"), way_out))
        }
    }
}

/// Standard output for the protocol alone: nothing else that is written reaches it, and dropping
/// it closes the pipe, which a script can ask for.
fn own_output() -> io::Result<File> {
    let output = File::from(streams::stdout().descriptor().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(output)
}

fn act(action: &HostAction) -> io::Result<()> {
    match action {
        HostAction::Spawn(argv) => {
            let [program, arguments @ ..] = argv.as_slice() else { return Ok(()) };
            // Nobody waits for it: what becomes of such children is what the script is to show.
            Command::new(program).args(arguments).stdin(Stdio::null()).spawn().map(drop)
        }
        HostAction::IgnoreTerminate => ignore_terminate(),
    }
}

#[expect(unsafe_code, reason = "the disposition of a signal can be set in no other way")]
fn ignore_terminate() -> io::Result<()> {
    // SAFETY: to ignore a signal installs no handler, and no other thread changes dispositions.
    let before = unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}
