//! Whom the configuration of a file asks.

use probity_agent::{AgentRef, ChatKind};
use probity_autofix::Reason;
use probity_seat::NamedBy;

use crate::config::{Settings, table::ai::key};

/// Who may be asked.
pub(super) enum Chosen {
    /// An agent, and who named it.
    Agent(AgentRef, NamedBy),
    Chat(ChatKind),
}

/// Who may be asked, or the reason why nobody may be.
pub(super) fn chosen(config: &Settings) -> Result<Chosen, (Reason, String)> {
    let ai = &config.ai;
    if !ai.enabled {
        let detail = "AI fixes are off; --ai or `ai.enabled = true` switches them on";
        return Err((Reason::AiDisabled, detail.to_owned()));
    }
    named(config)
}

/// Whom the configuration names, whether or not fixes may be proposed.
pub(super) fn named(config: &Settings) -> Result<Chosen, (Reason, String)> {
    let ai = &config.ai;
    let rank = |key| config.merged.origin(key).rank();
    let agent = rank(&key::command.key).max(rank(&key::agent.key));
    // Beside an agent, a provider counts if it is named in a stronger place.
    let is_chat = (ai.command.is_none() && ai.agent.is_none()) || rank(&key::provider.key) > agent;
    if let (Some(provider), true) = (ai.provider, is_chat) {
        return Ok(Chosen::Chat(provider));
    }
    let reference = match (&ai.command, &ai.agent) {
        (None, None) => {
            let detail = "no model is named; set `ai.provider`, `ai.command` or `ai.agent`";
            return Err((Reason::NotConfigured, detail.to_owned()));
        }
        (None, Some(name)) => AgentRef::parse(name).map_err(|error| {
            (Reason::NotConfigured, format!("`ai.agent` names no agent: {error}"))
        })?,
        (Some(command), _) => AgentRef::of_command(command).map_err(|error| {
            (Reason::NotConfigured, format!("`ai.command` names no agent: {error}"))
        })?,
    };
    // A configuration file may be anybody's who wrote the repository.
    let is_command = matches!(reference, AgentRef::Acp(_) | AgentRef::Command(_));
    let named_by = if config.is_agent_of_repository && is_command {
        NamedBy::Repository
    } else {
        NamedBy::User
    };
    Ok(Chosen::Agent(reference, named_by))
}
