//! One process on its way into its seat: its home, directory, programs, variables and mounts.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use probity_agent::KnownAgent;
use probity_sandbox::{
    BackendKind, Limits, Mount, PromiseName, Root, Spec, User, keeps, workspace_root,
};

use crate::{
    Caller, Contained, Occupant, Policy, Request, Seats, State, StateError, Unseated,
    environment::{self, SYSTEM_PATH},
    identity::Identity,
    logins::{Keeping, Logins},
    policy::{Directory, Home},
    programs,
    scratch::ScratchHome,
};

/// The home of a sandboxed process.
const HOME: &str = "/home/agent";

/// Its working directory, or the workspace beside the workspace's own path.
const WORKSPACE: &str = "/home/agent/workspace";

/// Room for what an agent writes that is shown nothing.
const EMPTY_BYTES: u64 = 64 << 20;

pub(crate) struct Placing<'a> {
    seats: &'a Seats,
    request: &'a Request<'a>,
    policy: Policy,
    kind: BackendKind,
    contained: &'a Contained,
    pub(crate) identity: Option<Identity<'a>>,
    pub(crate) root: Option<Root>,
    home: Option<PathBuf>,
    /// An empty directory, for a sandbox that cannot make one.
    pub(crate) empty: Option<Arc<ScratchHome>>,
    pub(crate) logins: Option<Logins>,
}

impl<'a> Placing<'a> {
    pub(crate) fn new(
        seats: &'a Seats,
        request: &'a Request<'a>,
        policy: Policy,
        kind: BackendKind,
        contained: &'a Contained,
        identity: Option<Identity<'a>>,
    ) -> Result<Self, Unseated> {
        let root = match policy.directory {
            Directory::Workspace => Some(workspace_root(request.directory)?),
            Directory::Empty | Directory::ReadOnly | Directory::Writable => None,
        };
        let mut placing = Self {
            seats,
            request,
            policy,
            kind,
            contained,
            identity,
            root,
            home: None,
            empty: None,
            logins: None,
        };
        if placing.policy.directory == Directory::Empty && placing.kind == BackendKind::Landlock {
            let state = State::find()?;
            placing.empty = Some(seats.scratch.home(&state, kind, "empty")?);
        }
        placing.settle()?;
        Ok(placing)
    }

    /// Whether the process sees directories where they are, and nowhere else.
    fn sees_real_paths(&self) -> bool {
        !keeps(self.kind, PromiseName::OtherPath)
    }

