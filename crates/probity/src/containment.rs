//! What a contained process gets: the user's `.containai/config.toml`, tightened by the
//! repository's, which loosens nothing until the user trusts it.

mod file;
pub(crate) mod implicit;
mod memory;
pub(crate) mod quarantine;
mod trust;

use std::{
    env,
    path::{Path, PathBuf},
};

use probity_agent::{AgentTable, KnownAgent};
use probity_sandbox::{Allowlist, Limits, Network, Root};
use probity_seat::{Grants, Sandbox, State, Terms};

pub(crate) use file::{Acp, AgentProcess, EditorFiles, NetworkMode, OwnAgent, Terminals};
pub(crate) use trust::{Trust, trust};

use file::{File, Runtime};

/// What is in force for a workspace.
#[derive(Debug, PartialEq)]
pub(crate) struct Containment {
    pub(crate) image: Option<String>,
    pub(crate) runtime: Runtime,
    pub(crate) network: NetworkMode,
    /// The hosts of the mode `allowlist`.
    pub(crate) reach: Option<Allowlist>,
    /// The agent that the user's configuration, or else the repository's, names.
    pub(crate) agent: Option<String>,
    pub(crate) memory: Option<u64>,
    pub(crate) cpus: Option<f64>,
    /// What the repository asks for and does not get.
    pub(crate) ignored: Vec<String>,
}

impl Containment {
    pub(crate) fn load(root: &Root, state: &State) -> anyhow::Result<Self> {
        let user = File::users()?;
        let repository = File::read(&repositorys_file(&root.path))?;
        let trusted = Trust::of(root, state)? == Trust::Given;
        Ok(Self::merge(user, repository.unwrap_or_default(), trusted))
    }

    fn merge(user: File, repository: File, trusted: bool) -> Self {
        let mut ignored = Vec::new();
        let mut loosens = |what: &str| {
            if !trusted {
                ignored.push(format!("{what} is ignored until `cai trust`"));
            }
            trusted
        };
        let (network, reach) = network(&user, &repository, &mut loosens);
        let mut limit = |what: &str, users: Option<f64>, wanted: Option<f64>| match (users, wanted)
        {
            (Some(users), Some(wanted)) if wanted > users && !loosens(what) => Some(users),
            (users, wanted) => wanted.or(users),
        };
        // The usual limits are the user's, too: a repository does not raise them unasked.
        let usual = Limits::usual();
        let users_memory = bytes(&user).or(usual.memory.map(|bytes| bytes as f64));
        let memory = limit("container.memory", users_memory, bytes(&repository));
        let users_cpus = user.container.cpus.or(usual.cpus);
        let cpus = limit("container.cpus", users_cpus, repository.container.cpus);
        let image = repository.image.name.filter(|_| loosens("image.name")).or(user.image.name);
        let runtime = repository
            .container
            .runtime
            .filter(|_| loosens("container.runtime"))
            .or(user.container.runtime)
            .unwrap_or(Runtime::Auto);
        if !repository.agents.is_empty() || repository.acp != Acp::default() {
            ignored.push("agents and acp are ignored: only your own configuration has them".into());
        }
        // A variable is the user's to give: not even a trusted file of a repository takes one.
        if !repository.env.import.is_empty() {
            ignored
                .push("env.import is ignored: only your own configuration gives variables".into());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "these were whole numbers of bytes, and saturate"
        )]
        let memory = memory.map(|bytes| bytes as u64);
        let agent = user.agent.default.or(repository.agent.default);
        Self { image, runtime, network, reach, agent, memory, cpus, ignored }
    }

    /// The same as whoever starts a process takes it.
    pub(crate) fn terms(&self) -> Terms {
        let usual = Terms::default();
        Terms {
            sandbox: match self.runtime {
                Runtime::Auto => Sandbox::Auto,
                Runtime::Bwrap => Sandbox::Bubblewrap,
                Runtime::Docker => Sandbox::Docker,
                Runtime::Podman => Sandbox::Podman,
            },
            image: self.image.clone(),
            limits: Limits {
                memory: self.memory.or(usual.limits.memory),
                cpus: self.cpus.or(usual.limits.cpus),
                ..usual.limits
            },
            network: match self.network {
                NetworkMode::Open => Network::Open,
                NetworkMode::Allowlist | NetworkMode::None => Network::None,
            },
            reach: self.reach.clone(),
        }
    }
}

