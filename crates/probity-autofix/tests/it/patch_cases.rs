//! Patches as agents write them, each with what becomes of it here and what git makes of it.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use probity_autofix::{Applied, Patch, PatchError};

#[test]
fn every_case_ends_as_its_line_says() {
    let cases = cases();
    let mut failures = Vec::new();
    for case in &cases {
        let (base, patch) = (case.read("base"), case.read("patch"));
        let outcome = Patch::parse(&patch, "Dockerfile").and_then(|patch| patch.apply(&base));
        if described(&outcome) != case.outcome {
            failures.push(format!("{}: {} ({outcome:?})", case.name, described(&outcome)));
        }
        let expected = case.file("expected").exists().then(|| case.read("expected"));
        if outcome.ok().map(|applied| applied.text) != expected {
            failures.push(format!("{}: not the expected text", case.name));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    let patches = fs::read_dir(data()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "patch")
    });
    assert_eq!(patches.count(), cases.len(), "a patch has no line in cases.txt");
}

#[test]
fn git_agrees_but_where_the_line_says_why_not() {
    let mut failures = Vec::new();
    for case in cases() {
        let expected = case.file("expected").exists().then(|| case.read("expected"));
        let plain = git_apply(&case, &[]);
        let agrees = match case.git.as_str() {
            "same" => plain == expected,
            "recount" => plain.is_none() && git_apply(&case, &["--recount"]) == expected,
            "refuses" => plain.is_none() && expected.is_some(),
            "applies" => plain.is_some() && expected.is_none(),
            "differs" => plain.is_some() && expected.is_some() && plain != expected,
            other => panic!("{}: {other} is not a verdict", case.name),
        };
        if !agrees {
            failures.push(format!("{}: not {}: {plain:?}", case.name, case.git));
        }
        let is_explained = case.why.is_some() != matches!(case.git.as_str(), "same" | "recount");
        assert!(is_explained, "{}: a difference, and only that, has a reason", case.name);
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The outcome in the words of `cases.txt`.
fn described(outcome: &Result<Applied, PatchError>) -> String {
    match outcome {
        Ok(applied) => {
            let mut words = String::from("applied");
            if applied.recounted {
                words.push_str(" recounted");
            }
            for hunk in &applied.relocated {
                words.push_str(&format!(
                    " relocated {}:{}>{}",
                    hunk.hunk, hunk.stated_line, hunk.actual_line
                ));
            }
            words
        }
        Err(error) => {
            let mut words = error.name().to_owned();
            if let Some(line) = error.base_line() {
                words.push_str(&format!(" base {line}"));
            }
            if let Some(line) = error.patch_line() {
                words.push_str(&format!(" patch {line}"));
            }
            words
        }
    }
}

struct Case {
    name: String,
    outcome: String,
    git: String,
    why: Option<String>,
}

impl Case {
    fn file(&self, extension: &str) -> PathBuf {
        data().join(format!("{}.{extension}", self.name))
    }

    fn read(&self, extension: &str) -> String {
        fs::read_to_string(self.file(extension)).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let table = fs::read_to_string(data().join("cases.txt")).unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let case = |line: &str| {
        let mut fields = line.split(" | ").map(str::to_owned);
        let mut next = || fields.next();
        Case { name: next().unwrap(), outcome: next().unwrap(), git: next().unwrap(), why: next() }
    };
    lines.map(case).collect()
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/patch")
}

/// The file after `git apply`, or nothing where git refuses. A file that is gone is empty.
fn git_apply(case: &Case, arguments: &[&str]) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("Dockerfile");
    fs::write(&file, case.read("base")).unwrap();
    let mut git = Command::new("git")
        .arg("apply")
        .args(arguments)
        .current_dir(directory.path())
        // Neither a repository around the directory nor anybody's settings have a say.
        .env("GIT_CEILING_DIRECTORIES", directory.path().parent().unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(case.read("patch").as_bytes()).unwrap();
    let applied = git.wait().unwrap().success();
    applied.then(|| fs::read_to_string(&file).unwrap_or_default())
}
