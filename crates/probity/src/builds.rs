//! Compose and Bake files among the targets: the Dockerfiles they name, and how these are built.

mod beside;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

use probity_builds::{Build, Format, InlinePlace, Recipe, describe};
use probity_dockerfile::BuildValues;
use probity_lint::{BuildUse, BuildUses};
use serde::Serialize;

use self::beside::{Beside, override_files, read};
use crate::{
    discover::{DiscoverError, Targets},
    source,
};

/// Which builds a command line asks for; all of them without a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChosenBuilds {
    /// Of Bake files.
    pub(crate) targets: Vec<String>,
    /// Of Compose files.
    pub(crate) services: Vec<String>,
}

/// How builds use one Dockerfile.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileUses {
    pub(crate) lint: BuildUses,
    contexts: BTreeSet<PathBuf>,
    /// The descriptions that name it, if the user does not.
    pub(crate) named_by: BTreeSet<PathBuf>,
    /// The services and targets that build it.
    pub(crate) invocations: BTreeSet<Invocation>,
    /// Whether the description has other builds of it, which the command line leaves out.
    pub(crate) is_partial: bool,
}

/// One build, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Invocation {
    /// `compose` or `bake`.
    kind: &'static str,
    /// The Compose or Bake file.
    file: String,
    /// The service or the target.
    name: String,
}

/// A Dockerfile inside a Compose or Bake file.
#[derive(Clone, Debug)]
pub(crate) struct InlineDockerfile {
    pub(crate) text: String,
    pub(crate) place: InlinePlace,
    pub(crate) uses: FileUses,
}

/// What the Compose and Bake files among the targets say.
#[derive(Debug, Default)]
pub(crate) struct Described {
    /// The descriptions that could be read, also those without a build.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) uses: BTreeMap<PathBuf, FileUses>,
    /// Inline Dockerfiles by the file they are in.
    pub(crate) inline: BTreeMap<PathBuf, Vec<InlineDockerfile>>,
}

impl FileUses {
    /// The build context, unless builds disagree about it.
    pub(crate) fn context(&self) -> Option<&Path> {
        if self.contexts.len() == 1 { self.contexts.first().map(PathBuf::as_path) } else { None }
    }

    fn add(&mut self, invocation: Invocation, build: &Build, context: PathBuf) {
        self.invocations.insert(invocation);
        let values = BuildValues {
            arguments: build.args.clone(),
            target: build.target.clone(),
            contexts: build.contexts.keys().cloned().collect(),
        };
        self.lint.builds.insert(BuildUse { name: build.name.clone(), values });
        self.lint.platforms.extend(build.platforms.iter().cloned());
        self.contexts.insert(context);
    }
}

impl Described {
    pub(crate) fn is_empty(&self) -> bool {
        self.uses.is_empty() && self.inline.is_empty()
    }
}

/// Replaces Compose and Bake files by the Dockerfiles that they name. A Dockerfile is a target once,
/// however many builds use it. Reports name files relative to the `working` directory.
pub(crate) fn expand(targets: &mut Targets, chosen: &ChosenBuilds, working: &Path) -> Described {
    let mut described = Described::default();
    let files = std::mem::take(&mut targets.files);
    // A file that changes the meaning of another one is read with that one.
    let overrides: BTreeSet<PathBuf> = files.iter().flat_map(|path| override_files(path)).collect();
    for path in files.into_iter().filter(|path| !overrides.contains(path)) {
        let name = path.file_name().and_then(|name| name.to_str());
        match name.and_then(Format::of_named_file) {
            Some(format) => {
                described.add_file(&path, working, format, chosen, targets);
            }
            None => targets.files.push(path),
        }
    }
    for path in &targets.files {
        // The user's own word counts.
        if let Some(uses) = described.uses.get_mut(path) {
            uses.named_by.clear();
        }
    }
    targets.files.extend(described.uses.keys().cloned());
    targets.files.sort();
    targets.files.dedup();
    described
}

