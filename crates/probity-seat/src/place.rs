//! Seats: a request in, a placed process or the reason why there is none out.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use probity_agent::{
    Agent, AgentError, AgentRef, AgentTable, Answer, Cancel, CommandOptions, Files, Interface,
    OpenOptions, Seat, StderrTap, Turn, open,
};
use probity_sandbox::{
    Backend, BackendKind, Choice, Engine, FoundProgram, Root, Spec, choose_here,
    enforces_allowlist, has_image,
};

use crate::{
    Caller, DEFAULT_IMAGE, Form, Grants, Policy, Sandbox, State, Terms, Unseated,
    containers::Containers,
    identity::{Identity, NamedBy, Where, identify},
    logins::{LoginWatch, Logins},
    placing::Placing,
    scratch::{ScratchHome, ScratchHomes},
};

/// Whoever is to be seated.
#[derive(Clone, Copy, Debug)]
pub enum Occupant<'a> {
    Agent(&'a AgentRef),
    /// A program and its arguments, which is no agent.
    Command(&'a [OsString]),
}

/// One process to be placed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub caller: Caller,
    pub occupant: Occupant<'a>,
    pub named_by: NamedBy,
    /// Another form than the caller's row has.
    pub form: Option<Form>,
    pub sandbox: Sandbox,
    /// What the row's directory rule is about. An agent that is shown nothing and is not sandboxed
    /// starts here.
    pub directory: &'a Path,
    /// Directories beside the workspace, of a caller that works in one.
    pub directories: &'a [Root],
    /// Variables that the command line names.
    pub variables: &'a [String],
    pub terms: &'a Terms,
}

/// Who can be seated here, and what each of them is given; one for a run.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "a tap of stderr is a function")]
pub struct Seats {
    pub(crate) table: AgentTable,
    pub(crate) grants: Grants,
    stderr: Option<StderrTap>,
    containers: Containers,
    /// After the containers that see them.
    pub(crate) scratch: ScratchHomes,
    /// Looking costs a process or two, and a run may seat hundreds.
    choices: Mutex<Vec<(ChoiceKey, Choice)>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ChoiceKey {
    sandbox: Sandbox,
    caller: Caller,
    image: String,
    allowlist: bool,
}

/// A placed process: nothing is started yet.
#[derive(Clone, Debug)]
pub struct Seated {
    /// The agent, with the files of its command named as it will find them.
    pub reference: Option<AgentRef>,
    pub interface: Interface,
    /// The backend and all of the spec.
    pub seat: Seat,
    pub contained: Contained,
    /// Of a caller that works in a workspace.
    pub root: Option<Root>,
    /// Directories that it can work in beside the workspace.
    pub directories: Vec<Root>,
    table: Arc<AgentTable>,
    logins: Option<Arc<Logins>>,
    /// The working directory of a process whose sandbox can make none.
    empty: Option<Arc<ScratchHome>>,
}

/// What is between an agent and the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contained {
    By(BackendKind),
    /// The user said `none`.
    NotAsked,
    /// A recording starts no process.
    NoProcess,
}

impl fmt::Display for Contained {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(kind) => formatter.write_str(kind.name()),
            Self::NotAsked => formatter.write_str("none, as requested"),
            Self::NoProcess => formatter.write_str("none: a recording starts no process"),
        }
    }
}

/// What was decided before anything is made for a process.
struct Decision<'a> {
    kind: BackendKind,
    /// The program of the sandbox.
    program: PathBuf,
    image: String,
    contained: Contained,
    identity: Option<Identity<'a>>,
}

impl Decision<'_> {
    fn no_process() -> Self {
        Self {
            kind: BackendKind::None,
            program: PathBuf::new(),
            image: String::new(),
            contained: Contained::NoProcess,
            identity: None,
        }
    }
}

impl Seats {
    /// `stderr` sees what agents write to standard error while they run.
    #[must_use]
    pub fn new(table: AgentTable, grants: Grants, stderr: Option<StderrTap>) -> Self {
        Self { table, grants, stderr, ..Self::default() }
    }

