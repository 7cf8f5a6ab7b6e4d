//! The other end of the pipes: a process, or a recording that we play ourselves.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use probity_acp::{Mode, Script, replay};
use probity_sandbox::{Child, Exit, spawn};
use probity_text::one_line;

use crate::{
    AgentError, Cause, Phase, Seat,
    acp::Source,
    bounded::EXCERPT_CHARS,
    process::{StderrTail, not_started},
};

/// How long the last words of a process that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long an agent gets to end by itself when its work is done.
const FAREWELL: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) enum Peer {
    Process {
        child: Arc<Child>,
        pipes: Option<(File, File)>,
        stderr: StderrTail,
        listener: JoinHandle<()>,
        seat: Arc<Seat>,
    },
    Played {
        stream: Arc<UnixStream>,
        ends: Option<(UnixStream, UnixStream)>,
    },
}

type Pipes = (Box<dyn Read + Send>, Box<dyn Write + Send>);

impl Peer {
    pub(crate) fn start(name: &str, source: &Source) -> Result<Self, AgentError> {
        match source {
            Source::Command { argv, seat } => Self::process(name, argv, seat),
            Source::Recording(file) => {
                let unreadable = |why: String| {
                    let shown = file.display();
                    let cause = Cause::BadOptions(format!("cannot play {shown}: {why}"));
                    AgentError::new(name, Phase::Preparing, cause, "give a recording or a script")
                };
                let text =
                    fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
                let script = Script::parse(&text).map_err(|error| unreadable(error.to_string()))?;
                Self::play(script).map_err(|error| unreadable(error.to_string()))
            }
        }
    }

    fn process(name: &str, argv: &[String], seat: &Arc<Seat>) -> Result<Self, AgentError> {
        let mut child = spawn(&seat.backend, &seat.spec(argv))
            .map_err(|error| not_started(name, argv, &error))?;
        let pipes = child.stdout.take().zip(child.stdin.take());
        let (said, tap, tail) = (child.stderr.take(), seat.stderr.clone(), StderrTail::default());
        let listening = tail.clone();
        let listener = thread::spawn(move || listening.listen(said, tap));
        let (child, seat) = (Arc::new(child), Arc::clone(seat));
        Ok(Self::Process { child, pipes, stderr: tail, listener, seat })
    }

    fn play(script: Script) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (input, output) = (theirs.try_clone()?, theirs);
        let ends = Some((ours.try_clone()?, ours.try_clone()?));
        thread::Builder::new().name("replay".to_owned()).spawn(move || {
            let stream = output.try_clone();
            let mut host = |_: &_| Err(io::Error::from(io::ErrorKind::Unsupported));
            // How it ends is seen by the client, which is the one that has to cope with it.
            replay(&script, input, output, Mode::Lenient, &mut host).ok();
            if let Ok(stream) = stream {
                stream.shutdown(Shutdown::Both).ok();
            }
        })?;
        Ok(Self::Played { stream: Arc::new(ours), ends })
    }

    /// What the agent writes, and what it reads; once.
    pub(crate) fn pipes(&mut self) -> Pipes {
        match self {
            Self::Process { pipes, .. } => match pipes.take() {
                Some((output, input)) => (Box::new(output), Box::new(input)),
                None => (Box::new(io::empty()), Box::new(io::sink())),
            },
            Self::Played { ends, .. } => match ends.take() {
                Some((output, input)) => (Box::new(output), Box::new(Half(input))),
                None => (Box::new(io::empty()), Box::new(io::sink())),
            },
        }
    }

    pub(crate) fn ender(&self) -> Ender {
        match self {
            Self::Process { child, .. } => Ender::Process(Arc::clone(child)),
            Self::Played { stream, .. } => Ender::Played(Arc::clone(stream)),
        }
    }

    /// How it ended by itself, if it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        match self {
            Self::Process { child, .. } => child.wait_timeout(LAST_WORDS),
            Self::Played { .. } => None,
        }
    }

    /// Ends it, and gives the end of what it wrote to stderr.
    pub(crate) fn last_words(&self) -> String {
        self.ender().end();
        let Self::Process { stderr, listener, seat, .. } = self else { return String::new() };
        let until = Instant::now() + LAST_WORDS;
        while !listener.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
        seat.scrub(&stderr.text())
    }

    /// A text of the agent, short and without the secrets it was given.
    pub(crate) fn fit(&self, text: &str) -> String {
        let Self::Process { seat, .. } = self else { return one_line(text, EXCERPT_CHARS) };
        one_line(&seat.scrub(text), EXCERPT_CHARS)
    }

    /// Lets it end by itself for a moment.
    pub(crate) fn farewell(self) {
        if let Self::Process { child, .. } = &self {
            child.wait_timeout(FAREWELL);
        }
    }
}

/// Ends a peer from another thread.
pub(crate) enum Ender {
    Process(Arc<Child>),
    Played(Arc<UnixStream>),
}

impl Ender {
    pub(crate) fn end(&self) {
        match self {
            Self::Process(child) => drop(child.kill()),
            // A stream that is closed already needs no closing.
            Self::Played(stream) => drop(stream.shutdown(Shutdown::Both)),
        }
    }
}

/// The writing half of a stream: dropping it is the end of input, as with a pipe.
struct Half(UnixStream);

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        self.0.shutdown(Shutdown::Write).ok();
    }
}
