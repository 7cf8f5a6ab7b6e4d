//! Which agents can stand behind the proxy.

use std::{collections::BTreeMap, env};

use probity_agent::AgentTable;

use crate::{containment::OwnAgent, exit::Exit, failure::Failure, name::Name};

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// The command that speaks the protocol.
    pub(crate) argv: Vec<String>,
    /// The image that has it, where that is not the usual one.
    pub(crate) image: Option<String>,
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
        let known = || table.get(name).map(|known| (known.name.clone(), known.acp.clone()));
        if let Some(agent) = own.get(name) {
            let argv = agent.command.clone();
            return Ok(Self { name: name.to_owned(), argv, image: agent.image.clone() });
        }
        if is_set("CAI_ACP_DIRECT_SPAWN") && (is_set("CAI_ACP_TEST_MODE") || known().is_some()) {
            return Ok(Self::plain(name));
        }
        if let Some((name, argv)) = known() {
            return Ok(Self { image: image(&name), name, argv });
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

    fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), argv: vec![name.to_owned(), "--acp".to_owned()], image: None }
    }
}

pub(super) fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| value == "1")
}
