//! Which files a command line means: files, directories, patterns and standard input.

mod exclude;
mod name;
mod pattern;
#[cfg(test)]
mod tests;
mod walk;

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use exclude::Excludes;
use pattern::Pattern;
use probity_scope::TreeError;
use walk::{Visibility, Walk};

/// Whether a file is a Dockerfile by its name.
pub fn is_dockerfile_name(path: &Path) -> bool {
    name::counts(path)
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// As the command line has them; `-` is standard input.
    pub paths: &'a [PathBuf],
    /// Patterns of what to leave out, whoever named it.
    pub exclude: &'a [String],
    /// The absolute working directory, from which relative paths count.
    pub directory: &'a Path,
}

/// What is to be checked.
#[derive(Debug, Default)]
pub struct Targets {
    /// Absolute paths, sorted, each file once. Links are not resolved.
    pub files: Vec<PathBuf>,
    pub stdin: bool,
    /// What could not be found or searched, in the order of the command line.
    pub errors: Vec<DiscoverError>,
}

/// Why a part of the command line yielded nothing.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    #[error("`{}` does not exist", path.display())]
    Missing { path: PathBuf },
    #[error("`{pattern}` matches no file")]
    NoMatch { pattern: String },
    #[error("`{pattern}` is not a valid pattern: {source}")]
    BadPattern { pattern: String, source: globset::Error },
    #[error("cannot use `{}`: {reason}", path.display())]
    NotDescribed { path: PathBuf, reason: String },
    #[error("`{path}`: {build}: the Dockerfile `{dockerfile}` does not exist")]
    MissingDockerfile { path: String, build: String, dockerfile: String },
    #[error("`{path}`: {build}: the Dockerfile is not read: {error}")]
    ForeignDockerfile { path: String, build: String, error: TreeError },
    #[error("cannot search the directory `{}`: {source}", path.display())]
    Unsearchable { path: PathBuf, source: io::Error },
}

impl DiscoverError {
    /// What to do about it, as a line of its own.
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::Missing { .. } => {
                "\n  help: pass an existing file; without a path, probity checks every Dockerfile below \
                 this directory"
            }
            Self::NoMatch { .. } => {
                "\n  help: patterns do not search ignored and hidden directories; name those directories \
                 yourself"
            }
            Self::NotDescribed { .. } => {
                "\n  help: correct the file, or pass the Dockerfile that it builds"
            }
            Self::MissingDockerfile { .. } => {
                "\n  help: correct the `context` or the `dockerfile` of this build"
            }
            Self::ForeignDockerfile { .. } => {
                "\n  help: if you trust the description, pass that Dockerfile, too"
            }
            Self::BadPattern { .. } => {
                "\n  help: write `[[]` for a bracket that belongs to the name"
            }
            Self::Unsearchable { .. } => {
                "\n  help: check the permissions of the directory, and that its ignore files are files"
            }
        }
    }
}

/// Finds the files.
///
/// A file that is named is taken whatever its name and whatever the ignore files say; only
/// `exclude` keeps it out. Below a directory that is named, files are taken by their name, and
/// ignored and hidden directories are skipped. A path that exists is never read as a pattern.
///
/// # Errors
///
/// Fails only when a pattern in `exclude` is malformed: to go on would be to check what was to be
/// left out. All other errors are in the result, beside what was found.
pub fn discover(request: &Request<'_>) -> Result<Targets, DiscoverError> {
    let excludes = Excludes::new(request.exclude, request.directory)?;
    let mut search =
        Search { request, excludes, walked: HashSet::new(), found: FoundFiles::default() };
    let mut stdin = false;
    for path in request.paths {
        if path.as_os_str() == "-" {
            stdin = true;
        } else {
            search.path(path);
        }
    }
    let errors = std::mem::take(&mut search.found.errors);
    Ok(Targets { files: search.found.distinct(request.paths.len() > 1), stdin, errors })
}

/// Whether a name that stands for standard input is one of those to be left out.
pub fn excludes(request: &Request<'_>, name: &Path) -> Result<bool, DiscoverError> {
    let excludes = Excludes::new(request.exclude, request.directory)?;
    let place: PathBuf = request.directory.join(name).components().collect();
    Ok(is_excluded(&excludes, &place, request.directory))
}

struct Search<'a> {
    request: &'a Request<'a>,
    excludes: Excludes,
    /// The canonical paths of the directories that were walked because they were named.
    walked: HashSet<PathBuf>,
    found: FoundFiles,
}

