//! Why a conversation came to no answer, and the statuses of skills that are ours.

use probity_agent::AgentError;

use crate::{Skill, action::ActionError, answer};

/// The status of a skill whose class no detector knows.
pub(crate) const NOT_CHECKED: &str = "not-checked";

/// The status of a skill that nobody was asked about.
pub(crate) const SCAFFOLDED: &str = "scaffolded";

pub(super) enum SessionEnd {
    Agent(Box<AgentError>),
    Unusable(ActionError),
    /// It repeated the question.
    Echo,
    /// It found nothing in what it never looked at; how many of how many files.
    Unread(usize, usize),
    MaxSteps(usize),
    OverBudget(u64),
}

impl SessionEnd {
    /// The status of the skill, and the reason in words.
    pub(super) fn told(&self, skill: &Skill) -> (&'static str, String) {
        match self {
            Self::Agent(error) => ("failed", format!("{error}; {}", error.way_out())),
            Self::Unusable(why) => {
                ("failed", format!("the model's answer could not be used, twice in a row: {why}"))
            }
            Self::Echo => (
                "failed",
                "the agent repeated the question instead of answering it; check its command"
                    .to_owned(),
            ),
            Self::Unread(unread, all) => (
                "unread",
                format!(
                    "the model found nothing, but did not read {unread} of {all} source files to the \
                     end, not even when asked to"
                ),
            ),
            Self::MaxSteps(most) => (
                "max-steps",
                format!(
                    "AI provider exceeded max interactive read steps ({most}) for skill '{}' (enable --ai-logs to inspect progress)",
                    skill.id
                ),
            ),
            Self::OverBudget(limit) => {
                ("over-budget", format!("the budget of {limit} tokens is used up"))
            }
        }
    }
}

/// A model that says itself that it failed has not answered, whatever else it says.
pub(super) fn gave_up(status: &str) -> Option<String> {
    let is_failure = answer::FAILURES.iter().any(|word| status.eq_ignore_ascii_case(word));
    is_failure.then(|| format!("the model ended with the status '{status}'"))
}
