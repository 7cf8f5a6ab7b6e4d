//! What a confined process can open: the system, and what its spec shows at its own path. Landlock hides
//! nothing and moves nothing; it lets whole trees be read, or read and written.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};

use super::NAME;
use crate::{
    Mount, Network, SpawnError, Spec,
    lookup::View,
    system::{ETC, NETWORK, SYSTEM},
};

/// Where the kernel tells processes about themselves and the machine. It has all processes of the
/// machine, since Landlock cannot hide some of them.
const KERNEL: &str = "/proc";

/// Small settings that programs read, beside those that every sandbox shows.
const SETTINGS: &[&str] =
    &["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf"];

/// Devices that are the same for everybody, and the terminal of the process itself.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The newest interface whose rights are known here. Later ones add what this one leaves open, and take
/// nothing away.
const NEWEST: ABI = ABI::V6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Device,
}

#[derive(Debug, Clone)]
struct Place {
    path: PathBuf,
    access: Access,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Places(Vec<Place>);

impl Places {
    pub(super) fn of(spec: &Spec) -> Result<Self, SpawnError> {
        let mut places = Self::default();
        let network = if spec.network == Network::Open { NETWORK } else { &[] };
        for path in SYSTEM.iter().chain(ETC).chain(SETTINGS).chain(network).chain([&KERNEL]) {
            places.add_if_there(path, Access::Read);
        }
        for path in DEVICES {
            places.add_if_there(path, Access::Device);
        }
        for mount in &spec.mounts {
            places.mount(mount)?;
        }
        places.refuse_kept_parts()?;
        Ok(places)
    }

    /// A directory of ours that the process may write.
    pub(super) fn add_own(&mut self, path: PathBuf) {
        self.0.push(Place { path, access: Access::Write });
    }

    /// Whether the process may change what is here. The path is one without links.
    pub(super) fn is_writable(&self, path: &Path) -> bool {
        self.0.iter().any(|place| place.access == Access::Write && path.starts_with(&place.path))
    }

    pub(super) fn is_readable(&self, path: &Path) -> bool {
        self.0.iter().any(|place| path.starts_with(&place.path))
    }

    fn add_if_there(&mut self, path: &str, access: Access) {
        if let Ok(path) = fs::canonicalize(path) {
            self.0.push(Place { path, access });
        }
    }

    fn mount(&mut self, mount: &Mount) -> Result<(), SpawnError> {
        let inside = mount.inside();
        let not_shown = |why| SpawnError::NotShown { backend: NAME, path: inside.to_owned(), why };
        let access = match mount {
            Mount::ReadOnly { .. } => Access::Read,
            Mount::ReadWrite { .. } => Access::Write,
            Mount::Tmpfs { .. } => {
                return Err(not_shown("it cannot put an empty directory anywhere"));
            }
        };
        let host = mount.host().unwrap_or(inside);
        let failed =
            |error: io::Error| SpawnError::Mount { path: host.to_owned(), why: error.to_string() };
        let path = fs::canonicalize(host).map_err(failed)?;
        if fs::canonicalize(inside).ok().as_ref() != Some(&path) {
            return Err(not_shown("it shows files at their own path alone"));
        }
        if path == Path::new("/") {
            return Err(not_shown("it would show the whole machine"));
        }
        // Whoever writes in a place that was shown before could have put a link there.
        let above = self.0.iter().filter(|place| place.access == Access::Write);
        let linked = above
            .into_iter()
            .any(|place| host != place.path && host.starts_with(&place.path) && path != *host);
        if linked {
            return Err(failed(io::Error::other("a link has taken its place")));
        }
        self.0.retain(|place| place.path != path);
        self.0.push(Place { path, access });
        Ok(())
    }

    /// Whoever may write a directory may write all that is in it: Landlock takes nothing away again.
    fn refuse_kept_parts(&self) -> Result<(), SpawnError> {
        let kept = self.0.iter().find(|place| {
            place.access == Access::Read
                && self.0.iter().any(|above| {
                    above.access == Access::Write
                        && above.path != place.path
                        && place.path.starts_with(&above.path)
                })
        });
        match kept {
            None => Ok(()),
            Some(place) => Err(SpawnError::NotShown {
                backend: NAME,
                path: place.path.clone(),
                why: "it cannot keep a part of a writable directory read-only",
            }),
        }
    }

