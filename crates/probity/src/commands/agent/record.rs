//! `agent record`: an agent between our own pipes, and everything that is said on paper.
//!
//! The bytes go through as they come. What is written down is written before it is passed on, so
//! that a question stands before its answer.

mod lines;

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::Context as _;
use probity_acp::{Envelope, Recorder, Side};
use probity_sandbox::{Backend, Network, Spec, Stream, Streams, spawn};
use probity_secrets::{Detector, Options, mask_same_length};

use self::lines::{Line, Lines};
use crate::{exit::Exit, failure::Failure, streams};

/// How long an agent gets to end when nobody listens to it any more.
const FAREWELL: Duration = Duration::from_secs(2);

/// What a pipe hands over at once.
const CHUNK: usize = 64 << 10;

pub(crate) fn run(recording: &Path, command: &[OsString]) -> anyhow::Result<Exit> {
    let mut partial = recording.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let shown = recording.display();
    let file = File::create(&partial).with_context(|| {
        Failure::new(format!("cannot write {}", partial.display()), "give another --output FILE")
    })?;
    let paper = Paper::new(file)?;
    let directory = std::env::current_dir().context("cannot find the working directory")?;
    let spec = Spec {
        env: std::env::vars_os().collect(),
        streams: Streams { stdin: Stream::Pipe, stdout: Stream::Pipe, stderr: Stream::Inherit },
        network: Network::Open,
        ..Spec::new(command, directory)
    };
    let started = spawn(&Backend::None, &spec)
        .with_context(|| Failure::new("cannot start the agent", "check the command after `--`"));
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            // Nothing was said, and an empty file would only be in the way.
            fs::remove_file(&partial).context(error.to_string())?;
            return Err(error);
        }
    };
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let theirs = Arc::clone(&paper);
    // Not joined: it may wait for a client that has nothing more to say to an agent that is gone.
    thread::spawn(move || {
        if let Some(input) = input {
            relay(io::stdin().lock(), input, Side::Client, &theirs);
        }
    });
    if let Some(output) = output {
        let whole = relay(output, streams::stdout().raw(), Side::Agent, &paper);
        if !whole {
            child.shutdown(FAREWELL);
        }
    }
    let exit = child.wait();
    paper.close()?;
    fs::rename(&partial, recording).with_context(|| format!("cannot write {shown}"))?;
    tracing::info!("recorded in {shown}");
    match exit.code() {
        0 => Ok(Exit::Clean),
        code => process::exit(code),
    }
}

/// Passes everything on until one side ends; true if it was the side that speaks.
fn relay(mut from: impl Read, mut to: impl Write, side: Side, paper: &Paper) -> bool {
    let mut chunk = vec![0; CHUNK];
    let mut lines = Lines::default();
    let whole = loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => break true,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break true,
        };
        let bytes = chunk.get(..read).unwrap_or_default();
        lines.feed(bytes, |line| paper.line(side, line));
        if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            break false;
        }
    };
    lines.finish(|line| paper.line(side, line));
    whole
}

/// The recording, written by both directions.
struct Paper {
    recorder: Mutex<Written>,
}

type Mask = Box<dyn Fn(&str) -> String + Send>;

/// The first failure ends the writing, not the conversation.
enum Written {
    Recorder(Recorder<File, Mask>),
    Failed(io::Error),
    Closed,
}

impl Paper {
    fn new(file: File) -> anyhow::Result<Arc<Self>> {
        let detector = Detector::new(&Options::default())?;
        let known = known_secrets(std::env::vars_os());
        let mask: Mask = Box::new(move |text| {
            let text = mask_same_length(text, &detector.find(text));
            known.iter().fold(text, |text, secret| text.replace(secret, &"*".repeat(secret.len())))
        });
        let recorder = Mutex::new(Written::Recorder(Recorder::new(file, mask)));
        Ok(Arc::new(Self { recorder }))
    }

    fn line(&self, side: Side, line: Line<'_>) {
        let mut written = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let Written::Recorder(recorder) = &mut *written else { return };
        let done = match (line, side) {
            (Line::Text(text), _) if Envelope::parse(text).is_some() => {
                recorder.message(side, text)
            }
            (Line::Text(text), Side::Agent) => recorder.noise(text),
            // A client that writes no messages is not what the replay is about.
            (Line::Text(_), Side::Client) => Ok(()),
            (Line::Unusable { bytes }, _) => {
                tracing::warn!("a line of {bytes} bytes is passed on and not recorded");
                Ok(())
            }
        };
        if let Err(error) = done {
            tracing::warn!("the recording ends here: {error}");
            *written = Written::Failed(error);
        }
    }

    /// Nothing is written after this; the file is on the disk.
    fn close(&self) -> anyhow::Result<()> {
        let mut written = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *written, Written::Closed) {
            Written::Recorder(recorder) => {
                recorder.into_inner().sync_all().context("cannot write the recording")
            }
            Written::Failed(error) => Err(error).context("the recording is not complete"),
            Written::Closed => Ok(()),
        }
    }
}

/// Values of variables that by their names are secrets: the agent knows them and may say them.
pub(crate) fn known_secrets(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<String> {
    let is_secret = |name: &str| {
        ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"].iter().any(|word| name.contains(word))
    };
    variables
        .filter(|(name, _)| is_secret(&name.to_string_lossy().to_ascii_uppercase()))
        .filter_map(|(_, value)| value.into_string().ok())
        // A value this short would be found in ordinary words.
        .filter(|value| value.len() >= 8)
        .collect()
}
