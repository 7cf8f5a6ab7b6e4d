//! Compose and Bake files among the targets: the Dockerfiles they name, and how these are built.

mod beside;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

use probity_builds::{Build, Format, InlinePlace, Recipe, describe};
use probity_dockerfile::BuildValues;
use probity_lint::{BuildUse, BuildUses};
use probity_scope::{TreeError, TreeFile, WithoutGit, tree_of};
use serde::Serialize;

use self::beside::{Beside, override_files, read};
use crate::{
    discover::{DiscoverError, Targets},
    source,
};

/// Which builds a command line asks for; all of them without a name.
#[derive(Clone, Debug, Default)]
pub struct ChosenBuilds {
    /// Of Bake files.
    pub targets: Vec<String>,
    /// Of Compose files.
    pub services: Vec<String>,
}

/// How builds use one Dockerfile.
#[derive(Clone, Debug, Default)]
pub struct FileUses {
    pub lint: BuildUses,
    contexts: BTreeSet<PathBuf>,
    /// The descriptions that name it, if the user does not.
    pub named_by: BTreeSet<PathBuf>,
    /// The services and targets that build it.
    pub invocations: BTreeSet<Invocation>,
    /// Whether the description has other builds of it, which the command line leaves out.
    pub is_partial: bool,
}

/// One build, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Invocation {
    /// `compose` or `bake`.
    kind: &'static str,
    /// The Compose or Bake file.
    file: String,
    /// The service or the target.
    name: String,
}

/// A Dockerfile inside a Compose or Bake file.
#[derive(Clone, Debug)]
pub struct InlineDockerfile {
    pub text: String,
    pub place: InlinePlace,
    pub uses: FileUses,
}

/// What the Compose and Bake files among the targets say.
#[derive(Debug, Default)]
pub struct Described {
    /// The descriptions that could be read, also those without a build.
    pub files: Vec<PathBuf>,
    pub uses: BTreeMap<PathBuf, FileUses>,
    /// Inline Dockerfiles by the file they are in.
    pub inline: BTreeMap<PathBuf, Vec<InlineDockerfile>>,
}

impl FileUses {
    /// The build context, unless builds disagree about it.
    pub fn context(&self) -> Option<&Path> {
        if self.contexts.len() == 1 { self.contexts.first().map(PathBuf::as_path) } else { None }
    }

    fn add(&mut self, invocation: Invocation, build: &Build, context: Option<PathBuf>) {
        self.invocations.insert(invocation);
        let values = BuildValues {
            arguments: build.args.clone(),
            target: build.target.clone(),
            contexts: build.contexts.keys().cloned().collect(),
        };
        self.lint.builds.insert(BuildUse { name: build.name.clone(), values });
        self.lint.platforms.extend(build.platforms.iter().cloned());
        self.contexts.extend(context);
    }
}

impl Described {
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty() && self.inline.is_empty()
    }
}

/// Replaces Compose and Bake files by the Dockerfiles that they name. A Dockerfile is a target once,
/// however many builds use it. Reports name files relative to the `working` directory.
pub fn expand(targets: &mut Targets, chosen: &ChosenBuilds, working: &Path) -> Described {
    let mut described = Described::default();
    let files = std::mem::take(&mut targets.files);
    // A file that changes the meaning of another one is read with that one.
    let overrides: BTreeSet<PathBuf> = files.iter().flat_map(|path| override_files(path)).collect();
    let mut descriptions = Vec::new();
    for path in files.into_iter().filter(|path| !overrides.contains(path)) {
        let name = path.file_name().and_then(|name| name.to_str());
        match name.and_then(Format::of_named_file) {
            Some(format) => descriptions.push((path, format)),
            None => targets.files.push(path),
        }
    }
    for (path, format) in descriptions {
        described.add_file(&path, working, format, chosen, targets);
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
        // A description may be by strangers: it says nothing about files outside of its tree.
        let top = match tree_of(directory, WithoutGit::Within(working)) {
            Ok(top) => top,
            Err(error) => return targets.errors.push(failed(error.to_string())),
        };
        let sources = read(path, &top, format).and_then(|first| {
            let overrides = override_files(path).into_iter();
            let overrides = overrides.map(|path| read(&path, &top, format));
            Ok((first, overrides.collect::<Result<Vec<_>, _>>()?))
        });
        let (first, overrides) = match sources {
            Ok(sources) => sources,
            Err(error) => return targets.errors.push(failed(error.to_string())),
        };
        let beside = match format {
            Format::Compose => Beside::with_env_file(directory, &top),
            Format::BakeHcl | Format::BakeJson => Beside::new(directory, &top),
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
            let description = Description { path, top: &top, working };
            self.add_build(&description, invocation, build, targets);
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
        description: &Description<'_>,
        invocation: Invocation,
        build: &Build,
        targets: &mut Targets,
    ) {
        let context = || description.context(&invocation, build);
        match &build.recipe {
            Recipe::File(dockerfile) => {
                let dockerfile = description.beside(dockerfile);
                let real = dockerfile.canonicalize().ok();
                let is_it = |path: &PathBuf| path.canonicalize().ok() == real;
                if let Err(error) = description.lets_read(&dockerfile)
                    && !targets.files.iter().any(is_it)
                {
                    let (path, build) = (invocation.file, build.name.clone());
                    let error = DiscoverError::ForeignDockerfile { path, build, error };
                    return targets.errors.push(error);
                }
                if !dockerfile.is_file() {
                    return targets.errors.push(DiscoverError::MissingDockerfile {
                        path: invocation.file,
                        build: build.name.clone(),
                        dockerfile: source::shown(&dockerfile, description.working),
                    });
                }
                let context = context();
                let uses = self.uses.entry(dockerfile).or_default();
                uses.named_by.insert(description.path.to_owned());
                uses.add(invocation, build, context);
            }
            Recipe::Inline { text, place } => {
                let mut uses = FileUses::default();
                let context = context();
                uses.add(invocation, build, context);
                let inline = InlineDockerfile { text: text.clone(), place: place.clone(), uses };
                self.inline.entry(description.path.to_owned()).or_default().push(inline);
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

/// Where a description is, and what it may speak about.
struct Description<'d> {
    path: &'d Path,
    /// The top of its tree.
    top: &'d Path,
    working: &'d Path,
}

impl Description<'_> {
    fn beside(&self, path: &str) -> PathBuf {
        normal(&self.path.parent().unwrap_or(self.path).join(path))
    }

    /// Refuses what lies outside of the tree; what is not there is no matter of trees.
    fn lets_read(&self, path: &Path) -> Result<(), TreeError> {
        match TreeFile::find_in(path, self.top) {
            Err(error @ (TreeError::Outside { .. } | TreeError::GitDirectory(_))) => Err(error),
            _ => Ok(()),
        }
    }

    /// The build context. One outside of the tree would have its ignore file and its scripts read.
    fn context(&self, invocation: &Invocation, build: &Build) -> Option<PathBuf> {
        let context = self.beside(&build.context);
        match self.lets_read(&context) {
            Ok(()) => Some(context),
            Err(error) => {
                tracing::warn!(
                    "{}: {}: the build context is not used: {error}; pass it with `--context`",
                    invocation.file,
                    build.name
                );
                None
            }
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
