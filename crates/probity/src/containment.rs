//! What a contained process gets: the user's own configuration, tightened by the repository's, which
//! loosens nothing until the user trusts it.

mod file;
mod gift;
mod state;
mod trust;

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use probity_sandbox::{AllowError, Allowlist, Root};

pub(crate) use crate::config::{
    table::containment::Acp,
    words::{AgentProcess, NetworkMode, Sandbox, Terminals},
};
pub(crate) use gift::Gift;
pub(crate) use state::State;
pub(crate) use trust::{Trust, trust};

use crate::{
    config::{
        Configs, ContainaiFiles, Layer, Origin, Settings, Sources, Value, guard, users_directory,
    },
    name::Name,
};

/// The image of a container for which nobody names another.
pub(crate) const DEFAULT_IMAGE: &str = "containai:latest";

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
    pub(crate) memory: Option<u64>,
    pub(crate) cpus: Option<f64>,
    /// Variables that are passed on, by name: the user's own list and nobody else's.
    pub(crate) import: Vec<String>,
    /// What the repository asks for and does not get.
    pub(crate) ignored: Vec<String>,
}

/// An agent of the user's, or what a known agent gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnAgent {
    /// The command that speaks the Agent Client Protocol; empty for a known agent.
    pub(crate) command: Vec<String>,
    pub(crate) image: Option<String>,
    /// Variables that it gets, by name.
    pub(crate) variables: Vec<String>,
    /// Login files that it gets, below the home directory.
    pub(crate) logins: Vec<String>,
}

impl Containment {
    pub(crate) fn load(root: &Root, state: &State) -> anyhow::Result<Self> {
        let trust = Trust::of(root, state)?;
        let mut configs = configs(Name::called(), containai_files(Some((root, trust))))?;
        let settings = configs.for_directory(&root.path)?;
        Self::of(&settings, trust == Trust::Given, configs.take_warnings())
    }

    fn of(settings: &Settings, is_trusted: bool, mut ignored: Vec<String>) -> anyhow::Result<Self> {
        let said = settings.containment.clone();
        let mut reach = None;
        if said.network.mode == NetworkMode::Allowlist {
            let (hosts, is_narrowed) = reachable(settings, is_trusted)?;
            reach = Some(hosts);
            if is_narrowed {
                let what = "hosts of `network.allow` that are not in your own list are ignored";
                ignored.push(format!("{what}; `cai trust` allows them"));
            }
        }
        Ok(Self {
            image: said.image,
            runtime: said.runtime,
            network: said.network.mode,
            reach,
            agent: said.agent,
            memory: said.memory.map(|memory| memory.0),
            cpus: said.cpus,
            import: said.env,
            ignored,
        })
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

/// What the user's own configuration says about agents for editors. A repository has no say in
/// which programs are run.
pub(crate) fn for_editors() -> anyhow::Result<(Acp, BTreeMap<String, OwnAgent>)> {
    let settings = users()?;
    let agents = settings.merged.tables.iter().filter(|((path, _), _)| *path == AGENTS);
    let agents = agents.map(|((_, name), said)| {
        let list = |key: &str| match said.get(key).map(|setting| &setting.value) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        };
        let agent = OwnAgent {
            command: list("command"),
            image: said.get("image").map(|setting| setting.value.plain()),
            variables: list("variables"),
            logins: list("logins"),
        };
        (name.clone(), agent)
    });
    Ok((settings.containment.acp.clone(), agents.collect()))
}

const AGENTS: &str = "containment.agents";

/// The agent that the user's own configuration names, where there is no workspace.
pub(crate) fn users_agent() -> Option<String> {
    users().ok()?.containment.agent.clone()
}

/// The variables that the user gives to contained processes, by name.
pub(crate) fn users_variables() -> anyhow::Result<Vec<String>> {
    Ok(users()?.containment.env.clone())
}

/// The image that the user has chosen for contained processes.
pub(crate) fn users_image() -> anyhow::Result<Option<String>> {
    Ok(users()?.containment.image.clone())
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
            (repositorys_file(&root.path), trust)
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

/// Only the root's: one root has one container, whichever directory one starts in.
pub(crate) fn repositorys_file(root: &Path) -> PathBuf {
    root.join(".containai/config.toml")
}

/// A directory that a variable names; a relative one counts as unset, as XDG wants it.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
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
        assert_eq!(trusted.memory, Some(4 << 30));
        assert_eq!((trusted.image.as_deref(), trusted.runtime), (Some("theirs"), Sandbox::Docker));
        assert_eq!(trusted.import, ["MINE"], "variables are never the repository's to take");

        assert_eq!(trusted.agent, None);

        let tight = merged("", "[network]\nmode = 'none'\n[container]\nmemory = '64m'", false);
        assert_eq!((tight.network, tight.memory), (NetworkMode::None, Some(64 << 20)));
        assert!(tight.ignored.is_empty());
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
