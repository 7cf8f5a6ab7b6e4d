//! Jobs: the files to check, each with the configuration and the rules that hold for it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use probity_check::{
    builds::{Described, FileUses, InlineDockerfile, Invocation},
    discover::Targets,
};
use probity_lint::BaseImages;

use super::{
    Options, known::KnownInFile, opened::Opened, settings::FileRules, shellcheck::ShellcheckProgram,
};
use crate::{
    config::{Choice, Configs, Layer, Origin, Settings, Sources, table},
    name::Name,
};

/// One file to check, with what holds for it.
pub(super) struct Job {
    pub(super) target: Target,
    pub(super) config: Arc<Settings>,
    pub(super) rules: Arc<FileRules>,
    /// How builds use it, if a Compose or Bake file says it.
    pub(super) uses: Option<FileUses>,
    /// What was opened before its turn.
    opened: Mutex<Option<Opened>>,
    /// What registries said about its base images.
    base_images: OnceLock<Arc<BaseImages>>,
    /// Which of its findings are old.
    known: OnceLock<KnownInFile>,
}

impl Job {
    pub(super) fn new(target: Target, config: Arc<Settings>, rules: Arc<FileRules>) -> Self {
        Self {
            target,
            config,
            rules,
            uses: None,
            opened: Mutex::default(),
            base_images: OnceLock::new(),
            known: OnceLock::new(),
        }
    }

    /// The builds of Compose and Bake files that use it.
    pub(super) fn invocations(&self) -> Vec<&Invocation> {
        self.all_uses().flat_map(|uses| &uses.invocations).collect()
    }

    /// Whether the run checks every described build of it.
    pub(super) fn checks_all_builds(&self) -> bool {
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
    pub(super) fn take_opened(&self, directory: &Path) -> Opened {
        let kept = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.unwrap_or_else(|| Opened::of(self, directory))
    }

    pub(super) fn base_images(&self) -> Option<&BaseImages> {
        self.base_images.get().map(Arc::as_ref)
    }

    /// Keeps the first answers that it is given.
    pub(super) fn keep_base_images(&self, images: Arc<BaseImages>) {
        self.base_images.get_or_init(|| images);
    }

    pub(super) fn known(&self) -> Option<&KnownInFile> {
        self.known.get()
    }

    pub(super) fn keep_known(&self, known: KnownInFile) {
        self.known.get_or_init(|| known);
    }

    /// Keeps what was opened for [`Job::take_opened`].
    pub(super) fn keep_opened(&self, opened: Opened) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
    }
}

pub(super) enum Target {
    File(PathBuf),
    Stdin(Option<PathBuf>),
    /// The Dockerfiles inside a Compose or Bake file.
    Inline(PathBuf, Vec<InlineDockerfile>),
}

impl Target {
    /// The file, or the one that standard input stands for.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Inline(path, _) => Some(path),
            Self::Stdin(path) => path.as_deref(),
        }
    }
}

pub(super) fn configs(options: &Options, directory: &Path) -> anyhow::Result<Configs<'static>> {
    configs_of(options.name, options.choice.clone(), options.flags.clone(), directory)
}

/// What holds for the files below a directory.
pub(super) fn configs_of(
    name: Name,
    choice: Choice,
    flags: Layer,
    directory: &Path,
) -> anyhow::Result<Configs<'static>> {
    let mut defaults = Layer::default();
    for key in table::keys() {
        if let Some(text) = key.default_under(name) {
            defaults.parse(key, text, Origin::Default)?;
        }
    }
    let here = Sources::here(name, &["check", "ai"], directory, flags);
    Ok(Configs::new(Sources { choice, defaults, ..here })?)
}

pub(super) fn jobs(
    targets: &Targets,
    described: &Described,
    options: &Options,
    directory: &Path,
    configs: &mut Configs<'_>,
) -> anyhow::Result<Vec<Job>> {
    // Files that share a configuration share the rules made of it.
    let mut made: HashMap<*const Settings, Arc<FileRules>> = HashMap::new();
    // One for the whole run, so that what it knows is known to all.
    let mut program: Option<Arc<ShellcheckProgram>> = None;
    let mut job = |target: Target, path: &Path, configs: &mut Configs<'_>| {
        let config = configs.for_target(path)?;
        let rules = match made.get(&Arc::as_ptr(&config)) {
            Some(rules) => Arc::clone(rules),
            None => {
                let rules = FileRules::new(options.name, &config, || match &program {
                    Some(found) => Ok(Arc::clone(found)),
                    None => {
                        let found = ShellcheckProgram::find(&config)?;
                        Ok(Arc::clone(program.insert(found)))
                    }
                });
                let rules = Arc::new(rules?);
                made.insert(Arc::as_ptr(&config), Arc::clone(&rules));
                rules
            }
        };
        anyhow::Ok(Job::new(target, config, rules))
    };
    let mut jobs = Vec::with_capacity(targets.files.len() + 1);
    if targets.stdin {
        let filename = options.stdin_filename.clone();
        let path = directory.join(filename.as_deref().unwrap_or(Path::new("Dockerfile")));
        jobs.push(job(Target::Stdin(filename), &path, configs)?);
    }
    for path in &targets.files {
        let uses = described.uses.get(path).cloned();
        jobs.push(Job { uses, ..job(Target::File(path.clone()), path, configs)? });
    }
    for (path, inline) in &described.inline {
        jobs.push(job(Target::Inline(path.clone(), inline.clone()), path, configs)?);
    }
    Ok(jobs)
}