    #[must_use]
    pub fn table(&self) -> &AgentTable {
        &self.table
    }

    /// What would sandbox a process, or why it cannot be placed. Nothing is made for it.
    pub fn preview(&self, request: &Request<'_>) -> Result<Contained, Unseated> {
        self.decide(request).map(|decision| decision.contained)
    }

    pub fn seat(&self, request: &Request<'_>) -> Result<Seated, Unseated> {
        let Decision { kind, program, image, contained, identity } = self.decide(request)?;
        if let Occupant::Agent(reference @ AgentRef::Replay(_)) = request.occupant {
            return Ok(self.replay(reference));
        }
        let policy = request.caller.policy();
        let placing = Placing::new(self, request, policy, kind, &contained, identity)?;
        let spec = placing.spec()?;
        let backend = match kind {
            BackendKind::None => Backend::None,
            BackendKind::Bubblewrap => Backend::Bubblewrap { program },
            BackendKind::Landlock => Backend::Landlock,
            BackendKind::Docker | BackendKind::Podman => {
                let state = State::find()?.directory;
                let workspace = placing.root.as_ref().map(|root| root.path.clone());
                let engine = Engine {
                    kind,
                    program,
                    image,
                    workspace: workspace.clone().unwrap_or_default(),
                    state,
                };
                Backend::Engine(match workspace {
                    Some(_) => engine,
                    None => self.containers.rent(engine, &spec.mounts)?,
                })
            }
        };
        let Placing { identity, root, logins, empty, .. } = placing;
        let (reference, interface) = match identity {
            Some(identity) => (Some(identity.reference), identity.interface),
            None => (None, Interface::Acp),
        };
        Ok(Seated {
            reference,
            interface,
            seat: Seat { backend, spec, stderr: self.stderr.clone() },
            contained,
            root,
            directories: request.directories.to_vec(),
            table: Arc::new(self.table.clone()),
            logins: logins.map(Arc::new),
            empty,
        })
    }

    fn decide<'a>(&'a self, request: &Request<'a>) -> Result<Decision<'a>, Unseated> {
        let policy = request.caller.policy();
        let reference = match request.occupant {
            Occupant::Agent(AgentRef::Replay(_)) => return Ok(Decision::no_process()),
            Occupant::Agent(reference) => Some(reference),
            Occupant::Command(_) => None,
        };
        let row = match reference {
            Some(AgentRef::Known(name)) => self.table.get(name),
            Some(AgentRef::Program(path)) => self.table.of_program(path),
            _ => None,
        };
        let image = request.terms.image.clone().or_else(|| row.and_then(|row| row.image.clone()));
        let image = image.unwrap_or_else(|| DEFAULT_IMAGE.to_owned());
        let form = request.form.unwrap_or(policy.form);
        let identify = |place| match reference {
            Some(reference) => {
                identify(reference, &self.table, form, request.named_by, place).map(Some)
            }
            None => Ok(None),
        };
        let chosen = self.chosen(request, &policy, image.clone());
        // A program that is missing is told first, since no sandbox would change that.
        let (kind, program, contained) =
            chosen.or_else(|error| identify(Where::Host).and(Err(error)))?;
        let is_engine = matches!(kind, BackendKind::Docker | BackendKind::Podman);
        let identity = identify(if is_engine { Where::Image } else { Where::Host })?;
        Ok(Decision { kind, program, image, contained, identity })
    }

    fn replay(&self, reference: &AgentRef) -> Seated {
        let spec = Spec::new(["replay"], "/");
        Seated {
            reference: Some(reference.clone()),
            interface: Interface::Acp,
            seat: Seat { backend: Backend::None, spec, stderr: None },
            contained: Contained::NoProcess,
            root: None,
            directories: Vec::new(),
            table: Arc::new(self.table.clone()),
            logins: None,
            empty: None,
        }
    }

