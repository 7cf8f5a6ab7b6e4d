//! Reading claims files and parts that others wrote, and refusing what does not belong together.

use serde::{Deserialize, de::DeserializeOwned};

use super::{CLAIMS_VERSION, Claims, Part};

/// The JSON Schema of a claims file and of a part.
pub const SCHEMA: &str = include_str!("../../schema/claims.schema.json");

/// Why a claims file, or a set of parts, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    #[error("it has {bytes} bytes, the limit is {}", Self::MAX_BYTES)]
    TooLarge { bytes: u64 },
    #[error("it is not {wanted}: {source}")]
    Json { wanted: &'static str, source: serde_json::Error },
    #[error("it is {found}, not {wanted}")]
    WrongFile { wanted: &'static str, found: &'static str },
    #[error("it was written by probity {theirs}, and this is {}", env!("CARGO_PKG_VERSION"))]
    Version { theirs: String },
    #[error("its shard {0} does not exist")]
    Shard(String),
    #[error("the file is about commit {theirs}, and the checkout is at {here}")]
    Commit { theirs: String, here: String },
    #[error("the files of the checkout are not those that the agent was asked about")]
    Tree { is_dirty: bool },
    #[error("the checkout does not have the merge base {0}")]
    NoMergeBase(String),
    #[error("{one} and {other} belong to different claims files")]
    Foreign { one: String, other: String },
    #[error("{one} is a part of {of}, and {other} is a part of {other_of}")]
    Split { one: String, of: u32, other: String, other_of: u32 },
    #[error("{one} and {other} are both shard {shard}")]
    Doubled { one: String, other: String, shard: String },
    #[error("of {of} parts these are missing: {missing}")]
    Missing { of: u32, missing: String },
    #[error("{part} lacks results for some of its claims")]
    Results { part: String },
    #[error("no part is given")]
    NoPart,
}

impl ClaimsError {
    /// More than the largest tests and fixes of the most findings have.
    pub const MAX_BYTES: u64 = 256 << 20;

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::TooLarge { .. } | Self::Json { .. } | Self::WrongFile { .. } => {
                "name a file that `probity review ask` or `probity review prove` wrote".to_owned()
            }
            Self::Version { .. } => {
                "run `ask`, `prove` and `merge` with the same version of probity".to_owned()
            }
            Self::Shard(_) | Self::Results { .. } => {
                "run `probity review prove` again for this shard".to_owned()
            }
            Self::Commit { theirs, .. } => {
                format!("run `git checkout {theirs}`, or run `probity review ask` again")
            }
            Self::Tree { is_dirty: true } => {
                "the working tree has uncommitted or untracked files, \
                which `git status` lists: remove them, or run `probity review ask` again"
                    .to_owned()
            }
            Self::Tree { is_dirty: false } => "check out the same files as for `ask`, with the \
                same line endings and submodules, or run `probity review ask` again"
                .to_owned(),
            Self::NoMergeBase(_) => "fetch the history first (`git fetch --unshallow`, \
                `fetch-depth: 0`, or GIT_DEPTH: 0)"
                .to_owned(),
            Self::Foreign { .. } | Self::Split { .. } => {
                "name the parts of one claims file, made with the same N of `--shard I/N`"
                    .to_owned()
            }
            Self::Doubled { .. } => "name each part once".to_owned(),
            Self::Missing { .. } => {
                "run `probity review prove --shard I/N` for them, and name all parts".to_owned()
            }
            Self::NoPart => "name the files that `probity review prove` wrote".to_owned(),
        }
    }

    /// Refuses a file for its size alone, so that nobody has to read it.
    pub fn check_size(bytes: u64) -> Result<(), Self> {
        if bytes > Self::MAX_BYTES { Err(Self::TooLarge { bytes }) } else { Ok(()) }
    }
}

pub fn read_claims(text: &str) -> Result<Claims, ClaimsError> {
    parsed(text, FileKind::Claims)
}

pub fn read_part(text: &str) -> Result<Part, ClaimsError> {
    let part: Part = parsed(text, FileKind::Part)?;
    check_version(&part.claims.schema_version, &part.claims.probity)?;
    if !part.shard.is_valid() {
        return Err(ClaimsError::Shard(part.shard.to_string()));
    }
    Ok(part)
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
enum FileKind {
    #[serde(rename = "probity-review-claims")]
    Claims,
    #[serde(rename = "probity-review-part")]
    Part,
    #[serde(other)]
    Other,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            Self::Claims => "a claims file",
            Self::Part => "a part of a review",
            Self::Other => "another JSON file",
        }
    }
}

/// What tells a file and its version. A file of another version may lack the other fields.
#[derive(Deserialize)]
struct Head {
    document: Option<FileKind>,
    #[serde(default)]
    schema_version: String,
    #[serde(default)]
    probity: String,
}

fn parsed<T: DeserializeOwned>(text: &str, wanted: FileKind) -> Result<T, ClaimsError> {
    ClaimsError::check_size(text.len() as u64)?;
    let garbage = |source| ClaimsError::Json { wanted: wanted.name(), source };
    let head: Head = serde_json::from_str(text).map_err(garbage)?;
    let found = head.document.unwrap_or(FileKind::Other);
    if found != wanted {
        return Err(ClaimsError::WrongFile { wanted: wanted.name(), found: found.name() });
    }
    check_version(&head.schema_version, &head.probity)?;
    serde_json::from_str(text).map_err(garbage)
}

fn check_version(schema: &str, probity: &str) -> Result<(), ClaimsError> {
    if schema == CLAIMS_VERSION && probity == env!("CARGO_PKG_VERSION") {
        return Ok(());
    }
    Err(ClaimsError::Version { theirs: probity.chars().take(40).collect() })
}
