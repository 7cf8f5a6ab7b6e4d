//! How agents are started: by the code of `exec`, or directly where a test asks for that.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_proxy::{LaunchError, Launcher, Process, Started, Usage, Workspace};
use probity_sandbox::{
    Backend, Child, Kind, Mount, Network, Root, Spec, User, spawn, workspace_root,
};

use super::agents::Agent;
use crate::{
    commands::{agent::programs, exec},
    containment::{Containment, DEFAULT_IMAGE, State, Terminals},
};

/// Agents in the workspace's own containment.
pub(super) struct Sandboxed {
    agent: Agent,
    /// Or why there is no place for it, without which nothing can be contained.
    state: anyhow::Result<State>,
    terminals: Terminals,
}

impl Sandboxed {
    pub(super) fn new(agent: Agent, state: anyhow::Result<State>, terminals: Terminals) -> Self {
        Self { agent, state, terminals }
    }

    fn prepared(&self, root: &Root) -> anyhow::Result<(Backend, Spec)> {
        let state = self.state.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
        state.refuse_inside(root)?;
        let containment = Containment::load(root, state)?;
        for ignored in &containment.ignored {
            tracing::warn!("{ignored}");
        }
        let image = containment.image.clone().or_else(|| self.agent.image.clone());
        let image = image.unwrap_or_else(|| DEFAULT_IMAGE.to_owned());
        let preference = exec::preference(None, containment.runtime);
        let (kind, program) = exec::chosen(preference, &image, containment.reach.is_some())?;
        let command = self.agent.argv.iter().map(OsString::from).collect();
        let home = self.agent.home(kind, root, state)?;
        let mut spec = exec::spec(kind, command, &root.path, root, &home, &containment)?;
        spec.env.push(("CAI_NO_UPDATE_CHECK".into(), "1".into()));
        let inside = self.agent.known.iter().flat_map(|known| &known.inside);
        spec.env.extend(inside.map(|(name, value)| (name.into(), value.into())));
        if kind == Kind::Bubblewrap {
            self.show_installation(&mut spec);
        }
        Ok((exec::backend(kind, program, image, root, state), spec))
    }

    /// What is installed for the user is not in a minimal root: the agent's own installation is
    /// shown, and nothing else of the user's.
    fn show_installation(&self, spec: &mut Spec) {
        let name = self.agent.argv.first().map(String::as_str).unwrap_or_default();
        let Some(program) = programs::find(name) else { return };
        spec.mounts.extend(programs::mounts_of(&program));
        if let Some(first) = spec.argv.first_mut() {
            *first = program.into_os_string();
        }
        if let Some(path) = env::var_os("PATH") {
            spec.env.push(("PATH".into(), path));
        }
    }
}

impl Launcher for Sandboxed {
    fn workspace(&self, cwd: &Path) -> Result<Workspace, LaunchError> {
        let root =
            workspace_root(cwd).map_err(|error| LaunchError::Workspace(error.to_string()))?;
        let mut workspace = Workspace::new(root.path.clone(), cwd.to_owned());
        workspace.read_only = read_only(Some(&root), &root.path);
        workspace.terminals = self.terminals == Terminals::Editor;
        Ok(workspace)
    }

    fn start(&self, workspace: &Workspace) -> Result<Started, LaunchError> {
        let failed = |error: anyhow::Error| LaunchError::Start(format!("{error:#}"));
        let root = workspace_root(&workspace.root).map_err(|error| failed(error.into()))?;
        let (backend, spec) = self.prepared(&root).map_err(failed)?;
        let is_here = !matches!(backend, Backend::Engine(_));
        started(&backend, &spec, |child| Box::new(Watched::new(child, &root, is_here)))
    }
}

/// A contained agent, and the watch over the git directory that it can write to.
struct Watched {
    /// Gone before the watch is.
    child: Option<Child>,
    /// Whether the child is the agent; an engine's is only its client.
    is_here: bool,
    guard: Option<Guard>,
}

#[cfg(target_os = "linux")]
type Guard = Option<probity_sandbox::Guard>;
#[cfg(not(target_os = "linux"))]
type Guard = ();

impl Watched {
    fn new(child: Child, root: &Root, is_here: bool) -> Self {
        Self { child: Some(child), is_here, guard: Some(exec::guard(root)) }
    }
}

impl Process for Watched {
    fn wait(&self, timeout: Duration) -> Option<i32> {
        Process::wait(self.child.as_ref()?, timeout)
    }

    fn kill(&self) {
        self.child.iter().for_each(Process::kill);
    }

    fn usage(&self) -> Option<Usage> {
        Process::usage(self.child.as_ref().filter(|_| self.is_here)?)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(self.child.take());
        self.guard.take().into_iter().for_each(exec::report);
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
    fn workspace(&self, cwd: &Path) -> Result<Workspace, LaunchError> {
        // Nothing is contained, so that nothing speaks against any directory.
        let root = workspace_root(cwd).ok();
        let here = || cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let path = root.as_ref().map_or_else(here, |root| root.path.clone());
        let mut workspace = Workspace::new(path.clone(), cwd.to_owned());
        // The editor writes with all the user's rights, however the agent was started.
        workspace.read_only = read_only(root.as_ref(), &path);
        workspace.terminals = true;
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

/// What git obeys on the host, whether or not it is there yet: an agent must not have the editor
/// write it.
fn read_only(root: Option<&Root>, path: &Path) -> Vec<PathBuf> {
    let mounts = root.map(|root| root.mounts(&root.path)).unwrap_or_default();
    let mounted = mounts.into_iter().filter_map(|mount| match mount {
        Mount::ReadOnly { host, .. } => Some(host),
        _ => None,
    });
    let names = ["config", "config.worktree", "hooks", "modules", "commondir"];
    mounted.chain(names.map(|name| path.join(".git").join(name))).collect()
}

fn started(
    backend: &Backend,
    spec: &Spec,
    kept: impl FnOnce(Child) -> Box<dyn Process>,
) -> Result<Started, LaunchError> {
    let failed = |what: String| LaunchError::Start(what);
    let mut child = spawn(backend, spec).map_err(|error| failed(error.to_string()))?;
    for note in child.notes() {
        tracing::info!("{note}");
    }
    let missing = || failed("it was started without pipes".to_owned());
    Ok(Started {
        stdin: child.stdin.take().ok_or_else(missing)?,
        stdout: child.stdout.take().ok_or_else(missing)?,
        stderr: child.stderr.take(),
        process: kept(child),
    })
}
