//! What an agent gets to know of the build context: a snapshot in the prompt, and files to read.
//!
//! Both show what a build would send, without files that hold secrets by their names: `.dockerignore`
//! counts as docker counts it, files that git ignores are left out unless the user wants them, and
//! nothing outside the context can be reached.

mod manifests;
mod reader;
mod snapshot;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use probity_agent::Files;
use probity_dockerfile::Dockerignore;
use probity_scope::{Ignored, Policy, Quota, Scope, ScopeError};
use probity_secrets::{FindSecrets, mask_same_length};

pub use self::reader::{ContextRead, ReadOutcome};
pub(crate) use self::{reader::ContextReader, snapshot::ContextSnapshot};
use crate::SecretsPolicy;

/// The longest file that an agent may read.
const LARGEST_FILE: u64 = 256 * 1024;

/// What an agent may read in one session.
const READ_QUOTA: Quota = Quota { bytes: 1 << 20, files: 64 };

/// The most bytes that a snapshot adds to a prompt.
const SNAPSHOT_BYTES: usize = 96 * 1024;

/// Finds secrets, also from the thread that serves an agent.
pub type SharedDetector = Arc<dyn FindSecrets + Send>;

/// What an agent is shown of a build context, and how.
#[derive(Debug)]
pub struct ContextOptions<'a> {
    pub root: &'a Path,
    pub ignore: Option<&'a Dockerignore>,
    pub secrets: SecretsPolicy,
    pub detector: SharedDetector,
    /// Files that git ignores are shown, too.
    pub shows_ignored: bool,
    /// The agent may read files.
    pub is_readable: bool,
    pub max_input_bytes: usize,
}

/// What an agent gets to know of one build context, for one session.
#[derive(Debug)]
pub struct AgentContext {
    pub(crate) snapshot: ContextSnapshot,
    pub(crate) reader: Option<Arc<ContextReader>>,
}

impl AgentContext {
    /// # Errors
    ///
    /// When the root cannot be opened.
    pub fn of(options: &ContextOptions<'_>) -> Result<Self, ScopeError> {
        let sent = SentFiles::open(options, Quota::UNLIMITED)?;
        // The Dockerfile and the objectives need room, too.
        let room = SNAPSHOT_BYTES.min(options.max_input_bytes / 4);
        let snapshot = ContextSnapshot::of(&sent, room);
        let reader = if options.is_readable {
            Some(Arc::new(ContextReader::new(SentFiles::open(options, READ_QUOTA)?)))
        } else {
            None
        };
        Ok(Self { snapshot, reader })
    }

    /// What a prompt says about the context.
    #[must_use]
    pub fn snapshot(&self) -> String {
        self.snapshot.to_string()
    }

    /// What the agent may read over the protocol.
    #[must_use]
    pub fn files(&self) -> Option<Files> {
        self.reader.as_ref().map(|reader| Arc::<ContextReader>::clone(reader) as Files)
    }
}

/// The files that a build would send, as far as an agent may see them.
#[derive(Debug)]
struct SentFiles {
    scope: Scope,
    ignore: Option<Dockerignore>,
    leaves_ignored_out: bool,
    secrets: SecretsPolicy,
    detector: SharedDetector,
}

impl SentFiles {
    fn open(options: &ContextOptions<'_>, quota: Quota) -> Result<Self, ScopeError> {
        let ignored =
            if options.shows_ignored { Ignored::Shown } else { Ignored::LeftOut { except: &[] } };
        let policy =
            Policy { allow_sensitive: false, ignored, max_file_bytes: LARGEST_FILE, quota };
        // The directory of `Dockerfile` is an empty path.
        let here = PathBuf::from(".");
        let root = if options.root.as_os_str().is_empty() { &here } else { options.root };
        Ok(Self {
            scope: Scope::open(root, policy)?,
            ignore: options.ignore.cloned(),
            leaves_ignored_out: !options.shows_ignored,
            secrets: options.secrets,
            detector: Arc::clone(&options.detector),
        })
    }

    /// Whether the build would not send this path. One that is not text cannot be judged.
    fn ignores(&self, path: &Path) -> bool {
        match path.to_str() {
            Some(path) => self.ignore.as_ref().is_some_and(|ignore| ignore.matches(path)),
            None => true,
        }
    }

    /// Whether no file below this directory is sent.
    fn ignores_all_below(&self, directory: &Path) -> bool {
        let takes_back = self.ignore.as_ref().is_some_and(Dockerignore::has_exclusions);
        !takes_back && self.ignores(directory)
    }

    /// The text as the secrets policy lets it out, or the kind of secret that keeps it in.
    fn released(&self, text: String) -> Result<String, &'static str> {
        if self.secrets == SecretsPolicy::Allow {
            return Ok(text);
        }
        let found = self.detector.find(&text);
        match (self.secrets, found.first()) {
            (_, None) => Ok(text),
            (SecretsPolicy::Deny, Some(first)) => Err(first.kind),
            // It only goes out: a token could not come back.
            (SecretsPolicy::Tokenize | SecretsPolicy::Allow, Some(_)) => {
                Ok(mask_same_length(&text, &found))
            }
        }
    }
}

/// The text of a file, unless it is binary.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok()
}
