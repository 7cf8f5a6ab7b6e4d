//! Tries all claims of the corpora and prints how many are proven, by language, kind and half.
//!
//! `claims [LANGUAGES [KINDS [COUNT [HALVES]]]]` tries so many of each kind of a part of them; names are
//! separated by commas, and `all` stands for every one. Wrong verdicts of the tuning half are named,
//! with `VERBOSE` in full; those of the reporting half are only counted, so that nobody repairs what
//! is measured there.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a program that cannot set its stage ends there and then"
)]

#[path = "../tests/it/corpus.rs"]
mod corpus;
#[expect(dead_code, reason = "existing tests are sound here")]
#[path = "../tests/it/frameworks.rs"]
mod frameworks;
#[path = "../tests/it/tools.rs"]
mod tools;

use std::{collections::BTreeMap, env, io, io::Write as _, time::Instant};

use corpus::{ClaimKind, Half, LANGUAGES, Truth, try_all};
use probity_proof::Verdict;

/// How many of how many were proven.
type Counts = (usize, usize);

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let is_wanted = |place: usize, word: &str| {
        let is_one =
            |wanted: &String| wanted == "all" || wanted.split(',').any(|name| name == word);
        words.get(place).is_none_or(is_one)
    };
    let most = words.get(2).and_then(|count| count.parse().ok()).unwrap_or(usize::MAX);
    let mut by_kind: BTreeMap<(String, Half), Counts> = BTreeMap::new();
    let mut times = Vec::new();
    let mut by_truth: BTreeMap<(String, Half), Counts> = BTreeMap::new();
    for language in LANGUAGES.into_iter().filter(|language| is_wanted(0, language.name)) {
        let mut taken: BTreeMap<ClaimKind, usize> = BTreeMap::new();
        let mut cases = language.cases();
        cases.retain(|case| {
            let is_chosen = is_wanted(1, &format!("{:?}", case.kind))
                && is_wanted(3, &format!("{:?}", case.half()));
            let count = taken.entry(case.kind).or_default();
            *count += usize::from(is_chosen);
            is_chosen && *count <= most
        });
        let began = Instant::now();
        try_all(language, &cases, |case, verdict| {
            let (kind, truth) = (case.kind, case.kind.truth());
            let rows = [
                by_kind.entry((format!("{:12}{kind:?}", language.name), case.half())),
                by_truth.entry((format!("{:12}{truth:?}", language.name), case.half())),
            ];
            for (proven, all) in rows.map(|row| row.or_default()) {
                *proven += usize::from(verdict.proven);
                *all += 1;
            }
            let is_expected = verdict.proven == (truth != Truth::False) || truth == Truth::Open;
            if !is_expected && case.half() == Half::Tuning {
                let Verdict { outcome, why, level, fix, .. } = &verdict;
                eprintln!("{}: {outcome} {level} {why:?} {fix:?}", case.name);
                if env::var_os("VERBOSE").is_some() {
                    eprintln!("{:#?}\n{}", case.claim, verdict.output);
                }
            }
        });
        let seconds = began.elapsed().as_secs_f64() / cases.len().max(1) as f64;
        times.push(format!("{:12}{seconds:.1} s per claim, 2 claims at a time", language.name));
    }
    // Bun is larger than all other tools together, and not everywhere.
    let is_there = |name: &str| {
        let path = env::var_os("PATH").unwrap_or_default();
        name != "bun" || env::split_paths(&path).any(|directory| directory.join(name).is_file())
    };
    let known = |name: &str| is_wanted(0, name) && is_there(name);
    for framework in frameworks::ALL.into_iter().filter(|framework| known(framework.name)) {
        let mut cases = framework.cases();
        cases.retain(|case| is_wanted(1, case.name));
        for (case, verdict) in cases.iter().zip(framework.prove(&cases)) {
            let row = (format!("{:12}{}", framework.name, case.name), Half::Reporting);
            let (proven, all) = by_kind.entry(row).or_default();
            *proven += usize::from(verdict.proven);
            *all += 1;
            if verdict.proven != case.is_true {
                let Verdict { outcome, why, level, fix, .. } = &verdict;
                eprintln!("{} {}: {outcome} {level} {why:?} {fix:?}", framework.name, case.name);
                if env::var_os("VERBOSE").is_some() {
                    eprintln!("{:#?}\n{}", case.claim, verdict.output);
                }
            }
        }
    }
    let mut out = io::stdout();
    writeln!(out, "{:32}{:>12}{:>12}", "proven", "tuning", "reporting")?;
    table(&mut out, &by_kind)?;
    writeln!(out)?;
    table(&mut out, &by_truth)?;
    writeln!(out, "\n{}", times.join("\n"))
}

fn table(out: &mut impl io::Write, rows: &BTreeMap<(String, Half), Counts>) -> io::Result<()> {
    let mut names: Vec<&String> = rows.keys().map(|(name, _)| name).collect();
    names.dedup();
    for name in names {
        let [tuning, reporting] = [Half::Tuning, Half::Reporting].map(|half| {
            let counts = rows.get(&(name.clone(), half)).copied().unwrap_or_default();
            format!("{}/{}", counts.0, counts.1)
        });
        writeln!(out, "{name:32}{tuning:>12}{reporting:>12}")?;
    }
    Ok(())
}