impl Described {
    fn add_file(
        &mut self,
        path: &Path,
        working: &Path,
        format: Format,
        chosen: &ChosenBuilds,
        targets: &mut Targets,
    ) {
        let directory = path.parent().unwrap_or(path);
        let shown = &source::shown(path, working);
        let only = match format {
            Format::Compose => &chosen.services,
            Format::BakeHcl | Format::BakeJson => &chosen.targets,
        };
        let failed = |reason: String| DiscoverError::NotDescribed { path: shown.into(), reason };
        let sources = read(path, format).and_then(|first| {
            let overrides = override_files(path).into_iter();
            Ok((first, overrides.map(|path| read(&path, format)).collect::<Result<Vec<_>, _>>()?))
        });
        let (first, overrides) = match sources {
            Ok(sources) => sources,
            Err(error) => return targets.errors.push(failed(error.to_string())),
        };
        let beside = match format {
            Format::Compose => Beside::with_env_file(directory),
            Format::BakeHcl | Format::BakeJson => Beside::new(directory),
        };
        let found = match describe(&first, &overrides, only, &beside) {
            Ok(found) => found,
            Err(error) => return targets.errors.push(failed(error.to_string())),
        };
        self.files.push(path.to_owned());
        for note in &found.notes {
            let about = note.about.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
            tracing::warn!("{shown}: {about}{}", note.message);
        }
        if found.builds.is_empty() {
            tracing::warn!("{shown} describes no build");
        }
        for build in &found.builds {
            let kind = match format {
                Format::Compose => "compose",
                Format::BakeHcl | Format::BakeJson => "bake",
            };
            let invocation = Invocation { kind, file: shown.to_owned(), name: build.name.clone() };
            self.add_build(path, working, invocation, build, targets);
        }
        if !only.is_empty() {
            self.mark_partial(path, &found, describe(&first, &overrides, &[], &beside).ok());
        }
    }

    /// Marks the Dockerfiles that builds use which were not `chosen`.
    fn mark_partial(
        &mut self,
        path: &Path,
        chosen: &probity_builds::Described,
        all: Option<probity_builds::Described>,
    ) {
        let directory = path.parent().unwrap_or(path);
        for build in all.into_iter().flat_map(|all| all.builds) {
            if chosen.builds.iter().any(|other| other.name == build.name) {
                continue;
            }
            match build.recipe {
                Recipe::File(dockerfile) => {
                    let uses = self.uses.get_mut(&normal(&directory.join(dockerfile)));
                    uses.into_iter().for_each(|uses| uses.is_partial = true);
                }
                Recipe::Inline { .. } => {
                    let inline = self.inline.get_mut(path).into_iter().flatten();
                    inline.for_each(|dockerfile| dockerfile.uses.is_partial = true);
                }
                Recipe::Remote => {}
            }
        }
    }

    fn add_build(
        &mut self,
        path: &Path,
        working: &Path,
        invocation: Invocation,
        build: &Build,
        targets: &mut Targets,
    ) {
        let directory = path.parent().unwrap_or(path);
        let context = normal(&directory.join(&build.context));
        match &build.recipe {
            Recipe::File(dockerfile) => {
                let dockerfile = normal(&directory.join(dockerfile));
                if !dockerfile.is_file() {
                    return targets.errors.push(DiscoverError::MissingDockerfile {
                        path: invocation.file,
                        build: build.name.clone(),
                        dockerfile: source::shown(&dockerfile, working),
                    });
                }
                let uses = self.uses.entry(dockerfile).or_default();
                uses.named_by.insert(path.to_owned());
                uses.add(invocation, build, context);
            }
            Recipe::Inline { text, place } => {
                let mut uses = FileUses::default();
                uses.add(invocation, build, context);
                let inline = InlineDockerfile { text: text.clone(), place: place.clone(), uses };
                self.inline.entry(path.to_owned()).or_default().push(inline);
            }
            Recipe::Remote => tracing::warn!(
                "{}: {}: the context {} is remote, so its Dockerfile is not checked",
                invocation.file,
                build.name,
                build.context
            ),
        }
    }
}

/// The path without `.` and, where no link can be meant, without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if !normal.is_symlink() && normal.file_name().is_some() => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
