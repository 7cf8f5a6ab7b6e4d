//! Which backend to take on this machine, and why: always with the reasons.

use std::path::PathBuf;

use crate::{FoundProgram, Machine, Unusable, look_for};

/// What the user, or the capability, would rather have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// An engine if it answers and has the image already, else bubblewrap, else Landlock: for
    /// long-lived agents.
    EngineFirst,
    /// Bubblewrap, else an engine, else Landlock: for short runs.
    BubblewrapFirst,
    /// Bubblewrap, else Landlock: for tests, whose tools the images of engines do not have.
    WithoutEngines,
    /// This one or none.
    Only(BackendKind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    None,
    Bubblewrap,
    Docker,
    Podman,
    Landlock,
}

impl BackendKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bubblewrap => "bubblewrap",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Landlock => "landlock",
        }
    }
}

/// The answer. Without a choice nothing may run: whether to go on uncontained is not decided
/// here, but asked for with `Preference::Only(Kind::None)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub chosen: Option<(BackendKind, PathBuf)>,
    pub reasons: Vec<String>,
}

/// Whether the caller can do with what was found: a function of its own, since pulling an image, say, is
/// not a thing to happen by the way.
pub type Suits<'a> = dyn Fn(BackendKind, &FoundProgram) -> Result<(), Unusable> + 'a;

/// Chooses from what was found.
pub fn choose(preference: Preference, machine: &Machine, suits: &Suits<'_>) -> Choice {
    decide(preference, &|kind| machine.found(kind), suits)
}

/// Chooses on this machine, and looks only as far as it must: what comes after the one that is
/// taken is not asked, since an engine's answer takes longer than a sandbox.
pub fn choose_here(preference: Preference, suits: &Suits<'_>) -> Choice {
    decide(preference, &look_for, suits)
}

impl BackendKind {
    /// Whether programs come from an image.
    pub fn is_engine(self) -> bool {
        matches!(self, Self::Docker | Self::Podman)
    }
}

/// Whether a list of allowed hosts can be enforced with this backend, by whoever we are: the
/// namespaces of docker's containers belong to root.
pub fn enforces_allowlist(kind: BackendKind) -> Result<(), Unusable> {
    match kind {
        BackendKind::None => Err(Unusable::NetworkOfTheHost),
        _ if cfg!(not(target_os = "linux")) => Err(Unusable::OnlyOnLinux),
        BackendKind::Landlock => Err(Unusable::NoOwnNetwork),
        BackendKind::Docker if !rustix::process::geteuid().is_root() => Err(Unusable::OnlyForRoot),
        BackendKind::Bubblewrap | BackendKind::Docker | BackendKind::Podman => Ok(()),
    }
}

