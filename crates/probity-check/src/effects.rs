//! What a run asks of its caller, because it starts, builds, writes or shows something.

use std::{
    collections::BTreeSet,
    error::Error,
    path::{Path, PathBuf},
};

use probity_agent::{Agent, AgentError, Cancel};
use probity_autofix::{AgentContext, Event, Outcome, Proof, Reason};
use probity_dockerfile::{Dockerignore, Setting};

use crate::{Hider, Job, ProofReport, source::Source};

/// The effects of checking the files of one configuration.
pub trait Effects: Send + Sync {
    /// Set once somebody has called the run off: from then on nothing is written.
    fn cancel(&self) -> Cancel;

    /// Seats the agent of a file, or gives the reason why it cannot be asked.
    ///
    /// # Errors
    ///
    /// The reason is one of those that reports have; the text is for people.
    fn seat(&self, asked_for: AskedFor, subject: Subject<'_>) -> Result<SeatedAgent, NotSeated>;

    /// Makes the experiments with the proposals for one file.
    fn prover<'p>(&'p self, job: &'p Job, source: &'p Source) -> Box<dyn Prover + 'p>;

    /// Hears what happens while an agent works.
    fn hear(&self, session: &SessionOf<'_>, event: Event<'_>);

    /// Shows what would be sent, where nobody is asked.
    fn preview(&self, session: &SessionOf<'_>, prompt: Result<String, Outcome>, contained_by: &str);

    /// Hears in words what is being done with a file.
    fn progress(&self, shown: &str, what: &str);

    /// Replaces what a file of the user holds, if that is `before`. Where only Compose and Bake files
    /// name it, it lies in the tree of one of them.
    ///
    /// # Errors
    ///
    /// Whatever it is, the file is as it was.
    fn replace(
        &self,
        path: &Path,
        named_by: &BTreeSet<PathBuf>,
        before: &str,
        after: &str,
    ) -> Result<(), Unwritten>;
}

/// Why a file was not written, in words.
pub type Unwritten = Box<dyn Error + Send + Sync>;

/// Why no agent is asked: as reports name it, and in words.
pub type NotSeated = (Reason, String);

/// What an agent is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedFor {
    Fixes,
    Detections,
}

/// What an agent is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    pub job: &'s Job,
    pub source: &'s Source,
    /// The build context.
    pub root: Option<&'s Path>,
    pub ignore: Option<&'s Dockerignore>,
}

/// An agent that can be asked about one file.
pub struct SeatedAgent {
    /// Its label in reports.
    pub agent: String,
    /// What it is called in a configuration, with its arguments.
    pub named: String,
    pub contained_by: String,
    /// What it gets to know of the build context.
    pub context: Option<AgentContext>,
    pub voice: Box<dyn Voice>,
}

impl std::fmt::Debug for SeatedAgent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SeatedAgent").field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// Who answers.
pub trait Voice {
    /// Begins a conversation.
    ///
    /// # Errors
    ///
    /// Fails if the agent cannot be started.
    fn open(&self, context: Option<&AgentContext>) -> Result<Box<dyn Agent>, AgentError>;
}

/// The session that an event belongs to.
#[expect(missing_debug_implementations, reason = "it would show the secrets")]
pub struct SessionOf<'s> {
    pub shown: &'s str,
    pub agent: &'s str,
    /// Hides the secrets of the file wherever they are quoted.
    pub hider: Hider<'s>,
}

/// Makes experiments with proposals for one file.
pub trait Prover {
    /// Compares a proposal with an original, in which these settings may differ.
    fn judge(&mut self, original: &str, proposal: &str, allowed: &[Setting]) -> Proof;

    /// What the last experiment came to, without what `hide` replaces; none where none was made.
    fn report(&self, hide: &dyn Fn(&str) -> String) -> Option<ProofReport>;
}

/// No effects at all: for somebody who types.
#[derive(Debug)]
pub(crate) struct NoEffects;

impl Effects for NoEffects {
    fn cancel(&self) -> Cancel {
        Cancel::new()
    }

    fn seat(&self, _: AskedFor, _: Subject<'_>) -> Result<SeatedAgent, NotSeated> {
        Err((Reason::AiDisabled, "nobody is asked here".to_owned()))
    }

    fn prover<'p>(&'p self, _: &'p Job, _: &'p Source) -> Box<dyn Prover + 'p> {
        Box::new(NoProver)
    }

    fn hear(&self, _: &SessionOf<'_>, _: Event<'_>) {}

    fn preview(&self, _: &SessionOf<'_>, _: Result<String, Outcome>, _: &str) {}

    fn progress(&self, _: &str, _: &str) {}

    fn replace(&self, _: &Path, _: &BTreeSet<PathBuf>, _: &str, _: &str) -> Result<(), Unwritten> {
        Err("nothing is written here".into())
    }
}

struct NoProver;

impl Prover for NoProver {
    fn judge(&mut self, _: &str, _: &str, _: &[Setting]) -> Proof {
        Proof::Unproven("no experiment is made here".to_owned())
    }

    fn report(&self, _: &dyn Fn(&str) -> String) -> Option<ProofReport> {
        None
    }
}
