//! One review from beginning to end: facts, agent, findings, proofs, score.
//!
//! It never fails: what keeps a review from happening becomes a review with the status `error`, so
//! that whoever reads the file learns what happened. Nothing is written here but copies.

mod admit;
mod compare;
mod conversation;
mod failed;
mod fingerprint;
mod follow;
mod proving;
mod question;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use probity_agent::{Agent, AgentError, Cancel};
use probity_proof::{Change, CustomRunner, GitFacts, Note, Tree, Verdict};
use probity_sandbox::Backend;
use probity_scope::{Policy, Quota, Scope};

use self::{
    admit::admitted,
    compare::{Again, Earlier},
    conversation::Conversation,
    failed::Failed,
    follow::Today,
    proving::Proving,
};
use crate::{
    Bar, ReviewConfig,
    classify::{Classified, Judged},
    output::{
        Changes, Cost, Isolation, Metadata, ProvenIssue, ReviewOutput, SCHEMA_VERSION, Status,
    },
    redact::Redactor,
    score::score,
    tests_on_disk::TestFile,
    unstarted, wording,
};

pub use self::compare::Previous;

/// Everything that a review is told. Configuration files were read by whoever made it.
pub struct ReviewOptions<'a> {
    pub repo: PathBuf,
    /// Lies in the repository now and then, and is not reviewed.
    pub output: Option<PathBuf>,
    pub config: ReviewConfig,
    /// Its name, for the metadata.
    pub profile: String,
    pub bar: Bar,
    /// The base of the change, if only a change is reviewed.
    pub diff_base: Option<String>,
    pub agent: AgentSeat<'a>,
    /// Commands that run the tests of files that they match.
    pub runners: Vec<CustomRunner>,
    pub max_findings: usize,
    /// How often the agent is asked again for fixes of what fails.
    pub max_fix_rounds: u32,
    /// For the existing tests that a fix must not break, each time that they run.
    pub suite_timeout: Duration,
    /// Of all proofs together.
    pub proof_timeout: Option<Duration>,
    /// Proofs at a time; zero is one for each processor.
    pub jobs: usize,
    pub tests: TestPlace,
    /// The review that this one is compared with, and whose proofs are run again.
    pub previous: Option<Previous>,
    /// Values that must not appear in anything that is left behind.
    pub hidden: Vec<String>,
    /// Ends the agent.
    pub cancel: Cancel,
    /// Ends the tests; set it together with the other.
    pub stop: Arc<AtomicBool>,
}

/// Who is asked, and where it sits.
pub struct AgentSeat<'a> {
    pub name: String,
    pub model: String,
    /// What contains it, in words.
    pub isolation: String,
    pub timeout: Duration,
    /// In US dollars.
    pub budget: Option<f64>,
    /// Opens a conversation with an agent whose working directory is the given copy.
    pub open: &'a OpenAgent<'a>,
}

/// Opens a conversation; the path is the agent's working directory.
pub type OpenAgent<'a> = dyn Fn(&Path) -> Result<Box<dyn Agent>, Unopened> + Sync + 'a;

/// Why there is no agent to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unopened {
    pub message: String,
    pub help: String,
}

impl From<AgentError> for Unopened {
    fn from(error: AgentError) -> Self {
        Self { message: error.to_string(), help: error.way_out().to_owned() }
    }
}

/// Where tests run.
pub struct TestPlace {
    pub sandbox: Backend,
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    pub caches: Option<PathBuf>,
}

/// What is said while a review goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A step begins.
    Step(&'a str),
    /// One proof is done.
    Proved { done: usize, of: usize, title: &'a str, outcome: &'a str },
}

/// The review, and the tests that belong beside it.
#[derive(Clone, Debug)]
pub struct Reviewed {
    pub output: ReviewOutput,
    pub tests: Vec<TestFile>,
}

/// Reviews a repository.
pub fn review(options: &ReviewOptions<'_>, events: &(dyn Fn(Event<'_>) + Sync)) -> Reviewed {
    let began = Instant::now();
    let timestamp = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let facts = GitFacts::of(&options.repo);
    let mut page = Page {
        metadata: Metadata {
            repo: facts.repo,
            commit: facts.commit,
            branch: facts.branch,
            timestamp,
            agent_cli: options.agent.name.clone(),
            agent_model: options.agent.model.clone(),
            base_ref: options.diff_base.clone(),
            profile: options.profile.clone(),
            ..Metadata::default()
        },
        isolation: Isolation { agent: options.agent.isolation.clone(), ..Isolation::default() },
        git_notes: facts.notes,
        notes: Vec::new(),
        cost: None,
        changes: None,
    };
    let redactor = match Redactor::new(&options.hidden) {
        Ok(redactor) => redactor,
        Err(error) => return page.failed(Failed::machine(&error), options, began, None),
    };
    match run(options, events, &redactor, &mut page) {
        Ok(classified) => page.finished(classified, options, began),
        Err(failed) => page.failed(failed, options, began, Some(&redactor)),
    }
}

