//! Starts the runner of each language once for real: a project with a test that passes and one that
//! fails goes through the prover of reviews, in the sandbox of reviews, without a network.

use std::{
    fs,
    num::NonZero,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use probity_proof::{
    Claim, LanguageTools, Outcome, ProofOptions, Verdict, Why, WithoutFix, Workshop, wording,
};
use probity_review::excerpt;
use probity_sandbox::Backend;
use probity_text::one_line;

use super::samples::{ANSWER, OTHER, SAMPLES, Sample};
use crate::test_place::{proof_caches, test_sandbox};
use probity_seat::Sandbox;

/// Of all languages together. A review takes longer, and so may the first compilation of a library.
pub(super) const LIMIT: Duration = Duration::from_secs(60);
const WORDS: usize = 300;

/// Whether the tests of a language run here.
#[derive(Debug)]
pub(super) enum Start {
    Ready,
    /// Its runner cannot be used on this machine.
    Unavailable(String),
    /// Its runner is there, and one of the two tests did not do what it should.
    Fails(String),
    /// There was no time for it.
    OutOfTime,
    /// Nothing runs without one.
    NoSandbox,
}

/// One for each language, in their order; some at a time.
pub(super) fn start_all(languages: &[&LanguageTools]) -> Vec<Start> {
    let sandbox = match test_sandbox(Sandbox::Auto, "--sandbox") {
        Ok(sandbox) => sandbox,
        // As in a review, which refuses.
        Err(_) => return languages.iter().map(|_| Start::NoSandbox).collect(),
    };
    let (next, is_over) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let all: Mutex<Vec<Option<Start>>> = Mutex::new(languages.iter().map(|_| None).collect());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(tools) = languages.get(number) else { return };
            let start = start(tools, &sandbox, &is_over);
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = all.get_mut(number) {
                *place = Some(start);
            }
        }
    };
    let (working, end) = mpsc::channel::<()>();
    let over = Arc::clone(&is_over);
    thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                over.store(true, Ordering::SeqCst);
            }
        });
        thread::scope(|workers| {
            for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
                workers.spawn(work);
            }
        });
        drop(working);
    });
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unknown = || Start::Fails("nothing was started".to_owned());
    all.into_iter().map(|start| start.unwrap_or_else(unknown)).collect()
}

fn start(tools: &LanguageTools, sandbox: &Backend, is_over: &Arc<AtomicBool>) -> Start {
    let Some(sample) = SAMPLES.iter().find(|sample| sample.language == tools.language) else {
        return Start::Fails("probity has no sample of it".to_owned());
    };
    let tried = tempfile::tempdir()
        .and_then(|directory| {
            write(sample, directory.path())?;
            Ok(directory)
        })
        .map_err(|error| format!("cannot write a sample: {error}"));
    let mut options = match &tried {
        Ok(directory) => ProofOptions::new(directory.path(), sandbox.clone()),
        Err(why) => return Start::Fails(why.clone()),
    };
    (options.fetch, options.caches, options.jobs) = (None, proof_caches(), 1);
    options.cancel = Arc::clone(is_over);
    let start = start_in(options, tools, sample);
    match start {
        Start::Ready => Start::Ready,
        // What was stopped has shown nothing.
        _ if is_over.load(Ordering::SeqCst) => Start::OutOfTime,
        start => start,
    }
}

fn write(sample: &Sample, directory: &Path) -> std::io::Result<()> {
    for (name, text) in sample.files {
        let path = directory.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    Ok(())
}

fn start_in(options: ProofOptions, tools: &LanguageTools, sample: &Sample) -> Start {
    let workshop = match Workshop::prepare(options, &|_| {}) {
        Ok(workshop) => workshop,
        Err(error) => return Start::Fails(error.to_string()),
    };
    let tool = workshop.test_tools().into_iter().find(|tool| tool.endings == tools.endings);
    if let Some(Err(why)) = tool.map(|tool| tool.runner) {
        return Start::Unavailable(why.to_string());
    }
    let claims = [("passes", ANSWER), ("fails", OTHER)];
    let claims = claims.map(|(id, answer)| claim(sample, id, answer));
    let verdicts = workshop.prove_all(&claims, WithoutFix::Leave, &|_, _| {});
    let wanted = [Outcome::Passed, Outcome::Failed];
    match verdicts.iter().zip(wanted).find(|(verdict, wanted)| verdict.outcome != *wanted) {
        None => Start::Ready,
        Some((verdict, _)) => Start::Fails(why(verdict)),
    }
}

fn claim(sample: &Sample, id: &str, answer: &str) -> Claim {
    Claim {
        id: id.to_owned(),
        file: sample.flagged.to_owned(),
        line: 1,
        test_code: sample.test.replace("{answer}", answer),
        ..Claim::default()
    }
}

/// What the runner did instead, in a line.
fn why(verdict: &Verdict) -> String {
    let why = match (&verdict.why, verdict.outcome) {
        (Why::Refused(refusal), _) => wording::refusal(refusal),
        (_, Outcome::Passed) => "a test that must fail passes".to_owned(),
        (_, Outcome::Failed) => "a test that must pass fails".to_owned(),
        (Why::Ran(shown) | Why::Unstarted(shown), _) => wording::detail(shown),
        (_, outcome) => format!("the test ended as {outcome}"),
    };
    match one_line(&excerpt(&verdict.output, "", 1), WORDS) {
        said if said.is_empty() => why,
        said => format!("{why} ({said})"),
    }
}

#[cfg(test)]
mod tests {
    use probity_proof::language_tools;

    use super::SAMPLES;

    #[test]
    fn every_language_has_a_sample_with_a_file_that_it_flags() {
        for tools in language_tools(|_| true) {
            let sample = SAMPLES.iter().find(|sample| sample.language == tools.language).unwrap();
            let (_, ending) = sample.flagged.rsplit_once('.').unwrap();
            assert!(tools.endings.contains(&ending), "{}", tools.language);
            assert!(sample.files.iter().any(|(name, _)| *name == sample.flagged));
            assert_eq!(sample.test.matches("{answer}").count(), 1, "{}", tools.language);
        }
    }
}