fn decide(
    preference: Preference,
    find: &dyn Fn(BackendKind) -> Result<FoundProgram, Unusable>,
    suits: &Suits<'_>,
) -> Choice {
    let order: &[BackendKind] = match preference {
        Preference::Only(BackendKind::None) => {
            let reasons = vec!["none: you asked for no sandbox".to_owned()];
            return Choice { chosen: Some((BackendKind::None, PathBuf::new())), reasons };
        }
        Preference::Only(BackendKind::Bubblewrap) => &[BackendKind::Bubblewrap],
        Preference::Only(BackendKind::Docker) => &[BackendKind::Docker],
        Preference::Only(BackendKind::Podman) => &[BackendKind::Podman],
        Preference::Only(BackendKind::Landlock) => &[BackendKind::Landlock],
        Preference::EngineFirst => &[
            BackendKind::Docker,
            BackendKind::Podman,
            BackendKind::Bubblewrap,
            BackendKind::Landlock,
        ],
        Preference::BubblewrapFirst => &[
            BackendKind::Bubblewrap,
            BackendKind::Docker,
            BackendKind::Podman,
            BackendKind::Landlock,
        ],
        Preference::WithoutEngines => &[BackendKind::Bubblewrap, BackendKind::Landlock],
    };
    let mut reasons = Vec::new();
    for kind in order {
        let found = find(*kind).and_then(|found| suits(*kind, &found).map(|()| found));
        match found {
            Ok(found) => {
                reasons.push(format!("{}: version {}", kind.name(), found.version));
                return Choice { chosen: Some((*kind, found.program)), reasons };
            }
            Err(why) => reasons.push(format!("{}: {why}", kind.name())),
        }
    }
    Choice { chosen: None, reasons }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::{BackendKind, Choice, FoundProgram, Machine, Preference, Unusable, choose, decide};

    fn machine(bubblewrap: bool, docker: bool, podman: bool, landlock: bool) -> Machine {
        let found = |is: bool, name: &'static str| -> Result<FoundProgram, Unusable> {
            let found =
                FoundProgram { program: format!("/bin/{name}").into(), version: "1.2".to_owned() };
            is.then_some(found).ok_or(Unusable::NotInstalled { program: name, package: None })
        };
        Machine {
            bubblewrap: found(bubblewrap, "bwrap"),
            docker: found(docker, "docker"),
            podman: found(podman, "podman"),
            landlock: found(landlock, "landlock"),
            user_namespaces: Ok(()),
            cgroups: Ok(()),
        }
    }

    fn no_image() -> Unusable {
        Unusable::ImageMissing { image: "x".to_owned(), program: "docker".to_owned() }
    }

    #[test]
    fn the_order_is_the_preferences_and_nothing_is_chosen_unasked() {
        use BackendKind::{Bubblewrap, Docker, Landlock, Podman};
        use Preference::{BubblewrapFirst, EngineFirst, Only, WithoutEngines};
        for (preference, (bubblewrap, docker, podman, landlock), image, expected) in [
            (EngineFirst, (true, true, true, true), true, Some(Docker)),
            (EngineFirst, (true, true, true, true), false, Some(Bubblewrap)),
            (EngineFirst, (true, false, true, true), true, Some(Podman)),
            (EngineFirst, (false, true, false, false), false, None),
            (EngineFirst, (false, true, false, true), false, Some(Landlock)),
            (BubblewrapFirst, (true, true, true, true), true, Some(Bubblewrap)),
            (BubblewrapFirst, (false, true, true, true), true, Some(Docker)),
            (BubblewrapFirst, (false, true, true, true), false, Some(Landlock)),
            (BubblewrapFirst, (false, false, false, false), true, None),
            (WithoutEngines, (true, true, true, true), true, Some(Bubblewrap)),
            (WithoutEngines, (false, true, true, true), true, Some(Landlock)),
            (WithoutEngines, (false, true, true, false), true, None),
            (Only(Docker), (true, false, true, true), true, None),
            (Only(BackendKind::None), (true, true, true, true), true, Some(BackendKind::None)),
        ] {
            let has_image = |kind: BackendKind, _: &FoundProgram| -> Result<(), Unusable> {
                (image || !kind.is_engine()).then_some(()).ok_or_else(no_image)
            };
            let machine = machine(bubblewrap, docker, podman, landlock);
            let Choice { chosen, reasons } = choose(preference, &machine, &has_image);
            assert_eq!(chosen.map(|(kind, _)| kind), expected, "{preference:?}: {reasons:?}");
            assert!(!reasons.is_empty());
        }
    }

    #[test]
    fn every_backend_that_was_passed_over_has_its_reason() {
        let machine = machine(true, true, false, true);
        let has_image = |kind: BackendKind, _: &FoundProgram| {
            if kind.is_engine() { Err(no_image()) } else { Ok(()) }
        };
        let choice = choose(Preference::EngineFirst, &machine, &has_image);
        assert_eq!(
            choice.reasons,
            [
                "docker: the image x is not there; get it: docker pull x",
                "podman: podman is not installed",
                "bubblewrap: version 1.2"
            ]
        );
    }

    #[test]
    fn nothing_is_asked_that_the_choice_does_not_need() {
        use BackendKind::{Bubblewrap, Docker, Podman};
        for (preference, present, asked) in [
            (Preference::EngineFirst, Docker, &[Docker][..]),
            (Preference::EngineFirst, Bubblewrap, &[Docker, Podman, Bubblewrap]),
            (Preference::BubblewrapFirst, Bubblewrap, &[Bubblewrap]),
            (Preference::Only(Podman), Bubblewrap, &[Podman]),
            (Preference::Only(BackendKind::None), Bubblewrap, &[]),
        ] {
            let seen = RefCell::new(Vec::new());
            let find = |kind: BackendKind| {
                seen.borrow_mut().push(kind);
                let found = FoundProgram { program: "/x".into(), version: "1".to_owned() };
                (kind == present).then_some(found).ok_or(Unusable::Unasked)
            };
            decide(preference, &find, &|_, _| Ok(()));
            assert_eq!(*seen.borrow(), asked, "{preference:?}");
        }
    }
}