/// The part of a review that can be told before anything was found.
struct Page {
    metadata: Metadata,
    isolation: Isolation,
    git_notes: Vec<Note>,
    notes: Vec<String>,
    cost: Option<Cost>,
    changes: Option<Changes>,
}

fn run(
    options: &ReviewOptions<'_>,
    events: &(dyn Fn(Event<'_>) + Sync),
    redactor: &Redactor,
    page: &mut Page,
) -> Result<Classified, Failed> {
    events(Event::Step("looking at the repository"));
    let tree = Tree::of(&options.repo, options.output.as_deref())?;
    let names = tree.names();
    let change: Option<Change> = match &options.diff_base {
        Some(base) => Some(probity_proof::change(&options.repo, base)?),
        None => None,
    };
    page.metadata.merge_base = change.as_ref().map(|change| change.merge_base.clone());
    let is_reviewed = |path: &str| {
        options.config.should_review(path)
            && change.as_ref().is_none_or(|change| change.touches(path))
    };
    let files: Vec<String> = names.iter().filter(|path| is_reviewed(path)).cloned().collect();
    page.metadata.files_reviewed = files.len() as u64;
    // Only line texts and manifests are read through it, and only by us.
    let policy =
        Policy { allow_sensitive: false, max_file_bytes: 8 << 20, quota: Quota::UNLIMITED };
    let scope = Scope::open(&options.repo, policy).map_err(|error| Failed::machine(&error))?;
    if !names.iter().any(|path| options.config.should_review(path)) {
        return Err(Failed::nothing_to_review(&options.config));
    }
    let since = options.previous.as_ref().map_or("", |it| it.review.metadata.commit.as_str());
    let mut today = Today::new(&options.repo, since, &names, &scope);
    let earlier = options.previous.as_ref().map(|previous| Earlier::new(previous, &mut today));
    if files.is_empty() {
        // No money is spent on looking at nothing, and the reader is told.
        page.notes.push("no file is under review, so the agent was not asked".to_owned());
        page.changes = earlier.map(Earlier::carried);
        return Ok(Classified::default());
    }
    let proving = Proving::begin(options, change.as_ref(), &files, events);
    let asked = Conversation::open(options, &tree).and_then(|mut conversation| {
        let found = conversation.findings(&scope, &names, &files, change.as_ref(), events)?;
        Ok((conversation, found))
    });
    let (mut conversation, findings) = match asked {
        Ok(asked) => asked,
        Err(failed) => {
            proving.give_up();
            return Err(failed);
        }
    };
    let mut classified = Classified::default();
    let mut admitted = admitted(findings, options, &names, &scope, change.as_ref());
    for (finding, reason) in admitted.dropped {
        classified.discard(&finding, reason, redactor);
    }
    page.notes.extend(admitted.notes);
    let known = earlier.as_ref().map(|earlier| earlier.known(&mut today, &is_reviewed));
    let known = known.unwrap_or_default();
    let verdicts =
        proving.finish(&mut admitted.kept, &known, redactor, &mut conversation, events, page);
    let (cost, notes) = conversation.close();
    page.cost = cost;
    page.notes.extend(notes);
    let verdicts = verdicts?;
    let tried = verdicts.tried(&admitted.kept, &known);
    let (nothing, why) = (unstarted::lacks_every_runner(&tried), unstarted::notes(&tried));
    let judged = verdicts.of_findings.into_iter().zip(verdicts.stand_ins);
    judge(&mut classified, admitted.kept, judged.collect(), change.as_ref(), redactor);
    fingerprint::assign(&mut classified, &scope);
    if nothing {
        return Err(Failed::nothing_to_run_with(&why, classified));
    }
    page.notes.extend(why);
    if let Some(earlier) = earlier {
        let again = Again { known, verdicts: verdicts.of_known };
        let changes =
            compare::against(earlier, again, &mut today, &mut classified, &is_reviewed, redactor);
        page.changes = Some(changes);
    }
    for issue in classified.proven.iter_mut().filter(|issue| issue.introduced.is_none()) {
        // There was no such file to have the defect before.
        let is_new = change.as_ref().is_some_and(|change| change.brings(&issue.file));
        issue.introduced = is_new.then_some(true);
    }
    Ok(classified)
}

fn judge(
    classified: &mut Classified,
    findings: Vec<crate::findings::AgentFinding>,
    verdicts: Vec<(Option<Verdict>, Option<String>)>,
    change: Option<&Change>,
    redactor: &Redactor,
) {
    let judged: Vec<Judged> = findings
        .into_iter()
        .zip(verdicts)
        .map(|(finding, (mut verdict, stand_in))| {
            let asked = verdict.as_ref().zip(change);
            let asked =
                asked.and_then(|(verdict, change)| question::altered_description(verdict, change));
            if let (Some(verdict), Some(_)) = (&mut verdict, &asked) {
                verdict.proven = false;
            }
            let question = asked.map(|file| wording::question(&file));
            Judged { finding, verdict, fingerprint: None, stand_in, question }
        })
        .collect();
    let firsts: Vec<Option<usize>> =
        (0..judged.len()).map(|number| same_place(&judged, number)).collect();
    let titles: Vec<String> = judged.iter().map(|judged| judged.finding.title.clone()).collect();
    for (judged, first) in judged.into_iter().zip(firsts) {
        match first.and_then(|first| titles.get(first)) {
            Some(title) => classified.duplicate(judged, title, redactor),
            None => classified.add(judged, redactor),
        }
    }
}

/// The proven finding that this one repeats, and which weighs once: of the same line and category, and
/// mended by the same change. A line may have two defects. The gravest stands for the others, and of
/// equals the first.
fn same_place(judged: &[Judged], number: usize) -> Option<usize> {
    let is_proven = |it: &Judged| it.verdict.as_ref().is_some_and(|verdict| verdict.proven);
    let one = judged.get(number).filter(|it| is_proven(it))?;
    let place = |it: &Judged| (it.finding.file.clone(), it.finding.line, it.finding.category);
    let same = judged.iter().enumerate().filter(|(index, it)| {
        is_proven(it) && place(it) == place(one) && (*index == number || is_mended_alike(it, one))
    });
    let first = same.min_by_key(|(_, it)| rank(it.finding.severity)).map(|(index, _)| index);
    first.filter(|first| *first != number)
}

/// Whether the same fix makes both tests pass.
fn is_mended_alike(one: &Judged, other: &Judged) -> bool {
    let words = |it: &Judged| it.finding.title.to_lowercase();
    let fix = |it: &Judged| it.finding.fix_patch.clone().filter(|fix| !fix.trim().is_empty());
    words(one) == words(other) || (fix(one).is_some() && fix(one) == fix(other))
}

/// The gravest first.
fn rank(risk: crate::Risk) -> usize {
    crate::Risk::ALL.iter().position(|it| *it == risk).unwrap_or(usize::MAX)
}

impl Page {
    fn finished(
        mut self,
        classified: Classified,
        options: &ReviewOptions<'_>,
        began: Instant,
    ) -> Reviewed {
        let Classified { proven, observations, discarded, summary, tests } = classified;
        let is_change = self.metadata.merge_base.is_some();
        let facts = self.git_notes.iter().map(|note| match note {
            // Of the files that are reviewed the tests see what is there now.
            Note::Dirty if is_change => wording::DIRTY_BESIDE_A_CHANGE,
            other => wording::note(*other),
        });
        let facts: Vec<String> = facts.map(str::to_owned).collect();
        self.notes.splice(0..0, facts);
        self.metadata.duration_seconds = began.elapsed().as_secs();
        self.metadata.tests_generated = summary.total_generated;
        self.metadata.tests_failing = summary.failing;
        let score = score(&proven, &options.config.weights, &options.bar);
        let unclear = self.changes.as_ref().map_or(0, |changes| changes.unclear.len());
        let output = ReviewOutput {
            schema_version: SCHEMA_VERSION.to_owned(),
            status: Status::Ok,
            error: None,
            metadata: self.metadata,
            summary: in_words(&proven, [observations.len(), discarded.len(), unclear], &score),
            score,
            proven_issues: proven,
            observations,
            discarded,
            test_summary: summary,
            cost: self.cost,
            isolation: Some(self.isolation),
            changes: self.changes,
            notes: self.notes,
        };
        Reviewed { output, tests }
    }
}

fn in_words(
    proven: &[ProvenIssue],
    [observations, discarded, unclear]: [usize; 3],
    score: &crate::output::Score,
) -> String {
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let by_risk: Vec<String> = crate::Risk::ALL
        .into_iter()
        .map(|risk| (proven.iter().filter(|issue| issue.severity == risk).count(), risk))
        .filter(|(count, _)| *count > 0)
        .map(|(count, risk)| format!("{count} {risk}"))
        .collect();
    let proven = match proven.len() {
        0 => "nothing proven".to_owned(),
        count => format!("{} ({})", counted(count, "proven issue"), by_risk.join(", ")),
    };
    let unclear = match unclear {
        0 => String::new(),
        count => format!(", {count} from earlier reviews undecided"),
    };
    format!(
        "Score {} of {}: {proven}, {}, {discarded} discarded{unclear}; {} the threshold of {}{}.",
        score.value,
        score.max,
        counted(observations, "observation"),
        if score.value >= score.threshold { "reaches" } else { "misses" },
        score.threshold,
        if score.pass || score.value < score.threshold { "" } else { ", but has a critical issue" },
    )
}

impl std::fmt::Debug for ReviewOptions<'_> {
    /// Without the values that are hidden, and without the environment.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ReviewOptions")
            .field("repo", &self.repo)
            .field("agent", &self.agent.name)
            .field("bar", &self.bar)
            .field("diff_base", &self.diff_base)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AgentSeat<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AgentSeat").field("name", &self.name).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TestPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TestPlace").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}
