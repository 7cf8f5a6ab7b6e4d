//! The front door: a root, a policy, and reading below them.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use rustix::fs::{FileType, Mode, OFlags};

use crate::{
    Ignored, Metadata, Named, Policy, ScopeError,
    ignored::IgnoreRules,
    policy::Used,
    resolve::{Resolved, Root},
    sensitive::{is_sensitive, is_sensitive_directory},
};

/// A directory that may be read below, and nowhere else.
#[derive(Debug)]
pub struct Scope {
    pub(crate) root: Root,
    pub(crate) policy: Policy,
    used: Used,
    /// Absent where ignored files are served.
    ignore_rules: Option<IgnoreRules>,
}

/// The beginning of a file, and how long the file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    pub bytes: Vec<u8>,
    pub total: u64,
    /// How many names the file has; those besides this one can be outside the root.
    pub links: u64,
}

/// A whole file, and its name below the root with links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub bytes: Vec<u8>,
    pub real: PathBuf,
    /// How many names the file has; those besides this one can be outside the root.
    pub links: u64,
}

/// An opened regular file.
struct Regular {
    file: File,
    /// As it was asked for.
    name: PathBuf,
    size: u64,
    real: PathBuf,
    links: u64,
}

impl Scope {
    /// Opens the root. From here on it is the directory that was opened, even if another takes
    /// its name.
    pub fn open(root: &Path, policy: Policy) -> Result<Self, ScopeError> {
        let real = root.canonicalize().map_err(|error| ScopeError::from_io(root, error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(&real, flags, Mode::empty())
            .map_err(|errno| ScopeError::from_errno(root, errno))?;
        let ignore_rules = match policy.ignored {
            Ignored::Shown => None,
            Ignored::LeftOut { except } => {
                let rules = IgnoreRules::of(&real, except);
                rules.map_err(|error| ScopeError::from_io(root, error))?
            }
        };
        let root = Root { descriptor, real, given: root.to_owned() };
        Ok(Self { root, policy, used: Used::default(), ignore_rules })
    }

    /// Reads a whole file. One that is longer than `max_bytes`, or than the policy allows, is
    /// refused before a byte of it is read.
    pub fn read(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>, ScopeError> {
        self.read_located(path, max_bytes).map(|located| located.bytes)
    }

    /// The same, and where the bytes are from: links may have led to another name.
    pub fn read_located(&self, path: &Path, max_bytes: u64) -> Result<Located, ScopeError> {
        let limit = max_bytes.min(self.policy.max_file_bytes);
        let Regular { file, name, size, real, links } = self.regular(path)?;
        let too_large = |size| ScopeError::TooLarge { path: Named::new(&name), size, limit };
        if size > limit {
            return Err(too_large(size));
        }
        let bytes = self.take(&name, file, size, limit.saturating_add(1))?;
        // Files of /proc and files that grow have no honest size beforehand.
        let read = bytes.len() as u64;
        if read > limit { Err(too_large(read)) } else { Ok(Located { bytes, real, links }) }
    }

    /// Reads the beginning of a file, however long the file is.
    pub fn read_prefix(&self, path: &Path, max_bytes: u64) -> Result<Prefix, ScopeError> {
        let limit = max_bytes.min(self.policy.max_file_bytes);
        let Regular { file, name, size: total, links, .. } = self.regular(path)?;
        let bytes = self.take(&name, file, total.min(limit), limit)?;
        Ok(Prefix { total: total.max(bytes.len() as u64), bytes, links })
    }

    /// Opens a regular file. It counts against the quota of files, and its size against that of
    /// bytes.
    pub fn open_file(&self, path: &Path) -> Result<File, ScopeError> {
        let Regular { file, name, size, .. } = self.regular(path)?;
        self.used.take(&name, size, self.policy.quota)?;
        Ok(file)
    }

    /// What is known about a file or directory, links followed.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, ScopeError> {
        Ok(Metadata::of(&self.resolve(path)?.stat))
    }

    /// The path as this scope names it: relative to the root, links resolved.
    pub fn relative(&self, path: &Path) -> Result<PathBuf, ScopeError> {
        Ok(self.resolve(path)?.real)
    }

    pub(crate) fn resolve(&self, path: &Path) -> Result<Resolved, ScopeError> {
        let relative = self.root.relative(path)?;
        let sensitive = || ScopeError::Sensitive(Named::new(relative));
        // The name that was asked for counts as well as the one the links lead to. It is judged
        // first, so that the answer does not tell whether there is such a file.
        if self.refuses(relative, true) {
            return Err(sensitive());
        }
        let is_refused_as_a_file = self.refuses(relative, false);
        let resolved = match self.root.resolve(relative) {
            Err(ScopeError::Outside(named)) => return Err(ScopeError::Outside(named)),
            Err(_) if is_refused_as_a_file => return Err(sensitive()),
            resolved => resolved?,
        };
        let is_directory = resolved.file_type() == FileType::Directory;
        if !is_directory && is_refused_as_a_file || self.refuses(&resolved.real, is_directory) {
            return Err(sensitive());
        }
        if self.ignores(&resolved.real, is_directory) {
            return Err(ScopeError::Ignored(Named::new(relative)));
        }
        Ok(resolved)
    }

    /// Whether the name is one of a sensitive directory, or also that of a sensitive file.
    pub(crate) fn refuses(&self, relative: &Path, is_directory: bool) -> bool {
        let is_sensitive = if is_directory { is_sensitive_directory } else { is_sensitive };
        !self.policy.allow_sensitive && is_sensitive(relative)
    }

    /// Whether git ignores the real name, and the policy leaves such files out.
    pub(crate) fn ignores(&self, real: &Path, is_directory: bool) -> bool {
        self.ignore_rules.as_ref().is_some_and(|rules| rules.ignores(real, is_directory))
    }

    fn regular(&self, path: &Path) -> Result<Regular, ScopeError> {
        let resolved = self.resolve(path)?;
        let name = self.root.relative(path)?.to_owned();
        if resolved.file_type() != FileType::RegularFile {
            return Err(ScopeError::NotAFile(Named::new(&name)));
        }
        let Metadata { size, links, .. } = Metadata::of(&resolved.stat);
        let file = File::from(resolved.descriptor);
        Ok(Regular { file, name, size, real: resolved.real, links })
    }

    /// Reads at most `most` bytes after counting the `expected` ones against the quota.
    fn take(
        &self,
        name: &Path,
        file: File,
        expected: u64,
        most: u64,
    ) -> Result<Vec<u8>, ScopeError> {
        self.used.take(name, expected, self.policy.quota)?;
        let mut bytes = Vec::new();
        let read: io::Result<usize> = file.take(most).read_to_end(&mut bytes);
        read.map_err(|error| ScopeError::from_io(name, error))?;
        Ok(bytes)
    }
}
