//! A run: the files in batches, each learned about, linted in parallel and then reported in order.

use std::{
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::{
    CheckError, Checked, FixHandling, IgnoreFiles, Job, Known, RunOptions, base_images::SlowChecks,
    examine::examine, shellcheck,
};

/// Files that are held in memory together: linted in parallel, then reported in order.
const BATCH: usize = 512;

/// More threads than this help nobody and hurt the machine.
pub const MOST_THREADS: usize = 256;

/// Agents that work at the same time, unless somebody says otherwise: they wait more than they work.
const AGENTS_AT_ONCE: usize = 4;

/// The settings of a run, without its files.
#[derive(Clone, Copy, Debug)]
pub struct Run<'r> {
    pub options: RunOptions,
    /// The absolute working directory.
    pub directory: &'r Path,
    pub ignore_files: &'r IgnoreFiles,
    /// Files at the same time; 0 is one for each processor.
    pub at_once: usize,
    /// Digests are written, so that tags are asked about anew.
    pub is_pinning: bool,
    /// Whether somebody waits at a terminal: slow checks never slow a script or a pipeline down.
    pub is_watched: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    Complete,
    /// Somebody has called it off.
    CalledOff,
}

impl Run<'_> {
    /// Whether any of these files may be shown to an agent.
    #[must_use]
    pub fn asks_agents(&self, jobs: &[Job]) -> bool {
        let may_fix = || jobs.iter().any(|job| job.options.ai.is_enabled);
        self.options.detects || (self.options.fixes != FixHandling::Offer && may_fix())
    }

    /// Checks all files. `examined` hears of each that is done, from any thread; `report` gets them in
    /// their order.
    ///
    /// # Errors
    ///
    /// Fails if findings would be missing, and as `report` does.
    pub fn check<E: From<CheckError>>(
        &self,
        jobs: &[Job],
        known: &mut Known,
        examined: &(dyn Fn() + Sync),
        report: &mut dyn FnMut(&Job, Checked) -> Result<(), E>,
    ) -> Result<RunEnd, E> {
        let mut slow_checks = SlowChecks::new(self.is_pinning, self.is_watched);
        for batch in jobs.chunks(BATCH) {
            shellcheck::learn(batch, self.directory)?;
            slow_checks.learn(batch, self.directory, self.ignore_files);
            known.learn(batch, self.directory)?;
            let checked = self.examined(batch, examined);
            if is_called_off(jobs) {
                return Ok(RunEnd::CalledOff);
            }
            // What fixing has changed was looked at again.
            shellcheck::refuse_failure(batch)?;
            for (job, mut checked) in batch.iter().zip(checked) {
                known.take_old(job, self.directory, &mut checked);
                report(job, checked)?;
            }
        }
        Ok(RunEnd::Complete)
    }

    fn examined(&self, batch: &[Job], examined: &(dyn Fn() + Sync)) -> Vec<Checked> {
        let work = |job: &Job| {
            let checked = examine(job, self.options, self.directory, self.ignore_files);
            examined();
            checked
        };
        match batch {
            // One file is not worth waking the pool for.
            [job] => vec![work(job)],
            _ if self.asks_agents(batch) => {
                let most = match self.at_once {
                    0 => AGENTS_AT_ONCE,
                    most => most,
                };
                in_threads(batch, most, work)
            }
            _ => batch.par_iter().map(work).collect(),
        }
    }
}

/// One signal is for all files.
fn is_called_off(jobs: &[Job]) -> bool {
    jobs.first().is_some_and(|job| job.effects.cancel().is_cancelled())
}

/// The same as a pool would give, for work that mostly waits; no job is begun once it is called off.
fn in_threads<T: Send>(jobs: &[Job], most: usize, work: impl Fn(&Job) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(jobs.len())));
    thread::scope(|threads| {
        for _ in 0..most.clamp(1, MOST_THREADS).min(jobs.len()) {
            threads.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    if is_called_off(jobs) {
                        return;
                    }
                    let result = work(job);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
