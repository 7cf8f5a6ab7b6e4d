//! What other processes of the same user can see of the variables that probity was started with.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::Path,
    process::Stdio,
};

use serde_json::json;

use crate::{
    agent::executable,
    binary::{Run, directory, named, ordinary, probity},
    review::{FIX, repository},
};

/// An agent without a sandbox, which looks at the process that started it.
const PROBE: &str = r#"#!/bin/sh
cat > /dev/null
echo "named $(cat /proc/$PPID/comm)"
echo environment $(tr '\0' '\n' < /proc/$PPID/environ | sed 's/=.*//' | sort)
for file in environ maps mem; do
    { head -c 1 /proc/$PPID/$file > /dev/null; } 2>&1 | sed "s/.*: /$file: /"
done
{ ls /proc/$PPID/fd > /dev/null; } 2>&1 | sed "s/.*: /fd: /"
echo own $FORGE_TOKEN $(printf %s "$ODD" | od -An -tx1)
"#;

fn looked_at(run: Run, place: &Path) -> String {
    let agent = format!("cmd:{}", place.join("probe").display());
    let run = run.dir(place).args(["agent", "ask", &agent, "hello", "--sandbox", "none"]);
    let run = run.env("FORGE_TOKEN", "forge-secret").env("LC_ALL", "C");
    let mut command = run.into_command();
    command.env("ODD", OsStr::from_bytes(b"\xff=\n"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn other_processes_see_no_secret_variable_and_the_children_have_them_all() {
    let place = directory(&[("probe", PROBE)]);
    executable(&place.path().join("probe"));
    let path = place.path().canonicalize().unwrap();
    // Root may look everywhere, and there is nothing to be seen.
    insta::assert_snapshot!(looked_at(probity(), &path), @"
    named probity
    environment CI HOME LC_ALL PATH PROBITY_INTERNAL_VARIABLES
    mem: Input/output error
    own forge-secret ff 3d 0a
    ");
    insta::assert_snapshot!(looked_at(ordinary(&[&path]), &path), @"
    named probity
    environment
    environ: Permission denied
    maps: Permission denied
    mem: Permission denied
    fd: Permission denied
    own forge-secret ff 3d 0a
    ");
    // Of any size, and whatever the limit on files.
    let large = "x".repeat(100_000);
    let many = (0..8).fold(probity(), |run, number| run.env(&format!("LARGE_{number}"), &large));
    assert_eq!(many.args(["--version"]).run().code(0).stderr, "");
    // The name by which it is called decides what it is, also after the second start.
    let help = named("hadolint").env("SOME_TOKEN", "x").args(["--version"]).run().code(0).stdout;
    assert!(help.starts_with("Haskell Dockerfile Linter"), "{help}");
}

#[test]
fn a_false_note_from_outside_is_no_variable_and_closes_nothing() {
    for note in ["0 1", "1 1", "2 1", "3 1", "99 1", "-1 1", "3", "x y", ""] {
        let run = probity().env("PROBITY_INTERNAL_VARIABLES", note).env("SOME_TOKEN", "x");
        let output = run.args(["--version"]).run().code(0);
        assert!(output.stdout.starts_with("probity "), "{note}: {}", output.stdout);
        assert_eq!(output.stderr, "", "{note}");
    }
}

/// A test of the agent's that reads the environment of every process that it can see.
const LOOKING: &str = "\
import fs from 'node:fs';
import test from 'node:test';
import { average } from './numbers.js';

test('looks', () => {
  let seen = '';
  for (const name of fs.readdirSync('/pr' + 'oc').filter((name) => /^[0-9]+$/.test(name))) {
    try { seen += fs.readFileSync('/pr' + 'oc/' + name + '/env' + 'iron', 'latin1'); } catch {}
  }
  fs.writeFileSync('SEEN', seen);
  if (average([2, 4]) !== 3) throw new Error('wrong');
});
";

/// Without a sandbox a test sees all processes of the user.
#[test]
fn no_test_of_a_review_finds_a_key_in_the_environment_of_another_process() {
    let (repo, place) = (repository(), tempfile::tempdir().unwrap());
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("bin")).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in ["git", "node"] {
        let mut places = std::env::split_paths(&path).map(|directory| directory.join(name));
        let program = places.find(|program| program.is_file()).unwrap();
        symlink(program.canonicalize().unwrap(), place.path().join("bin").join(name)).unwrap();
    }
    let finding = json!([{
        "title": "the average is wrong", "description": "because", "file": "src/numbers.js",
        "line": 4, "severity_hint": "high", "category": "correctness",
        "test_file": "src/looks.test.js", "test_name": "looks",
        "test_code": LOOKING.replace("SEEN", &at("seen")), "fix_patch": FIX,
    }]);
    fs::write(at("told"), finding.to_string()).unwrap();
    let keys = [
        ("ANTHROPIC_API_KEY", "a-key-of-this-very-test".to_owned()),
        ("GITHUB_TOKEN", "a-token-of-this-very-test".to_owned()),
        ("DATABASE_URL", format!("sqlite:{}", at("a-database-of-this-very-test"))),
    ];
    let mut run = probity().env("PATH", &at("bin")).env("XDG_STATE_HOME", &at("state"));
    for (name, value) in &keys {
        run = run.env(name, value);
    }
    let agent = format!("replay:{}", at("told"));
    let run = run.args(["review", "--sandbox", "none", "--agent", &agent, "-o", &at("out")]);
    let output = run.dir(repo.path()).run();
    let seen = fs::read(at("seen")).unwrap_or_default();
    assert!(!seen.is_empty(), "the test did not run: {}", output.stderr);
    let seen = String::from_utf8_lossy(&seen);
    for (name, value) in &keys {
        assert!(!seen.contains(value.as_str()), "{name}");
    }
    // The history was kept where only the environment says.
    assert!(place.path().join("a-database-of-this-very-test").exists(), "{}", output.stderr);
}
