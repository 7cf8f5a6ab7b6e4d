//! One problem that several skills came to is one finding.

use std::collections::BTreeSet;

use crate::{Finding, report::Reported};

/// Lines within which two findings may be about the same thing.
const NEAR_LINES: u64 = 3;

/// Merges findings of the same place and the same words. The worse of two stays where the first one
/// stood, and the skill of the other is remembered.
pub(crate) fn merge(findings: &mut Vec<Reported>) {
    let mut kept: Vec<Reported> = Vec::with_capacity(findings.len());
    for reported in findings.drain(..) {
        match kept.iter_mut().find(|other| is_same(&other.finding, &reported.finding)) {
            Some(other) => absorb(other, reported),
            None => kept.push(reported),
        }
    }
    *findings = kept;
}

fn absorb(kept: &mut Reported, mut other: Reported) {
    if other.finding.severity > kept.finding.severity {
        std::mem::swap(kept, &mut other);
    }
    for skill in std::iter::once(other.skill_id).chain(other.also_found_by) {
        if skill != kept.skill_id && !kept.also_found_by.contains(&skill) {
            kept.also_found_by.push(skill);
        }
    }
}

/// The same place, and titles of which at least half of the words agree. Two different problems of
/// one line are two findings.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let near = match (a.line, b.line) {
        (Some(a), Some(b)) => a.abs_diff(b) <= NEAR_LINES,
        (None, None) => true,
        _ => false,
    };
    let (words_a, words_b) = (words(&a.title), words(&b.title));
    let common = words_a.intersection(&words_b).count();
    let all = words_a.union(&words_b).count();
    a.file.is_some() && a.file == b.file && near && all > 0 && common * 2 >= all
}

fn words(title: &str) -> BTreeSet<String> {
    title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .collect()
}
