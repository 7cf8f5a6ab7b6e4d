//! The agent of a file in its seat, with what it may see of the build context.

use std::path::Path;

use probity_agent::{Agent, AgentError, CommandOptions};
use probity_autofix::{AgentContext, Reason, Session};
use probity_dockerfile::Dockerignore;
use probity_scope::ScopeError;
use probity_seat::{Caller, Occupant, Request as SeatRequest, Seated, Unseated};

use super::{AiRun, agent::Chosen, chat::Chat, context};
use crate::{
    commands::check::job::Job,
    failure::Failure,
    report::ai_fix::{AiRefusal, AiSession},
    source::Source,
};

/// An agent that can be asked about one file.
pub(super) struct Asked {
    /// Its label in reports.
    pub(super) agent: String,
    /// What it is called in a configuration, with its arguments.
    pub(super) named: String,
    pub(super) contained_by: String,
    pub(super) context: Option<AgentContext>,
    voice: Voice,
}

/// Who answers.
enum Voice {
    Agent(Box<Seated>),
    /// A model behind an API, which runs nothing here.
    Chat(Chat),
}

/// What an agent is asked about.
#[derive(Clone, Copy)]
pub(in crate::commands::check) struct Subject<'s> {
    pub(in crate::commands::check) job: &'s Job,
    pub(in crate::commands::check) source: &'s Source,
    /// The build context.
    pub(in crate::commands::check) root: Option<&'s Path>,
    pub(in crate::commands::check) ignore: Option<&'s Dockerignore>,
}

impl AiRun {
    /// Seats an agent, or gives the reason why it cannot be asked.
    pub(super) fn asked(
        &self,
        subject: Subject<'_>,
        chosen: Chosen,
    ) -> Result<Asked, (Reason, String)> {
        let Subject { job, source, root, ignore } = subject;
        let unreadable = |error: ScopeError| {
            (Reason::NotConfigured, format!("the build context cannot be read: {error}"))
        };
        let (reference, named_by) = match chosen {
            Chosen::Agent(reference, named_by) => (reference, named_by),
            Chosen::Chat(kind) => {
                let chat = Chat::new(kind, &job.config.ai)?;
                return Ok(Asked {
                    agent: chat.label.clone(),
                    named: chat.label.clone(),
                    contained_by: "its API".to_owned(),
                    context: context::of(job, root, ignore, None).map_err(unreadable)?,
                    voice: Voice::Chat(chat),
                });
            }
        };
        let seated = self.seats.seat(&SeatRequest {
            caller: Caller::Fix,
            occupant: Occupant::Agent(&reference),
            named_by,
            form: None,
            sandbox: job.config.ai.sandbox,
            directory: context::directory(job, source, root),
            directories: &[],
            variables: &[],
            terms: &self.terms,
        });
        let seated = seated.map_err(|unseated| (reason_of(&unseated), in_words(unseated)))?;
        let context = context::of(job, root, ignore, Some(&seated)).map_err(unreadable)?;
        Ok(Asked {
            agent: reference.label(),
            named: reference.to_string(),
            contained_by: seated.contained.to_string(),
            context,
            voice: Voice::Agent(Box::new(seated)),
        })
    }
}

impl Asked {
    pub(super) fn open(&self) -> Result<Box<dyn Agent>, AgentError> {
        let seated = match &self.voice {
            Voice::Agent(seated) => seated,
            Voice::Chat(chat) => return Ok(chat.open()),
        };
        match self.context.as_ref().and_then(AgentContext::files) {
            Some(files) => seated.open_with_files(CommandOptions::default(), files),
            None => seated.open(CommandOptions::default(), None),
        }
    }

    /// What a session came to, if anything was sent.
    pub(super) fn session(&self, own: &Session) -> Option<AiSession> {
        (own.prompts > 0).then(|| AiSession {
            agent: self.agent.clone(),
            contained_by: self.contained_by.clone(),
            rounds: own.rounds,
            prompts: own.prompts,
            prompt_bytes: own.prompt_bytes,
            answer_bytes: own.answer_bytes,
            milliseconds: u64::try_from(own.duration.as_millis()).unwrap_or(u64::MAX),
            secrets: own.secrets,
            denied: own.denied.clone(),
            reads: own.reads.clone(),
            notes: own.notes.clone(),
            refusals: own.refusals.iter().map(AiRefusal::of).collect(),
        })
    }
}

/// The session without secrets.
pub(super) fn shown(session: AiSession, hide: &impl Fn(&str) -> String) -> AiSession {
    let hidden = |texts: &[String]| texts.iter().map(|text| hide(text)).collect();
    let (denied, notes) = (hidden(&session.denied), hidden(&session.notes));
    let reads = session.reads.iter().map(|read| context::hidden(read, hide)).collect();
    let refusals = session.refusals.iter().map(|refusal| refusal.masked(hide)).collect();
    AiSession { denied, notes, reads, refusals, ..session }
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
