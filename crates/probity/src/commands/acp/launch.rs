//! How agents are started: by the code of `exec`, or directly where a test asks for that.

use std::{
    env,
    ffi::OsString,
    fmt::Display,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_agent::Seat;
use probity_containment::{Quarantine, Watch, make_up};
use probity_proxy::{LaunchError, Launcher, Process, Started, TerminalLogin, Usage, Workspace};
use probity_sandbox::{
    Backend, Child, Network, PromiseName, Root, RootError, Spec, User, directory_root, keeps,
    spawn, workspace_root,
};
use probity_seat::{
    Caller, Contained, NamedBy, Occupant, Request, Sandbox, Seated, Seats, State, Terms,
};

use super::agents::Agent;
use crate::{
    commands::exec,
    containment::{Acp, EditorFiles, Terminals},
    exit::Exit,
    failure::Failure,
    seats::{state, terms},
};

/// Agents in the workspace's own sandbox.
pub(super) struct Sandboxed {
    pub(super) agent: Agent,
    pub(super) seats: Seats,
    /// What the command line says.
    pub(super) sandbox: Sandbox,
    /// The user's own, which a workspace tightens.
    pub(super) terms: Terms,
    pub(super) settings: Acp,
    pub(super) quarantine: Quarantine,
}

impl Sandboxed {
    /// The agent's seat in a workspace.
    fn seated(&self, caller: Caller, root: &Root, directories: &[Root]) -> anyhow::Result<Seated> {
        let terms = terms(caller, self.terms.clone(), Some(root))?;
        make_up(&state()?, Some(&root.path));
        let request = Request { directories, ..self.request(caller, &root.path, &terms) };
        Ok(self.seats.seat(&request).map_err(Failure::from)?)
    }

    fn request<'a>(&'a self, caller: Caller, directory: &'a Path, terms: &'a Terms) -> Request<'a> {
        Request {
            caller,
            occupant: Occupant::Agent(&self.agent.reference),
            named_by: NamedBy::User,
            form: None,
            sandbox: self.sandbox,
            directory,
            directories: &[],
            variables: &[],
            terms,
        }
    }

    /// Whether agents see a workspace where it is. Why they cannot be placed at all is told at their start.
    fn is_in_place(&self, caller: Caller, directory: &Path) -> bool {
        let contained = self.seats.preview(&self.request(caller, directory, &self.terms));
        match contained {
            Ok(Contained::By(kind)) => !keeps(kind, PromiseName::OtherPath),
            Ok(Contained::NotAsked) => true,
            Ok(Contained::NoProcess) | Err(_) => false,
        }
    }

    /// An agent in an empty workspace with a home that is thrown away.
    fn start_scratch(&self) -> Result<Started, LaunchError> {
        let request = self.request(Caller::Introduction, Path::new("/"), &self.terms);
        let failed = |unseated| LaunchError::Start(format!("{:#}", Failure::from(unseated)));
        let Seat { backend, spec, .. } = self.seats.seat(&request).map_err(failed)?.seat;
        started(&backend, &spec, |child| Box::new(child))
    }

    /// Runs a login where the agent itself runs, on a terminal if we have one.
    pub(super) fn log_in(&self, cwd: &Path, login: TerminalLogin) -> anyhow::Result<Exit> {
        let mut seated = self.seated(Caller::Login, &workspace_root(cwd)?, &[])?;
        let spec = &mut seated.seat.spec;
        if let Some(program) = login.program {
            spec.argv = vec![program.into()];
        }
        spec.argv.extend(login.arguments.into_iter().map(OsString::from));
        let variables = login.variables.into_iter();
        spec.env.extend(variables.map(|(name, value)| (name.into(), value.into())));
        exec::follow_on_terminal(&seated, self.quarantine)
    }
}

impl Launcher for Sandboxed {
    fn workspace(&self, cwd: &Path, more: &[PathBuf]) -> Result<Workspace, LaunchError> {
        let refused = |what: &dyn Display| LaunchError::Workspace(what.to_string());
        let root = workspace_root(cwd).map_err(|error| refused(&error))?;
        let state = State::find().map_err(|error| refused(&error))?;
        let mut workspace = Workspace::new(root.path.clone(), cwd.to_owned());
        workspace.read_only = read_only(Some(&root), &root.path);
        for more in directories(&root, more).map_err(|error| refused(&error))? {
            state.refuse_inside(&more).map_err(|error| refused(&error))?;
            workspace.read_only.extend(read_only(Some(&more), &more.path));
            workspace.directories.push(more.path);
        }
        workspace.terminals = self.settings.terminals == Terminals::Editor;
        workspace.files = self.settings.fs == EditorFiles::Editor;
        workspace.is_in_place = self.is_in_place(Caller::Editor, &root.path);
        Ok(workspace)
    }

    fn scratch(&self) -> Option<Workspace> {
        // Without a sandbox an agent would work in the user's own home; and not every sandbox has an empty
        // directory where the agent is told.
        if self.sandbox == Sandbox::None || self.is_in_place(Caller::Introduction, Path::new("/")) {
            return None;
        }
        let mut workspace = Workspace::scratch();
        workspace.terminals = self.settings.terminals == Terminals::Editor;
        workspace.files = self.settings.fs == EditorFiles::Editor;
        Some(workspace)
    }

