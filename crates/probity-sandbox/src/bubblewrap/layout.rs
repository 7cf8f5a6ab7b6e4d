//! The file tree a contained process sees: the system's programs and libraries, a few files of
//! `/etc`, and what the spec mounts. No `/home` of the host, no `/root`, no `/var`, no `/run` with
//! its sockets.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{
    Mount, Network, SpawnError, Spec,
    lookup::View,
    system::{ETC, NETWORK, SYSTEM},
    user::Ids,
};

/// The home of a contained process.
pub(crate) const HOME: &str = "/home/agent";

/// The number inside of whoever is root outside, since programs behave differently as root.
const ORDINARY: u32 = 1000;

const MEBIBYTE: u64 = 1 << 20;

const LOCAL_HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

#[derive(Debug)]
pub(crate) enum Entry {
    Bind { host: PathBuf, inside: PathBuf, writable: bool },
    Link { target: PathBuf, inside: PathBuf },
    Tmpfs { inside: PathBuf, bytes: Option<u64> },
    Text { text: String, inside: PathBuf },
    Special { option: &'static str, inside: PathBuf },
}

#[derive(Debug)]
pub(crate) struct Layout {
    /// In the order in which they are mounted.
    pub(crate) entries: Vec<Entry>,
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl Layout {
    pub(crate) fn new(spec: &Spec, ids: Ids) -> Result<Self, SpawnError> {
        let ordinary = |id| if id == 0 { ORDINARY } else { id };
        let (user, group) = (ordinary(ids.user), ordinary(ids.group));
        let mut layout = Self { entries: Vec::new(), user, group };
        layout.system(spec);
        // Nothing can be mounted over a text of ours, whose file has no name any more.
        let is_covered =
            |entry: &Entry| spec.mounts.iter().any(|mount| mount.inside() == entry.inside());
        layout.entries.retain(|entry| !matches!(entry, Entry::Text { .. }) || !is_covered(entry));
        for mount in &spec.mounts {
            layout.mount(mount)?;
        }
        Ok(layout)
    }

    fn system(&mut self, spec: &Spec) {
        for path in SYSTEM.iter().chain(ETC) {
            self.as_on_the_host(Path::new(path));
        }
        if spec.network == Network::Open {
            for path in NETWORK {
                // Often a link into /run, which is not there: the file itself is bound.
                if let Ok(host) = fs::canonicalize(path) {
                    self.bind(host, Path::new(path), false);
                }
            }
        } else {
            self.text("/etc/hosts", LOCAL_HOSTS.to_owned());
            self.text(
                "/etc/nsswitch.conf",
                "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
            );
        }
        let (user, group) = (self.user, self.group);
        self.text("/etc/passwd", format!("agent:x:{user}:{group}:agent:{HOME}:/bin/sh\n"));
        self.text("/etc/group", format!("agent:x:{group}:\n"));
        self.special("--proc", "/proc");
        // Whoever is root outside may write the kernel's settings, capabilities or not.
        self.special("--remount-ro", "/proc");
        self.special("--dev", "/dev");
        for (path, bytes) in [
            ("/dev/shm", spec.limits.shm.unwrap_or(1024 * MEBIBYTE)),
            ("/tmp", spec.limits.tmp.unwrap_or(1024 * MEBIBYTE)),
            ("/run", 64 * MEBIBYTE),
            ("/var", 64 * MEBIBYTE),
            (HOME, 1024 * MEBIBYTE),
        ] {
            self.entries.push(Entry::Tmpfs { inside: path.into(), bytes: Some(bytes) });
        }
        // A tmpfs too, in which nobody has anything to write but to what is mounted in it.
        self.special("--remount-ro", "/dev");
        self.special("--dir", "/var/tmp");
    }

    fn as_on_the_host(&mut self, path: &Path) {
        match fs::read_link(path) {
            // Only the links of the root stay links; a linked file of /etc is bound itself.
            Ok(target) if path.parent() == Some(Path::new("/")) => {
                self.entries.push(Entry::Link { target, inside: path.to_owned() });
            }
            _ => {
                if let Ok(host) = fs::canonicalize(path) {
                    self.bind(host, path, false);
                }
            }
        }
    }

    fn mount(&mut self, mount: &Mount) -> Result<(), SpawnError> {
        let inside = mount.inside();
        let refused = |path: &Path, why: &str| SpawnError::Mount {
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        if !inside.is_absolute() || !inside.components().all(plain) {
            return Err(refused(inside, "not an absolute path without dots"));
        }
        if inside == Path::new("/") {
            return Err(refused(inside, "the root is made, not mounted"));
        }
        match mount {
            Mount::ReadOnly { host, .. } | Mount::ReadWrite { host, .. } => {
                let real =
                    fs::canonicalize(host).map_err(|error| refused(host, &error.to_string()))?;
                self.bind(real, inside, matches!(mount, Mount::ReadWrite { .. }));
            }
            Mount::Tmpfs { bytes, .. } => {
                self.entries.push(Entry::Tmpfs { inside: inside.to_owned(), bytes: *bytes });
            }
        }
        Ok(())
    }

    fn bind(&mut self, host: PathBuf, inside: &Path, writable: bool) {
        self.entries.push(Entry::Bind { host, inside: inside.to_owned(), writable });
    }

    fn text(&mut self, inside: &str, text: String) {
        self.entries.push(Entry::Text { text, inside: inside.into() });
    }

    fn special(&mut self, option: &'static str, inside: &str) {
        self.entries.push(Entry::Special { option, inside: inside.into() });
    }
}

impl Entry {
    fn inside(&self) -> &Path {
        match self {
            Self::Bind { inside, .. }
            | Self::Link { inside, .. }
            | Self::Tmpfs { inside, .. }
            | Self::Text { inside, .. }
            | Self::Special { inside, .. } => inside,
        }
    }
}

impl View for Layout {
    fn host(&self, path: &Path) -> Option<PathBuf> {
        let covering = self.entries.iter().rev().find(|entry| path.starts_with(entry.inside()))?;
        let Entry::Bind { host, inside, .. } = covering else { return None };
        let rest = path.strip_prefix(inside).ok()?;
        Some(if rest.as_os_str().is_empty() { host.clone() } else { host.join(rest) })
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Link { target, inside } if inside == path => Some(target.clone()),
            _ => None,
        })
    }

    fn made(&self, path: &Path) -> bool {
        self.entries.iter().any(|entry| entry.inside().starts_with(path))
    }
}
