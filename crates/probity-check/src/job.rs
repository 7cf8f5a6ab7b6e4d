//! Jobs: the files to check, each with the configuration and the rules that hold for it.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use probity_lint::BaseImages;

use crate::{
    CheckOptions, Effects, FileRules,
    builds::{Described, FileUses, InlineDockerfile, Invocation},
    discover::Targets,
    known::KnownInFile,
    opened::Opened,
};

/// What holds for the files of one configuration.
#[derive(Clone)]
pub struct Configured {
    pub options: Arc<CheckOptions>,
    pub rules: Arc<FileRules>,
    pub effects: Arc<dyn Effects>,
}

/// One file to check, with what holds for it.
pub struct Job {
    pub target: Target,
    pub options: Arc<CheckOptions>,
    pub rules: Arc<FileRules>,
    pub(crate) effects: Arc<dyn Effects>,
    /// How builds use it, if a Compose or Bake file says it.
    pub uses: Option<FileUses>,
    /// What was opened before its turn.
    opened: Mutex<Option<Opened>>,
    /// What registries said about its base images.
    base_images: OnceLock<Arc<BaseImages>>,
    /// Which of its findings are old.
    known: OnceLock<KnownInFile>,
}

impl fmt::Debug for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Job").field("target", &self.target).finish_non_exhaustive()
    }
}

impl fmt::Debug for Configured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Configured").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Job {
    #[must_use]
    pub fn new(target: Target, configured: Configured) -> Self {
        let Configured { options, rules, effects } = configured;
        Self {
            target,
            options,
            rules,
            effects,
            uses: None,
            opened: Mutex::default(),
            base_images: OnceLock::new(),
            known: OnceLock::new(),
        }
    }

    /// The builds of Compose and Bake files that use it.
    #[must_use]
    pub fn invocations(&self) -> Vec<&Invocation> {
        self.all_uses().flat_map(|uses| &uses.invocations).collect()
    }

    /// Whether the run checks every described build of it.
    pub(crate) fn checks_all_builds(&self) -> bool {
        !self.all_uses().any(|uses| uses.is_partial)
    }

    fn all_uses(&self) -> impl Iterator<Item = &FileUses> {
        let inline = match &self.target {
            Target::Inline(_, inline) => inline.as_slice(),
            Target::File(_) | Target::Stdin(_) => &[],
        };
        self.uses.iter().chain(inline.iter().map(|dockerfile| &dockerfile.uses))
    }

    /// The target, opened now unless it was before.
    pub(crate) fn take_opened(&self, directory: &Path) -> Opened {
        let kept = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.unwrap_or_else(|| Opened::of(self, directory))
    }

    pub(crate) fn base_images(&self) -> Option<&BaseImages> {
        self.base_images.get().map(Arc::as_ref)
    }

    /// Keeps the first answers that it is given.
    pub(crate) fn keep_base_images(&self, images: Arc<BaseImages>) {
        self.base_images.get_or_init(|| images);
    }

    pub(crate) fn known(&self) -> Option<&KnownInFile> {
        self.known.get()
    }

    pub(crate) fn keep_known(&self, known: KnownInFile) {
        self.known.get_or_init(|| known);
    }

    /// Keeps what was opened for [`Job::take_opened`].
    pub(crate) fn keep_opened(&self, opened: Opened) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
    }
}

#[derive(Clone, Debug)]
pub enum Target {
    File(PathBuf),
    Stdin(Option<PathBuf>),
    /// The Dockerfiles inside a Compose or Bake file.
    Inline(PathBuf, Vec<InlineDockerfile>),
}

impl Target {
    /// The file, or the one that standard input stands for.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Inline(path, _) => Some(path),
            Self::Stdin(path) => path.as_deref(),
        }
    }
}

/// One job for each target. `configured` tells what holds for a path.
///
/// # Errors
///
/// Fails as `configured` does.
pub fn jobs<E>(
    targets: &Targets,
    described: &Described,
    stdin_filename: Option<&Path>,
    directory: &Path,
    mut configured: impl FnMut(&Path) -> Result<Configured, E>,
) -> Result<Vec<Job>, E> {
    let mut jobs = Vec::with_capacity(targets.files.len() + 1);
    if targets.stdin {
        let path = directory.join(stdin_filename.unwrap_or(Path::new("Dockerfile")));
        let target = Target::Stdin(stdin_filename.map(Path::to_owned));
        jobs.push(Job::new(target, configured(&path)?));
    }
    for path in &targets.files {
        let uses = described.uses.get(path).cloned();
        jobs.push(Job { uses, ..Job::new(Target::File(path.clone()), configured(path)?) });
    }
    for (path, inline) in &described.inline {
        jobs.push(Job::new(Target::Inline(path.clone(), inline.clone()), configured(path)?));
    }
    Ok(jobs)
}
