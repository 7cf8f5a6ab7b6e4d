//! Where the reviewing agent sits, and where the tests run.

use std::{
    env,
    ffi::OsString,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use probity_agent::{
    Agent, AgentError, AgentRef, AgentTable, Answer, Cancel, CommandOptions, KnownAgent, Limits,
    OpenOptions, Seat, StopReason, Turn, Way, open,
};
use probity_review::{Unopened, answer_schema, parse_findings};
use probity_sandbox::{Backend, Mount, Network, Spec};

use super::settings::{Settings, Variables};
use crate::{
    commands::agent::{
        place::{Belongings, Containment, HARMLESS, HOME, WORKSPACE, containment, with_files},
        programs,
    },
    config::words::Sandbox,
    failure::Failure,
};

/// What it gets beside that where nothing contains it: its login lies in the home directory.
const UNCONTAINED: &[&str] =
    &["HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// More than any agent says.
const MOST_BYTES: u64 = 64 << 20;

/// Who is asked, and what holds it and the tests.
pub(super) struct Place {
    reference: AgentRef,
    name: String,
    table: AgentTable,
    files: Vec<Mount>,
    backend: Backend,
    tests: Backend,
    isolation: String,
}

impl Place {
    pub(super) fn find(settings: &Settings) -> anyhow::Result<Self> {
        let way_out = "`probity agent list` names the agents that are known";
        let reference = AgentRef::parse(&settings.agent)
            .with_context(|| Failure::new("there is no such agent", way_out))?;
        let name = reference.label();
        let (reference, files) = with_files(reference);
        // What contains the tests is asked for once, and what the user wants for the agent beside.
        let found = containment(Sandbox::Auto);
        let tests = found.as_ref().map_or(Backend::None, |found| found.backend.clone());
        let (backend, isolation) = match (&reference, settings.sandbox, found) {
            (AgentRef::Replay(_), _, _) => {
                (Backend::None, "nothing: a recording starts no process".to_owned())
            }
            (_, Sandbox::None, _) => (Backend::None, "nothing, as asked for".to_owned()),
            (_, _, Ok(Containment { backend, name })) => (backend, name),
            (_, sandbox, Err(error)) if sandbox != Sandbox::Auto => return Err(error),
            (_, _, Err(error)) => {
                tracing::warn!("the agent runs uncontained: {error}");
                let why = error.to_string();
                (Backend::None, format!("nothing: {}", why.lines().collect::<Vec<_>>().join("; ")))
            }
        };
        let table = AgentTable::shipped();
        Ok(Self { reference, name, table, files, backend, tests, isolation })
    }

    pub(super) fn agent_name(&self) -> &str {
        &self.name
    }

    pub(super) fn isolation(&self) -> &str {
        &self.isolation
    }

    pub(super) fn tests(&self) -> &Backend {
        &self.tests
    }

    /// A conversation with the agent, whose working directory is the copy.
    pub(super) fn open(
        &self,
        copy: &Path,
        settings: &Settings,
    ) -> Result<Box<dyn Agent>, Unopened> {
        if let AgentRef::Replay(file) = &self.reference
            && let Some(text) = findings_in(file)
        {
            return Ok(Box::new(Answered { name: self.name.clone(), text }));
        }
        let known = match &self.reference {
            AgentRef::Known(name) => self.table.get(name),
            _ => None,
        };
        let program = match (&self.reference, known) {
            (_, Some(agent)) if agent.command_line.is_some() => Some(agent.name.as_str()),
            (_, Some(agent)) => agent.acp.first().map(String::as_str),
            (AgentRef::Acp(argv) | AgentRef::Command(argv), _) => argv.first().map(String::as_str),
            _ => None,
        };
        let found = program.and_then(programs::find);
        if let (Some(program), None) = (program, &found) {
            return Err(Unopened {
                message: format!("`{program}` is not a program in the PATH"),
                help: "install the agent, or name another; `probity agent list` shows what works"
                    .to_owned(),
            });
        }
        let seat =
            self.seat(copy, known, found.as_deref(), settings).map_err(|error| Unopened {
                message: format!("{error:#}"),
                help: "`probity doctor` says what works here".to_owned(),
            })?;
        let options = OpenOptions {
            table: &self.table,
            way: Way::CommandLine,
            seat,
            command: CommandOptions {
                system: String::new(),
                model: settings.model.clone(),
                schema: Some(answer_schema()),
                budget: settings.budget,
            },
            tap: None,
        };
        Ok(open(&self.reference, options)?)
    }

    fn seat(
        &self,
        copy: &Path,
        known: Option<&KnownAgent>,
        program: Option<&Path>,
        settings: &Settings,
    ) -> anyhow::Result<Seat> {
        let named: Vec<String> = match &settings.variables {
            Variables::Named(names) => names.clone(),
            Variables::OfTheAgent => known.map_or_else(Vec::new, |agent| agent.variables.clone()),
        };
        let contained = self.backend != Backend::None;
        let belongings = match known {
            Some(agent) if contained => Belongings::of(agent)?,
            _ => Belongings::none(),
        };
        let more: &[&str] = if contained { &[] } else { UNCONTAINED };
        let given = named.iter().chain(&belongings.variables).map(String::as_str);
        let wanted = HARMLESS.iter().chain(more).copied().chain(given);
        let workspace: PathBuf = if contained { WORKSPACE.into() } else { copy.to_owned() };
        let mut spec = Spec::new(Vec::<OsString>::new(), workspace);
        spec.env = wanted.filter_map(|name| Some((name.into(), env::var_os(name)?))).collect();
        spec.network = Network::Open;
        if contained {
            spec.env.extend(belongings.inside);
            spec.mounts.extend(belongings.home.map(|home| Mount::read_write(home, HOME)));
            spec.mounts.push(Mount::read_write(copy, WORKSPACE));
            spec.mounts.extend(program.map(programs::mounts_of).unwrap_or_default());
            spec.mounts.extend(self.files.iter().cloned());
        }
        let stderr: Option<probity_agent::StderrTap> = tracing::enabled!(tracing::Level::INFO)
            .then(|| -> probity_agent::StderrTap {
                // Whoever asked for more wants to see what the agent says while it works.
                Arc::new(|piece| drop(io::stderr().write_all(piece.as_bytes())))
            });
        Ok(Seat { backend: self.backend.clone(), spec, stderr })
    }
}

/// An answer that is there already, and what it is asked does not matter.
struct Answered {
    name: String,
    text: String,
}

impl Agent for Answered {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, _: &Turn, _: &Limits, _: &Cancel) -> Result<Answer, AgentError> {
        let (text, stop) = (self.text.clone(), StopReason::EndTurn);
        Ok(Answer { text, stop, usage: None, denied: Vec::new(), requests: 0 })
    }
}

/// The text of a file that is one list of findings, bare or in an envelope. A recording has a line
/// for each message, and is none.
fn findings_in(file: &Path) -> Option<String> {
    let mut text = String::new();
    let file = std::fs::File::open(file).ok()?;
    io::Read::take(file, MOST_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(&text).ok()?;
    parse_findings(&text).ok().map(|_| text)
}