/// The narrower of both. Where both have a list, what both allow, unless the repository is trusted
/// to have its own.
fn network(
    user: &File,
    repository: &File,
    loosens: &mut dyn FnMut(&str) -> bool,
) -> (NetworkMode, Option<Allowlist>) {
    use NetworkMode::{Allowlist as Listed, None as Closed, Open};
    // The file was read only if its list is one.
    let list = |file: &File| Allowlist::parse(&file.network.allow).ok();
    let users = user.network.mode.unwrap_or(Open);
    match (users, repository.network.mode) {
        (_, Some(Closed)) | (Closed, None) => (Closed, None),
        (Open, None | Some(Open)) => (Open, None),
        (Open, Some(Listed)) => (Listed, list(repository)),
        (Listed, None) => (Listed, list(user)),
        (Closed, Some(Open)) if loosens("network.mode = \"open\"") => (Open, None),
        (Closed, Some(Listed)) if loosens("network.mode = \"allowlist\"") => {
            (Listed, list(repository))
        }
        (Closed, Some(_)) => (Closed, None),
        (Listed, Some(Open)) if loosens("network.mode = \"open\"") => (Open, None),
        (Listed, Some(Open)) => (Listed, list(user)),
        (Listed, Some(Listed)) => {
            if user.network.allow == repository.network.allow {
                return (Listed, list(user));
            }
            if loosens("what network.allow has beyond your own list") {
                return (Listed, list(repository));
            }
            (Listed, list(user).zip(list(repository)).map(|(ours, theirs)| ours.and(theirs)))
        }
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
        let file = File::users()?;
        let mut table = AgentTable::shipped();
        for (name, own) in file.agents.clone() {
            table.add(own.known(name, &table));
        }
        Ok(Self {
            acp: file.acp,
            agent: file.agent.default.clone(),
            table,
            grants: Grants::new(file.env.import.clone(), &file.import.additional_paths),
            terms: Containment::merge(file, File::default(), false).terms(),
        })
    }
}

impl OwnAgent {
    /// The row of the table that it stands for.
    fn known(self, name: String, table: &AgentTable) -> KnownAgent {
        let row = table.get(&name).filter(|row| self.command.is_empty() || row.acp == self.command);
        let mut agent = match row {
            Some(row) => row.clone(),
            None => KnownAgent::new(name, self.command),
        };
        agent.image = self.image.or(agent.image);
        agent.granted.variables.extend(self.variables);
        agent.granted.logins.extend(self.logins);
        agent
    }
}

#[expect(clippy::cast_precision_loss, reason = "limits are compared, not counted")]
fn bytes(file: &File) -> Option<f64> {
    file.container.memory.map(|memory| memory.0 as f64)
}

/// Only the root's: one root has one container, whichever directory one starts in.
pub(crate) fn repositorys_file(root: &Path) -> PathBuf {
    root.join(".containai/config.toml")
}

/// `$XDG_CONFIG_HOME/containai/config.toml`, or the same below `~/.config`.
fn users_file() -> Option<PathBuf> {
    let directory = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(directory?.join("containai/config.toml"))
}

impl File {
    /// The user's own, or an empty one.
    fn users() -> anyhow::Result<Self> {
        match users_file() {
            Some(path) => Ok(Self::read(&path)?.unwrap_or_default()),
            None => Ok(Self::default()),
        }
    }
}

/// A directory that a variable names; a relative one counts as unset, as XDG wants it.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::{Containment, File, NetworkMode, Runtime};

    fn merged(user: &str, repository: &str, trusted: bool) -> Containment {
        let parse = |text: &str| File::parse(text).unwrap();
        Containment::merge(parse(user), parse(repository), trusted)
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
        assert_eq!((trusted.image.as_deref(), trusted.runtime), (Some("theirs"), Runtime::Docker));
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
