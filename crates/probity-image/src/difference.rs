//! The ways in which a proposal can differ from its original, and the sentence for each.

use std::fmt;

/// A part of an image's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    Entrypoint,
    Command,
    Environment,
    User,
    Directory,
    Volumes,
    Ports,
    Labels,
    Healthcheck,
    StopSignal,
    Shell,
    OnBuild,
}

impl Setting {
    /// The instruction that sets it.
    pub fn instruction(self) -> &'static str {
        match self {
            Self::Entrypoint => "ENTRYPOINT",
            Self::Command => "CMD",
            Self::Environment => "ENV",
            Self::User => "USER",
            Self::Directory => "WORKDIR",
            Self::Volumes => "VOLUME",
            Self::Ports => "EXPOSE",
            Self::Labels => "LABEL",
            Self::Healthcheck => "HEALTHCHECK",
            Self::StopSignal => "STOPSIGNAL",
            Self::Shell => "SHELL",
            Self::OnBuild => "ONBUILD",
        }
    }
}

/// One difference between an original and a proposal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The original builds and the proposal does not.
    BuildFails {
        output: String,
    },
    Setting {
        setting: Setting,
        before: String,
        after: String,
    },
    /// A word of `ENTRYPOINT`, `CMD` or `HEALTHCHECK`, or a command of an entry script.
    ProgramMissing {
        setting: Setting,
        program: String,
    },
    ProgramNotExecutable {
        setting: Setting,
        program: String,
    },
    InterpreterMissing {
        program: String,
        interpreter: String,
    },
    LibraryMissing {
        program: String,
        library: String,
    },
    VersionMissing {
        program: String,
        library: String,
        version: String,
    },
    UserMissing {
        user: String,
    },
    DirectoryMissing {
        setting: Setting,
        path: String,
    },
    /// The image's own user could use it and no longer can.
    AccessLost {
        path: String,
    },
    /// Modes as `chmod` takes them.
    RightsChanged {
        path: String,
        before: u32,
        after: u32,
    },
    RuntimeMissing {
        runtime: &'static str,
        version: String,
    },
    RuntimeOlder {
        runtime: &'static str,
        before: String,
        after: String,
    },
    /// Packages that were built for a version that is not there.
    PackagesForOtherVersion {
        runtime: &'static str,
        version: String,
    },
    PackageMissing {
        runtime: &'static str,
        package: String,
    },
    SharedDataMissing {
        what: &'static str,
        path: String,
    },
    /// Files that the original's own instructions added; `more` counts the others in the directory.
    PathMissing {
        path: String,
        more: usize,
    },
    /// The original changes this file, and the new image has it as the context has it.
    ChangeLost {
        path: String,
    },
    StateChanged {
        before: String,
        after: String,
    },
    PortClosed {
        port: u16,
    },
    PortOpened {
        port: u16,
    },
    AnswerChanged {
        port: u16,
        before: String,
        after: String,
    },
    HealthChanged {
        before: String,
        after: String,
    },
    OutputChanged {
        before: String,
        after: String,
    },
    OpenedFileMissing {
        path: String,
    },
    CommandFails {
        output: String,
    },
    /// Worth knowing, and no reason to refuse.
    RuntimeNewer {
        runtime: &'static str,
        before: String,
        after: String,
    },
}

