//! Which agents can stand behind the proxy.

use std::{collections::BTreeMap, env, path::PathBuf};

use probity_agent::{AgentTable, KnownAgent};
use probity_sandbox::{Kind, Root};

use super::store::key;
use crate::{
    containment::{Gift, OwnAgent, State},
    exit::Exit,
    failure::Failure,
    name::Name,
};

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// The command that speaks the protocol.
    pub(crate) argv: Vec<String>,
    /// The image that has it, where that is not the usual one.
    pub(crate) image: Option<String>,
    /// What the table says about it, unless the user has put another in its place.
    pub(crate) known: Option<KnownAgent>,
}

/// Images that are made for one agent.
const IMAGES: &[(&str, &str)] = &[("gemini", "containai:gemini"), ("codex", "containai:codex")];

impl Agent {
    pub(super) fn find(
        called: Name,
        name: &str,
        own: &BTreeMap<String, OwnAgent>,
    ) -> anyhow::Result<Self> {
        let image = |agent: &str| {
            let found = IMAGES.iter().find(|(of, _)| *of == agent);
            found.map(|(_, image)| (*image).to_owned())
        };
        let table = AgentTable::shipped();
        // A path of a program is a name only in test mode.
        let known = || table.get(name).cloned();
        if let Some(agent) = own.get(name)
            && !agent.command.is_empty()
        {
            let argv = agent.command.clone();
            let image = agent.image.clone();
            return Ok(Self { name: name.to_owned(), argv, image, known: None });
        }
        if is_set("CAI_ACP_DIRECT_SPAWN") && (is_set("CAI_ACP_TEST_MODE") || known().is_some()) {
            return Ok(Self::plain(name));
        }
        if let Some(known) = known() {
            let (name, argv) = (known.name.clone(), known.acp.clone());
            return Ok(Self { image: image(&name), name, argv, known: Some(known) });
        }
        if is_set("CAI_ACP_TEST_MODE") && !name.is_empty() {
            return Ok(Self::plain(name));
        }
        let names: Vec<&str> = own.keys().map(String::as_str).collect();
        let more = if names.is_empty() { String::new() } else { format!(", {}", names.join(", ")) };
        let refused = Failure::new(
            format!("Unsupported agent: {name}"),
            format!(
                "there are {}{more}; `[agents.NAME]` in your configuration adds one",
                table.names()
            ),
        )
        .with_exit(Exit::Findings);
        // Clients of the older names look for this line.
        Err(if called == Name::Probity { refused } else { refused.in_these_words() }.into())
    }

    /// Its home in this workspace, with the logins in it that the user gives it.
    ///
    /// An engine has one container for a workspace, and that has one home: agents that share the
    /// container could look into each other's anyway.
    pub(super) fn home(&self, kind: Kind, root: &Root, state: &State) -> anyhow::Result<PathBuf> {
        let home = match kind {
            Kind::Docker | Kind::Podman => state.home(root)?,
            Kind::Bubblewrap | Kind::None => state.agent_home(Some(root), &self.home_name())?,
        };
        if let Some(known) = &self.known {
            Gift::load()?.settle(known, &home)?;
        }
        Ok(home)
    }

    /// A name that the user has given may hold anything.
    fn home_name(&self) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        match self.name.bytes().all(plain) {
            true => self.name.clone(),
            false => key(&[self.name.as_bytes()]),
        }
    }

    fn plain(name: &str) -> Self {
        let argv = vec![name.to_owned(), "--acp".to_owned()];
        Self { name: name.to_owned(), argv, image: None, known: None }
    }
}

pub(super) fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| value == "1")
}
