//! A review that is called off: nothing is left running, and nothing half written.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{contents, findings, probity, recorded, repository, review_in};

#[test]
fn an_interrupt_ends_the_agent() {
    let sleeper = format!("{}", 81_000 + std::process::id() % 1000);
    called_off(&sleeper, |_| format!("cmd:sleep {sleeper}"));
}

#[test]
fn an_interrupt_ends_the_tests() {
    let sleeper = format!("{}", 82_000 + std::process::id() % 1000);
    called_off(&sleeper, |place| {
        let mut told = findings();
        let code = told[0]["test_code"].as_str().unwrap();
        let sleeps = format!(
            "process.getBuiltinModule('child_process').execFileSync('sleep', ['{sleeper}']);\n  assert"
        );
        told[0]["test_code"] = code.replace("  assert", &format!("  {sleeps}")).into();
        recorded(place, &told.to_string())
    });
}

/// Starts a review, waits for what sleeps in it, and interrupts.
fn called_off(sleeper: &str, agent: impl Fn(&Path) -> String) {
    let repo = repository();
    let before = contents(repo.path());
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("review");
    let mut command = probity()
        .args(["review", "--agent", &agent(place.path()), "--no-history"])
        .args(["--output", out.to_str().unwrap()])
        .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
        .env("TMPDIR", place.path().to_str().unwrap())
        .dir(repo.path())
        .into_command();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    until(|| is_running(sleeper), &mut child);
    let id = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(60), "{output:?}");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!is_running(sleeper), "a process is left");
    let page = review_in(&out);
    assert_eq!(page["status"], "error", "{page:#}");
    assert_eq!(page["error"]["kind"], "cancelled", "{page:#}");
    assert_eq!(contents(repo.path()), before, "the repository is as it was");
    let left: Vec<_> = fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("probity-"))
        .collect();
    assert_eq!(left, [""; 0], "copies are left");
}

fn until(wanted: impl Fn() -> bool, child: &mut Child) {
    let began = Instant::now();
    while !wanted() {
        assert!(began.elapsed() < Duration::from_secs(120), "it never began");
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether a process with this word in its command line sleeps.
fn is_running(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut parts = command.split(|byte| *byte == 0);
        let is_sleep = parts.next().is_some_and(|program| program.ends_with(b"sleep"));
        is_sleep && parts.any(|part| part == word.as_bytes())
    })
}

#[test]
fn a_repository_without_code_names_three_patterns_and_verbose_output_names_all() {
    let repo = crate::binary::directory(&[("README.md", "# Words\n")]);
    super::git(repo.path(), &["init", "-q", "-b", "main"]);
    super::commit(repo.path());
    let run = |more: &[&str]| {
        let run = probity().args(["review", "--agent", "cmd:true", "--no-history"]).args(more);
        run.dir(repo.path()).run().code(2)
    };
    let output = run(&[]);
    assert_eq!(output.stdout, "");
    insta::assert_snapshot!(output.stderr, @"
    no review: no file to review: no file matches `include` (**/*.go, **/*.rs, **/*.py and 20 more), or `exclude` removes it
    help: check --paths or REVIEW_PATHS, and `include` and `exclude` in review.yml; `probity review -v` prints all patterns
    ");
    let output = run(&["-v"]);
    let patterns: Vec<&str> = output.stderr.lines().take(2).collect();
    insta::assert_snapshot!(patterns.join("\n"), @"
    info: included: **/*.go, **/*.rs, **/*.py, **/*.js, **/*.cjs, **/*.mjs, **/*.jsx, **/*.ts, **/*.cts, **/*.mts, **/*.tsx, **/*.sh, **/*.bash, **/*.rb, **/*.php, **/*.java, **/*.c, **/*.cc, **/*.cpp, **/*.cxx, **/*.h, **/*.hh, **/*.hpp
    info: excluded: vendor/**, **/vendor/**, **/node_modules/**, **/target/**, **/dist/**, **/.venv/**, **/site-packages/**, **/fakes/**, **/testdata/**, **/__tests__/**, **/tests/**, **/*_test.go, **/*.pb.go, **/test_*.py, **/*_test.py, **/conftest.py, **/*_test.rb, **/test_*.rb, **/spec/**, **/*Test.php, **/src/test/**, **/*Test.java, **/*Tests.java, **/*_test.c, **/*_test.cc, **/*_test.cpp, **/*.test.*, **/*.spec.*, **/*.d.ts, **/*.min.js
    ");
}
