//! The agent of a file in its seat, with what it may see of the build context.

use probity_agent::{Agent, AgentError, CommandOptions};
use probity_autofix::{AgentContext, Reason};
use probity_check::{NotSeated, SeatedAgent, Subject, Voice};
use probity_scope::ScopeError;
use probity_seat::{Caller, Occupant, Request as SeatRequest, Seated, Unseated};

use super::{FileEffects, agent::Chosen, chat::Chat, context};
use crate::failure::Failure;

impl FileEffects {
    pub(super) fn seated(
        &self,
        subject: Subject<'_>,
        chosen: Chosen,
    ) -> Result<SeatedAgent, NotSeated> {
        let ai = &self.config.ai;
        let unreadable = |error: ScopeError| {
            (Reason::NotConfigured, format!("the build context cannot be read: {error}"))
        };
        let Some(asking) = self.run.asking.get() else {
            return Err((Reason::AiDisabled, "no agent is asked in this run".to_owned()));
        };
        let (reference, named_by) = match chosen {
            Chosen::Agent(reference, named_by) => (reference, named_by),
            Chosen::Chat(kind) => {
                let chat = Chat::new(kind, ai)?;
                return Ok(SeatedAgent {
                    agent: chat.label.clone(),
                    named: chat.label.clone(),
                    contained_by: "its API".to_owned(),
                    context: context::of(ai, subject, None).map_err(unreadable)?,
                    voice: Box::new(chat),
                });
            }
        };
        let seated = asking.seats.seat(&SeatRequest {
            caller: Caller::Fix,
            occupant: Occupant::Agent(&reference),
            named_by,
            form: None,
            sandbox: ai.sandbox,
            directory: context::directory(ai, subject),
            directories: &[],
            variables: &[],
            terms: &asking.terms,
        });
        let seated = seated.map_err(|unseated| (reason_of(&unseated), in_words(unseated)))?;
        let context = context::of(ai, subject, Some(&seated)).map_err(unreadable)?;
        Ok(SeatedAgent {
            agent: reference.label(),
            named: reference.to_string(),
            contained_by: seated.contained.to_string(),
            context,
            voice: Box::new(SeatedProgram(seated)),
        })
    }
}

/// A program that answers.
struct SeatedProgram(Seated);

impl Voice for SeatedProgram {
    fn open(&self, context: Option<&AgentContext>) -> Result<Box<dyn Agent>, AgentError> {
        match context.and_then(AgentContext::files) {
            Some(files) => self.0.open_with_files(CommandOptions::default(), files),
            None => self.0.open(CommandOptions::default(), None),
        }
    }
}

/// A model behind an API, which runs nothing here.
impl Voice for Chat {
    fn open(&self, _: Option<&AgentContext>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(self.conversation())
    }
}

fn reason_of(unseated: &Unseated) -> Reason {
    match unseated {
        Unseated::Unknown { .. } => Reason::NotConfigured,
        _ => Reason::AgentFailed,
    }
}

/// The reason and the way out, in one line.
fn in_words(unseated: Unseated) -> String {
    let failure = Failure::from(unseated);
    let what = failure.to_string();
    format!("{}; {}", what.lines().collect::<Vec<_>>().join("; "), failure.way_out())
}
