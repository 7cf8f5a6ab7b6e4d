//! What the checks of a patch cost grows with the file, not with its square.

use std::collections::BTreeMap;

use crate::{
    callgrind::{bend, example, profile},
    whole_corpus::is_whole,
};

/// Steps of the smallest file.
const SIZE: usize = 8;

/// Kinds of steps, of which `script/test` tries the first.
const FAMILIES: [&str; 4] = ["commands", "copies", "moves", "variables"];

/// A loop over all steps within a loop over all steps has more than a quarter.
const MOST_BEND: f64 = 0.15;

/// What costs less in the largest file is not told apart from what is done once.
const LEAST_STEPS: u64 = 2_000_000;

#[test]
fn checks_are_linear_in_the_size_of_the_file() {
    let families = if is_whole() { &FAMILIES[..] } else { &FAMILIES[..1] };
    for family in families {
        let runs = [1, 2, 4]
            .map(|times| profile(&example("overhead"), &[family, &(SIZE * times).to_string()]));
        let mut checks: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        for (place, run) in runs.iter().enumerate() {
            let lines: u64 = run.printed.trim().parse().unwrap();
            let split = run.calls_of("probity_autofix::checks::commands::segments::parts");
            assert!((1..=lines).contains(&split), "{split} RUNs of {lines} lines were split");
            for (check, steps) in run.called_by(&["probity_autofix::checks::Check::faults"]) {
                checks.entry(check).or_default()[place] = steps;
            }
        }
        assert!(checks.len() > 20, "{checks:#?}");
        let is_bent = |steps: [u64; 3]| bend(steps) > MOST_BEND && steps[2] > LEAST_STEPS;
        checks.retain(|_, steps| is_bent(*steps));
        assert!(checks.is_empty(), "{family}: grow faster than the file: {checks:#?}");
    }
}
