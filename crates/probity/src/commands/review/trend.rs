//! `review trend` and `review badge`: scores and cost over time.

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_report::{
    Paint, Screen, Table,
    counts::plural,
    review::html::chart::{badge as picture, sparkline},
};
use probity_review::{Entry, Status};
use probity_text::{runner::Syntax, visible};
use serde_json::json;

use super::{files, history};
use crate::{
    commands::{ListFormat, print_json},
    exit::Exit,
    screen, streams,
};

/// What `trend` is told.
#[derive(Debug)]
pub(crate) struct TrendCommand {
    pub(crate) place: history::ChosenHistory,
    /// The reviews of every repository.
    pub(crate) all: bool,
    /// Only this branch.
    pub(crate) branch: Option<String>,
    pub(crate) limit: u32,
    pub(crate) format: ListFormat,
}

/// What an agent cost in a month.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) reviews: u64,
    pub(super) input_tokens: i64,
    pub(super) output_tokens: i64,
    /// Nothing if no review of the month says what it cost.
    pub(super) usd: Option<f64>,
}

/// By month, agent and model.
pub(super) fn spent(entries: &[Entry]) -> BTreeMap<[String; 3], Spent> {
    let mut months: BTreeMap<[String; 3], Spent> = BTreeMap::new();
    for entry in entries {
        let month: String = entry.created_at.chars().take(7).collect();
        let spent = months.entry([month, entry.agent.clone(), entry.model.clone()]).or_default();
        spent.reviews += 1;
        spent.input_tokens = spent.input_tokens.saturating_add(entry.input_tokens);
        spent.output_tokens = spent.output_tokens.saturating_add(entry.output_tokens);
        spent.usd = match (spent.usd, entry.usd) {
            (Some(before), Some(now)) => Some(before + now),
            (before, now) => now.or(before),
        };
    }
    months
}

/// The reviews of each branch, the oldest first.
pub(super) fn branches(entries: &[Entry]) -> BTreeMap<(&str, &str), Vec<&Entry>> {
    let mut branches: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    for entry in entries.iter().rev() {
        branches.entry((&entry.repo, &entry.branch)).or_default().push(entry);
    }
    branches
}

pub(crate) fn trend(command: &TrendCommand) -> anyhow::Result<Exit> {
    let mut history = history::open(&command.place)?;
    let repo = (!command.all).then(|| probity_proof::GitFacts::of(&command.place.repo).identity);
    let mut entries = history.list(repo.as_deref(), command.limit)?;
    if let Some(branch) = &command.branch {
        entries.retain(|entry| entry.branch == *branch);
    }
    match command.format {
        ListFormat::Json => print_json(&as_json(&entries))?,
        ListFormat::Text => screen::print(&as_text(&entries, screen::stdout()))?,
    }
    Ok(Exit::Clean)
}

fn as_text(entries: &[Entry], screen: Screen) -> String {
    if entries.is_empty() {
        return history::NO_REVIEWS.to_owned();
    }
    let shown = |text: &str| visible::line(text).into_owned();
    let mut text = String::new();
    for ((repo, branch), entries) in branches(entries) {
        let line = sparkline(entries.iter().filter_map(|entry| entry.score));
        let name = screen.painted(Paint::Strong, &shown(&format!("{repo} {branch}")));
        text.push_str(format!("{name}  {line}").trim_end());
        text.push('\n');
        let mut table = Table::with_numbers(&[2, 5]);
        for entry in entries {
            let short: String = entry.commit.chars().take(10).collect();
            let day: String = entry.created_at.replace('T', " ").chars().take(16).collect();
            let (score, result) = history::result(entry, screen);
            let usd = entry.usd.map_or_else(String::new, |usd| format!("${usd:.2}"));
            let proven = format!("{} proven", entry.proven);
            table.row([shown(&day), shown(&short), score, result, proven, usd]);
        }
        text.push_str(&table.text(2));
    }
    for ([month, agent, model], it) in spent(entries) {
        let usd = it.usd.map_or_else(String::new, |usd| format!(", ${usd:.2}"));
        let (input, output) = (it.input_tokens, it.output_tokens);
        let agent = format!("{agent} {model}");
        let agent = agent.trim_end();
        text.push_str(&shown(&format!(
            "cost {month}  {agent}: {}, {input} input and {output} output tokens{usd}",
            plural(usize::try_from(it.reviews).unwrap_or(usize::MAX), "review")
        )));
        text.push('\n');
    }
    text
}

