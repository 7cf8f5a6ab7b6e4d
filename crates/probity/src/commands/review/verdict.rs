//! `review verdict` and `review verdicts`: what people say about issues, and how often agents are right.

use std::{collections::BTreeMap, io::Write as _, path::PathBuf};

use anyhow::Context as _;
use probity_report::{Paint, Table};
use probity_review::{
    About, History, OpenPull, PersonVerdict, ReviewOutput, VerdictRecord, apply_verdicts,
    issue_with_id,
};
use probity_text::{one_line, visible};
use serde_json::json;

use super::{
    files,
    history::{ChosenHistory, open},
    settings,
};
use crate::{
    commands::{ListFormat, print_json},
    exit::Exit,
    failure::Failure,
    screen, streams,
};

const REASON_CHARS: usize = 500;

/// What `verdict` is told.
#[derive(Debug)]
pub(crate) struct VerdictCommand {
    pub(crate) issue: String,
    pub(crate) verdict: PersonVerdict,
    pub(crate) reason: String,
    pub(crate) by: Option<String>,
    pub(crate) report: PathBuf,
    pub(crate) place: ChosenHistory,
}

/// Stores a verdict, and applies it to the review that it is about.
pub(crate) fn verdict(command: &VerdictCommand) -> anyhow::Result<Exit> {
    let review = files::read_review(&command.report, files::NAME_REVIEW)?;
    let Some(issue) = issue_with_id(&review, &command.issue) else {
        let (shown, id) = (command.report.display(), visible::line(&command.issue).into_owned());
        let help = format!("`probity review report {shown} --format text` lists the issues");
        return Err(Failure::new(format!("{shown} has no issue {id}"), help).into());
    };
    let reason = one_line(&command.reason, REASON_CHARS);
    if reason.is_empty() {
        return Err(Failure::new("the reason is empty", "say why with --reason TEXT").into());
    }
    let by = command.by.clone().or_else(|| settings::text("USER"));
    let by = by.or_else(|| settings::text("LOGNAME")).unwrap_or_else(|| "somebody".to_owned());
    let record = VerdictRecord::new(&review, issue, command.verdict, &one_line(&by, 100), &reason);
    let id = issue.id.clone();
    let mut history = open(&command.place)?;
    store(&mut history, &record)?;
    let mut judged = review.clone();
    apply_verdicts(&mut judged, &[record]);
    if judged != review {
        files::rewrite(&command.report, &judged)?;
    }
    let word = command.verdict.word();
    writeln!(streams::stdout().lock(), "{id}: {word}; {}", visible::line(&judged.summary))
        .context("cannot write the result")?;
    Ok(Exit::Clean)
}

/// A word that is repeated counts once.
fn store(history: &mut History, record: &VerdictRecord) -> anyhow::Result<()> {
    let known = history.verdicts(Some(&record.repo))?;
    let newest =
        known.iter().find(|earlier| earlier.issue == record.issue && earlier.lines == record.lines);
    if newest.is_none_or(|newest| !newest.repeats(record)) {
        history.record_verdict(record)?;
    }
    Ok(())
}

/// Takes verdicts out of a pull request: stores them, and applies them to the review.
pub(super) fn sync(
    pull: &OpenPull,
    review: &mut ReviewOutput,
    place: &ChosenHistory,
) -> anyhow::Result<()> {
    let mut records = Vec::new();
    for said in pull.verdicts().map_err(super::publish::failure)? {
        let by = visible::line(&said.by).into_owned();
        if !said.may_write {
            tracing::warn!("a verdict of {by} does not count: {by} has no write access");
            continue;
        }
        let dismissed = review.dismissed.iter().map(|dismissed| &dismissed.issue);
        let mut all = review.proven_issues.iter().chain(dismissed);
        let issue = match &said.about {
            About::Identity(identity) => all.find(|issue| issue.identity() == *identity),
            About::Id(id) => issue_with_id(review, id),
        };
        let Some(issue) = issue else { continue };
        records.push(VerdictRecord::new(review, issue, said.verdict, &said.by, &said.reason));
    }
    // Comments are in the order of time, and the newest word is the first that is looked for.
    records.reverse();
    apply_verdicts(review, &records);
    if records.is_empty() {
        return Ok(());
    }
    let stored = open(place).and_then(|mut history| {
        records.iter().rev().try_for_each(|record| store(&mut history, record))
    });
    if let Err(error) = stored {
        tracing::warn!("the verdicts of the pull request were not stored: {error:#}");
    }
    Ok(())
}

