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
    /// Written by the supervisor for the process, because parts of it are kept: Landlock takes nothing
    /// away again of what it gives above.
    WriteBySupervisor,
    Device,
}

/// Whose rules are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Process,
    Supervisor,
}

/// Who judges what is done to a file by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    Landlock,
    /// It may be done, by the supervisor.
    Allowed,
    /// It is a part that is kept.
    Kept,
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
        places.find_kept_parts();
        Ok(places)
    }

    /// Whether writable directories have parts that are not.
    pub(super) fn keeps_parts(&self) -> bool {
        self.0.iter().any(|place| place.access == Access::WriteBySupervisor)
    }

    /// Who judges a change to what is at this path, which is one without links.
    pub(super) fn judge(&self, path: &Path) -> Judge {
        let above = |place: &&Place| path.starts_with(&place.path);
        let mut above = self.0.iter().filter(above);
        if !above.any(|place| place.access == Access::WriteBySupervisor) {
            return Judge::Landlock;
        }
        if self.is_writable(path) { Judge::Allowed } else { Judge::Kept }
    }

    /// Whether this is the beginning of a place, or on the way to one: what is there must neither be moved
    /// nor replaced. Nobody can do that to a mount, either.
    pub(super) fn is_fixed(&self, path: &Path) -> bool {
        self.0.iter().any(|place| place.path.starts_with(path))
    }

    /// The innermost place around a path decides.
    fn place_of(&self, path: &Path) -> Option<&Place> {
        let above = self.0.iter().filter(|place| path.starts_with(&place.path));
        above.max_by_key(|place| place.path.as_os_str().len())
    }

    /// A directory of ours that the process may write.
    pub(super) fn add_own(&mut self, path: PathBuf) {
        self.0.push(Place { path, access: Access::Write });
    }

    /// Whether the process may change what is here. The path is one without links.
    pub(super) fn is_writable(&self, path: &Path) -> bool {
        let access = self.place_of(path).map(|place| place.access);
        matches!(access, Some(Access::Write | Access::WriteBySupervisor))
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

    /// Directories with a part that is kept are the supervisor's to write, with all that is in them.
    fn find_kept_parts(&mut self) {
        let is_below = |place: &Place, above: &Place| {
            place.path != above.path && place.path.starts_with(&above.path)
        };
        let has_kept = |above: &Place| {
            let mut others = self.0.iter();
            above.access == Access::Write
                && others.any(|place| place.access == Access::Read && is_below(place, above))
        };
        let found: Vec<Place> = self.0.iter().filter(|place| has_kept(place)).cloned().collect();
        for place in &mut self.0 {
            let is_in = |above: &Place| place.path.starts_with(&above.path);
            if place.access == Access::Write && found.iter().any(is_in) {
                place.access = Access::WriteBySupervisor;
            }
        }
    }

    /// The rules for files, and without a network those for it.
    pub(super) fn ruleset(&self, network: Network, whose: Whose) -> io::Result<OwnedFd> {
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
            let mut allowed = place.access.rights(whose);
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
    fn rights(self, whose: Whose) -> BitFlags<AccessFs> {
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
        match self {
            Self::WriteBySupervisor if whose == Whose::Process => AccessFs::from_read(NEWEST),
            Self::Read => AccessFs::from_read(NEWEST),
            Self::Write | Self::WriteBySupervisor => AccessFs::from_all(NEWEST) & !devices,
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
            (vec![Mount::read_write(&path, &path), Mount::read_only(path.join("part/deep"), path.join("part/deep"))], None),
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
    fn the_innermost_place_decides_who_judges_a_change() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("work/git/hooks")).unwrap();
        fs::create_dir_all(path.join("work/git/objects")).unwrap();
        fs::create_dir_all(path.join("home")).unwrap();
        let own = |name: &str| path.join(name);
        let mounts = vec![
            Mount::read_write(own("work"), own("work")),
            Mount::read_write(own("work/git"), own("work/git")),
            Mount::read_only(own("work/git/hooks"), own("work/git/hooks")),
            Mount::read_write(own("home"), own("home")),
        ];
        let places = Places::of(&spec(mounts)).unwrap();
        assert!(places.keeps_parts());
        for (name, judge, is_writable, is_fixed) in [
            ("work", Judge::Allowed, true, true),
            ("work/new", Judge::Allowed, true, false),
            ("work/git", Judge::Allowed, true, true),
            ("work/git/objects", Judge::Allowed, true, false),
            ("work/git/hooks", Judge::Kept, false, true),
            ("work/git/hooks/x", Judge::Kept, false, false),
            ("work/git/hooks.d", Judge::Allowed, true, false),
            ("home/x", Judge::Landlock, true, false),
            ("other", Judge::Landlock, false, false),
        ] {
            let seen = own(name);
            assert_eq!(places.judge(&seen), judge, "{name}");
            assert_eq!(places.is_writable(&seen), is_writable, "{name}");
            assert_eq!(places.is_fixed(&seen), is_fixed, "{name}");
        }
        let places = Places::of(&spec(vec![Mount::read_write(&path, &path)])).unwrap();
        assert!(!places.keeps_parts());
        assert_eq!(places.judge(&own("work/x")), Judge::Landlock);
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
