//! An agent that plays a script: a recording, or a list of ways to misbehave, or both.
//!
//! A script has one JSON object a line; blank lines and lines that begin with `#` are skipped. It is
//! cut into exchanges: each begins where the client asks something, and what follows is the answer.
//!
//! | line | what the agent does |
//! |---|---|
//! | `{"from":"client","frame":{…}}` | recorded: waits for this message |
//! | `{"from":"agent","frame":{…}}` | recorded: sends this message, with the id that was asked |
//! | `{"on":METHOD}` | waits for such a request, with any parameters |
//! | … `"capture":{NAME:[AFTER,BEFORE]}` | keeps the text of the prompt between the two for `${NAME}` |
//! | `{"answer":RESULT}` | answers that request; `"times":2` twice, `"id":"string"` with its id as a string |
//! | `{"fail":{"code":…,"message":…}}` | answers it with an error |
//! | `{"say":TEXT}` | sends a chunk of message text; `"times":N` that often, `"session":ID` for another session |
//! | `{"update":{…}}` | sends any update; `"session":ID` likewise |
//! | `{"ask":METHOD,"params":{…}}` | asks the client and waits for its answer; `"id":ID` with this id |
//! | `{"await":METHOD}` | waits for a notification, such as `session/cancel` |
//! | `{"noise":TEXT}` | writes a line that is no message |
//! | `{"half":TEXT}` | writes text without a newline |
//! | `{"flood":BYTES}` | writes that many bytes without a newline |
//! | `{"sleep":MS}` | waits |
//! | `{"hang":"listening"}` | answers nothing any more, until its input ends |
//! | `{"hang":"deaf"}` | does not even read any more, and never ends by itself |
//! | `{"close":"output"}` | closes its standard output and goes on |
//! | `{"exit":CODE}` | ends with this exit code |
//! | `{"spawn":[COMMAND,…]}`, `{"ignore":"TERM"}` | what only a process can do; the binary does it |
//!
//! In texts, `${prompt}` is the prompt, `${session}` the session of the request, `${NAME}` a capture.

mod player;
mod script;
mod template;

use std::io::{self, Read, Write};

use player::Player;
pub use script::{Script, ScriptError, ScriptFault};

/// How closely the client has to keep to the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Its requests come in the order of the script, with the same parameters. What differs between
    /// two runs of one program does not count: `cwd`, `clientInfo`, `_meta`.
    Strict,
    /// Each request gets the next exchange for its method. Where the script says nothing about
    /// `initialize`, `session/new` and `session/close`, they are answered as a simple agent would.
    Lenient,
}

/// How a replay came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayEnd {
    /// The client closed our input.
    InputClosed,
    /// The client does not read any more.
    OutputClosed,
    /// The script says so.
    Exit(i32),
}

/// What the process around a replay has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAction {
    Spawn(Vec<String>),
    IgnoreTerminate,
}

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("reading from the client: {0}")]
    Read(#[source] io::Error),
    #[error("writing to the client: {0}")]
    Write(#[source] io::Error),
    #[error("line {line} of the script: {source}")]
    Host { line: usize, source: io::Error },
    #[error("line {line} of the script expects {expected}, but the client sent {got}")]
    Mismatch { line: usize, expected: String, got: String },
}

/// Plays a script on a pair of pipes.
pub fn replay(
    script: &Script,
    input: impl Read,
    output: impl Write,
    mode: Mode,
    host: &mut dyn FnMut(&HostAction) -> io::Result<()>,
) -> Result<ReplayEnd, ReplayError> {
    let mut player = Player::new(input, output, host);
    let ended = match mode {
        Mode::Strict => player.play_in_order(script),
        Mode::Lenient => player.play_by_method(script),
    };
    match ended {
        Ok(never) => match never {},
        Err(stop) => stop.into_result(),
    }
}
