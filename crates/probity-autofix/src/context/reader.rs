//! `fs/read_text_file`: what of the build context an agent may read, and what it has read.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use probity_agent::{FileRefusal, ServeFiles};
use probity_scope::ScopeError;
use probity_text::one_line;

use super::{LARGEST_FILE, SentFiles, text_of};

/// Requests that are answered in one session. All of them are listed.
const MOST_REQUESTS: usize = 200;

const LONGEST_PATH: usize = 200;

/// One request of an agent to read a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextRead {
    /// As the agent asked for it, below the context where that is so; bounded.
    pub path: String,
    pub outcome: ReadOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    Served { bytes: usize },
    Refused { why: String },
}

/// Serves one session, and remembers what was asked for.
#[derive(Debug)]
pub(crate) struct ContextReader {
    sent: SentFiles,
    reads: Mutex<Vec<ContextRead>>,
}

/// Why a file is not served.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Scope(#[from] ScopeError),
    #[error("{path}: outside the build context")]
    Outside { path: String },
    #[error("{path}: excluded from the build context by .dockerignore")]
    Ignored { path: String },
    #[error("{path}: not a text file")]
    Binary { path: String },
    #[error("{path}: has another hard link, which can be outside the build context")]
    HardLink { path: String },
    #[error("{path}: contains a secret ({kind})")]
    Secret { path: String, kind: &'static str },
    #[error("the limit of {MOST_REQUESTS} requests is reached")]
    TooMany,
}

impl ContextReader {
    pub(super) fn new(sent: SentFiles) -> Self {
        Self { sent, reads: Mutex::default() }
    }

    /// What was asked for since so many requests.
    pub(crate) fn since(&self, known: usize) -> Vec<ContextRead> {
        self.reads().iter().skip(known).cloned().collect()
    }

    fn reads(&self) -> MutexGuard<'_, Vec<ContextRead>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn text(&self, path: &str) -> Result<String, Refusal> {
        let name = || one_line(path, LONGEST_PATH);
        // What is below the context has no root any more.
        if Path::new(path).is_absolute() {
            return Err(Refusal::Outside { path: name() });
        }
        // Judged first: the answer must not tell whether such a file exists.
        if self.sent.ignores(Path::new(path)) {
            return Err(Refusal::Ignored { path: name() });
        }
        let located = self.sent.scope.read_located(Path::new(path), LARGEST_FILE)?;
        if self.sent.ignores(&located.real) {
            return Err(Refusal::Ignored { path: name() });
        }
        if located.links > 1 {
            return Err(Refusal::HardLink { path: name() });
        }
        let text = text_of(located.bytes).ok_or_else(|| Refusal::Binary { path: name() })?;
        self.sent.released(text).map_err(|kind| Refusal::Secret { path: name(), kind })
    }
}

impl ServeFiles for ContextReader {
    fn read(&self, path: &str) -> Result<String, FileRefusal> {
        let mut reads = self.reads();
        if reads.len() >= MOST_REQUESTS {
            return Err(FileRefusal::Refused(Refusal::TooMany.to_string()));
        }
        let text = self.text(path);
        let outcome = match &text {
            Ok(text) => ReadOutcome::Served { bytes: text.len() },
            Err(refusal) => ReadOutcome::Refused { why: refusal.to_string() },
        };
        reads.push(ContextRead { path: one_line(path, LONGEST_PATH), outcome });
        text.map_err(|refusal| {
            let why = refusal.to_string();
            match refusal {
                Refusal::Scope(ScopeError::NotFound(_)) => FileRefusal::NotFound(why),
                _ => FileRefusal::Refused(why),
            }
        })
    }
}
