//! One problem that several skills came to is one finding.

use std::collections::BTreeSet;

use crate::{Finding, heuristic::class_of, report::Reported};

/// Lines within which two findings may be about the same thing.
const NEAR_LINES: u64 = 3;

/// Merges what several skills found at the same place and told in the same words. The worse of two
/// stays where the first one stood, with the skill and the evidence of the other.
pub(crate) fn merge(findings: &mut Vec<Reported>) {
    let mut kept: Vec<Reported> = Vec::with_capacity(findings.len());
    for reported in findings.drain(..) {
        match kept.iter_mut().find(|other| is_same(other, &reported)) {
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
    if other.finding.exploit.is_some() && other.finding.level() >= kept.finding.level() {
        kept.finding.exploit = other.finding.exploit.take();
    }
    for quote in other.finding.evidence {
        if !kept.finding.evidence.contains(&quote) {
            kept.finding.evidence.push(quote);
        }
    }
    for skill in std::iter::once(other.skill_id).chain(other.also_found_by) {
        if skill != kept.skill_id && !kept.also_found_by.contains(&skill) {
            kept.also_found_by.push(skill);
        }
    }
}

fn is_same(kept: &Reported, new: &Reported) -> bool {
    let has_found_both = kept.also_found_by.contains(&new.skill_id);
    let skill = if has_found_both { &new.skill_id } else { &kept.skill_id };
    are_same((skill, &kept.finding), (&new.skill_id, &new.finding))
}

/// Whether two findings, each with its skill, are about one problem. Two skills mean the same if both
/// are of one class and name the same line, or if they name about the same line and at least half of
/// the words in their titles agree. A skill that names two problems means two, unless they are the
/// same to the letter of their quotes.
pub(crate) fn are_same((skill_a, a): (&str, &Finding), (skill_b, b): (&str, &Finding)) -> bool {
    if a.file.is_none() || a.file != b.file {
        return false;
    }
    if skill_a == skill_b {
        return a.line == b.line && a.evidence == b.evidence && same_words(a, b);
    }
    let class = class_of(skill_a);
    if !class.is_empty() && class == class_of(skill_b) && a.line.is_some() && a.line == b.line {
        return true;
    }
    let near = match (a.line, b.line) {
        (Some(a), Some(b)) => a.abs_diff(b) <= NEAR_LINES,
        (None, None) => true,
        _ => false,
    };
    near && same_words(a, b)
}

/// Whether at least half of the words in two titles agree.
pub(crate) fn same_words(a: &Finding, b: &Finding) -> bool {
    let (words_a, words_b) = (words(&a.title), words(&b.title));
    // Titles of short words alone say nothing by parts.
    if words_a.is_empty() || words_b.is_empty() {
        return a.title.trim().eq_ignore_ascii_case(b.title.trim());
    }
    let common = words_a.intersection(&words_b).count();
    let all = words_a.union(&words_b).count();
    common * 2 >= all
}

fn words(title: &str) -> BTreeSet<String> {
    title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .collect()
}
