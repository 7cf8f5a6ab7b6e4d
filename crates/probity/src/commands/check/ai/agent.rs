//! Whom the configuration of a file asks.

use probity_agent::{AgentRef, AgentTable, KnownAgent};
use probity_autofix::Reason;

use crate::config::Settings;

/// An agent that may be asked.
pub(super) struct Chosen {
    pub(super) reference: AgentRef,
    pub(super) table: AgentTable,
    /// Whether a configuration file says what is started, which may be anybody's who wrote the
    /// repository.
    pub(super) is_files_command: bool,
}

impl Chosen {
    /// Fails, with the reason, where nobody may be asked.
    pub(super) fn of(config: &Settings) -> Result<Self, (Reason, String)> {
        let ai = &config.ai;
        if !ai.enabled {
            let detail = "AI fixes are off; --ai or `ai.enabled = true` switches them on";
            return Err((Reason::AiDisabled, detail.to_owned()));
        }
        let table = AgentTable::shipped();
        let reference = match (&ai.command, &ai.agent) {
            (None, None) => {
                let detail = "no agent is named; set `ai.command` or `ai.agent`";
                return Err((Reason::NotConfigured, detail.to_owned()));
            }
            (None, Some(name)) => AgentRef::parse(name).map_err(|error| {
                (Reason::NotConfigured, format!("`ai.agent` names no agent: {error}"))
            })?,
            (Some(command), _) => AgentRef::Acp(command.clone()),
        };
        if let AgentRef::Known(name) = &reference
            && table.get(name).is_none()
        {
            let known = table.names();
            let detail = format!("there is no agent `{name}`; known are {known}");
            return Err((Reason::NotConfigured, detail));
        }
        let is_command = matches!(reference, AgentRef::Acp(_) | AgentRef::Command(_));
        Ok(Self { reference, table, is_files_command: config.is_agent_of_repository && is_command })
    }

    /// The agent of the table that is meant, by its name or by its program.
    pub(super) fn known(&self) -> Option<&KnownAgent> {
        match &self.reference {
            AgentRef::Known(name) => self.table.get(name),
            AgentRef::Acp(argv) => {
                let program = argv.first()?.rsplit('/').next()?;
                self.table
                    .iter()
                    .find(|agent| agent.acp.first().is_some_and(|own| own.as_str() == program))
            }
            AgentRef::Command(_) | AgentRef::Replay(_) => None,
        }
    }

    /// The program that is started.
    pub(super) fn program(&self) -> Option<&str> {
        match &self.reference {
            AgentRef::Known(name) => self.table.get(name)?.acp.first().map(String::as_str),
            AgentRef::Acp(argv) | AgentRef::Command(argv) => argv.first().map(String::as_str),
            AgentRef::Replay(_) => None,
        }
    }
}
