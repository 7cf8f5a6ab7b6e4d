//! What a contained process gets: the user's own configuration, tightened by the repository's, which
//! loosens nothing until the user trusts it.

mod devcontainer;

use std::{collections::BTreeMap, env, path::PathBuf, sync::Arc};

use anyhow::Context as _;
use probity_agent::{AgentTable, KnownAgent};
use probity_containment::{RepositoryFile, Trust};
use probity_sandbox::{AllowError, Allowlist, Limits, Mount, Network, Root};
use probity_seat::{Grants, State, Terms};

pub(crate) use crate::config::{
    table::containment::Acp,
    words::{AgentProcess, EditorFiles, NetworkMode, Sandbox, Terminals},
};
use devcontainer::Devcontainer;

use crate::{
    config::{
        Catalogue, Configs, ContainaiFiles, Dialect, Layer, Origin, Owner, Settings, Sourced,
        Sources, Value, file as configuration, guard, setting::Bytes, table, users_directory,
    },
    failure::Failure,
    name::Name,
};

/// What is in force for a workspace.
#[derive(Debug, PartialEq)]
pub(crate) struct Containment {
    pub(crate) image: Option<String>,
    pub(crate) runtime: Sandbox,
    pub(crate) network: NetworkMode,
    /// The hosts of the mode `allowlist`.
    pub(crate) reach: Option<Allowlist>,
    /// The agent that the user's configuration, or else the repository's, names.
    pub(crate) agent: Option<String>,
    pub(crate) limits: Limits,
    /// Of the repository's `devcontainer.json`.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) mounts: Vec<Mount>,
    /// What the repository asks for and does not get.
    pub(crate) ignored: Vec<String>,
}

impl Containment {
    pub(crate) fn load(root: &Root, state: &State) -> anyhow::Result<Self> {
        let trust = RepositoryFile::Configuration.trust(root, state)?;
        let mut configs = configs(Name::called(), containai_files(Some((root, trust))))?;
        let settings = configs.for_directory(&root.path)?;
        let containment = Self::of(&settings, trust == Trust::Given, configs.take_warnings())?;
        containment.with_devcontainer(root, state)
    }

    /// With what a trusted `devcontainer.json` adds; the configuration's own image goes first.
    fn with_devcontainer(mut self, root: &Root, state: &State) -> anyhow::Result<Self> {
        let file = RepositoryFile::Devcontainer;
        let path = file.path(&root.path);
        let Some(text) = file.text(&root.path)? else { return Ok(self) };
        let shown = path.strip_prefix(&root.path).unwrap_or(&path).display().to_string();
        if file.trust(root, state)? != Trust::Given {
            tracing::info!("{shown} is not used; `cai trust` has it used");
            return Ok(self);
        }
        let read = Devcontainer::read(&text, &root.path)
            .with_context(|| format!("{} is not valid", path.display()))?;
        self.image = self.image.or(read.image);
        self.variables = read.variables;
        self.mounts = read.mounts;
        self.ignored.extend(read.ignored.iter().map(|what| format!("{shown}: not used: {what}")));
        Ok(self)
    }

    fn of(settings: &Settings, is_trusted: bool, mut ignored: Vec<String>) -> anyhow::Result<Self> {
        let said = settings.containment.clone();
        let limits = limits(&said);
        let mut reach = None;
        if said.network.mode == NetworkMode::Allowlist {
            let (hosts, is_narrowed) = reachable(settings, is_trusted)?;
            reach = Some(hosts);
            if is_narrowed {
                let what = "hosts of the repository that are not in your own list are ignored";
                ignored.push(format!("{what}; {}", way_to_allow(settings)));
            }
        }
        Ok(Self {
            image: said.image,
            runtime: said.runtime,
            network: said.network.mode,
            reach,
            agent: said.agent,
            limits,
            variables: Vec::new(),
            mounts: Vec::new(),
            ignored,
        })
    }

    /// The same as whoever starts a process takes it.
    pub(crate) fn terms(self) -> Terms {
        Terms {
            sandbox: self.runtime,
            image: self.image,
            variables: self.variables,
            mounts: self.mounts,
            limits: self.limits,
            network: match self.network {
                NetworkMode::Open => Network::Open,
                NetworkMode::Allowlist | NetworkMode::None => Network::None,
            },
            reach: self.reach,
        }
    }
}

/// The hosts that can be reached: those of the one list there is, or those that both allow, unless
/// the repository is trusted to have its own. Tells whether that narrows the repository's list.
fn reachable(settings: &Settings, is_trusted: bool) -> Result<(Allowlist, bool), AllowError> {
    let items = &settings.containment.network.allow;
    let of = |wanted: fn(&Origin) -> bool| -> Vec<&str> {
        let wanted = items.iter().filter(|item| wanted(&item.origin));
        wanted.map(|item| item.value.as_str()).collect()
    };
    let theirs = of(Origin::is_repository);
    let said = of(|origin| matches!(origin, Origin::Env { .. } | Origin::Flag { .. }));
    let ours = if said.is_empty() {
        of(|origin| matches!(origin, Origin::File { .. }) && !origin.is_repository())
    } else {
        said
    };
    let is_same = theirs == ours;
    Ok(match (ours.is_empty(), theirs.is_empty()) {
        (false, false) if is_trusted || is_same => (Allowlist::parse(&theirs)?, false),
        (false, false) => (Allowlist::parse(&ours)?.and(Allowlist::parse(&theirs)?), true),
        (false, true) => (Allowlist::parse(&ours)?, false),
        (true, _) => (Allowlist::parse(&theirs)?, false),
    })
}

