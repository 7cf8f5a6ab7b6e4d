//! An agent that is a process: it sits where it sees a copy of what the scope allows, and no more.

use std::{
    env,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    process,
};

use anyhow::Context as _;
use probity_agent::{AgentRef, CommandOptions};
use probity_audit::{Opening, PermissionPrompt, Provider, ProviderSpec, ReadScope, Secrets};
use probity_scope::{Ignored, Policy, Quota, Scope, WalkLimits};
use probity_seat::{Caller, Form, NamedBy, Occupant, Request, Seats, Terms};

use super::provider::told;
use crate::{config::table::audit::Audit, failure::Failure, seats::seats};

/// What an agent is shown at most. Larger projects are read by the actions, which have no limit.
const QUOTA: Quota = Quota { bytes: 512 << 20, files: 20_000 };
const LIMITS: WalkLimits = WalkLimits { depth: 64, entries: 200_000 };
const MOST_BYTES: u64 = 16 << 20;

/// The agent of an audit, whose seat is known to be there.
pub(super) struct Chosen {
    kind: &'static str,
    reference: AgentRef,
    form: Form,
    model: Option<String>,
    sandbox: probity_seat::Sandbox,
    variables: Vec<String>,
    seats: Seats,
    terms: Terms,
}

impl Chosen {
    /// Finds the program and the sandbox, and refuses early what cannot work.
    pub(super) fn new(
        kind: &'static str,
        reference: AgentRef,
        form: Form,
        settings: &Audit,
    ) -> anyhow::Result<Self> {
        let (seats, terms) = seats(Caller::Audit)?;
        let (model, variables) = (settings.model.clone(), settings.env.clone());
        let sandbox = settings.sandbox;
        let chosen = Self { kind, reference, form, model, sandbox, variables, seats, terms };
        chosen.seats.preview(&chosen.request(Path::new("/"))).map_err(Failure::from)?;
        Ok(chosen)
    }

    fn request<'a>(&'a self, shown: &'a Path) -> Request<'a> {
        Request {
            caller: Caller::Audit,
            occupant: Occupant::Agent(&self.reference),
            named_by: NamedBy::User,
            form: Some(self.form),
            sandbox: self.sandbox,
            directory: shown,
            directories: &[],
            variables: &self.variables,
            terms: &self.terms,
        }
    }

    pub(super) fn ready(
        self,
        root: &Path,
        permission: &PermissionPrompt,
        allow_sensitive: bool,
        ignored: Ignored,
    ) -> anyhow::Result<Provider> {
        let is_process = !matches!(self.reference, AgentRef::Replay(_));
        let shown = if is_process {
            Some(Shown::new(root, permission, allow_sensitive, ignored)?)
        } else {
            None
        };
        let directory = shown.as_ref().map_or(Path::new("/"), |shown| &shown.path);
        let seated = self.seats.seat(&self.request(directory)).map_err(Failure::from)?;
        let spec = ProviderSpec {
            name: self.kind.to_owned(),
            model: self.model.clone(),
            notes: format!("Agent: {}; sandbox: {}", self.reference.label(), seated.contained),
        };
        let (model, seats) = (self.model, self.seats);
        let open_one = move |opening: &Opening<'_>| {
            // The copy, and containers that were made for it, last as long as anybody may be asked.
            let _kept = (&shown, &seats);
            let system = opening.system.to_owned();
            let command =
                CommandOptions { system, model: model.clone(), ..CommandOptions::default() };
            seated.open(command, None)
        };
        // Nothing is started yet; what is wrong with the name or the model is told now.
        open_one(&Opening { system: "", schema: None }).map_err(|error| told(&error))?;
        Ok(Provider::agent(spec, open_one))
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
        ignored: Ignored,
    ) -> anyhow::Result<Self> {
        let shown = Self {
            path: fresh_directory().with_context(|| {
                Failure::new(
                    "cannot make a directory for the agent",
                    "set TMPDIR to a directory that can be written",
                )
            })?,
        };
        shown.fill(root, permission, allow_sensitive, ignored).with_context(|| {
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
        ignored: Ignored,
    ) -> anyhow::Result<()> {
        let policy = Policy { allow_sensitive, ignored, max_file_bytes: MOST_BYTES, quota: QUOTA };
        let from = Scope::open(root, policy.clone())?;
        // What the first scope let through is not judged again.
        let all = Policy { allow_sensitive: true, ignored: Ignored::Shown, ..policy };
        let into = Scope::open(&self.path, all)?;
        let files: Vec<PathBuf> = match permission.read_scope {
            ReadScope::Strict => permission.allowed_paths.iter().map(PathBuf::from).collect(),
            ReadScope::Workspace => {
                from.walk(Path::new(""), LIMITS, &probity_audit::is_not_own)?.files
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

/// As the read actions would show it. In binary files, secrets cannot be recognized.
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
/// of a process that has ended.
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
        let is_ours = entry.metadata().is_ok_and(|metadata| {
            metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw()
        });
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
        // A copy that cannot be removed stays until the directory of temporary files is cleaned.
        drop(fs::remove_dir_all(&self.path));
    }
}
