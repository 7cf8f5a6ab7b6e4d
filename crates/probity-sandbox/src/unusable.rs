//! Why a means of containment cannot be used here, and the way out.

use std::path::PathBuf;

/// A clone of it is a row of a report, so causes are kept as their text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("never chosen unasked")]
    Unasked,
    #[error("{program} is not installed{}", package.map(|name| format!(" (the package is {name})")).unwrap_or_default())]
    NotInstalled {
        program: &'static str,
        /// If the package has another name.
        package: Option<&'static str>,
    },
    #[error("{program} does not answer: {why}")]
    NoAnswer { program: String, why: String },
    /// Bubblewrap is there and starts nothing.
    #[error("{why}{}", setting.map(|setting| format!("; {setting}")).unwrap_or_default())]
    StartsNothing { why: String, setting: Option<ForbiddingSetting> },
    #[error("{0}")]
    Forbidden(ForbiddingSetting),
    #[error("{why}")]
    NoGroup { why: String },
    #[error(
        "the image {image} is not there; build it: probity agent image | {program} build -t {image} -"
    )]
    OwnImageMissing { image: String, program: String },
    #[error("the image {image} is not there; get it: {program} pull {image}")]
    ImageMissing { image: String, program: String },
    #[error("the kernel has no Landlock, or a filter around this process forbids it")]
    NoLandlock,
    #[error(
        "the kernel's Landlock is version {version}, which keeps no signal inside; version 6 does \
         (Linux 6.12)"
    )]
    OldLandlock { version: u32 },
    #[error("a list of allowed hosts cannot be enforced without a network of its own")]
    NoOwnNetwork,
    #[error("nothing can be enforced on the network of the host")]
    NetworkOfTheHost,
    #[error("a list of allowed hosts can be enforced on Linux alone")]
    OnlyOnLinux,
    #[error(
        "a list of allowed hosts can be enforced in docker's containers by root alone; bubblewrap \
         enforces it for everybody"
    )]
    OnlyForRoot,
}

/// A setting of the kernel by which a machine forbids user namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForbiddingSetting {
    #[error(
        "AppArmor forbids user namespaces: install a profile for bwrap, or set \
         kernel.apparmor_restrict_unprivileged_userns=0"
    )]
    AppArmor,
    #[error("user namespaces are off: set kernel.unprivileged_userns_clone=1")]
    Clone,
    #[error("user namespaces are off: set user.max_user_namespaces to more than 0")]
    Number,
}

impl ForbiddingSetting {
    const ALL: [Self; 3] = [Self::AppArmor, Self::Clone, Self::Number];

    /// The one that this machine has.
    pub(crate) fn here() -> Option<Self> {
        Self::ALL.into_iter().find(|setting| {
            let (path, closed) = setting.file();
            std::fs::read_to_string(path).is_ok_and(|text| text.trim() == closed)
        })
    }

    /// Where the kernel shows it, and the value that forbids.
    fn file(self) -> (PathBuf, &'static str) {
        let (name, closed) = match self {
            Self::AppArmor => ("kernel/apparmor_restrict_unprivileged_userns", "1"),
            Self::Clone => ("kernel/unprivileged_userns_clone", "0"),
            Self::Number => ("user/max_user_namespaces", "0"),
        };
        (PathBuf::from("/proc/sys").join(name), closed)
    }
}
