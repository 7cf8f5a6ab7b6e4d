//! What a runner is: where a test goes, how it is run, and how its output becomes an outcome.

use std::{fmt, path::PathBuf, time::Duration};

use super::{
    Claim, Control, Outcome, Reach,
    alter::{Literals, Mark, Noise},
    capture::Ran,
    site::{Bench, Site},
    text::clean,
};

pub(super) trait Runner: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;

    /// Decides where the test of a claim goes in this copy. Nothing is written yet.
    fn place(&self, site: &Site, claim: &Claim, flagged: &Flagged) -> Result<Placed, Refusal>;

    /// Puts switches into the code of this copy by which it can be made to return other values,
    /// where the control needs them compiled in.
    fn arm(&self, _site: &Site, _placed: &Placed) -> Option<Armed> {
        None
    }

    /// Compiles the test, where that is a step of its own.
    fn build(&self, _bench: &Bench, _site: &Site, _placed: &Placed) -> Result<Built, Box<Trial>> {
        Ok(Built::default())
    }

    fn run(&self, bench: &Bench, site: &Site, placed: &Placed, built: &Built) -> Trial;

    /// Whether the failing test ran code of the flagged file. Asked once, after the last run.
    fn reach(&self, _: &Bench, _: &Site, _: &Placed, _: &Built, last: &Trial) -> Reach {
        let unknown = || Reach::Unmeasured("the test left no trace of what it ran".to_owned());
        last.reach.clone().unwrap_or_else(unknown)
    }

    /// Whether the failure rests on what the code returns. Asked once, after everything else,
    /// since it may change the copy.
    fn control(&self, _: &Bench, _: &Site, _: &Placed, _: &Built, last: &Trial) -> Control;
}

/// What was there before the switches and marks, and what they can do.
#[derive(Debug, Clone, Default)]
pub(super) struct Armed {
    /// Path and text; a file that was not there has none.
    pub(super) originals: Vec<(String, Option<String>)>,
    pub(super) functions: Vec<Switch>,
    /// The lines of each run of statements in the flagged file that tells when it is run.
    pub(super) marks: Vec<(u32, u32)>,
}

/// A function that can be made to return other values.
#[derive(Debug, Clone)]
pub(super) struct Switch {
    pub(super) id: usize,
    pub(super) name: String,
    /// For each result the values that it can have.
    pub(super) results: Vec<Values>,
}

#[derive(Debug, Clone)]
pub(super) enum Values {
    Number,
    Text,
    Truth,
    /// Nothing, a failure, or one of these by name.
    Failure(Vec<String>),
    /// As many as there are expressions for.
    Numbered(usize),
    /// One of these, or the word `none`.
    Optional(Box<Self>),
}

impl Armed {
    /// Each function with words that it may panic with.
    pub(super) fn panics<'a>(
        &'a self,
        literals: &'a Literals,
    ) -> impl Iterator<Item = (&'a Switch, &'a str)> {
        self.functions.iter().flat_map(|it| literals.panics().map(move |text| (it, text)))
    }

    /// What a file held before.
    pub(super) fn original(&self, file: &str) -> Option<&str> {
        let found = self.originals.iter().find(|(path, _)| path == file);
        found.and_then(|(_, text)| text.as_deref())
    }

    pub(super) fn disarm(&self, site: &Site) -> Result<(), String> {
        for (path, text) in &self.originals {
            match text {
                Some(text) => site.write(path, text)?,
                None => std::fs::remove_file(site.repo.join(path))
                    .map_err(|error| format!("{path}: {error}"))?,
            }
        }
        Ok(())
    }
}

/// The lines that a claim is about.
#[derive(Debug, Clone)]
pub(super) struct Flagged {
    pub(super) file: String,
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Flagged {
    pub(super) fn holds(&self, first: u32, last: u32) -> bool {
        first <= self.last && self.first <= last
    }
}

/// A test that has its place.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    /// Relative to the copy.
    pub(super) path: String,
    pub(super) name: String,
    pub(super) source: String,
    /// A file of the repository, and what is added to its end.
    pub(super) added: Option<(String, String)>,
    /// Where its commands run, relative to the copy.
    pub(super) directory: PathBuf,
    pub(super) flagged: Flagged,
    pub(super) armed: Option<Armed>,
}

/// Why a claim's test has no place.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) outcome: Outcome,
    pub(super) reason: String,
}

impl Refusal {
    pub(super) fn rejected(reason: impl Into<String>) -> Self {
        Self { outcome: Outcome::Rejected, reason: reason.into() }
    }

    pub(super) fn not_run(reason: impl Into<String>) -> Self {
        Self { outcome: Outcome::NotRun, reason: reason.into() }
    }
}

/// What building has made.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// As the commands see it; empty where there is none.
    pub(super) program: PathBuf,
    /// The test as its program names it.
    pub(super) test: String,
    /// Whether the switches are in it.
    pub(super) armed: bool,
}

/// One run and what it showed.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) outcome: Outcome,
    /// A clause that says what happened, to be part of a sentence.
    pub(super) why: String,
    pub(super) duration: Duration,
    pub(super) output: String,
    /// Whether it ran the flagged code, if the run itself has shown that.
    pub(super) reach: Option<Reach>,
    /// The statement it failed at, if that fails whatever the code does.
    pub(super) constant: Option<String>,
    pub(super) mark: Mark,
    /// How far that was another in one of the runs.
    pub(super) noise: Noise,
    /// Whether the failure came out of the code itself, and not out of the test.
    pub(super) of_code: bool,
    /// Why this is no failure, unless the control shows that it rests on the code.
    pub(super) doubt: Option<String>,
    /// Why this is no failure whatever the control shows, unless the test passes with other code.
    pub(super) own: Option<String>,
    /// Whether the process died of it.
    pub(super) crashed: bool,
}

impl Trial {
    pub(super) fn new(outcome: Outcome, why: impl Into<String>) -> Self {
        Self {
            outcome,
            why: why.into(),
            duration: Duration::ZERO,
            output: String::new(),
            reach: None,
            constant: None,
            mark: Mark::default(),
            noise: Noise::Nothing,
            of_code: false,
            doubt: None,
            own: None,
            crashed: false,
        }
    }

    /// A trial that could not be made, for a reason that is not the code's.
    pub(super) fn harness(why: impl Into<String>) -> Self {
        Self::new(Outcome::HarnessError, why)
    }

    /// The same, for a test that could not even be built.
    pub(super) fn unbuilt(why: impl Into<String>) -> Box<Self> {
        Box::new(Self::harness(why))
    }

    /// With the evidence of the process.
    pub(super) fn of(mut self, bench: &Bench, site: &Site, ran: &Ran, text: &[u8]) -> Self {
        self.duration = ran.duration;
        self.output = site.relative(&clean(text, bench.output_cap));
        self
    }
}
