//! Whom the configuration of a file asks.

use probity_agent::AgentRef;
use probity_autofix::Reason;
use probity_seat::NamedBy;

use crate::config::Settings;

/// The agent that may be asked for fixes, and who named it; or the reason why nobody may be.
pub(super) fn chosen(config: &Settings) -> Result<(AgentRef, NamedBy), (Reason, String)> {
    let ai = &config.ai;
    if !ai.enabled {
        let detail = "AI fixes are off; --ai or `ai.enabled = true` switches them on";
        return Err((Reason::AiDisabled, detail.to_owned()));
    }
    named(config)
}

/// The agent that the configuration names, whether or not it may propose fixes.
pub(super) fn named(config: &Settings) -> Result<(AgentRef, NamedBy), (Reason, String)> {
    let ai = &config.ai;
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
    // A configuration file may be anybody's who wrote the repository.
    let is_command = matches!(reference, AgentRef::Acp(_) | AgentRef::Command(_));
    let named_by = if config.is_agent_of_repository && is_command {
        NamedBy::Repository
    } else {
        NamedBy::User
    };
    Ok((reference, named_by))
}
