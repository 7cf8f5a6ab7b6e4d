//! The identity of issues and observations from one review to the next.

use std::{collections::HashMap, path::Path};

use probity_finding::{Finding, Fingerprints, LineIndex, Severity, Span};
use probity_scope::Scope;

use crate::{Category, classify::Classified};

const FILE_BYTES: u64 = 8 << 20;
/// Of the flagged code, in a report.
const SHOWN_LINES: usize = 60;

/// Issues first and by themselves, so that what is merely observed cannot change their identity.
pub(super) fn assign(classified: &mut Classified, scope: &Scope) {
    let mut prints = Prints::new(scope);
    let wanted: Vec<(String, u64, Category)> = classified
        .proven
        .iter()
        .map(|issue| (issue.file.clone(), issue.line, issue.category))
        .collect();
    for (issue, print) in classified.proven.iter_mut().zip(prints.of(&wanted)) {
        issue.fingerprint = print;
    }
    let wanted: Vec<(String, u64, Category)> = classified
        .observations
        .iter()
        .map(|observation| (observation.file.clone(), observation.line, observation.category))
        .collect();
    for (observation, print) in classified.observations.iter_mut().zip(prints.of(&wanted)) {
        observation.fingerprint = print;
    }
}

pub(super) struct Prints<'a> {
    scope: &'a Scope,
    texts: HashMap<String, String>,
}

/// Claims of one place that a review may have had before they counted once.
const CLAIMS_OF_A_LINE: usize = 3;

impl<'a> Prints<'a> {
    pub(super) fn new(scope: &'a Scope) -> Self {
        Self { scope, texts: HashMap::new() }
    }

    pub(super) fn text(&mut self, file: &str) -> &str {
        self.texts.entry(file.to_owned()).or_insert_with(|| {
            let bytes = self.scope.read(Path::new(file), FILE_BYTES).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }

    /// These lines of a file, and not more than a reader looks at.
    pub(super) fn lines(&mut self, file: &str, line: u64, end_line: Option<u64>) -> String {
        let from = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let count = end_line.unwrap_or(line).saturating_sub(line).saturating_add(1);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(SHOWN_LINES);
        self.text(file).lines().skip(from).take(count).collect::<Vec<_>>().join("\n")
    }

    /// The line of a file that has this fingerprint under the path `called`: the nearest to where it
    /// was.
    pub(super) fn line(
        &mut self,
        file: &str,
        called: &str,
        category: Category,
        (print, was): (&str, u64),
    ) -> Option<u64> {
        self.text(file);
        let text = self.texts.get(file)?;
        let lines = LineIndex::new(text);
        let is_it = |number: u64| {
            let finding = at(&lines, number, category);
            let mut prints = Fingerprints::new(called, &lines);
            (0..CLAIMS_OF_A_LINE).any(|_| prints.next(&finding) == print)
        };
        let mut numbers: Vec<u64> = (1..=text.lines().count() as u64).collect();
        numbers.sort_by_key(|number| number.abs_diff(was));
        numbers.into_iter().find(|number| is_it(*number))
    }

    /// One for each place, in their order.
    pub(super) fn of(&mut self, places: &[(String, u64, Category)]) -> Vec<String> {
        for (file, _, _) in places {
            self.text(file);
        }
        let lines: HashMap<&str, LineIndex<'_>> =
            self.texts.iter().map(|(file, text)| (file.as_str(), LineIndex::new(text))).collect();
        let mut makers: HashMap<&str, Fingerprints<'_>> = HashMap::new();
        places
            .iter()
            .map(|(file, line, category)| {
                let Some(lines) = lines.get(file.as_str()) else { return String::new() };
                let finding = at(lines, *line, *category);
                makers
                    .entry(file.as_str())
                    .or_insert_with(|| Fingerprints::new(file, lines))
                    .next(&finding)
            })
            .collect()
    }
}

fn at(lines: &LineIndex<'_>, line: u64, category: Category) -> Finding {
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let span = Span::at(lines.line_start(index));
    // What an agent calls a defect changes from run to run; where and what kind do not.
    Finding::new(format!("review/{category}"), Severity::Error, span, String::new())
}
