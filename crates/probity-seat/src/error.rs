//! Why an agent has no seat, and what the user can do about it.

use std::{io, path::PathBuf};

use probity_sandbox::RootError;

use crate::StateError;

#[derive(Debug, thiserror::Error)]
pub enum Unseated {
    #[error("there is no agent `{name}`")]
    Unknown { name: String, known: Vec<String> },
    #[error("{}", not_installed(.agent.as_deref(), .programs))]
    NotInstalled {
        /// The agent's name, where the program was not named itself.
        agent: Option<String>,
        programs: Vec<String>,
        /// Commands that install one of the programs.
        install: Vec<String>,
    },
    #[error("no sandbox is available for the {occupant}\n{}", .reasons.join("\n"))]
    NoSandbox {
        /// `agent`, `command` or `tests`.
        occupant: &'static str,
        /// Why each candidate was passed over.
        reasons: Vec<String>,
        /// Of an occupant that an engine would do for.
        image: Option<String>,
        flag: &'static str,
    },
    #[error(transparent)]
    Workspace(#[from] RootError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("cannot copy the login {} of {agent}: {source}", path.display())]
    Login { agent: String, path: PathBuf, source: io::Error },
    #[error("cannot use the directory {}: {source}", path.display())]
    Directory { path: PathBuf, source: io::Error },
}

impl Unseated {
    #[must_use]
    pub fn way_out(&self) -> String {
        match self {
            Self::Unknown { known, .. } => format!(
                "known agents: {}; name any other by its command, acp:COMMAND or cmd:COMMAND",
                known.join(", ")
            ),
            Self::NotInstalled { install, .. } => match install.as_slice() {
                [] => "install it, or name another agent: `probity agent list` shows what works"
                    .to_owned(),
                ways => format!(
                    "install it with `{}`; `probity agent list` shows what works",
                    ways.join("` or `")
                ),
            },
            Self::NoSandbox { occupant, image, flag, .. } => {
                let engines = image.as_ref().map_or_else(String::new, |image| {
                    format!(", or pull or build the image {image} for docker or podman")
                });
                format!(
                    "install bubblewrap{engines}, or allow what the reasons name; `{flag} none` runs \
                     the {occupant} without a sandbox, with all your rights"
                )
            }
            Self::Workspace(_) => "change to a project directory, or name one".to_owned(),
            Self::State(error) => error.way_out().to_owned(),
            Self::Login { .. } => {
                "remove what is in its way there; the agent may have made it".to_owned()
            }
            Self::Directory { .. } => "name a directory that exists and is readable".to_owned(),
        }
    }
}

fn not_installed(agent: Option<&str>, programs: &[String]) -> String {
    let programs: Vec<String> = programs.iter().map(|program| format!("`{program}`")).collect();
    match (agent, programs.as_slice()) {
        (None, programs) => format!("{} is not a program in your PATH", programs.join(" ")),
        (Some(agent), [program]) => {
            format!("{agent} is not installed: {program} is not a program in your PATH")
        }
        (Some(agent), programs) => {
            format!("{agent} is not installed: neither {} is in your PATH", programs.join(" nor "))
        }
    }
}