/// What was found so far, in the order in which it was seen.
#[derive(Default)]
struct FoundFiles {
    files: Vec<PathBuf>,
    /// Links that a walk met. They stand back behind the files they lead to: a file's own place
    /// decides which configuration holds for it.
    links: Vec<PathBuf>,
    errors: Vec<DiscoverError>,
}

/// What a path of the command line turned out to be.
enum Named {
    File,
    Directory,
    Nothing,
}

impl Search<'_> {
    fn path(&mut self, path: &Path) {
        // Collecting the components drops `./`, `//` and a trailing slash, but keeps `..`, which
        // means something else behind a link.
        let place: PathBuf = self.request.directory.join(path).components().collect();
        // Joining an empty path would quietly mean the working directory.
        let named = if path.as_os_str().is_empty() { Named::Nothing } else { look(&place) };
        match named {
            Named::Directory => self.directory(&place),
            Named::File if !self.excluded(&place) => self.found.files.push(place),
            Named::File => {}
            Named::Nothing => self.pattern(path),
        }
    }

    fn directory(&mut self, root: &Path) {
        let identity = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        if self.excluded(root) || !self.walked.insert(identity) {
            return;
        }
        let excludes = self.excludes.clone();
        let base = root.parent().unwrap_or(root).to_owned();
        let walk = Walk {
            root,
            directory: self.request.directory,
            visibility: Visibility::Plain,
            prune: move |place: &Path| excludes.matches(place, &base),
        };
        walk.run(&mut self.found, name::counts);
    }

    fn pattern(&mut self, path: &Path) {
        let parsed = path.to_str().map(|text| Pattern::parse(text, self.request.directory));
        let pattern = match parsed {
            Some(Ok(Some(pattern))) => pattern,
            Some(Err(error)) => return self.found.errors.push(error),
            Some(Ok(None)) | None => {
                return self.found.errors.push(DiscoverError::Missing { path: path.to_owned() });
            }
        };
        let mut matches = FoundFiles::default();
        // What is excluded still counts as a match, or excluding would turn into an error.
        let walk = Walk {
            root: &pattern.base,
            directory: self.request.directory,
            visibility: pattern.visibility,
            prune: |_: &Path| false,
        };
        walk.run(&mut matches, |place| pattern.takes(place));
        if matches.files.is_empty() && matches.links.is_empty() {
            let pattern = path.to_string_lossy().into_owned();
            matches.errors.push(DiscoverError::NoMatch { pattern });
        }
        let wanted = |place: &PathBuf| !self.excludes.cover(place, &pattern.base);
        self.found.files.extend(matches.files.into_iter().filter(wanted));
        self.found.links.extend(matches.links.into_iter().filter(wanted));
        self.found.errors.extend(matches.errors);
    }

    fn excluded(&self, place: &Path) -> bool {
        is_excluded(&self.excludes, place, self.request.directory)
    }
}

/// Whether something that was named is excluded, by itself or by a directory on the way to it.
fn is_excluded(excludes: &Excludes, place: &Path, directory: &Path) -> bool {
    // Outside the working directory only the name itself counts; where somebody keeps a project must
    // not decide whether it is checked.
    let base = if place.starts_with(directory) { Some(directory) } else { place.parent() };
    base.is_some_and(|base| excludes.cover(place, base))
}

impl FoundFiles {
    /// Everything that was found, sorted, each file by the path under which it was first seen.
    fn distinct(self, several_paths: bool) -> Vec<PathBuf> {
        let Self { mut files, links, .. } = self;
        // One walk that met no link cannot have met a file twice.
        if several_paths || !links.is_empty() {
            let mut seen = HashSet::new();
            files.extend(links);
            files.retain(|file| seen.insert(identity(file)));
        }
        files.sort();
        files
    }
}

fn look(place: &Path) -> Named {
    match fs::metadata(place) {
        Ok(metadata) if metadata.is_dir() => Named::Directory,
        Ok(_) => Named::File,
        // It may well exist; reading it reports what is wrong.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Named::File,
        // A link that leads nowhere does exist.
        Err(_) if fs::symlink_metadata(place).is_ok() => Named::File,
        Err(_) => Named::Nothing,
    }
}

/// The same for all paths of one file. A link that leads nowhere is told by its own place.
fn identity(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| {
        let parent = file.parent().and_then(|parent| fs::canonicalize(parent).ok());
        match (parent, file.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => file.to_owned(),
        }
    })
}