impl Difference {
    /// The name that reports and agents see.
    pub fn check(&self) -> &'static str {
        match self {
            Self::BuildFails { .. } => "image/build",
            Self::Setting { .. } => "image/configuration",
            Self::ProgramMissing { .. } | Self::ProgramNotExecutable { .. } => "image/entry-point",
            Self::InterpreterMissing { .. }
            | Self::LibraryMissing { .. }
            | Self::VersionMissing { .. } => "image/libraries",
            Self::UserMissing { .. }
            | Self::DirectoryMissing { .. }
            | Self::AccessLost { .. }
            | Self::RightsChanged { .. } => "image/accounts",
            Self::RuntimeMissing { .. }
            | Self::RuntimeOlder { .. }
            | Self::RuntimeNewer { .. }
            | Self::PackagesForOtherVersion { .. }
            | Self::PackageMissing { .. } => "image/runtimes",
            Self::SharedDataMissing { .. } => "image/shared-data",
            Self::PathMissing { .. } | Self::ChangeLost { .. } => "image/paths",
            Self::StateChanged { .. }
            | Self::PortClosed { .. }
            | Self::PortOpened { .. }
            | Self::AnswerChanged { .. }
            | Self::HealthChanged { .. }
            | Self::OutputChanged { .. }
            | Self::OpenedFileMissing { .. } => "image/start",
            Self::CommandFails { .. } => "image/command",
        }
    }

    /// Every check, for reports that list them.
    pub const CHECKS: &'static [&'static str] = &[
        "image/build",
        "image/configuration",
        "image/entry-point",
        "image/libraries",
        "image/accounts",
        "image/runtimes",
        "image/shared-data",
        "image/paths",
        "image/start",
        "image/command",
    ];

    /// Whether a proposal with this difference is refused.
    pub fn is_harmful(&self) -> bool {
        !matches!(self, Self::RuntimeNewer { .. })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuildFails { output } => {
                write!(out, "the original builds and the fixed file does not: {output}")
            }
            Self::Setting { setting, before, after } => {
                let name = setting.instruction();
                write!(out, "{name} changes from {} to {}", shown(before), shown(after))
            }
            Self::ProgramMissing { setting, program } => {
                let name = setting.instruction();
                write!(out, "{name} needs {program}, which is not in the new image")
            }
            Self::ProgramNotExecutable { setting, program } => {
                let name = setting.instruction();
                write!(out, "{name} needs {program}, which is not executable in the new image")
            }
            Self::InterpreterMissing { program, interpreter } => {
                write!(out, "{program} needs {interpreter}, which is not in the new image")
            }
            Self::LibraryMissing { program, library } => {
                write!(out, "{program} needs the library {library}, which is not in the new image")
            }
            Self::VersionMissing { program, library, version } => {
                write!(out, "{program} needs {version} of {library}, which the new image lacks")
            }
            Self::UserMissing { user } => {
                write!(out, "USER {user} does not exist in the new image")
            }
            Self::DirectoryMissing { setting, path } => {
                let name = setting.instruction();
                write!(out, "{name} {path} does not exist in the new image")
            }
            Self::AccessLost { path } => {
                write!(out, "the image's user can use {path} in the original only")
            }
            Self::RightsChanged { path, before, after } => {
                write!(out, "the mode of {path} changes from {before:o} to {after:o}")
            }
            Self::RuntimeMissing { runtime, version } => {
                write!(out, "{runtime} {version} is not in the new image")
            }
            Self::RuntimeOlder { runtime, before, after } => {
                write!(out, "{runtime} changes from {before} to the older {after}")
            }
            Self::RuntimeNewer { runtime, before, after } => {
                write!(out, "{runtime} changes from {before} to {after}")
            }
            Self::PackagesForOtherVersion { runtime, version } => write!(
                out,
                "the new image has packages for {runtime} {version} without that version"
            ),
            Self::PackageMissing { runtime, package } => {
                write!(out, "the {runtime} package {package} is not in the new image")
            }
            Self::SharedDataMissing { what, path } => {
                write!(out, "the new image has no {what} ({path})")
            }
            Self::PathMissing { path, more: 0 } => write!(out, "{path} is not in the new image"),
            Self::PathMissing { path, more } => {
                write!(out, "{path} and {more} more files beside it are not in the new image")
            }
            Self::ChangeLost { path } => {
                write!(
                    out,
                    "the original changes {path} after it was copied, and the new image does not"
                )
            }
            Self::StateChanged { before, after } => {
                write!(out, "the original {before} and the new image {after}")
            }
            Self::PortClosed { port } => {
                write!(out, "port {port} listens in the original and not in the new image")
            }
            Self::PortOpened { port } => {
                write!(out, "port {port} listens in the new image and not in the original")
            }
            Self::AnswerChanged { port, before, after } => {
                write!(out, "GET on port {port} answers {before} in the original, then {after}")
            }
            Self::HealthChanged { before, after } => {
                write!(out, "the health check says {before} in the original, then {after}")
            }
            Self::OutputChanged { before, after } => {
                let (before, after) = (shown(before), shown(after));
                write!(out, "the first output changes from {before} to {after}")
            }
            Self::OpenedFileMissing { path } => {
                write!(out, "the original opens {path}, which is not in the new image")
            }
            Self::CommandFails { output } => {
                write!(out, "ai.proof-command succeeds in the original only: {output}")
            }
        }
    }
}

fn shown(value: &str) -> String {
    if value.is_empty() { "nothing".to_owned() } else { format!("`{value}`") }
}