/// `cai trust` is about the file of containai alone.
fn way_to_allow(settings: &Settings) -> &'static str {
    let items = settings.containment.network.allow.iter();
    let mut files =
        items.filter(|item| item.origin.is_repository()).filter_map(|item| item.origin.place());
    if files.any(|(path, _)| RepositoryFile::Configuration.is_at(path)) {
        "`cai trust` allows them"
    } else {
        "add them to `containment.network.allow` in your own probity.toml"
    }
}

/// What is set, and the usual limit where nothing is.
fn limits(said: &table::containment::Containment) -> Limits {
    let usual = Limits::usual();
    let bytes = |set: Option<Bytes>, usual| set.map(|bytes| bytes.0).or(usual);
    Limits {
        memory: bytes(said.memory, usual.memory),
        cpus: said.cpus.or(usual.cpus),
        pids: said.processes.or(usual.pids),
        tmp: bytes(said.tmp, usual.tmp),
        shm: bytes(said.shm, usual.shm),
        file: bytes(said.file_size, usual.file),
        ..usual
    }
}

/// What the user's own configuration says, where no repository has a say: which programs are run,
/// and what they are given.
pub(crate) struct Users {
    pub(crate) acp: Acp,
    /// The agent for editors, where there is no workspace.
    pub(crate) agent: Option<String>,
    /// Every agent that can be named: those we know, and the user's own.
    pub(crate) table: AgentTable,
    pub(crate) grants: Grants,
    pub(crate) terms: Terms,
}

impl Users {
    pub(crate) fn load() -> anyhow::Result<Self> {
        let settings = users()?;
        let said = &settings.containment;
        let mut table = AgentTable::shipped();
        let agents = settings.merged.tables.iter().filter(|((path, _), _)| *path == AGENTS);
        for ((_, name), keys) in agents {
            let agent = known(name, keys, &table);
            table.add(agent);
        }
        Ok(Self {
            acp: said.acp.clone(),
            agent: said.agent.clone(),
            table,
            grants: Grants::new(said.env.clone(), &said.logins),
            terms: Containment::of(&settings, false, Vec::new())?.terms(),
        })
    }
}

const AGENTS: &str = "containment.agents";

/// The row of the table that a table of the user's stands for: an agent of the user's own, or a
/// known one that gets more.
fn known(
    name: &str,
    keys: &BTreeMap<&'static str, Sourced<Value>>,
    table: &AgentTable,
) -> KnownAgent {
    let list = |key: &str| match keys.get(key).map(|setting| &setting.value) {
        Some(Value::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let command = list("command");
    let row = table.get(name).filter(|row| command.is_empty() || row.acp == command);
    let mut agent = row.cloned().unwrap_or_else(|| KnownAgent::new(name, command));
    if let Some(image) = keys.get("image") {
        agent.image = Some(image.value.plain());
    }
    agent.granted.variables.extend(list("variables"));
    agent.granted.logins.extend(list("logins"));
    agent
}

/// What holds where no repository has a say.
fn users() -> anyhow::Result<Arc<Settings>> {
    Ok(configs(Name::called(), containai_files(None))?.without_file()?)
}

/// The files of containment, for everybody who reads the configuration.
pub(crate) fn containai_files(repository: Option<(&Root, Trust)>) -> ContainaiFiles {
    ContainaiFiles {
        users: users_directory().map(|directory| directory.join("containai/config.toml")),
        repository: repository.map(|(root, trust)| {
            let trust = match trust {
                Trust::Given => guard::Trust::Given,
                Trust::NoFile | Trust::NotGiven => guard::Trust::NotYet,
            };
            (RepositoryFile::Configuration.path(&root.path), trust)
        }),
    }
}

fn configs(name: Name, containai: ContainaiFiles) -> anyhow::Result<Configs<'static>> {
    let current = env::current_dir().unwrap_or_default();
    Ok(Configs::new(Sources {
        containai,
        ..Sources::here(name, &["containment"], &current, Layer::default())
    })?)
}

/// Trusts the files as they are now, and returns each with its text, for the user to see what that
/// was.
pub(crate) fn trust(root: &Root, state: &State) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut trusted = Vec::new();
    for file in [RepositoryFile::Configuration, RepositoryFile::Devcontainer] {
        let path = file.path(&root.path);
        let Some(text) = file.text(&root.path)? else { continue };
        match file {
            RepositoryFile::Configuration => {
                let (dialect, owner) = (Dialect::Containai, Owner::Repository);
                let source = configuration::Source { dialect, owner, path: &path, text: &text };
                configuration::read(&Catalogue::shipped(), source)?;
            }
            RepositoryFile::Devcontainer => {
                Devcontainer::read(&text, &root.path)
                    .with_context(|| format!("{} is not valid", path.display()))?;
            }
        }
        file.keep_trust(root, state, &text)?;
        trusted.push((path, text));
    }
    if trusted.is_empty() {
        let own = RepositoryFile::Configuration.path(&root.path);
        let what = format!("{} does not exist: there is nothing to trust", own.display());
        return Err(Failure::new(what, "go to the workspace whose configuration you mean").into());
    }
    Ok(trusted)
}

