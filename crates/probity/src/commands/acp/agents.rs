//! Which agents can stand behind the proxy.

use std::env;

use probity_agent::{AgentRef, AgentTable};

use crate::{exit::Exit, failure::Failure, name::Name};

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) reference: AgentRef,
    /// The command that speaks the protocol.
    pub(crate) argv: Vec<String>,
    /// The image that has it, where that is not the usual one.
    pub(crate) image: Option<String>,
    /// The variables that may hold its keys.
    pub(crate) variables: Vec<String>,
}

impl Agent {
    pub(super) fn find(called: Name, name: &str, table: &AgentTable) -> anyhow::Result<Self> {
        let known = table.get(name);
        // A command that the user wrote is obeyed in any mode.
        let shipped = AgentTable::shipped();
        let is_users =
            known.is_some_and(|row| shipped.get(name).is_none_or(|own| own.acp != row.acp));
        // A path of a program is a name only in test mode.
        let is_test = is_set("CAI_ACP_TEST_MODE");
        if is_set("CAI_ACP_DIRECT_SPAWN") && !is_users && (is_test || known.is_some()) {
            return Ok(Self::plain(name));
        }
        if let Some(row) = known {
            return Ok(Self {
                name: row.name.clone(),
                reference: AgentRef::Known(row.name.clone()),
                argv: row.acp.clone(),
                image: row.image.clone(),
                variables: row.variables.iter().chain(&row.granted.variables).cloned().collect(),
            });
        }
        if is_test && !name.is_empty() {
            return Ok(Self::plain(name));
        }
        let refused = Failure::new(
            format!("Unsupported agent: {name}"),
            format!(
                "known agents: {}; `[containment.agents.NAME]` in your probity.toml adds one",
                table.names()
            ),
        )
        .with_exit(Exit::Findings);
        // Clients of the older names look for this line.
        Err(if called == Name::Probity { refused } else { refused.in_these_words() }.into())
    }

    fn plain(name: &str) -> Self {
        let argv = vec![name.to_owned(), "--acp".to_owned()];
        let reference = AgentRef::Acp(argv.clone());
        Self { name: name.to_owned(), reference, argv, image: None, variables: Vec::new() }
    }
}

pub(super) fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| value == "1")
}
