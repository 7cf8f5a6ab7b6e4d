//! Who the process is.

use std::{
    fs,
    os::unix::{fs::MetadataExt, process::CommandExt},
    process::Command,
};

use crate::{SpawnError, User};

/// The numbers a process has on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// Whom the process will be on the host.
pub(crate) fn ids(user: &User) -> Result<Ids, SpawnError> {
    let caller = Ids {
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
    };
    match user {
        User::OwnerOf(path) if caller.user == 0 => {
            let metadata = fs::metadata(path)
                .map_err(SpawnError::io(format!("as the owner of {}", path.display())))?;
            Ok(Ids { user: metadata.uid(), group: metadata.gid() })
        }
        _ => Ok(caller),
    }
}

/// Makes the command run as that user. The standard library drops the other groups with root.
pub(crate) fn apply(command: &mut Command, user: &User) -> Result<Ids, SpawnError> {
    let ids = ids(user)?;
    if ids.user != rustix::process::geteuid().as_raw() {
        command.uid(ids.user).gid(ids.group);
    }
    Ok(ids)
}
