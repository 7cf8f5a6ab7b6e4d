//! `.containai/config.toml`, read strictly: what is misspelt would otherwise contain less than its
//! writer thinks.

use std::{collections::BTreeMap, fs, io, path::Path};

use anyhow::Context as _;
use probity_sandbox::Allowlist;
use serde::{Deserialize, de::IgnoredAny};

use super::memory::Memory;
use crate::failure::Failure;

/// One file. Sections that the original tool knows and that mean nothing here are let through.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct File {
    pub(super) container: Container,
    pub(super) env: Env,
    pub(super) network: Network,
    pub(super) image: Image,
    pub(super) acp: Acp,
    pub(super) agent: Agent,
    pub(super) agents: BTreeMap<String, OwnAgent>,
    #[serde(rename = "credentials")]
    _credentials: Option<IgnoredAny>,
    #[serde(rename = "secure_engine")]
    _secure_engine: Option<IgnoredAny>,
    #[serde(rename = "ssh")]
    _ssh: Option<IgnoredAny>,
    pub(super) import: Import,
    #[serde(rename = "danger")]
    _danger: Option<IgnoredAny>,
    #[serde(rename = "update")]
    _update: Option<IgnoredAny>,
    #[serde(rename = "template")]
    _template: Option<IgnoredAny>,
    #[serde(rename = "workspace")]
    _workspace: Option<IgnoredAny>,
    #[serde(rename = "default_excludes")]
    _default_excludes: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Container {
    pub(super) memory: Option<Memory>,
    pub(super) cpus: Option<f64>,
    pub(super) runtime: Option<Runtime>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Env {
    pub(super) import: Vec<String>,
    #[serde(rename = "from_host")]
    _from_host: Option<IgnoredAny>,
    #[serde(rename = "env_file")]
    _env_file: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Import {
    /// Logins that contained agents get, below the home directory.
    pub(super) additional_paths: Vec<String>,
    #[serde(rename = "exclude_priv")]
    _exclude_priv: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Network {
    pub(super) mode: Option<NetworkMode>,
    /// The hosts of the mode `allowlist`.
    pub(super) allow: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Image {
    pub(super) name: Option<String>,
    #[serde(rename = "channel")]
    _channel: Option<IgnoredAny>,
}

/// How agents serve an editor.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Acp {
    pub(crate) process: AgentProcess,
    pub(crate) terminals: Terminals,
    pub(crate) fs: EditorFiles,
}

/// Which sessions of an editor have a process in common.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AgentProcess {
    #[default]
    Session,
    Workspace,
}

/// Who runs the commands for which a contained agent wants a terminal.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Terminals {
    /// Nobody: the agent runs them itself, contained.
    #[default]
    None,
    /// The editor, on the host and with all its rights.
    Editor,
}

/// Who reads and writes files for a contained agent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EditorFiles {
    /// Nobody: the agent does it itself, contained.
    #[default]
    None,
    /// The editor, which a link that changes at the right moment can lead out of the workspace.
    Editor,
}

/// An agent that the user adds to those we know.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnAgent {
    /// The command that speaks the Agent Client Protocol.
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) image: Option<String>,
    /// Variables of the user's that it gets, by name.
    #[serde(skip)]
    pub(crate) variables: Vec<String>,
    /// Files below the home directory that hold its login.
    #[serde(skip)]
    pub(crate) logins: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Agent {
    pub(super) default: Option<String>,
    #[serde(rename = "data_volume")]
    _data_volume: Option<IgnoredAny>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NetworkMode {
    Open,
    /// Some hosts, through a proxy.
    Allowlist,
    None,
}

/// What contains. That nothing does can be said on the command line alone.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Runtime {
    Auto,
    Bwrap,
    Docker,
    Podman,
}

/// A configuration has a few lines; whatever is larger is something else.
const LARGEST: u64 = 1 << 20;

impl File {
    /// The file, if there is one. One that cannot be read is an error and not an absent one.
    pub(super) fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        let Some(text) = text(path)? else { return Ok(None) };
        let parsed = Self::parse(&text).with_context(|| {
            let way_out = "correct it; docs/containment.md lists the keys";
            Failure::new(format!("{} cannot be used", path.display()), way_out)
        })?;
        Ok(Some(parsed))
    }

    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let file: Self = toml::from_str(text)?;
        let cpus = file.container.cpus;
        anyhow::ensure!(
            cpus.is_none_or(|cpus| cpus.is_finite() && cpus > 0.0),
            "container.cpus must be more than 0"
        );
        if let Err(error) = Allowlist::parse(&file.network.allow) {
            anyhow::bail!("network.allow: {error}");
        }
        let mode = file.network.mode;
        anyhow::ensure!(
            mode == Some(NetworkMode::Allowlist) || file.network.allow.is_empty(),
            "network.allow has a meaning only with network.mode = \"allowlist\""
        );
        for (name, agent) in &file.agents {
            anyhow::ensure!(!agent.command.is_empty(), "agents.{name}.command is empty");
        }
        for name in &file.env.import {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            anyhow::ensure!(
                !name.is_empty() && name.bytes().all(plain),
                "env.import: `{name}` is not the name of a variable"
            );
        }
        Ok(file)
    }
}

/// The text of a regular file of a sensible size; a pipe of that name could keep us waiting.
pub(super) fn text(path: &Path) -> anyhow::Result<Option<String>> {
    let unreadable = || format!("cannot read {}", path.display());
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        other => other.with_context(unreadable)?,
    };
    anyhow::ensure!(
        metadata.is_file() && metadata.len() <= LARGEST,
        "{} is not a file of at most 1 MiB",
        path.display()
    );
    Ok(Some(fs::read_to_string(path).with_context(unreadable)?))
}

#[cfg(test)]
mod tests {
    use super::File;

    #[test]
    fn the_originals_sections_pass_and_misspelt_keys_do_not() {
        for (text, says) in [
            ("[agent]\ndefault = 'claude'\n[ssh]\nforward_agent = true\n", None),
            ("[container]\nmemory = '4g'\ncpus = 2\n[image]\nchannel = 'stable'\n", None),
            ("[network]\nmode = 'allowlist'\nallow = ['a.test', '*.b.test', 'c:99']\n", None),
            ("[network]\nmode = 'allowlist'\nallow = ['http://a']\n", Some("http://a")),
            ("[network]\nallow = ['a.test']\n", Some("only with network.mode")),
            ("[network]\nmode = 'closed'\n", Some("closed")),
            ("[container]\nmemroy = '4g'\n", Some("memroy")),
            ("[container]\nmemory = 'much'\n", Some("much")),
            ("[container]\ncpus = 0\n", Some("more than 0")),
            ("[container]\nruntime = 'none'\n", Some("none")),
            ("[env]\nimport = ['A=b']\n", Some("A=b")),
            ("[acp]\nprocess = 'workspace'\n[agents.mine]\ncommand = ['mine', '--acp']\n", None),
            ("[acp]\nprocess = 'all'\n", Some("all")),
            ("[acp]\nfs = 'editor'\nterminals = 'none'\n", None),
            ("[acp]\nfs = true\n", Some("fs")),
            ("[agents.mine]\ncommand = []\n", Some("agents.mine.command is empty")),
            ("[nteworks]\n", Some("nteworks")),
        ] {
            let error = File::parse(text).err().map(|error| error.to_string());
            match says {
                None => assert_eq!(error, None, "{text}"),
                Some(says) => assert!(error.is_some_and(|error| error.contains(says)), "{text}"),
            }
        }
    }
}
