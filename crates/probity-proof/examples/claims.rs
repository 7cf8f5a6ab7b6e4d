//! Tries all claims of the corpora and prints how many are proven, by language, kind and half.
//!
//! `claims [LANGUAGE [KIND [COUNT]]]` tries a part of them, and says what went otherwise than it
//! should.

#[path = "../tests/it/corpus.rs"]
mod corpus;
#[path = "../tests/it/tools.rs"]
mod tools;

use std::{collections::BTreeMap, env, io, io::Write as _};

use corpus::{Case, Half, LANGUAGES, Truth, try_all};

/// How many of how many were proven.
type Counts = (usize, usize);

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let wanted = |place: usize, word: &str| words.get(place).is_none_or(|wanted| wanted == word);
    let most: usize = words.get(2).and_then(|count| count.parse().ok()).unwrap_or(usize::MAX);
    let mut out = io::stdout();
    let mut by_kind: BTreeMap<(String, Half), Counts> = BTreeMap::new();
    let mut by_truth: BTreeMap<(&str, Truth, Half), Counts> = BTreeMap::new();
    for language in LANGUAGES.into_iter().filter(|language| wanted(0, language.name)) {
        let cases = language.cases().into_iter();
        let cases = cases.filter(|case| wanted(1, &format!("{:?}", case.kind)) || words.get(1).is_some_and(|kind| kind == "all"));
        let cases: Vec<Case> = cases.take(most).collect();
        try_all(language, &cases, |case, verdict| {
            let truth = case.kind.truth();
            let kind = (format!("{:11}{:?}", language.name, case.kind), case.half());
            for counts in [by_kind.entry(kind).or_default(), by_truth.entry((language.name, truth, case.half())).or_default()] {
                counts.0 += usize::from(verdict.proven);
                counts.1 += 1;
            }
            if verdict.proven != (truth != Truth::False) && truth != Truth::Open {
                eprintln!("{}: {:?} {:?} {:?} {:?}", case.name, verdict.outcome, verdict.why, verdict.level, verdict.fix);
                if env::var_os("VERBOSE").is_some() {
                    eprintln!("{}\n{}\n{}", case.claim.test_code, case.claim.fix_patch.as_deref().unwrap_or_default(), verdict.output);
                }
            }
        });
    }
    writeln!(out, "{:40}{:>12}{:>12}", "proven", "tuning", "reporting")?;
    table(&mut out, &by_kind)?;
    let by_truth = by_truth.into_iter().map(|((language, truth, half), counts)| ((format!("{language:11}{truth:?}"), half), counts));
    writeln!(out)?;
    table(&mut out, &by_truth.collect())
}

fn table(out: &mut impl io::Write, rows: &BTreeMap<(String, Half), Counts>) -> io::Result<()> {
    let mut names: Vec<&String> = rows.keys().map(|(name, _)| name).collect();
    names.dedup();
    for name in names {
        let [tuning, reporting] = [Half::Tuning, Half::Reporting].map(|half| {
            let counts = rows.get(&(name.clone(), half)).copied().unwrap_or_default();
            format!("{}/{}", counts.0, counts.1)
        });
        writeln!(out, "{name:40}{tuning:>12}{reporting:>12}")?;
    }
    Ok(())
}
