//! Where an agent sits: what contains it, and what it is given to see.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_agent::{AgentRef, KnownAgent, Seat};
use probity_sandbox::{
    Backend, Choice, Kind, Mount, Network, Preference, Spec, choose_here, workspace_root,
};

use super::programs;
use crate::{
    config::words::Sandbox,
    containment::{Gift, State},
    failure::Failure,
};

pub(crate) const HOME: &str = "/home/agent";
pub(crate) const WORKSPACE: &str = "/home/agent/workspace";

/// Variables that say nothing of the user but how the terminal and the language are.
pub(crate) const HARMLESS: &[&str] =
    &["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "NO_COLOR"];

/// What was chosen, and how to say so.
pub(crate) struct Containment {
    pub(crate) backend: Backend,
    pub(crate) name: String,
}

/// Chooses what contains an agent. An image is not asked for, since a question should not pull one.
pub(crate) fn containment(sandbox: Sandbox) -> anyhow::Result<Containment> {
    let preference = match sandbox {
        Sandbox::Auto => Preference::BubblewrapFirst,
        Sandbox::Bubblewrap => Preference::Only(Kind::Bubblewrap),
        Sandbox::Docker => Preference::Only(Kind::Docker),
        Sandbox::Podman => Preference::Only(Kind::Podman),
        Sandbox::None => {
            let name = "nothing, as asked for".to_owned();
            return Ok(Containment { backend: Backend::None, name });
        }
    };
    let no_image = |_: Kind, _: &_| Err("not used for single questions".to_owned());
    let Choice { chosen, reasons } = choose_here(preference, &no_image);
    match chosen {
        Some((Kind::Bubblewrap, program)) => Ok(Containment {
            backend: Backend::Bubblewrap { program },
            name: "bubblewrap".to_owned(),
        }),
        _ => Err(Failure::new(
            format!("nothing here can contain an agent\n{}", reasons.join("\n")),
            "install bubblewrap, or let it run with all your rights: --sandbox none",
        )
        .into()),
    }
}

/// The seat for this program. The agent sees an empty directory, its own installation and a home
/// of its own; of the environment, what is harmless and what the user names.
pub(crate) fn seat(
    backend: &Backend,
    program: Option<&Path>,
    belongings: Belongings,
    variables: &[String],
) -> anyhow::Result<Seat> {
    if *backend == Backend::None {
        let directory = env::current_dir().context("cannot find the working directory")?;
        let mut spec = Spec::new(Vec::<OsString>::new(), directory);
        spec.env = env::vars_os().collect();
        spec.network = Network::Open;
        return Ok(Seat { backend: Backend::None, spec, stderr: None });
    }
    let mut spec = Spec::new(Vec::<OsString>::new(), WORKSPACE);
    spec.network = Network::Open;
    let given = variables.iter().chain(&belongings.variables).map(String::as_str);
    let wanted = HARMLESS.iter().copied().chain(given);
    spec.env = wanted.filter_map(|name| Some((name.into(), env::var_os(name)?))).collect();
    spec.env.extend(belongings.inside);
    if let Some(home) = belongings.home {
        spec.mounts.push(Mount::read_write(home, HOME));
    }
    spec.mounts.push(Mount::Tmpfs { inside: WORKSPACE.into(), bytes: Some(64 << 20) });
    spec.mounts.extend(program.map(programs::mounts_of).unwrap_or_default());
    Ok(Seat { backend: backend.clone(), spec, stderr: None })
}

/// What a known agent keeps and is given where it is contained.
pub(crate) struct Belongings {
    /// Its home, with the logins in it that the user gives it. Without a place for state there is none.
    pub(crate) home: Option<PathBuf>,
    /// Variables of the user's, by name.
    pub(crate) variables: Vec<String>,
    /// Variables that tell it where it is.
    pub(crate) inside: Vec<(OsString, OsString)>,
}

impl Belongings {
    /// Of an agent that is named by its command: nothing.
    pub(crate) fn none() -> Self {
        Self { home: None, variables: Vec::new(), inside: Vec::new() }
    }

    pub(crate) fn of(agent: &KnownAgent) -> anyhow::Result<Self> {
        let gift = Gift::load()?;
        let home = match home_of(agent)? {
            Some(home) => {
                gift.settle(agent, &home)?;
                Some(home)
            }
            None => None,
        };
        let inside = agent.inside.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Ok(Self { home, variables: gift.variables(agent), inside })
    }
}

fn home_of(agent: &KnownAgent) -> anyhow::Result<Option<PathBuf>> {
    if env::var_os("XDG_STATE_HOME").or_else(|| env::var_os("HOME")).is_none() {
        return Ok(None);
    }
    // What is no workspace has no root, and no other agent's home either.
    let root = env::current_dir().ok().and_then(|directory| workspace_root(&directory).ok());
    let made = State::find().and_then(|state| state.agent_home(root.as_ref(), &agent.name));
    made.map(Some).with_context(|| {
        let way_out = "set XDG_STATE_HOME to a directory that can be written";
        Failure::new(format!("there is no home for {}", agent.name), way_out)
    })
}

/// A command whose files are named so that they mean the same wherever it runs, and what shows
/// them to a contained process.
pub(crate) fn with_files(reference: AgentRef) -> (AgentRef, Vec<Mount>) {
    let (AgentRef::Acp(mut argv) | AgentRef::Command(mut argv)) = reference.clone() else {
        return (reference, Vec::new());
    };
    let mut mounts = Vec::new();
    for (index, word) in argv.iter_mut().enumerate() {
        // A bare word is more often a subcommand than a file.
        let looks_like_a_file =
            if index == 0 { word.contains('/') } else { word.contains(['/', '.']) };
        if !looks_like_a_file {
            continue;
        }
        if let Some(file) = programs::real_file(word)
            && let Some(name) = file.to_str()
        {
            *word = name.to_owned();
            mounts.push(Mount::read_only(&file, &file));
        }
    }
    let reference = match reference {
        AgentRef::Acp(_) => AgentRef::Acp(argv),
        _ => AgentRef::Command(argv),
    };
    (reference, mounts)
}
