//! Creating below the root, for those who write into a copy on behalf of an agent.

use std::{
    fs::File,
    io::Write,
    os::fd::AsFd,
    path::{Component, Path},
};

use rustix::{
    fs::{FileType, Mode, OFlags, mkdirat, openat},
    io::Errno,
};

use crate::{Named, Scope, ScopeError};

impl Scope {
    /// Creates a new file with these bytes, and the directories on the way to it. What exists is
    /// never opened, followed as a link, or written over.
    pub fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), ScopeError> {
        let relative = self.root.relative(path)?.to_owned();
        let failed = |errno| ScopeError::from_errno(&relative, errno);
        let Some(Component::Normal(name)) = relative.components().next_back() else {
            return Err(ScopeError::NotAFile(Named::new(&relative)));
        };
        if self.refuses(&relative, false) {
            return Err(ScopeError::Sensitive(Named::new(&relative)));
        }
        if bytes.len() as u64 > self.policy.max_file_bytes {
            let (size, limit) = (bytes.len() as u64, self.policy.max_file_bytes);
            return Err(ScopeError::TooLarge { path: Named::new(&relative), size, limit });
        }
        let parent = self.directory(relative.parent().unwrap_or(Path::new("")), &relative)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&parent, name, flags, Mode::from_raw_mode(0o644)).map_err(failed)?;
        File::from(file).write_all(bytes).map_err(|error| ScopeError::from_io(&relative, error))
    }

    /// Opens a directory, making those of its components that are missing. Each one is made in
    /// the directory that the kernel resolved beneath the root just before.
    fn directory(&self, path: &Path, named: &Path) -> Result<std::os::fd::OwnedFd, ScopeError> {
        let mut reached = std::path::PathBuf::new();
        let mut here = self.root.resolve(&reached)?;
        for component in path.components() {
            if let Component::Normal(name) = component {
                match mkdirat(here.descriptor.as_fd(), name, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(ScopeError::from_errno(named, errno)),
                }
            }
            reached.push(component);
            here = self.root.resolve(&reached).map_err(|error| match error {
                ScopeError::Outside(_) => ScopeError::Outside(Named::new(named)),
                ScopeError::Loop(_) => ScopeError::Loop(Named::new(named)),
                other => other,
            })?;
            if here.file_type() != FileType::Directory {
                return Err(ScopeError::NotADirectory(Named::new(named)));
            }
            if self.refuses(&here.real, true) {
                return Err(ScopeError::Sensitive(Named::new(named)));
            }
        }
        Ok(here.descriptor)
    }
}
