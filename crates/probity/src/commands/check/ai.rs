//! The effects of a check: agents are seated, images are built, files are written.

mod agent;
mod chat;
mod context;
mod seating;
mod trace;
mod watch;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use anyhow::Context as _;
use probity_agent::Cancel;
use probity_autofix::{Event, Outcome};
use probity_check::{
    AskedFor, Effects, Job, NotSeated, Prover, SeatedAgent, SessionOf, Subject, Unwritten,
    source::Source,
};
use probity_seat::{Caller, Seats, Terms};

pub(super) use self::trace::Trace;
use super::proof::ImageProver;
use crate::{
    commands::stop::Stop, config::Settings, exit::Exit, seats::seats, write::replace_named_by,
};

/// What all files of a run share. Until somebody may be asked, nobody is.
#[derive(Default)]
pub(crate) struct RunEffects {
    asking: OnceLock<Asking>,
}

/// What it takes to ask agents.
struct Asking {
    seats: Seats,
    terms: Terms,
    trace: Option<Trace>,
    stop: Stop,
    progress: Progress,
}

/// Hears in words how an agent gets on, and with which file.
pub(crate) type Progress = Box<dyn Fn(&str, &str) + Send + Sync>;

impl RunEffects {
    /// From now on agents may be asked, and a signal ends the run in order.
    pub(super) fn ask_agents(
        &self,
        trace: Option<Trace>,
        is_dry_run: bool,
        progress: Progress,
    ) -> anyhow::Result<()> {
        // Else a signal ends us at once, as it always did.
        let stop = if is_dry_run { Stop::by(Cancel::new()) } else { Stop::listen() };
        // What is wrong with the user's configuration concerns only those who ask an agent.
        let (seats, terms) = seats(Caller::Fix).context("no agent can be asked")?;
        self.asking.get_or_init(|| Asking { seats, terms, trace, stop, progress });
        Ok(())
    }

    /// For one question of an editor, which calls it off by `cancel`.
    pub(crate) fn for_editor(cancel: Cancel, progress: Progress) -> anyhow::Result<Self> {
        let (seats, terms) = seats(Caller::Fix).context("AI fixes cannot be asked for")?;
        let stop = Stop::by(cancel);
        Ok(Self { asking: OnceLock::from(Asking { seats, terms, trace: None, stop, progress }) })
    }

    /// How to end where a signal has called the run off: from then on nothing is written.
    pub(super) fn called_off(&self) -> Option<Exit> {
        self.asking.get()?.stop.called_off()
    }
}

/// The effects for the files of one configuration.
pub(crate) struct FileEffects {
    pub(crate) config: Arc<Settings>,
    pub(crate) run: Arc<RunEffects>,
}

impl Effects for FileEffects {
    fn cancel(&self) -> Cancel {
        self.run.asking.get().map_or_else(Cancel::new, |asking| asking.stop.cancel.clone())
    }

    fn seat(&self, asked_for: AskedFor, subject: Subject<'_>) -> Result<SeatedAgent, NotSeated> {
        let chosen = match asked_for {
            AskedFor::Fixes => agent::chosen(&self.config)?,
            AskedFor::Detections => agent::named(&self.config)?,
        };
        self.seated(subject, chosen)
    }

    fn prover<'p>(&'p self, job: &'p Job, source: &'p Source) -> Box<dyn Prover + 'p> {
        Box::new(ImageProver::new(&self.config, &job.target, source, self.cancel()))
    }

    fn hear(&self, session: &SessionOf<'_>, event: Event<'_>) {
        let Some(asking) = self.run.asking.get() else { return };
        watch::hear(session, event, asking.trace.as_ref(), &asking.progress);
    }

    fn preview(
        &self,
        session: &SessionOf<'_>,
        prompt: Result<String, Outcome>,
        contained_by: &str,
    ) {
        watch::preview(session, prompt, contained_by);
    }

    fn progress(&self, shown: &str, what: &str) {
        if let Some(asking) = self.run.asking.get() {
            (asking.progress)(shown, what);
        }
    }

    fn replace(
        &self,
        path: &Path,
        named_by: &BTreeSet<PathBuf>,
        before: &str,
        after: &str,
    ) -> Result<(), Unwritten> {
        Ok(replace_named_by(path, named_by, before, after)?)
    }
}