    fn chosen(
        &self,
        request: &Request<'_>,
        policy: &Policy,
        image: String,
    ) -> Result<(BackendKind, PathBuf, Contained), Unseated> {
        let sandbox = match request.sandbox {
            Sandbox::Auto => request.terms.sandbox,
            sandbox => sandbox,
        };
        let allowlist = request.terms.reach.is_some();
        let wanted = ChoiceKey { sandbox, caller: request.caller, image, allowlist };
        let Choice { chosen, reasons } = self.choice(&wanted, policy);
        match chosen {
            Some((BackendKind::None, _)) => {
                Ok((BackendKind::None, PathBuf::new(), Contained::NotAsked))
            }
            Some((kind, program)) => Ok((kind, program, Contained::By(kind))),
            None => Err(Unseated::NoSandbox {
                occupant: match request.occupant {
                    Occupant::Agent(_) => "agent",
                    Occupant::Command(_) => "command",
                },
                reasons,
                image: Some(wanted.image),
                flag: policy.flag,
            }),
        }
    }

    fn choice(&self, wanted: &ChoiceKey, policy: &Policy) -> Choice {
        let mut choices = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, choice)) = choices.iter().find(|(known, _)| known == wanted) {
            return choice.clone();
        }
        let asked = |kind, found: &FoundProgram| {
            if wanted.allowlist {
                enforces_allowlist(kind)?;
            }
            if kind.is_engine() { has_image(found, &wanted.image) } else { Ok(()) }
        };
        let choice = choose_here(wanted.sandbox.preference(policy.order), &asked);
        for reason in &choice.reasons {
            tracing::info!("{reason}");
        }
        choices.push((wanted.clone(), choice.clone()));
        choice
    }
}

impl Seated {
    /// A conversation with the agent; its logins are copied back when it ends.
    pub fn open(
        &self,
        command: CommandOptions,
        tap: Option<probity_agent::AcpTap>,
    ) -> Result<Box<dyn Agent>, AgentError> {
        self.converse(command, tap, None)
    }

    /// The same with files that the agent may read over the protocol.
    pub fn open_with_files(
        &self,
        command: CommandOptions,
        files: Files,
    ) -> Result<Box<dyn Agent>, AgentError> {
        self.converse(command, None, Some(files))
    }

    /// Whether the agent can be served files: an agent behind its command line cannot.
    #[must_use]
    pub fn can_read_files(&self) -> bool {
        self.interface == Interface::Acp && !matches!(self.reference, Some(AgentRef::Command(_)))
    }

    fn converse(
        &self,
        command: CommandOptions,
        tap: Option<probity_agent::AcpTap>,
        files: Option<Files>,
    ) -> Result<Box<dyn Agent>, AgentError> {
        let reference = self.reference.clone().unwrap_or_else(|| AgentRef::Acp(Vec::new()));
        let options = OpenOptions {
            table: &self.table,
            interface: self.interface,
            seat: self.seat.clone(),
            command,
            tap,
            files,
        };
        let agent = open(&reference, options)?;
        let (logins, empty) = (self.logins.clone(), self.empty.clone());
        Ok(Box::new(Conversation { agent, _logins: logins, _empty: empty }))
    }

    /// Copies changed logins back. Dropping the last of these does the same.
    pub fn keep_logins(&self) {
        self.logins.iter().for_each(|logins| logins.keep());
    }

    /// Copies logins back while a long session lasts, and not only at its end.
    #[must_use]
    pub fn watch_logins(&self) -> Option<LoginWatch> {
        self.logins.clone().map(LoginWatch::start)
    }
}

/// An agent, and its logins for as long as it may change them.
struct Conversation {
    agent: Box<dyn Agent>,
    _logins: Option<Arc<Logins>>,
    _empty: Option<Arc<ScratchHome>>,
}

impl Agent for Conversation {
    fn name(&self) -> &str {
        self.agent.name()
    }

    fn ask(
        &mut self,
        turn: &Turn,
        limits: &probity_agent::Limits,
        cancel: &Cancel,
    ) -> Result<Answer, AgentError> {
        self.agent.ask(turn, limits, cancel)
    }
}
