//! The `.dockerignore` that goes with a Dockerfile.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use probity_dockerfile::Dockerignore;
use probity_finding::{Finding, Severity};
use probity_scope::{TreeFile, WithoutGit};

use crate::open_texts::OpenTexts;

/// No ignore file is larger; what is, was not written by hand.
const LARGEST: u64 = 1024 * 1024;

/// Finds ignore files as a build would.
///
/// A build takes `NAME.dockerignore` beside the Dockerfile `NAME`, else `.dockerignore` in the root of
/// its context. Where nobody says what the context is, an ignore file beside the Dockerfile says it.
#[derive(Debug)]
pub struct IgnoreFiles {
    context: Option<PathBuf>,
    /// Whether a file of the repository gave the context.
    is_described: bool,
    open_texts: OpenTexts,
}

impl IgnoreFiles {
    pub fn new(context: Option<&Path>) -> Self {
        let context = context.map(Path::to_path_buf);
        Self { context, is_described: false, open_texts: OpenTexts::default() }
    }

    /// The same with texts that count instead of files.
    pub fn with_open_texts(self, open_texts: OpenTexts) -> Self {
        Self { open_texts, ..self }
    }

    /// The same for a file whose builds name this context; one that the user named comes first.
    pub fn for_context(&self, context: &Path) -> Self {
        let is_described = self.context.is_none();
        let context = self.context.clone().or_else(|| Some(context.to_owned()));
        Self { context, is_described, open_texts: self.open_texts.clone() }
    }

    pub fn open_texts(&self) -> &OpenTexts {
        &self.open_texts
    }

    /// The build context of a Dockerfile: the directory beside it, unless another one is given.
    pub fn context_of<'p>(&'p self, dockerfile: &'p Path) -> Option<&'p Path> {
        self.context.as_deref().or_else(|| dockerfile.parent())
    }

    /// The build context that an agent may see. A file of the repository cannot show it more than the
    /// project of the Dockerfile.
    pub fn shown_context_of<'p>(&'p self, dockerfile: &'p Path) -> Option<&'p Path> {
        let context = self.context_of(dockerfile)?;
        let is_inside = || {
            let project = probity_sandbox::workspace_root(dockerfile.parent()?).ok()?;
            Some(context.canonicalize().ok()?.starts_with(&project.path))
        };
        if self.is_described && is_inside() != Some(true) {
            tracing::warn!(
                "agents do not see the build context {}: it is outside the project of {}; pass it \
                 with `--context` to show it",
                context.display(),
                dockerfile.display()
            );
            return dockerfile.parent();
        }
        Some(context)
    }

    /// The ignore file of a Dockerfile, and what is to be said where it cannot be read.
    pub fn of(&self, dockerfile: &Path) -> (Option<Dockerignore>, Option<Finding>) {
        let mut own = dockerfile.as_os_str().to_owned();
        own.push(".dockerignore");
        let shared = self.context_of(dockerfile).map(|dir| dir.join(".dockerignore"));
        for path in std::iter::once(PathBuf::from(own)).chain(shared) {
            if let Some(text) = self.open_texts.get(&path) {
                return (Some(Dockerignore::parse(text).0), None);
            }
            match read(&path) {
                Ok(Some(text)) => return (Some(Dockerignore::parse(&text).0), None),
                Ok(None) => {}
                Err(error) => {
                    let message = format!("cannot read {}: {error}", path.display());
                    let finding =
                        Finding::of_file("tally/unreadable-file", Severity::Error, message);
                    return (None, Some(finding));
                }
            }
        }
        (None, None)
    }
}

fn read(path: &Path) -> io::Result<Option<String>> {
    let metadata = match fs::metadata(path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        other => other?,
    };
    // A FIFO or a device would make us wait.
    if !metadata.is_file() {
        return Ok(None);
    }
    if metadata.len() > LARGEST {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    // Findings quote its lines, and those of a file elsewhere are not the repository's to show.
    let file = TreeFile::find(path, WithoutGit::OwnDirectory).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    file.open()?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