    fn start(&self, workspace: &Workspace) -> Result<Started, LaunchError> {
        if workspace.is_scratch {
            return self.start_scratch();
        }
        let failed = |error: anyhow::Error| LaunchError::Start(format!("{error:#}"));
        let root = workspace_root(&workspace.root).map_err(|error| failed(error.into()))?;
        let more = directories(&root, &workspace.directories);
        let more = more.map_err(|error| failed(error.into()))?;
        let seated = self.seated(Caller::Editor, &root, &more).map_err(failed)?;
        let state = state().map_err(failed)?;
        let watch = Watch::start(&seated, self.quarantine, &state);
        let watch = watch.map_err(|error| failed(error.into()))?;
        let seat = seated.seat.clone();
        started(&seat.backend, &seat.spec, |child| {
            let logins = seated.watch_logins();
            Box::new(Watched { child, watch, _logins: logins, seated })
        })
    }
}

/// A sandboxed agent, and the watch over what it can write to: the git directory and its logins.
struct Watched {
    /// Before the watch, as fields are dropped in this order.
    child: Child,
    watch: Watch,
    _logins: Option<probity_seat::LoginWatch>,
    seated: Seated,
}

impl Process for Watched {
    fn wait(&self, timeout: Duration) -> Option<i32> {
        let code = Process::wait(&self.child, timeout);
        if code.is_some() {
            self.watch.end();
        }
        code
    }

    fn kill(&self) {
        Process::kill(&self.child);
        // Now, since our own end may come before this is dropped.
        self.watch.end();
    }

    fn usage(&self) -> Option<Usage> {
        // An engine's child is only its client.
        match self.seated.seat.backend {
            Backend::Engine(_) => None,
            Backend::None | Backend::Bubblewrap { .. } | Backend::Landlock => {
                Process::usage(&self.child)
            }
        }
    }
}

/// Agents as they are, with all the rights that we have: for tests alone.
pub(super) struct Direct {
    agent: Agent,
}

impl Direct {
    pub(super) fn new(agent: Agent) -> Self {
        Self { agent }
    }
}

impl Launcher for Direct {
    fn workspace(&self, cwd: &Path, more: &[PathBuf]) -> Result<Workspace, LaunchError> {
        // Nothing is contained, so that nothing speaks against any directory.
        let root = workspace_root(cwd).ok();
        let here = || cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let path = root.as_ref().map_or_else(here, |root| root.path.clone());
        let mut workspace = Workspace::new(path.clone(), cwd.to_owned());
        // The editor writes with all the user's rights, however the agent was started.
        workspace.read_only = read_only(root.as_ref(), &path);
        workspace.terminals = true;
        workspace.files = true;
        workspace.directories = more.to_vec();
        Ok(workspace)
    }

    fn start(&self, workspace: &Workspace) -> Result<Started, LaunchError> {
        let here = || env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let root = workspace.root.is_dir().then(|| workspace.root.clone());
        let mut spec = Spec::new(&self.agent.argv, root.unwrap_or_else(here));
        spec.env = env::vars_os().collect();
        spec.env.push(("CAI_NO_UPDATE_CHECK".into(), "1".into()));
        spec.env.push(("CAI_HOST_WORKSPACE".into(), workspace.root.clone().into()));
        spec.network = Network::Open;
        spec.user = User::Caller;
        started(&Backend::None, &spec, |child| Box::new(child))
    }
}

/// Directories beside a workspace as roots of their own, the outermost alone and in order: each
/// passes the checks of a workspace.
fn directories(root: &Root, named: &[PathBuf]) -> Result<Vec<Root>, RootError> {
    let roots: Result<Vec<Root>, RootError> =
        named.iter().map(|directory| directory_root(directory)).collect();
    let mut roots = roots?;
    roots.sort_by(|left, right| left.path.cmp(&right.path));
    roots.retain(|more| !more.path.starts_with(&root.path));
    // A directory comes before all that is in it.
    roots.dedup_by(|inner, outer| inner.path.starts_with(&outer.path));
    Ok(roots)
}

/// What git obeys on the host, whether or not it is there yet: an agent must not have the editor
/// write it.
fn read_only(root: Option<&Root>, path: &Path) -> Vec<PathBuf> {
    let held = root.map(Root::read_only).unwrap_or_default();
    let names = ["config", "config.worktree", "hooks", "modules", "commondir"];
    held.into_iter().chain(names.map(|name| path.join(".git").join(name))).collect()
}

fn started(
    backend: &Backend,
    spec: &Spec,
    kept: impl FnOnce(Child) -> Box<dyn Process>,
) -> Result<Started, LaunchError> {
    let failed = |what: String| LaunchError::Start(what);
    let mut child = spawn(backend, spec).map_err(|error| failed(error.to_string()))?;
    exec::say_limits(&child, &spec.limits);
    let missing = || failed("it was started without pipes".to_owned());
    Ok(Started {
        stdin: child.stdin.take().ok_or_else(missing)?,
        stdout: child.stdout.take().ok_or_else(missing)?,
        stderr: child.stderr.take(),
        process: kept(child),
    })
}
