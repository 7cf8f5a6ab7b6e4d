//! Who an agent reference means: its row in the table, and the program that is started.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use probity_agent::{AgentRef, AgentTable, CommandLine, Interface, KnownAgent, is_program};
use probity_sandbox::Mount;
use probity_scope::{WithoutGit, is_sensitive, tree_of};

use crate::{
    Form, Unseated,
    programs::{self, Program},
};

/// Who wrote the command down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    User,
    /// A file of the repository, which may be anybody's.
    Repository,
}

/// An agent, and how it is started here.
#[derive(Debug)]
pub(crate) struct Identity<'a> {
    pub(crate) row: Option<&'a KnownAgent>,
    /// With the files of its command named so that they mean the same wherever it runs.
    pub(crate) reference: AgentRef,
    pub(crate) interface: Interface,
    pub(crate) argv: Vec<OsString>,
    /// Where the program is, unless an image has it.
    pub(crate) program: Option<Program>,
    /// What shows the files of the command to a sandboxed process.
    pub(crate) files: Vec<Mount>,
}

/// Where programs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    Host,
    /// A bare name is the image's own; a path is shown to the container.
    Image,
}

impl Identity<'_> {
    /// The program and those that it starts; an image has its own.
    pub(crate) fn shown_programs(&self) -> Vec<PathBuf> {
        let Some(program) = &self.program else { return Vec::new() };
        let started = self.row.iter().flat_map(|row| &row.starts);
        let started = started.filter_map(|name| programs::find(name));
        [program.path.clone()].into_iter().chain(started).collect()
    }
}

pub(crate) fn identify<'a>(
    reference: &AgentRef,
    table: &'a AgentTable,
    form: Form,
    named_by: NamedBy,
    place: Where,
) -> Result<Identity<'a>, Unseated> {
    let (reference, files) = with_files(reference, named_by);
    let (row, commands) = match &reference {
        AgentRef::Known(name) => {
            let row = table.get(name).ok_or_else(|| Unseated::Unknown {
                name: name.clone(),
                known: table.iter().map(|agent| agent.name.clone()).collect(),
            })?;
            (Some(row), commands(row, form))
        }
        AgentRef::Program(path) => {
            // A repository's own file of that name is not the agent, and gets none of its keys.
            let row = table.of_program(path).filter(|_| named_by == NamedBy::User);
            let row = row.ok_or_else(|| Unseated::Unknown {
                name: path.clone(),
                known: table.iter().map(|agent| agent.name.clone()).collect(),
            })?;
            (Some(row), commands_of_program(row, form, path))
        }
        AgentRef::Acp(argv) => {
            (row_of(argv, table, named_by), vec![(Interface::Acp, argv.clone(), None)])
        }
        AgentRef::Command(argv) => {
            (row_of(argv, table, named_by), vec![(Interface::CommandLine, argv.clone(), None)])
        }
        // A recording starts no process.
        AgentRef::Replay(_) => (None, vec![(Interface::Acp, Vec::new(), None)]),
    };
    let found = commands.iter().find_map(|(interface, argv, _)| {
        let name = argv.first().map(String::as_str).unwrap_or_default();
        let program = match place {
            Where::Image if !name.contains('/') => None,
            _ => Some(programs::look_up(name)?),
        };
        Some((*interface, argv, program))
    });
    let Some((interface, argv, program)) = found else {
        let known = matches!(reference, AgentRef::Known(_));
        return Err(Unseated::NotInstalled {
            agent: if known { row.map(|row| row.name.clone()) } else { None },
            programs: commands.iter().filter_map(|(_, argv, _)| argv.first().cloned()).collect(),
            install: commands.into_iter().filter_map(|(.., install)| install).collect(),
        });
    };
    let argv = argv.iter().map(OsString::from).collect();
    Ok(Identity { row, reference, interface, argv, program, files })
}

/// A way to start an agent: how it is spoken to, the command, and what installs it.
type Candidate = (Interface, Vec<String>, Option<String>);

