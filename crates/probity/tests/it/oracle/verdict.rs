//! What either program says about the generated files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
};

use serde_json::Value;

use crate::binary::{named, tools};

/// What a program says about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The findings by rule and line.
    Accepted(BTreeSet<(String, usize)>),
    Rejected(String),
    #[default]
    Missing,
}

const SYNTAX_RULES: [&str; 7] = [
    "hadolint/DL3011",
    "hadolint/DL3043",
    "hadolint/DL3061",
    "probity/not-a-dockerfile",
    "tally/require-stages",
    "tally/syntax-error",
    "tally/unknown-instruction",
];

/// tally hides everything else at a line that has an error, so it is told that there are none.
const CONFIG: &str = "severities.toml";

const ERRORS: [&str; 4] =
    ["DuplicateStageName", "InvalidDefaultArgInFrom", "NoEmptyContinuation", "ReservedStageName"];

/// Files that one process reads. One that is rejected costs a few processes more.
const BATCH: usize = 40;

/// Our verdicts, in the order of the files.
pub(super) fn ours(dir: &Path, count: usize) -> Vec<Verdict> {
    // Under this name nothing is left out because another rule says the same.
    let output = named("tally")
        .dir(dir)
        .args(["check", "--no-config", "--no-inline-directives", "--format", "json"])
        .args(["--select", "buildkit/*", "--select", "buildkit/InvalidDefinitionDescription", "."])
        .run();
    assert!(matches!(output.code, Some(0 | 1 | 4)), "{}", output.stderr);
    let mut verdicts = vec![Verdict::Accepted(BTreeSet::new()); count];
    for (number, violation) in violations(&output.stdout) {
        let rule = violation["rule"].as_str().unwrap();
        let verdict = &mut verdicts[number];
        if SYNTAX_RULES.contains(&rule) {
            *verdict = Verdict::Rejected(violation["message"].as_str().unwrap().to_owned());
        } else if let Verdict::Accepted(findings) = verdict {
            insert(findings, &violation);
        }
    }
    verdicts
}

/// The verdicts of tally. It gives up at the first file that it rejects, so those that we reject go
/// one by one.
pub(super) fn theirs(dir: &Path, ours: &[Verdict]) -> Vec<Verdict> {
    let (good, bad): (Vec<usize>, Vec<usize>) =
        (0..ours.len()).partition(|number| matches!(ours[*number], Verdict::Accepted(_)));
    let batches: Vec<&[usize]> = good.chunks(BATCH).chain(bad.chunks(1)).collect();
    let severity = |rule| format!("[rules.buildkit.{rule}]\nseverity = \"warning\"\n");
    fs::write(dir.join(CONFIG), ERRORS.map(severity).concat()).unwrap();
    let program = program();
    let (queue, verdicts) = (Mutex::new(batches), Mutex::new(vec![Verdict::Missing; ours.len()]));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(batch) = take(&queue) {
                    for (number, verdict) in tally(&program, dir, batch) {
                        verdicts.lock().unwrap()[number] = verdict;
                    }
                }
            });
        }
    });
    verdicts.into_inner().unwrap()
}

/// The program itself: what Python puts before it costs as much again as the run.
pub(crate) fn program() -> PathBuf {
    let only = |dir: PathBuf, prefix: &str| {
        let mut names = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let fits = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(prefix);
        names.find(fits).unwrap()
    };
    let python = only(tools().join("python/lib"), "python");
    only(python.join("site-packages/tally_cli/bin"), "tally").join("tally")
}

fn take<T>(queue: &Mutex<Vec<T>>) -> Option<T> {
    queue.lock().unwrap().pop()
}

fn tally(program: &Path, dir: &Path, batch: &[usize]) -> Vec<(usize, Verdict)> {
    let output = Command::new(program)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nowhere")
        // Two of them run at a time, and none lives long enough to need its garbage collected.
        .envs([("GOGC", "400"), ("GOMAXPROCS", "1")])
        .args(["lint", "--slow-checks=off", "--config", CONFIG, "--no-inline-directives"])
        .args(["--format", "json", "--ignore", "*", "--select", "buildkit/*"])
        .args(batch.iter().copied().map(path))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if matches!(output.status.code(), Some(0 | 1)) {
        let mut verdicts: BTreeMap<usize, BTreeSet<(String, usize)>> =
            batch.iter().map(|number| (*number, BTreeSet::new())).collect();
        for (number, violation) in violations(&String::from_utf8(output.stdout).unwrap()) {
            insert(verdicts.get_mut(&number).unwrap(), &violation);
        }
        let accepted = |(number, findings)| (number, Verdict::Accepted(findings));
        return verdicts.into_iter().map(accepted).collect();
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(2 | 4)), "{:?}: {stderr}", output.status);
    match batch {
        [number] => vec![(*number, Verdict::Rejected(stderr))],
        _ => {
            let (left, right) = batch.split_at(batch.len() / 2);
            tally(program, dir, left).into_iter().chain(tally(program, dir, right)).collect()
        }
    }
}

/// Where a generated file is, below the directory of all.
pub(super) fn path(number: usize) -> String {
    format!("{number:04}/Dockerfile")
}

fn violations(json: &str) -> Vec<(usize, Value)> {
    let report: Value = serde_json::from_str(json).unwrap();
    let mut all = Vec::new();
    for file in report["files"].as_array().unwrap() {
        let path = file["file"].as_str().unwrap();
        let number = path.rsplit('/').nth(1).unwrap().parse().unwrap();
        for violation in file["violations"].as_array().unwrap() {
            all.push((number, violation.clone()));
        }
    }
    all
}

fn insert(findings: &mut BTreeSet<(String, usize)>, violation: &Value) {
    let rule = violation["rule"].as_str().unwrap().to_owned();
    // A finding about the whole file is at line -1.
    let line = violation["location"]["start"]["line"].as_u64().unwrap_or(0);
    findings.insert((rule, usize::try_from(line).unwrap()));
}