    fn row(&self) -> Option<&'a KnownAgent> {
        self.identity.as_ref().and_then(|identity| identity.row)
    }

    /// What the agent's home is called after.
    fn name(&self) -> String {
        let identity = self.identity.as_ref();
        let label = || identity.map_or_else(String::new, |identity| identity.reference.label());
        self.row().map_or_else(label, |row| row.name.clone())
    }

    /// Finds the home and brings its logins up to date.
    fn settle(&mut self) -> Result<(), Unseated> {
        let is_question = self.root.is_none();
        if is_question && (self.kind == BackendKind::None || self.row().is_none()) {
            return Ok(());
        }
        let state = match State::find() {
            // A question can be asked without anything being kept.
            Err(StateError::NoPlace) if is_question => return Ok(()),
            found => found?,
        };
        if let Some(root) = &self.root {
            state.refuse_inside(root)?;
            if !self.reaches_home(root)? {
                tracing::info!("the home is new each time: the workspace has another owner");
                return Ok(());
            }
        }
        let home = match (self.policy.home, &self.root) {
            (Home::Scratch, _) => return Ok(()),
            (Home::Run, _) => return self.settle_for_this_run(&state),
            (Home::Workspace, Some(root)) => state.workspace_home(root)?,
            // An engine has one container for a workspace, and that has one home: agents that
            // share the container could look into each other's anyway.
            (Home::Agent, Some(root))
                if matches!(self.kind, BackendKind::Docker | BackendKind::Podman) =>
            {
                state.workspace_home(root)?
            }
            (Home::Agent, Some(root)) => state.agent_home(Some(root), &self.name())?,
            (_, None) => {
                // What is no workspace has no root, and no other agent's home either.
                let here = std::env::current_dir().ok();
                let root = here.and_then(|directory| workspace_root(&directory).ok());
                state.agent_home(root.as_ref(), &self.name())?
            }
        };
        if let Some(row) = self.row() {
            let keeping = Keeping::Changes;
            self.logins = Some(Logins::settle(&state, &self.seats.grants, row, &home, keeping)?);
        }
        self.home = Some(home);
        Ok(())
    }

    /// A home for this run alone. Of what the agent leaves there, only a renewed login is kept.
    fn settle_for_this_run(&mut self, state: &State) -> Result<(), Unseated> {
        let Some(row) = self.row() else { return Ok(()) };
        let scratch = self.seats.scratch.home(state, self.kind, &row.name)?;
        let (grants, home) = (&self.seats.grants, scratch.path().to_owned());
        let keeping = Keeping::Renewed(scratch);
        self.logins = Some(Logins::settle(state, grants, row, &home, keeping)?);
        self.home = Some(home);
        Ok(())
    }

    /// Whether the process can have its home from our state directory. As root we run as the owner
    /// of the workspace, which then has no way into root's directories; engines mount as
    /// root.
    fn reaches_home(&self, root: &Root) -> Result<bool, Unseated> {
        let metadata = fs::metadata(&root.path);
        let owner = metadata
            .map_err(|source| Unseated::Directory { path: root.path.clone(), source })?
            .uid();
        let root_for_another = rustix::process::geteuid().is_root() && owner != 0;
        Ok(!matches!(self.kind, BackendKind::Bubblewrap | BackendKind::Landlock)
            || !root_for_another)
    }

    pub(crate) fn spec(&self) -> Result<Spec, Unseated> {
        let argv = match (&self.identity, self.request.occupant) {
            (Some(identity), _) => self.argv(identity),
            (None, Occupant::Command(command)) => command.to_vec(),
            (None, Occupant::Agent(_)) => Vec::new(),
        };
        let mut spec = Spec::new(argv, self.working_directory()?);
        spec.env = self.environment();
        spec.mounts = self.mounts();
        let terms = self.request.terms;
        spec.network = terms.network;
        spec.reach.clone_from(&terms.reach);
        // A question that runs as the user has the user's limits.
        spec.limits = match (&self.root, self.kind) {
            (None, BackendKind::None) => Limits::default(),
            _ => terms.limits,
        };
        spec.user = match &self.root {
            Some(root) => User::OwnerOf(root.path.clone()),
            None => User::Caller,
        };
        Ok(spec)
    }

    /// On the host a program is started by its whole name.
    fn argv(&self, identity: &Identity<'_>) -> Vec<OsString> {
        let mut argv = identity.argv.clone();
        if let (Some(first), Some(program)) = (argv.first_mut(), &identity.program) {
            *first = program.path.clone().into_os_string();
        }
        argv
    }

    fn working_directory(&self) -> Result<PathBuf, Unseated> {
        let directory = self.request.directory;
        let real = || {
            let path = directory.to_owned();
            directory.canonicalize().map_err(|source| Unseated::Directory { path, source })
        };
        if let Some(empty) = &self.empty {
            return Ok(empty.path().to_owned());
        }
        let Some(root) = &self.root else {
            let is_shown = match self.policy.directory {
                Directory::Empty => self.kind == BackendKind::None,
                _ => self.sees_real_paths(),
            };
            return if is_shown { real() } else { Ok(WORKSPACE.into()) };
        };
        let real = real()?;
        if self.kind != BackendKind::None && self.sees_real_paths() {
            return Ok(real);
        }
        let below = real.strip_prefix(&root.path).unwrap_or(Path::new(""));
        // Joining nothing would add a slash.
        let is_root = below.as_os_str().is_empty();
        Ok(if is_root { WORKSPACE.into() } else { Path::new(WORKSPACE).join(below) })
    }

    fn environment(&self) -> environment::Environment {
        let rule = self.policy.variables;
        let given = self.seats.grants.variables(rule, self.row(), &self.seats.table);
        let named = environment::named(self.request.variables.iter().chain(&given));
        let mut env = match (self.contained, &self.root) {
            (Contained::NotAsked, None) => environment::users(&self.seats.table),
            _ if self.identity.is_some() => environment::harmless(),
            _ => Vec::new(),
        };
        if self.root.is_some() {
            // First, so that none of them replaces one of ours.
            let more = self.request.terms.variables.iter();
            let more = more.map(|(name, value)| (name.into(), value.into()));
            env.splice(0..0, more);
        }
        if self.kind == BackendKind::None && self.root.is_none() {
            // Uncontained, the agent's own keys need no listing: it could read them anyway.
            let row = self.row().map_or(&[][..], |row| row.variables.as_slice());
            env.extend(environment::named(row));
        }
        let home = match (self.kind, &self.home) {
            (BackendKind::None | BackendKind::Landlock, Some(home)) => {
                Some(home.clone().into_os_string())
            }
            // Landlock makes one, and says where.
            (BackendKind::None | BackendKind::Landlock, None) => None,
            _ => Some(HOME.into()),
        };
        env.extend(home.map(|home| ("HOME".into(), home)));
        env.extend(self.path().map(|path| ("PATH".into(), path)));
        if let (Some(root), true) = (&self.root, self.kind != BackendKind::None) {
            // The user's configuration of git is not seen inside, and commits need a name.
            env.extend(
                root.identity().into_iter().map(|(name, value)| (name.into(), value.into())),
            );
        }
        env.extend(named);
        if let Some(root) = &self.root {
            env.push(("CAI_HOST_WORKSPACE".into(), root.path.clone().into()));
        }
        if let (Some(row), true) = (self.row(), self.kind != BackendKind::None) {
            env.extend(row.inside.iter().map(|(name, value)| (name.into(), value.into())));
        }
        if matches!(self.request.caller, Caller::Editor | Caller::Login | Caller::Introduction) {
            env.push(("CAI_NO_UPDATE_CHECK".into(), "1".into()));
        }
        env
    }

    fn path(&self) -> Option<OsString> {
        match (self.kind, &self.identity) {
            // The image knows best where its programs are.
            (BackendKind::Docker | BackendKind::Podman, _) => None,
            (_, Some(identity)) => {
                let before = identity.program.as_ref().map(|program| program.before.as_slice());
                environment::path_with(before.unwrap_or_default())
            }
            (BackendKind::Bubblewrap | BackendKind::Landlock, None) => Some(SYSTEM_PATH.into()),
            // Without a sandbox programs are where the user has them.
            (BackendKind::None, None) => {
                Some(environment::path_with(&[]).unwrap_or_else(|| SYSTEM_PATH.into()))
            }
        }
    }

    /// Where a directory is seen.
    fn inside<'b>(&self, real: &'b Path, own: &'b str) -> &'b Path {
        if self.kind != BackendKind::None && self.sees_real_paths() { real } else { Path::new(own) }
    }

    fn mounts(&self) -> Vec<Mount> {
        let mut mounts = Vec::new();
        if self.kind == BackendKind::None && self.root.is_none() {
            return mounts;
        }
        let is_engine = matches!(self.kind, BackendKind::Docker | BackendKind::Podman);
        match &self.home {
            Some(home) => mounts.push(Mount::read_write(home, self.inside(home, HOME))),
            None if is_engine => {
                mounts.push(Mount::Tmpfs { inside: HOME.into(), bytes: Some(EMPTY_BYTES) });
            }
            None => {}
        }
        let directory = self.request.directory;
        match (self.policy.directory, &self.root) {
            (Directory::Workspace, Some(root)) => {
                // First, since the workspace may be in one of them.
                for more in self.request.directories {
                    mounts.extend(more.mounts(&more.path));
                }
                mounts.extend(self.request.terms.mounts.iter().cloned());
                mounts.extend(root.mounts(self.inside(&root.path, WORKSPACE)));
            }
            (Directory::ReadOnly, _) => {
                mounts.push(Mount::read_only(directory, self.inside(directory, WORKSPACE)));
            }
            (Directory::Writable, _) => {
                mounts.push(Mount::read_write(directory, self.inside(directory, WORKSPACE)));
            }
            (Directory::Empty | Directory::Workspace, _) => match &self.empty {
                Some(empty) => mounts.push(Mount::read_write(empty.path(), empty.path())),
                None => {
                    mounts.push(Mount::Tmpfs { inside: WORKSPACE.into(), bytes: Some(EMPTY_BYTES) })
                }
            },
        }
        // A workspace's container is made once; what it shows is not one agent's business.
        let is_shared = is_engine && self.root.is_some();
        if let (Some(identity), false) = (&self.identity, is_shared) {
            let shown = identity.shown_programs().into_iter();
            let shown = shown.flat_map(|program| programs::mounts_of(&program));
            for mount in shown.chain(identity.files.iter().cloned()) {
                // An engine takes no place twice.
                if mounts.iter().all(|other: &Mount| other.inside() != mount.inside()) {
                    mounts.push(mount);
                }
            }
        }
        mounts
    }
}