#[cfg(test)]
mod tests {
    use super::{Containment, NetworkMode, Sandbox};
    use crate::config::guard::Trust;

    /// What holds with these two files of containai.
    fn merged(user: &str, repository: &str, trusted: bool) -> Containment {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let trust = if trusted { Trust::Given } else { Trust::NotYet };
        let files = super::ContainaiFiles {
            users: Some(file("user.toml", user)),
            repository: Some((file("repository.toml", repository), trust)),
        };
        let mut configs = super::configs(super::Name::Cai, files).unwrap();
        let settings = configs.for_directory(dir.path()).unwrap();
        Containment::of(&settings, trusted, configs.take_warnings()).unwrap()
    }

    #[test]
    fn a_repository_tightens_and_loosens_only_with_trust() {
        let user = "[network]\nmode = 'none'\n[container]\nmemory = '1g'\ncpus = 2\n\
                    runtime = 'bwrap'\n[image]\nname = 'mine'\n[env]\nimport = ['MINE']";
        let loose = "[network]\nmode = 'open'\n[container]\nmemory = '4g'\ncpus = 8\n\
                     runtime = 'docker'\n[image]\nname = 'theirs'\n[env]\nimport = ['SECRET']";
        let untrusted = merged(user, loose, false);
        assert_eq!(untrusted.ignored.len(), 6, "{:?}", untrusted.ignored);
        let ignored = Vec::new();
        assert_eq!(Containment { ignored, ..untrusted }, merged(user, "", false));

        let trusted = merged(user, loose, true);
        assert_eq!(trusted.network, NetworkMode::Open);
        assert_eq!(trusted.limits.memory, Some(4 << 30));
        assert_eq!((trusted.image.as_deref(), trusted.runtime), (Some("theirs"), Sandbox::Docker));
        assert_eq!(trusted.agent, None);

        let tight = merged("", "[network]\nmode = 'none'\n[container]\nmemory = '64m'", false);
        assert_eq!((tight.network, tight.limits.memory), (NetworkMode::None, Some(64 << 20)));
        assert!(tight.ignored.is_empty());

        // The usual limits are the user's too.
        let raised = merged("", "[container]\nmemory = '99999g'\ncpus = 4096", false);
        assert_eq!(raised.limits, probity_sandbox::Limits::usual());
        assert_eq!(raised.ignored.len(), 2, "{:?}", raised.ignored);
    }

    #[test]
    fn networks_only_narrow_and_agents_are_the_users_first() {
        use NetworkMode::{Allowlist as Listed, None as Closed, Open};
        let text = |mode: NetworkMode| match mode {
            Open => "[network]\nmode = 'open'",
            Listed => "[network]\nmode = 'allowlist'\nallow = ['a.test', 'b.test']",
            Closed => "[network]\nmode = 'none'",
        };
        for (user, repository, untrusted, trusted) in [
            (Open, Open, Open, Open),
            (Open, Listed, Listed, Listed),
            (Open, Closed, Closed, Closed),
            (Listed, Open, Listed, Open),
            (Listed, Listed, Listed, Listed),
            (Listed, Closed, Closed, Closed),
            (Closed, Open, Closed, Open),
            (Closed, Listed, Closed, Listed),
        ] {
            let with = |trust| merged(text(user), text(repository), trust);
            assert_eq!(with(false).network, untrusted, "{user:?} and {repository:?}");
            assert_eq!(with(true).network, trusted, "{user:?} and {repository:?}, trusted");
            assert_eq!(with(false).reach.is_some(), untrusted == Listed);
        }
        let wider = "[network]\nmode = 'allowlist'\nallow = ['b.test', 'c.test']";
        let both = merged(text(Listed), wider, false);
        let list = |words: &[&str]| probity_sandbox::Allowlist::parse(words).unwrap();
        let expected = list(&["a.test", "b.test"]).and(list(&["b.test", "c.test"]));
        assert_eq!((both.reach, both.ignored.len()), (Some(expected), 1));
        assert_eq!(merged(text(Listed), wider, true).reach, Some(list(&["b.test", "c.test"])));

        let (mine, theirs) = ("[agent]\ndefault = 'codex'", "[agent]\ndefault = 'gemini'");
        assert_eq!(merged(mine, theirs, false).agent.as_deref(), Some("codex"));
        assert_eq!(merged("", theirs, false).agent.as_deref(), Some("gemini"));
    }
}
