//! Every rule and every part of the engine cost as much as the file is long.
//!
//! Steps are counted for files of one, two and four times a size.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::{
    callgrind::{Counts, bend, example, profile},
    whole_corpus::is_whole,
};

/// Parts of the smallest file. Families repeat themselves after four parts.
const SIZE: usize = 16;
/// One family of this many is measured in an ordinary run.
const SAMPLE: usize = 4;
/// Functions whose calls are the units that are judged: each rule, parsing, suppression, sorting, …
const UNITS: &[&str] = &[
    "probity_lint::found_by_rules",
    "probity_lint::engine::union::union",
    "probity_lint::lint",
    "probity_lint::lint_parsed",
    "steps::work",
];
/// Sorting has a tenth in small files; a loop over all parts within a loop over all parts has more
/// than a quarter.
const MOST_BEND: f64 = 0.15;
/// What costs less in the largest file is not told apart from what is done once.
const LEAST_STEPS: u64 = 200_000;

const NOT_OURS: &[&str] = &["core::ptr::drop_in_place", "alloc::slice::<impl [T]>::sort_by"];

/// Steps by unit, for the three sizes.
type Measured = BTreeMap<String, [u64; 3]>;

#[test]
fn every_rule_and_the_engine_are_linear_in_the_size_of_the_file() {
    let steps = example("steps");
    let families = String::from_utf8(Command::new(&steps).output().unwrap().stdout).unwrap();
    let families: Vec<&str> = families.lines().collect();
    assert!(families.len() >= 10, "{families:?}");
    // All of them take minutes; `script/nightly` does so.
    let step = if is_whole() { 1 } else { SAMPLE };
    let families: Vec<&str> = families.into_iter().step_by(step).collect();
    let runs: Vec<(&str, usize)> =
        families.iter().flat_map(|family| [4, 2, 1].map(|times| (*family, SIZE * times))).collect();
    let taken = in_two_threads(&runs, |(family, size)| {
        profile(&steps, &[family, &size.to_string(), "lint"]).called_by(UNITS)
    });
    let mut bent = Vec::new();
    let (mut rules, mut seen_squares) = (BTreeSet::new(), 0);
    for (three, counts) in runs.chunks(3).zip(taken.chunks(3)) {
        let [(family, _), ..] = three else { continue };
        for (unit, steps) in joined(counts) {
            let bend = bend(steps);
            if unit.ends_with(" as probity_lint::engine::rule::Rule>::check") {
                rules.insert(unit.clone());
            }
            match unit.as_str() {
                "steps::quadratic" if steps[2] > LEAST_STEPS => {
                    assert!(bend > 0.3, "{family}: {bend} of {steps:?}");
                    seen_squares += 1;
                }
                "steps::quadratic" => {}
                "steps::linear" => assert!(bend < 0.05, "{family}: {bend} of {steps:?}"),
                // What the allocator does when memory is given back is not ours, and neither is a sort
                // that costs less where the findings happen to be in order.
                _ if NOT_OURS.iter().any(|name| unit.starts_with(name)) => {}
                _ if bend > MOST_BEND && steps[2] > LEAST_STEPS => {
                    bent.push(format!("{bend:.2} {family}: {unit} {steps:?}"));
                }
                _ => {}
            }
        }
    }
    assert_eq!(rules.len(), probity_lint::RULES.len(), "every rule is measured");
    assert!(seen_squares >= families.len() / 2, "{seen_squares}");
    bent.sort_by(|a, b| b.cmp(a));
    assert!(bent.is_empty(), "grow faster than the file:\n{}", bent.join("\n"));
}

/// Each text of the fix loop is parsed once: the first one, and what each round makes of it.
#[test]
fn a_file_is_parsed_once_for_each_accepted_state() {
    let run = profile(&example("steps"), &["packages", "1", "fix"]);
    let rounds: u64 = run.printed.split(' ').nth(1).unwrap().trim().parse().unwrap();
    assert!(rounds > 1, "{}", run.printed);
    assert_eq!(run.calls_of("probity_lint::engine::parsed::Parsed::of_tree"), rounds + 1);
    let run = profile(&example("steps"), &["packages", "1", "lint"]);
    assert_eq!(run.calls_of("probity_lint::engine::parsed::Parsed::of_tree"), 1);
}

/// Counts of the largest, the middle and the smallest file, by unit and in the order of size.
fn joined(counts: &[Counts]) -> Measured {
    let mut measured = Measured::new();
    for (index, counts) in counts.iter().rev().enumerate() {
        for (unit, steps) in counts {
            measured.entry(unit.clone()).or_default()[index] = *steps;
        }
    }
    measured
}

fn in_two_threads<T: Copy + Sync>(work: &[T], each: impl Fn(T) -> Counts + Sync) -> Vec<Counts> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some(item) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let counts = each(*item);
                    let index = work.iter().position(|other| std::ptr::eq(other, item));
                    done.lock().unwrap().insert(index, counts);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}
