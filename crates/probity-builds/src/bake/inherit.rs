//! Targets with what they inherit.

use std::collections::BTreeMap;

use super::Target;
use crate::Note;

/// Bases of bases of … end here.
const LONGEST_CHAIN: usize = 32;
/// A target that reaches a base in many ways counts it each time.
const MOST_BASES: usize = 1000;

/// The target with the values of its bases. A later base wins over an earlier one, and the target
/// over all of them; arguments and contexts are merged name by name.
pub(super) fn merged(
    name: &str,
    targets: &BTreeMap<String, Target>,
    groups: &BTreeMap<String, Vec<String>>,
    notes: &mut Vec<Note>,
) -> Option<Target> {
    let mut merged = Target::default();
    let mut visits = 0;
    lay_over(&mut merged, name, targets, groups, &mut Vec::new(), &mut visits, notes);
    targets.get(name).map(|_| merged)
}

fn lay_over(
    merged: &mut Target,
    name: &str,
    targets: &BTreeMap<String, Target>,
    groups: &BTreeMap<String, Vec<String>>,
    chain: &mut Vec<String>,
    visits: &mut usize,
    notes: &mut Vec<Note>,
) {
    *visits += 1;
    let about = chain.first().map_or(name, String::as_str).to_owned();
    if let Some(start) = chain.iter().position(|earlier| earlier == name) {
        let cycle: Vec<String> = chain.iter().skip(start).map(|name| format!("`{name}`")).collect();
        let message =
            format!("it inherits in a circle: {} inherits `{name}`", cycle.join(" inherits "));
        return notes.push(Note::about(&about, message));
    }
    if chain.len() >= LONGEST_CHAIN || *visits > MOST_BASES {
        let message = format!("it has more than {LONGEST_CHAIN} levels or {MOST_BASES} bases");
        return notes.push(Note::about(&about, message));
    }
    let Some(target) = targets.get(name) else {
        let what =
            if groups.contains_key(name) { "is not a single target" } else { "does not exist" };
        return notes.push(Note::about(&about, format!("it inherits `{name}`, which {what}")));
    };
    chain.push(name.to_owned());
    for base in &target.inherits {
        lay_over(merged, base, targets, groups, chain, visits, notes);
    }
    chain.pop();
    let own = target.clone();
    merged.is_hidden |= own.is_hidden;
    merged.args.extend(own.args);
    merged.contexts.extend(own.contexts);
    merged.context = own.context.or(merged.context.take());
    merged.dockerfile = own.dockerfile.or(merged.dockerfile.take());
    merged.dockerfile_inline = own.dockerfile_inline.or(merged.dockerfile_inline.take());
    merged.target = own.target.or(merged.target.take());
    merged.platforms = own.platforms.or(merged.platforms.take());
}