/// The commands by which an agent of the table can be started, the preferred one first, each with
/// what installs it.
fn commands(row: &KnownAgent, form: Form) -> Vec<Candidate> {
    let acp = || (Interface::Acp, row.acp.clone(), row.install.clone());
    let line = |line: CommandLine| {
        (Interface::CommandLine, vec![line.program().to_owned()], Some(line.install().to_owned()))
    };
    match (form, row.command_line) {
        (Form::Acp, _) | (_, None) => vec![acp()],
        (Form::AcpFirst, Some(command)) => distinct(vec![acp(), line(command)]),
        (Form::CommandLine, Some(command)) => vec![line(command)],
        (Form::CommandLineFirst, Some(command)) => distinct(vec![line(command), acp()]),
    }
}

/// Those of its commands that the program at a path is for; all forms if none is for the wanted one.
fn commands_of_program(row: &KnownAgent, form: Form, path: &str) -> Vec<Candidate> {
    let of_program = |form| {
        let fitting = commands(row, form).into_iter().filter_map(|(interface, mut argv, _)| {
            let program = argv.first_mut().filter(|program| is_program(path, program))?;
            path.clone_into(program);
            Some((interface, argv, None))
        });
        fitting.collect::<Vec<Candidate>>()
    };
    let wanted = of_program(form);
    if wanted.is_empty() { of_program(Form::CommandLineFirst) } else { wanted }
}

/// One program that does both is one way.
fn distinct(mut commands: Vec<Candidate>) -> Vec<Candidate> {
    let same = |left: &[String], right: &[String]| left.first() == right.first();
    if let [(_, first, _), (_, second, _)] = commands.as_slice()
        && same(first, second)
    {
        commands.truncate(1);
    }
    commands
}

/// The row whose agent a command starts. A repository gets a row's keys only for the row's very
/// command: other arguments could send them elsewhere.
fn row_of<'a>(argv: &[String], table: &'a AgentTable, named_by: NamedBy) -> Option<&'a KnownAgent> {
    if named_by == NamedBy::Repository {
        return table.iter().find(|agent| agent.acp == argv);
    }
    let program = argv.first()?;
    let is_same = |own: &str| own == program || is_same_file(own, program);
    table.iter().find(|agent| {
        let line = agent.command_line.map(CommandLine::program);
        agent.acp.first().map(String::as_str).into_iter().chain(line).any(is_same)
    })
}

/// Whether a path leads to the program that the name means.
fn is_same_file(name: &str, path: &str) -> bool {
    if !path.contains('/') || Path::new(path).file_name() != Path::new(name).file_name() {
        return false;
    }
    let real = |path: &Path| path.canonicalize().ok();
    let named = programs::find(name).and_then(|program| real(&program));
    named.is_some() && named == real(Path::new(path))
}

/// Whether a command that a repository names may have a file shown: one of its own tree, and for its
/// first word a program outside of the user's home.
fn is_shown_to_repository(file: &Path, is_program: bool) -> bool {
    let Ok(here) = std::env::current_dir() else { return false };
    let is_own = tree_of(&here, WithoutGit::OwnDirectory).is_ok_and(|top| file.starts_with(top));
    if is_own {
        return !is_sensitive(file);
    }
    let home = crate::state::absolute("HOME").and_then(|home| home.canonicalize().ok());
    is_program && home.is_some_and(|home| !file.starts_with(home))
}

/// A command whose files have absolute names, and what shows them to a sandboxed process.
fn with_files(reference: &AgentRef, named_by: NamedBy) -> (AgentRef, Vec<Mount>) {
    let mut argv = match reference {
        AgentRef::Acp(argv) | AgentRef::Command(argv) => argv.clone(),
        AgentRef::Program(path) => {
            // The agent works in a directory of its own. What a link of that name leads to may have
            // another, and the program itself is shown anyway.
            let absolute = std::path::absolute(path).ok();
            let absolute = absolute.and_then(|path| path.into_os_string().into_string().ok());
            let path = absolute.unwrap_or_else(|| path.clone());
            return (AgentRef::Program(path), Vec::new());
        }
        AgentRef::Known(_) | AgentRef::Replay(_) => return (reference.clone(), Vec::new()),
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
            && (named_by == NamedBy::User || is_shown_to_repository(&file, index == 0))
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