fn as_json(entries: &[Entry]) -> serde_json::Value {
    let points = |entries: Vec<&Entry>| -> Vec<serde_json::Value> {
        entries.into_iter().map(history::as_json).collect()
    };
    let branches: Vec<serde_json::Value> = branches(entries)
        .into_iter()
        .map(|((repo, branch), entries)| {
            json!({ "repo": repo, "branch": branch, "reviews": points(entries) })
        })
        .collect();
    let cost: Vec<serde_json::Value> = spent(entries)
        .into_iter()
        .map(|([month, agent, model], it)| {
            json!({
                "month": month, "agent": agent, "model": model, "reviews": it.reviews,
                "inputTokens": it.input_tokens, "outputTokens": it.output_tokens, "usd": it.usd,
            })
        })
        .collect();
    json!({ "branches": branches, "cost": cost })
}

/// Writes the score of a review as a picture.
pub(crate) fn badge(review: &Path, to: Option<&PathBuf>) -> anyhow::Result<Exit> {
    let review = files::read_review(review, files::NAME_REVIEW)?;
    let svg = match review.status {
        Status::Error => picture("no review", None),
        Status::Ok => {
            let value = format!("{} of {}", review.score.value, review.score.max);
            picture(&value, Some(review.score.pass))
        }
    };
    match to {
        Some(path) => files::named_file(path, Path::new("."))?.write(&svg)?,
        None => write!(streams::stdout().as_syntax(Syntax::Xml), "{svg}")
            .context("cannot write the badge")?,
    }
    Ok(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::review::history::as_table;

    fn entry(id: i64, branch: &str, score: Option<f64>) -> Entry {
        Entry {
            id,
            repo: "example.org/店".to_owned(),
            commit: "c0ffee".to_owned(),
            branch: branch.to_owned(),
            score,
            pass: score.is_some_and(|score| score >= 7.0),
            threshold: 7.0,
            proven: 12 - id,
            observations: 0,
            created_at: "2026-11-15T09:00:00Z".to_owned(),
            agent: "claude".to_owned(),
            model: String::new(),
            input_tokens: 0,
            output_tokens: 0,
            usd: None,
        }
    }

    fn entries() -> Vec<Entry> {
        vec![entry(10, "日本語", Some(8.5)), entry(9, "main", Some(10.0)), entry(8, "main", None)]
    }

    #[test]
    fn columns_align_with_wide_names() {
        insta::assert_snapshot!(as_table(&entries(), Screen::PLAIN), @r"
        10  2026-11-15T09:00:00Z   8.5  pass       2 proven, 0 observed  c0ffee  日本語  example.org/店
         9  2026-11-15T09:00:00Z    10  pass       3 proven, 0 observed  c0ffee  main    example.org/店
         8  2026-11-15T09:00:00Z  none  no review  4 proven, 0 observed  c0ffee  main    example.org/店
        ");
        insta::assert_snapshot!(as_text(&entries(), Screen::PLAIN), @r"
        example.org/店 main  █
          2026-11-15 09:00  c0ffee  none  no review  4 proven
          2026-11-15 09:00  c0ffee    10  pass       3 proven
        example.org/店 日本語  ▇
          2026-11-15 09:00  c0ffee  8.5  pass  2 proven
        cost 2026-11  claude: 3 reviews, 0 input and 0 output tokens
        ");
    }

    #[test]
    fn colors_change_no_word_and_mean_what_they_say() {
        let screen = Screen { is_colored: true, ..Screen::PLAIN };
        let stripped = |text: &str| anstream::adapter::strip_str(text).to_string();
        let (table, text) = (as_table(&entries(), screen), as_text(&entries(), screen));
        assert_eq!(stripped(&table), as_table(&entries(), Screen::PLAIN));
        assert_eq!(stripped(&text), as_text(&entries(), Screen::PLAIN));
        let green = "\u{1b}[1m\u{1b}[32mpass";
        assert!(table.contains(green) && text.contains(green), "{table:?} {text:?}");
    }
}