    /// The rules for files, and without a network those for it.
    pub(super) fn ruleset(&self, network: Network) -> io::Result<OwnedFd> {
        let mut created = ruleset_of(|| {
            let mut ruleset = Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(AccessFs::from_all(NEWEST))?
                .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
            if network == Network::None {
                ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
            }
            ruleset.create()
        })?;
        for place in &self.0 {
            let parent = open(&place.path)?;
            let mut allowed = place.access.rights();
            if !is_directory(&parent)? {
                allowed &= AccessFs::from_file(NEWEST);
            }
            let rule = PathBeneath::new(parent, allowed);
            created = created.add_rule(rule).map_err(io::Error::other)?;
        }
        descriptor(created)
    }
}

fn ruleset_of(
    create: impl FnOnce() -> Result<RulesetCreated, RulesetError>,
) -> io::Result<RulesetCreated> {
    create().map_err(io::Error::other)
}

fn descriptor(created: RulesetCreated) -> io::Result<OwnedFd> {
    Option::<OwnedFd>::from(created).ok_or_else(|| io::Error::other("the kernel has no Landlock"))
}

/// Signals and abstract sockets do not leave a domain with this.
pub(super) fn scope() -> io::Result<OwnedFd> {
    descriptor(ruleset_of(|| {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .scope(Scope::AbstractUnixSocket | Scope::Signal)?
            .create()
    })?)
}

impl Access {
    fn rights(self) -> BitFlags<AccessFs> {
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
        match self {
            Self::Read => AccessFs::from_read(NEWEST),
            Self::Write => AccessFs::from_all(NEWEST) & !devices,
            Self::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev,
        }
    }
}

/// The path has no links any more; one that appeared meanwhile leads nowhere.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

fn is_directory(file: &OwnedFd) -> io::Result<bool> {
    Ok(rustix::fs::FileType::from_raw_mode(fstat(file)?.st_mode).is_dir())
}

impl View for Places {
    /// Links are followed wherever they are; what they lead to has to be shown.
    fn host(&self, path: &Path) -> Option<PathBuf> {
        let is_link = || fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        (self.is_readable(path) || is_link()).then(|| path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(mounts: Vec<Mount>) -> Spec {
        let mut spec = Spec::new(["true"], "/");
        spec.mounts = mounts;
        spec
    }

    #[test]
    fn what_landlock_has_no_means_for_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("part/deep")).unwrap();
        std::os::unix::fs::symlink("/usr", path.join("link")).unwrap();
        let shown = path.display();
        for (mounts, expected) in [
            (vec![Mount::read_write(&path, &path)], None),
            (vec![Mount::read_only(&path, &path)], None),
            // The later one counts.
            (vec![Mount::read_write(&path, &path), Mount::read_only(&path, &path)], None),
            (vec![Mount::read_only(&path, &path), Mount::read_write(path.join("part"), path.join("part"))], None),
            (
                vec![Mount::read_write(&path, "/home/agent/workspace")],
                Some("landlock cannot show /home/agent/workspace: it shows files at their own path alone".to_owned()),
            ),
            (
                vec![Mount::Tmpfs { inside: path.join("part"), bytes: None }],
                Some(format!("landlock cannot show {shown}/part: it cannot put an empty directory anywhere")),
            ),
            (
                vec![Mount::read_write(&path, &path), Mount::read_only(path.join("part/deep"), path.join("part/deep"))],
                Some(format!("landlock cannot show {shown}/part/deep: it cannot keep a part of a writable directory read-only")),
            ),
            (vec![Mount::read_write("/", "/")], Some("landlock cannot show /: it would show the whole machine".to_owned())),
            (
                vec![Mount::read_write(&path, &path), Mount::read_write(path.join("link"), path.join("link"))],
                Some(format!("{shown}/link: cannot be mounted: a link has taken its place")),
            ),
            (
                vec![Mount::read_only(path.join("absent"), path.join("absent"))],
                Some(format!("{shown}/absent: cannot be mounted: No such file or directory (os error 2)")),
            ),
        ] {
            let seen = Places::of(&spec(mounts.clone())).err().map(|error| error.to_string());
            assert_eq!(seen, expected, "{mounts:?}");
        }
    }

    #[test]
    fn only_what_is_shown_may_be_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        let places = Places::of(&spec(vec![Mount::read_write(&path, &path)])).unwrap();
        for (path, readable, writable) in [
            (path.join("file"), true, true),
            (path.clone(), true, true),
            (path.with_extension("beside"), false, false),
            (path.parent().unwrap().to_owned(), false, false),
            ("/usr/bin/env".into(), true, false),
            ("/dev/null".into(), true, false),
            ("/etc/shadow".into(), false, false),
            ("/".into(), false, false),
        ] {
            let seen = (places.is_readable(&path), places.is_writable(&path));
            assert_eq!(seen, (readable, writable), "{}", path.display());
        }
    }
}
