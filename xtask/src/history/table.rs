//! Counts of right verdicts by half, language and kind, and a line for each verdict that is wrong.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::Value;

use super::{cases::Project, claims::Kind};

#[derive(Default)]
pub(super) struct Table {
    /// How many of how many are right.
    counts: BTreeMap<(&'static str, String, Kind), (usize, usize)>,
    pairs: BTreeSet<String>,
    absent: Vec<String>,
    failed: Vec<String>,
    wrong: Vec<String>,
}

impl Table {
    pub(super) fn absent(&mut self, project: &Project) {
        self.absent.push(format!("{} ({} pairs)\n", project.repository, project.pairs.len()));
    }

    /// A pair that could not be set up; it counts as not measured.
    pub(super) fn fail(&mut self, name: &str, why: &str) -> String {
        let last = why.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(why);
        let line = format!("{name}: {last}\n");
        self.failed.push(line.clone());
        line
    }

    /// Counts a verdict, and says what is wrong with it.
    pub(super) fn add(
        &mut self,
        project: &Project,
        name: &str,
        kind: Kind,
        verdict: &Value,
    ) -> Option<String> {
        self.pairs.insert(format!("{} {name}", project.language));
        let key = (project.half(), project.language.clone(), kind);
        let (right, all) = self.counts.entry(key).or_default();
        *all += 1;
        if kind.is_right(verdict) {
            *right += 1;
            return None;
        }
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let reason = said(&verdict["reason"]);
        let proof = said(&verdict["proof"]["reason"]);
        let fix = said(&verdict["proof"]["fix"]["reason"]);
        let line = format!(
            "{} {name}: {}: {} [{reason}] [{proof}] [{fix}]\n",
            project.language,
            kind.words(),
            said(&verdict["list"])
        );
        self.wrong.push(line.clone());
        Some(line)
    }

    pub(super) fn pairs(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn is_right(&self) -> bool {
        Kind::ALL.into_iter().all(|kind| {
            let of_kind = self.counts.iter().filter(|((_, _, other), _)| *other == kind);
            let (right, all) =
                of_kind.fold((0, 0), |sum, (_, (right, all))| (sum.0 + right, sum.1 + all));
            right * 100 >= all * kind.goal()
        })
    }

    pub(super) fn text(&self, least: usize) -> String {
        let mut text = String::new();
        for ((half, language, kind), (right, all)) in &self.counts {
            let words = kind.words();
            _ = writeln!(text, "{half:<10} {language:<11} {words:<36} {right:>3} of {all:>3}");
        }
        for kind in Kind::ALL {
            for half in ["reporting", "tuning"] {
                let of_kind = self
                    .counts
                    .iter()
                    .filter(|((own, _, other), _)| *other == kind && *own == half);
                let (right, all) =
                    of_kind.fold((0, 0), |sum, (_, (right, all))| (sum.0 + right, sum.1 + all));
                let words = kind.words();
                _ = writeln!(text, "{half:<10} {:<11} {words:<36} {right:>3} of {all:>3}", "all");
            }
        }
        for (title, lines) in
            [("wrong", &self.wrong), ("not set up", &self.failed), ("not there", &self.absent)]
        {
            for line in lines {
                _ = write!(text, "{title}: {line}");
            }
        }
        let pairs = self.pairs();
        _ = writeln!(text, "{pairs} pairs were measured; fewer than {least} say nothing");
        text
    }
}
