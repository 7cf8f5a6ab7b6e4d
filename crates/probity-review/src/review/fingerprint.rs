//! The identity of issues and observations from one review to the next.

use std::{collections::HashMap, path::Path};

use probity_finding::{Finding, Fingerprints, LineIndex, Severity, Span};
use probity_scope::Scope;

use crate::{Category, classify::Classified};

const FILE_BYTES: u64 = 8 << 20;

/// Issues first and by themselves, so that what is merely observed cannot change their identity.
pub(super) fn assign(classified: &mut Classified, scope: &Scope) {
    let mut prints = Prints::new(scope);
    let wanted: Vec<(String, u64, Category)> =
        classified.proven.iter().map(|it| (it.file.clone(), it.line, it.category)).collect();
    for (issue, print) in classified.proven.iter_mut().zip(prints.of(&wanted)) {
        issue.fingerprint = print;
    }
    let wanted: Vec<(String, u64, Category)> =
        classified.observations.iter().map(|it| (it.file.clone(), it.line, it.category)).collect();
    for (observation, print) in classified.observations.iter_mut().zip(prints.of(&wanted)) {
        observation.fingerprint = print;
    }
}

struct Prints<'a> {
    scope: &'a Scope,
    texts: HashMap<String, String>,
}

impl<'a> Prints<'a> {
    fn new(scope: &'a Scope) -> Self {
        Self { scope, texts: HashMap::new() }
    }

    /// One for each place, in their order.
    fn of(&mut self, places: &[(String, u64, Category)]) -> Vec<String> {
        for (file, _, _) in places {
            if !self.texts.contains_key(file) {
                let bytes = self.scope.read(Path::new(file), FILE_BYTES).unwrap_or_default();
                self.texts.insert(file.clone(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        let lines: HashMap<&str, LineIndex<'_>> =
            self.texts.iter().map(|(file, text)| (file.as_str(), LineIndex::new(text))).collect();
        let mut makers: HashMap<&str, Fingerprints<'_>> = HashMap::new();
        places
            .iter()
            .map(|(file, line, category)| {
                let Some(lines) = lines.get(file.as_str()) else { return String::new() };
                let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
                let span = Span::at(lines.line_start(index));
                // What an agent calls a defect changes from run to run; where and what kind do not.
                let rule = format!("review/{category}");
                let finding = Finding::new(rule, Severity::Error, span, String::new());
                makers
                    .entry(file.as_str())
                    .or_insert_with(|| Fingerprints::new(file, lines))
                    .next(&finding)
            })
            .collect()
    }
}
