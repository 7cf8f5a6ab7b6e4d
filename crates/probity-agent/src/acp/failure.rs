//! What the client says went wrong, in the words that all agents share.

use probity_acp::{Cause as ClientCause, ClientError, Phase as ClientPhase};

use crate::{AgentError, Cause, Limits, Phase, acp::peer::Peer, cancel::Woken, process::how};

/// For commands that did not answer the first message.
const SILENT: &str = "this command does not speak the Agent Client Protocol; if it reads a prompt on \
                      standard input, write `cmd:` before it, for example `cmd:llm -m MODEL`";

/// Ends the agent, whose state nobody knows any more, and tells what happened.
pub(crate) fn from_client(name: &str, error: ClientError, peer: &Peer) -> AgentError {
    let phase = match error.phase {
        ClientPhase::Start => Phase::Initializing,
        ClientPhase::Session => Phase::OpeningSession,
        ClientPhase::Prompt | ClientPhase::Close => Phase::Asking,
    };
    let has_ended = matches!(error.cause, ClientCause::Ended | ClientCause::Pipe { .. });
    let exit = if has_ended { peer.exit() } else { None };
    let stderr = peer.last_words();
    let noise = error.noise.as_deref().unwrap_or_default();
    let (cause, way_out) = match error.cause {
        ClientCause::TimedOut { limit } | ClientCause::WholeTimedOut { limit } => {
            let way_out = match phase {
                Phase::Initializing => SILENT,
                _ => "allow more time, or ask for less",
            };
            (Cause::TimedOut(limit), way_out.to_owned())
        }
        ClientCause::OutputLimit { limit } => return too_large(name, limit),
        ClientCause::CostLimit { spent } => {
            (Cause::OverBudget { spent }, "raise the budget, or ask for less".to_owned())
        }
        ClientCause::Ended | ClientCause::Pipe { .. } => {
            let how = exit.map_or_else(|| "the end of its output".to_owned(), how);
            let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
            let said = peer.fit(last.unwrap_or(noise));
            let way_out = match phase {
                Phase::Initializing => SILENT,
                _ => "run the agent by hand to see more",
            };
            (Cause::Ended { how, said }, way_out.to_owned())
        }
        ClientCause::LoginNeeded { message, methods } => {
            let methods: Vec<String> = methods.into_iter().map(|method| method.name).collect();
            let offers = match methods.join(", ") {
                offers if offers.is_empty() => String::new(),
                offers => format!("; it offers {}", peer.fit(&offers)),
            };
            let way_out = format!("log in to {name} once by hand, or pass its key{offers}");
            (Cause::NeedsLogin(peer.fit(&message)), way_out)
        }
        ClientCause::Refused { code, message } => {
            let said = peer.fit(&format!("{message} ({code})"));
            (Cause::Reported(said), "see what the agent says about it".to_owned())
        }
        other @ (ClientCause::Version { .. } | ClientCause::Malformed { .. }) => {
            let what = peer.fit(&other.to_string());
            let cause = Cause::Unusable { what, said: peer.fit(noise) };
            (cause, "use a version of the agent that speaks version 1 of the protocol".to_owned())
        }
    };
    AgentError { stderr: stderr.into(), ..AgentError::new(name, phase, cause, way_out) }
}

/// An agent that we ended ourselves failed for our reason, not for the one that it shows.
pub(crate) fn explained(error: AgentError, woken: Woken, limits: &Limits) -> AgentError {
    let (cause, way_out) = match woken {
        Woken::Done => return error,
        Woken::Cancelled => (Cause::Cancelled, "nothing was changed; run it again when you like"),
        Woken::TimedOut if error.phase == Phase::Initializing => {
            (Cause::TimedOut(limits.total), SILENT)
        }
        Woken::TimedOut => (Cause::TimedOut(limits.total), "allow more time, or ask for less"),
    };
    AgentError { cause, way_out: way_out.into(), ..error }
}

pub(crate) fn too_large(name: &str, limit: usize) -> AgentError {
    let cause = Cause::AnswerTooLarge { limit };
    AgentError::new(name, Phase::ReadingAnswer, cause, "ask for less")
}

/// A turn that the agent ended because it was told to.
pub(crate) fn called_off(name: &str) -> AgentError {
    AgentError::new(name, Phase::Asking, Cause::Cancelled, "run it again when you like")
}

pub(crate) fn cancelled(name: &str) -> AgentError {
    let way_out = "nothing was started; run it again when you like";
    AgentError::new(name, Phase::Preparing, Cause::Cancelled, way_out)
}
