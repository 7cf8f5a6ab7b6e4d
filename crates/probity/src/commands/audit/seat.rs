//! An agent that is a process: it sits where it sees a copy of what the scope allows, and no more.

use std::{
    env,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use anyhow::Context as _;
use probity_agent::{AgentRef, AgentTable, CommandOptions, OpenOptions, Seat, Way, open};
use probity_audit::{PermissionPrompt, Provider, ProviderSpec, ReadScope, Secrets};
use probity_sandbox::{Backend, Mount, Spec};
use probity_scope::{Policy, Quota, Scope, WalkLimits};

use super::provider::told;
use crate::{
    commands::agent::{
        place::{Belongings, Containment, containment, seat, with_files},
        programs,
    },
    config::table::audit::Audit,
    failure::Failure,
};

/// What an agent is shown at most. Larger projects are read by the actions, which have no limit.
const QUOTA: Quota = Quota { bytes: 512 << 20, files: 20_000 };
const LIMITS: WalkLimits = WalkLimits { depth: 64, entries: 200_000 };
const MOST_BYTES: u64 = 16 << 20;

/// Directories of what was made from the sources.
const MADE: &[&str] = &["target", ".tx3", "build", "node_modules"];

pub(super) struct Seated {
    kind: &'static str,
    reference: AgentRef,
    way: Way,
    model: Option<String>,
    place: Option<Place>,
}

struct Place {
    backend: Backend,
    spec: Spec,
    name: String,
}

impl Seated {
    /// Finds the program and what contains it, and refuses early what cannot work.
    pub(super) fn choose(
        kind: &'static str,
        reference: AgentRef,
        way: Way,
        settings: &Audit,
    ) -> anyhow::Result<Self> {
        let model = settings.model.clone();
        if let AgentRef::Replay(_) = reference {
            return Ok(Self { kind, reference, way, model, place: None });
        }
        let table = AgentTable::shipped();
        let known = match &reference {
            AgentRef::Known(name) => table.get(name),
            _ => None,
        };
        let (reference, files) = with_files(reference);
        let program = match (&reference, known) {
            (_, Some(agent)) => agent.acp.first(),
            (AgentRef::Acp(argv) | AgentRef::Command(argv), _) => argv.first(),
            _ => None,
        };
        let found = program.and_then(|program| programs::find(program));
        if let (Some(program), None) = (program, &found) {
            return Err(Failure::new(
                format!("`{program}` is not a program in your PATH"),
                "install it, or name another agent: `probity agent list` shows what works",
            )
            .into());
        }
        let Containment { backend, name } = containment(settings.sandbox)?;
        let belongings = match known {
            Some(agent) if backend != Backend::None => Belongings::of(agent)?,
            _ => Belongings::none(),
        };
        let mut spec = seat(&backend, found.as_deref(), belongings, &settings.env)?.spec;
        if backend != Backend::None {
            spec.mounts.extend(files);
        }
        let place = Some(Place { backend, spec, name });
        Ok(Self { kind, reference, way, model, place })
    }

    pub(super) fn ready(
        self,
        root: &Path,
        permission: &PermissionPrompt,
        allow_sensitive: bool,
    ) -> anyhow::Result<Provider> {
        let Self { kind, reference, way, model, place } = self;
        let contained = place.as_ref().map_or("nothing: no process is started", |it| &it.name);
        let spec = ProviderSpec {
            name: kind.to_owned(),
            model: model.clone(),
            notes: format!("Agent: {}; contained by {contained}", reference.label()),
        };
        let shown = match &place {
            Some(_) => Some(Arc::new(Shown::new(root, permission, allow_sensitive)?)),
            None => None,
        };
        let open_one = move |system: &str| {
            let seat = match (&place, &shown) {
                (Some(place), Some(shown)) => place.seat(&shown.path),
                _ => {
                    Seat { backend: Backend::None, spec: Spec::new(["replay"], "/"), stderr: None }
                }
            };
            let system = system.to_owned();
            let command =
                CommandOptions { system, model: model.clone(), ..CommandOptions::default() };
            let table = &AgentTable::shipped();
            open(&reference, OpenOptions { table, way, seat, command, tap: None })
        };
        // Nothing is started yet; what is wrong with the name or the model is told now.
        open_one("").map_err(|error| told(&error))?;
        Ok(Provider::agent(spec, open_one))
    }
}

impl Place {
    /// The seat with the copy in the place of the empty directory that questions get.
    fn seat(&self, shown: &Path) -> Seat {
        let mut spec = self.spec.clone();
        if self.backend == Backend::None {
            spec.cwd = shown.to_owned();
        } else {
            let workspace = spec.cwd.clone();
            spec.mounts.retain(|mount| mount.inside() != workspace);
            spec.mounts.push(Mount::read_only(shown, workspace));
        }
        Seat { backend: self.backend.clone(), spec, stderr: None }
    }
}

/// A copy of what may be read, gone with the audit.
struct Shown {
    path: PathBuf,
}

impl Shown {
    fn new(
        root: &Path,
        permission: &PermissionPrompt,
        allow_sensitive: bool,
    ) -> anyhow::Result<Self> {
        let shown = Self {
            path: fresh_directory().with_context(|| {
                Failure::new(
                    "cannot make a directory for the agent",
                    "set TMPDIR to a directory that can be written",
                )
            })?,
        };
        shown.fill(root, permission, allow_sensitive).with_context(|| {
            let way_out = "use --read-scope strict, or a chat provider, which needs no copy";
            Failure::new("cannot show the project to the agent", way_out)
        })?;
        Ok(shown)
    }

    fn fill(
        &self,
        root: &Path,
        permission: &PermissionPrompt,
        allow_sensitive: bool,
    ) -> anyhow::Result<()> {
        let policy = Policy { allow_sensitive, max_file_bytes: MOST_BYTES, quota: QUOTA };
        let from = Scope::open(root, policy.clone())?;
        // What the first scope let through is not judged again.
        let into = Scope::open(&self.path, Policy { allow_sensitive: true, ..policy })?;
        let files: Vec<PathBuf> = match permission.read_scope {
            ReadScope::Strict => permission.allowed_paths.iter().map(PathBuf::from).collect(),
            ReadScope::Workspace => {
                let is_made = |path: &Path| {
                    path.file_name().is_some_and(|name| MADE.iter().any(|made| name == *made))
                };
                from.walk(Path::new(""), LIMITS, &is_made)?.files
            }
        };
        let secrets = if allow_sensitive { None } else { Some(Secrets::new()?) };
        for file in files {
            match from.read(&file, MOST_BYTES) {
                Ok(bytes) => into.create(&file, &starred_out(bytes, secrets.as_ref()))?,
                Err(quota @ probity_scope::ScopeError::Quota { .. }) => return Err(quota.into()),
                // Too large or unreadable: the agent does without, as its actions would.
                Err(error) => tracing::info!("not shown to the agent: {error}"),
            }
        }
        Ok(())
    }
}

/// As the read actions would show it. Bytes that are no text hold no secret that can be known.
fn starred_out(bytes: Vec<u8>, secrets: Option<&Secrets>) -> Vec<u8> {
    let Some(secrets) = secrets else { return bytes };
    match String::from_utf8(bytes) {
        Ok(text) => secrets.mask(&text).into_bytes(),
        Err(error) if error.as_bytes().contains(&0) => error.into_bytes(),
        Err(error) => secrets.mask(&String::from_utf8_lossy(error.as_bytes())).into_bytes(),
    }
}

const PREFIX: &str = "probity-audit-";

/// Removes what runs that were killed have left behind: directories of ours whose name holds the id
/// of a process that is no more.
fn sweep() {
    // Where processes cannot be looked up, all of them would seem gone.
    if !Path::new("/proc/self").exists() {
        return;
    }
    let Ok(entries) = fs::read_dir(env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else { continue };
        let is_ours = entry
            .metadata()
            .is_ok_and(|it| it.is_dir() && it.uid() == rustix::process::geteuid().as_raw());
        if is_ours && !Path::new(&format!("/proc/{pid}")).exists() {
            // What cannot be removed now may be at the next start.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// A directory that nobody else has, or could have put anything into.
fn fresh_directory() -> io::Result<PathBuf> {
    sweep();
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    // A run that was killed leaves its directory behind, and process ids come again.
    for number in 0..100 {
        let path = env::temp_dir().join(format!("{PREFIX}{}-{number}", process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

impl Drop for Shown {
    fn drop(&mut self) {
        // A copy that cannot be removed is left to whoever cleans the directory of temporary files.
        drop(fs::remove_dir_all(&self.path));
    }
}