/// How often an agent was right, by what people said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accuracy {
    pub(super) accurate: u64,
    pub(super) false_positive: u64,
    pub(super) wont_fix: u64,
}

impl Accuracy {
    fn add(&mut self, verdict: PersonVerdict) {
        let count = match verdict {
            PersonVerdict::Accurate => &mut self.accurate,
            PersonVerdict::FalsePositive => &mut self.false_positive,
            PersonVerdict::WontFix => &mut self.wont_fix,
        };
        *count += 1;
    }

    /// An issue that stays is one all the same.
    pub(super) fn percent(self) -> f64 {
        let right = self.accurate + self.wont_fix;
        let all = right + self.false_positive;
        if all == 0 { 0.0 } else { (right as f64 * 100.0 / all as f64).round() }
    }
}

/// By agent, model and category; the newest word about each issue counts.
pub(super) fn accuracy(records: &[VerdictRecord]) -> BTreeMap<[String; 3], Accuracy> {
    let mut seen = std::collections::HashSet::new();
    let mut counted: BTreeMap<[String; 3], Accuracy> = BTreeMap::new();
    for record in records {
        if seen.insert((&record.repo, &record.issue, &record.lines)) {
            let key = [record.agent.clone(), record.model.clone(), record.category.to_string()];
            counted.entry(key).or_default().add(record.verdict);
        }
    }
    counted
}

/// Counts how often agents were right.
pub(crate) fn verdicts(
    place: &ChosenHistory,
    all: bool,
    format: ListFormat,
) -> anyhow::Result<Exit> {
    let mut history = open(place)?;
    let repo = (!all).then(|| probity_proof::GitFacts::of(&place.repo).identity);
    let records = history.verdicts(repo.as_deref())?;
    let counted = accuracy(&records);
    let mut out = streams::stdout().lock();
    match format {
        ListFormat::Json => {
            let rows: Vec<serde_json::Value> = counted.iter().map(as_json).collect();
            let words: Vec<serde_json::Value> = records.iter().map(word_as_json).collect();
            let page = json!({ "accuracy": rows, "verdicts": words });
            print_json(&page)?;
        }
        ListFormat::Text if counted.is_empty() => {
            let line = "nobody has judged an issue yet; `probity review verdict ISS-001 accurate --reason \
                        TEXT` judges one\n";
            write!(out, "{}", screen::stdout().folded(line))?;
        }
        ListFormat::Text => {
            let screen = screen::stdout();
            let mut table = Table::with_numbers(&[3, 4, 5]);
            let headings = ["agent", "model", "category", "right", "wrong", "accuracy"];
            table.row(headings.map(|heading| screen.painted(Paint::Heading, heading)));
            for ([agent, model, category], it) in &counted {
                let [agent, model, category] =
                    [agent, model, category].map(|text| visible::line(text).into_owned());
                let right = (it.accurate + it.wont_fix).to_string();
                let percent = format!("{}%", it.percent());
                table.row([agent, model, category, right, it.false_positive.to_string(), percent]);
            }
            write!(out, "{}", screen.folded(&table.text(0)))?;
        }
    }
    Ok(Exit::Clean)
}

fn as_json(([agent, model, category], it): (&[String; 3], &Accuracy)) -> serde_json::Value {
    json!({
        "agent": agent, "model": model, "category": category, "accurate": it.accurate,
        "falsePositive": it.false_positive, "wontFix": it.wont_fix, "percent": it.percent(),
    })
}

fn word_as_json(record: &VerdictRecord) -> serde_json::Value {
    json!({
        "repo": record.repo, "issue": record.issue, "verdict": record.verdict, "by": record.by,
        "reason": record.reason, "agent": record.agent, "model": record.model,
        "category": record.category, "title": record.title, "file": record.file,
        "createdAt": record.created_at,
    })
}
