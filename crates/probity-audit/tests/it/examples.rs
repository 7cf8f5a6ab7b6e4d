//! Every shipped skill with its examples: a recorded model finds the vulnerable one and passes the
//! fixed one.
//!
//! The recordings hold the words of a model in the forms in which models say them: alone, in a fence,
//! after thoughts, after a read, with copied line numbers, after two answers that cannot be used. What
//! is tested is what probity makes of them.

use std::{collections::BTreeSet, fs, path::Path};

use probity_audit::{Pack, Provider, ProviderSpec, Report, Skill, detect};

use crate::{
    model::{audit, options, saying},
    project::{project, report},
};

struct Example {
    skill: Skill,
    /// Its name in the project.
    file: String,
    vulnerable: String,
    fixed: String,
    line: u64,
    on_vulnerable: Vec<String>,
    on_fixed: Vec<String>,
}

fn read(path: &Path) -> String {
    let text = fs::read_to_string(path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    text.unwrap()
}

fn examples() -> Vec<Example> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut examples = Vec::new();
    for pack in Pack::ALL {
        for skill in pack.skills().unwrap() {
            // Files are called 004-double-satisfaction, skills double-satisfaction-004.
            let (class, number) = skill.id.rsplit_once('-').unwrap();
            let prefix = if pack == Pack::Web { "web-" } else { "" };
            let name = format!("{prefix}{number}-{class}");
            let folder = here.join("../../skills/examples").join(&name);
            for row in read(&folder.join("expect.tsv")).lines() {
                let mut columns = row.split('\t');
                let (file, line) = (columns.next().unwrap(), columns.next().unwrap());
                let ending = file.rsplit('.').next().unwrap();
                let recorded = read(&here.join(format!("tests/it/recorded/{name}.{ending}.txt")));
                let (on_vulnerable, on_fixed) = recorded
                    .strip_prefix("# vulnerable\n")
                    .unwrap()
                    .split_once("\n# fixed\n")
                    .unwrap();
                let turns = |said: &str| -> Vec<String> {
                    said.trim_end().split("\n# next turn\n").map(str::to_owned).collect()
                };
                let file_name = match ending {
                    "ak" => "validators/example.ak".to_owned(),
                    _ => format!("src/app.{ending}"),
                };
                examples.push(Example {
                    skill: skill.clone(),
                    file: file_name,
                    vulnerable: read(&folder.join(file)),
                    fixed: read(&folder.join(format!("fixed.{ending}"))),
                    line: line.parse().unwrap(),
                    on_vulnerable: turns(on_vulnerable),
                    on_fixed: turns(on_fixed),
                });
            }
        }
    }
    examples
}

fn asked(example: &Example, text: &str, said: &[String]) -> Report {
    let dir = project(&[(&example.file, text)]);
    let lines: Vec<&str> = said.iter().map(String::as_str).collect();
    let (provider, _) = saying(&lines);
    let sources = [example.file.clone()];
    let skills = [example.skill.clone()];
    let state = audit(options(dir.path(), &sources, &skills, &provider));
    assert_eq!(state.iterations[0].status, "completed", "{}", example.skill.id);
    report(dir.path(), &state)
}

#[test]
fn a_recorded_model_finds_every_vulnerable_example_and_passes_every_fixed_one() {
    let mut classes = BTreeSet::new();
    for example in examples() {
        let id = format!("{} {}", example.skill.id, example.file);
        let report = asked(&example, &example.vulnerable, &example.on_vulnerable);
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|finding| (&finding.finding.file, finding.finding.line))
            .collect();
        assert_eq!(found, [(&Some(example.file.clone()), Some(example.line))], "{id}");
        assert!(report.is_whole() && report.unverified.is_empty(), "{id}");
        let place = format!("  - Location: {}:{}\n", example.file, example.line);
        assert!(report.markdown().contains(&place), "{id}: {}", report.markdown());

        let report = asked(&example, &example.fixed, &example.on_fixed);
        assert!(report.findings.is_empty() && report.unverified.is_empty(), "{id}");
        assert!(report.is_whole() && report.markdown().contains("- *(none)*\n"), "{id}");
        classes.insert(example.skill.id);
    }
    assert_eq!(classes.len(), 31, "{classes:?}");
}

/// The words about the vulnerable file, said about the fixed one: where the quote is gone, so is the
/// finding.
#[test]
fn a_model_that_repeats_itself_about_the_fixed_example_is_not_believed() {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let mut gone = 0;
    for example in examples() {
        let quote = example.vulnerable.lines().nth(example.line as usize - 1).unwrap();
        if bare(&example.fixed).contains(&bare(quote)) {
            continue;
        }
        gone += 1;
        let report = asked(&example, &example.fixed, &example.on_vulnerable);
        assert_eq!(report.findings, [], "{}", example.skill.id);
        assert_eq!(report.unverified.len(), 1, "{}", example.skill.id);
    }
    assert!(gone >= 15, "{gone} examples have another line where the fix is");
}

#[test]
fn detectors_tell_the_contracts_apart_and_leave_one_class_to_models() {
    let spec = ProviderSpec { name: "detectors".into(), model: None, notes: String::new() };
    let provider = Provider::detectors(spec, detect);
    let mut unchecked = Vec::new();
    for example in examples().into_iter().filter(|example| example.file.ends_with(".ak")) {
        let id = &example.skill.id;
        for (text, is_vulnerable) in [(&example.vulnerable, true), (&example.fixed, false)] {
            let dir = project(&[(&example.file, text)]);
            let sources = [example.file.clone()];
            let skills = [example.skill.clone()];
            let state = audit(options(dir.path(), &sources, &skills, &provider));
            let iteration = &state.iterations[0];
            if iteration.status == "not-checked" {
                unchecked.push(id.clone());
                continue;
            }
            let found = &iteration.findings;
            assert_eq!(!found.is_empty(), is_vulnerable, "{id}: {found:#?}");
            assert!(found.iter().all(|finding| finding.verified == Some(true)), "{id}: {found:#?}");
        }
    }
    // Whether the other script has a weaker branch is not in the syntax of this one.
    assert_eq!(unchecked, ["redeemer-mix-up-019", "redeemer-mix-up-019"]);
}
