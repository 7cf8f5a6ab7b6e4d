//! The image's user exists, its directories exist, it can still use its own files, and nobody else
//! can use more.

use super::{Image, Pair};
use crate::{Configuration, Difference, Entry, EntryKind, Root, Setting};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let (before, after) = (pair.original, pair.proposal);
    let mut found = Vec::new();
    let user = &before.configuration.user;
    let known = account(before);
    if known.is_some()
        && account(after).is_none()
        && before.configuration.user == after.configuration.user
    {
        found.push(Difference::UserMissing { user: user.clone() });
    }
    let directories = std::iter::once((Setting::Directory, &before.configuration.directory))
        .chain(before.configuration.volumes.iter().map(|volume| (Setting::Volumes, volume)));
    for (setting, path) in directories {
        if before.root.has_directory(path) && !after.root.has_directory(path) {
            found.push(Difference::DirectoryMissing { setting, path: path.clone() });
        }
    }
    if let (Some(before_account), Some(after_account)) = (known, account(after)) {
        found.extend(access(pair, before_account, after_account));
    }
    found.extend(rights(pair));
    found
}

/// A path whose rights mean more than who may use it: a program that runs as its owner, or a file
/// that nobody else may read.
fn rights(pair: &Pair<'_>) -> Option<Difference> {
    const SPECIAL: u32 = 0o7000;
    const OF_OTHERS: u32 = 0o077;
    pair.original.root.iter().find_map(|(path, entry)| {
        let now = pair.proposal.root.get(path).filter(|now| now.kind == entry.kind)?;
        let (before, after) = (entry.mode, now.mode);
        let is_kind = matches!(entry.kind, EntryKind::File | EntryKind::Directory);
        let lost = before & SPECIAL & !after != 0;
        let is_exposed = before & OF_OTHERS == 0 && after & OF_OTHERS != 0;
        let is_worse = is_kind && (lost || is_exposed) && pair.is_own_or_changed(path);
        is_worse.then(|| Difference::RightsChanged { path: format!("/{path}"), before, after })
    })
}

/// Paths in both images that the image's user can no longer use as it could; root can use them all.
fn access(pair: &Pair<'_>, before: Account, after: Account) -> Option<Difference> {
    let lost = pair.original.root.iter().find(|(path, entry)| {
        let Some(now) = pair.proposal.root.get(path) else { return false };
        let is_kind = matches!(entry.kind, EntryKind::File | EntryKind::Directory);
        let had = before.rights(entry);
        is_kind && had & !after.rights(now) != 0 && pair.is_own_or_changed(path)
    });
    lost.map(|(path, _)| Difference::AccessLost { path: format!("/{path}") })
}

impl Pair<'_> {
    /// A directory is the same in the base whatever its owner is, so that its owner decides.
    fn is_own_or_changed(&self, path: &str) -> bool {
        let owner = |root: &Root| root.get(path).map(|entry| (entry.uid, entry.gid, entry.mode));
        self.is_own(path)
            || self.base.is_none_or(|base| owner(&base.root) != owner(&self.original.root))
    }
}

/// A user and a group by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    uid: u64,
    gid: u64,
}

impl Account {
    /// Read, write and execute as bits.
    fn rights(self, entry: &Entry) -> u32 {
        if self.uid == 0 {
            // Root reads and writes everything, and runs what anybody can run.
            return if entry.mode & 0o111 != 0 { 7 } else { 6 };
        }
        let shift = if entry.uid == self.uid {
            6
        } else if entry.gid == self.gid {
            3
        } else {
            0
        };
        entry.mode >> shift & 7
    }
}

/// The image's user, if it exists there.
fn account(image: &Image) -> Option<Account> {
    let Configuration { user, .. } = &image.configuration;
    let (name, group) = user.split_once(':').unwrap_or((user, ""));
    let field = |file: &str, name: &str, index: usize| -> Option<u64> {
        let text = image.root.text(file)?;
        let line = text.lines().find(|line| line.split(':').next() == Some(name))?;
        line.split(':').nth(index)?.parse().ok()
    };
    let uid = match name {
        "" | "root" => 0,
        name => name.parse().ok().or_else(|| field("etc/passwd", name, 2))?,
    };
    let gid = match group {
        "" => field("etc/passwd", name, 3).unwrap_or(0),
        group => group.parse().ok().or_else(|| field("etc/group", group, 2))?,
    };
    Some(Account { uid, gid })
}
