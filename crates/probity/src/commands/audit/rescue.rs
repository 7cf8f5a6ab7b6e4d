//! Answers that were paid for and cannot be kept where they should be: they go somewhere else.

use std::{
    env, fs,
    io::{self, Write as _},
    path::PathBuf,
    process,
};

use probity_audit::{AuditError, State};

use probity_scope::Missing;
use probity_text::runner::Syntax;

use super::output;
use crate::{output::OutputFile, seats, streams};

/// Keeps what an audit has come to that broke off, and says where and how to go on.
pub(super) fn keep(error: &AuditError) -> String {
    let AuditError::Checkpoint { state, .. } = error else {
        return "see the cause".to_owned();
    };
    if state.iterations.is_empty() {
        return "free some space, or name another file with --state-out".to_owned();
    }
    for place in places() {
        if fs::create_dir_all(&place).is_err() {
            continue;
        }
        let file = place.join(format!("audit-{}.json", process::id()));
        // No repository is there, but other users of the machine may be.
        let opened = OutputFile::find(&file, &place, Missing::Refuse);
        if opened.is_ok_and(|file| output::write_state(&file, state).is_ok()) {
            return format!(
                "the answers so far are in {}; free some space and go on with `--resume \
                 --state-out {}`",
                file.display(),
                file.display()
            );
        }
    }
    printed(state)
}

fn places() -> impl Iterator<Item = PathBuf> {
    let own = seats::state().ok().map(|state| state.directory.join("rescued"));
    own.into_iter().chain([env::temp_dir()])
}

/// If no disk has space left, the answers go to standard output.
fn printed(state: &State) -> String {
    let written = state.to_json().map_err(io::Error::other).and_then(|json| {
        let mut out = streams::stdout().as_syntax(Syntax::Json);
        out.write_all(json.as_bytes()).and_then(|()| out.flush())
    });
    match written {
        Ok(()) => {
            "the answers so far were written to standard output, as the state file".to_owned()
        }
        Err(_) => "the answers so far could not be written anywhere".to_owned(),
    }
}
