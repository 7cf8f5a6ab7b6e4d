//! JavaScript and TypeScript: what the existing tests of each runner say, in suites that are broken.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use probity_proof::{FixResult, Gap, Outcome, RunDetail, Why};

use super::{Code, guarded, not_run, partly, row, unguarded, unloaded};
use crate::{
    stage::Stage,
    tools::{install_packages, tools},
    whole_corpus::is_whole,
};

/// A test runner, and a package that is tested with it.
struct Runner {
    /// What `script/tools` has installed for it; empty for what `install_packages` brings.
    installed: &'static str,
    package: &'static str,
    ending: &'static str,
    /// What a file of tests begins with. `../calc` is the code.
    head: &'static str,
    /// A test. `<t>` is the expression of its title, and `<b>` its body.
    test: &'static str,
    /// Where tests are: before and after the name of one.
    tests: (&'static str, &'static str),
    /// What a file says that ends its process while it is loaded.
    left: Left,
}

/// What becomes of the suite if a file of tests ends the process.
#[derive(Debug)]
enum Left {
    /// That file is named.
    Named(RunDetail),
    /// All files are in one process, but for the nearest.
    Rest,
    /// The file is not run: it does not use the code.
    Unrelated,
    /// It counts as a file that does not load.
    Unloaded,
}

const NODE: Runner = Runner {
    installed: "",
    package: r#"{"type": "module", "scripts": {"test": "node --test"}}"#,
    ending: "js",
    head: "import test from 'node:test';\nimport assert from 'node:assert';\n\
        import * as calc from '../calc.js';\n",
    test: "test(<t>, () => { <b> });\n",
    tests: ("test/", ".js"),
    left: Left::Named(RunDetail::EndedEarly),
};

const REQUIRED: &str =
    "const assert = require('node:assert');\nconst calc = require('../calc.js');\n";

const MOCHA: Runner = Runner {
    installed: "",
    package: r#"{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "12"}}"#,
    head: REQUIRED,
    test: "it(<t>, () => { <b> });\n",
    left: Left::Rest,
    ..NODE
};

const VITEST: Runner = Runner {
    package: r#"{"type": "module", "devDependencies": {"vitest": "4"}}"#,
    head: "import { test, assert } from 'vitest';\nimport * as calc from '../calc';\n",
    tests: ("test/", ".test.js"),
    left: Left::Unrelated,
    ..NODE
};

const JEST: Runner = Runner {
    package: r#"{"devDependencies": {"jest": "30"}}"#,
    head: REQUIRED,
    test: "test(<t>, () => { <b> });\n",
    tests: ("__tests__/", ".js"),
    left: Left::Unrelated,
    ..NODE
};

const TAPE: Runner = Runner {
    installed: "tape",
    package: r#"{"scripts": {"test": "tape 'test/*.js' | tap-spec"}, "devDependencies": {"tape": "5"}}"#,
    head: "const test = require('tape');\nconst assert = require('node:assert');\n\
        const calc = require('../calc.js');\n",
    test: "test(<t>, (t) => { <b> t.pass('ran'); t.end(); });\n",
    left: Left::Named(RunDetail::EndedEarly),
    ..NODE
};

const TAP: Runner = Runner {
    installed: "tap",
    package: r#"{"scripts": {"test": "tap --no-coverage"}, "devDependencies": {"tap": "16"}}"#,
    head: "const tap = require('tap');\nconst assert = require('node:assert');\n\
        const calc = require('../calc.js');\n",
    test: "tap.test(<t>, (t) => { <b> t.end(); });\n",
    left: Left::Named(RunDetail::EndedEarly),
    ..NODE
};

const AVA: Runner = Runner {
    installed: "ava",
    package: r#"{"type": "module", "scripts": {"test": "c8 ava"}, "devDependencies": {"ava": "6"}}"#,
    head: "import test from 'ava';\nimport assert from 'node:assert';\n\
        import * as calc from '../calc.js';\n",
    test: "test(<t>, (t) => { <b> t.pass(); });\n",
    left: Left::Unloaded,
    ..NODE
};

const JASMINE: Runner = Runner {
    installed: "jasmine",
    package: r#"{"scripts": {"test": "jasmine"}, "devDependencies": {"jasmine": "5"}}"#,
    head: REQUIRED,
    test: "it(<t>, () => { <b> });\n",
    tests: ("spec/", "Spec.js"),
    left: Left::Unloaded,
    ..NODE
};

const DENO: Runner = Runner {
    installed: "deno",
    package: "",
    ending: "ts",
    head: "import assert from 'node:assert';\nimport * as calc from '../calc.ts';\n",
    test: "Deno.test(<t>, () => { <b> });\n",
    tests: ("test/", "_test.ts"),
    left: Left::Named(RunDetail::EndedEarly),
};

impl Runner {
    fn is_module(&self) -> bool {
        self.head.starts_with("import")
    }

    fn one(&self, title: &str, body: &str) -> String {
        self.test.replace("<t>", title).replace("<b>", body)
    }

    fn file(&self, title: &str, body: &str) -> String {
        format!("{}{}", self.head, self.one(title, body))
    }

    fn path(&self, name: &str) -> &'static str {
        format!("{}{name}{}", self.tests.0, self.tests.1).leak()
    }

    fn code(&self) -> Code {
        let (export, exports) = if self.is_module() {
            ("export const", "")
        } else {
            ("const", "module.exports = { half, double };\n")
        };
        let any = if self.ending == "ts" { "a: number" } else { "a" };
        let text = format!(
            "{export} half = ({any}) => a / 3;\n{export} double = ({any}) => a * 2;\n{exports}"
        );
        let test = |body: &str| &*self.file("'x'", body).replace("../calc", "./calc").leak();
        Code {
            path: format!("calc.{}", self.ending).leak(),
            text: text.leak(),
            defect: (test("assert.strictEqual(calc.half(4), 2);"), ("/ 3", "/ 2")),
            reversed: (test("assert.strictEqual(calc.double(3), 9);"), ("* 2", "* 3")),
        }
    }

    /// The files that make it a package that is tested with this.
    fn settings(&self) -> (&'static str, &'static str) {
        match self.installed {
            "deno" => ("deno.json", r#"{"tasks": {"test": "deno test -A"}}"#),
            _ => ("package.json", self.package),
        }
    }

    fn prepare(&self, stage: &mut Stage) {
        match self.installed {
            "deno" => put_deno_on_path(stage),
            "" if self.package.contains("devDependencies") => install_packages(stage.path()),
            "" => {}
            name => install_runner(stage.path(), name),
        }
        stage.write(".gitignore", "node_modules\n");
        stage.commit();
    }

    fn check(&self) {
        let settings = self.settings();
        let (calc, other) = (self.path("calc"), self.path("other"));
        let double = self.file("'doubles'", "assert.strictEqual(calc.double(2), 4);");
        let broken = format!("{}throw new Error('not loaded');\n", self.head);
        let timed =
            self.file("`at ${Date.now()} doubles`", "assert.strictEqual(calc.double(2), 4);");
        let fails = self.file("'fails'", "assert.fail(String(calc.half(0)));");
        let alone = self.head.lines().filter(|line| !line.contains("calc"));
        let alone: String = alone.map(|line| format!("{line}\n")).collect();
        let exit = if self.installed == "deno" { "Deno.exit(0);" } else { "process.exit(0);" };
        let exits = format!("{alone}{exit}\n{}", self.one("'never'", ""));
        let slow = format!("{alone}{}", self.one("'slow'", "for (;;);"));
        let left = match &self.left {
            Left::Named(detail) => partly(1, not_run(other, detail.clone())),
            Left::Rest => partly(1, not_run("", RunDetail::EndedEarly)),
            Left::Unrelated => guarded(1),
            Left::Unloaded => partly(1, unloaded(other)),
        };
        let is_related = matches!(self.left, Left::Unrelated);
        let cut = Gap::OutOfTime { place: String::new() };
        let doubles: &'static str = format!("{calc} > doubles").leak();
        let not_loaded = [settings, (calc, &double), (other, &broken)];
        let unloaded_row = row("one file is not loaded", &not_loaded, partly(1, unloaded(other)));
        let mut rows = vec![unloaded_row.refusing(doubles)];
        let mut slow_rows = Vec::new();
        // The runner of node itself is quick; `script/nightly` tries all of this with the others.
        if is_whole() || self.package.contains("--test") {
            rows.extend([
                row("sound", &[settings, (calc, &double)], guarded(1)).refusing(doubles),
                row("a title contains the time", &[settings, (calc, &timed)], guarded(1)),
                row("a file ends the process", &[settings, (calc, &double), (other, &exits)], left),
            ]);
            slow_rows.push(row(
                "a file never ends",
                &[settings, (calc, &double), (other, &slow)],
                if is_related { guarded(1) } else { partly(1, cut) },
            ));
        }
        if is_whole() {
            rows.push(row(
                "nothing is loaded",
                &[settings, (calc, &broken)],
                unguarded(unloaded(calc)),
            ));
            rows.push(row("there are no tests", &[settings], guarded(0)));
            rows.push(row("all fail", &[settings, (calc, &fails)], unguarded(Gap::NonePasses)));
        }
        let code = self.code();
        code.check(&rows, |stage| self.prepare(stage));
        code.check(&slow_rows, |stage| {
            self.prepare(stage);
            stage.options.suite_timeout = Duration::from_secs(15);
        });
    }
}

/// Installs another test runner of JavaScript, by the name that its packages have in `script/tools`.
fn install_runner(repo: &Path, name: &str) {
    let from = tools().join("proof-runners/node_modules");
    let mut copy = Command::new("cp");
    copy.args(["-a", "--link"]).arg(&from).arg(repo).stderr(Stdio::null());
    if !copy.status().unwrap().success() {
        let copied = Command::new("cp").arg("-a").arg(&from).arg(repo).status();
        assert!(copied.unwrap().success());
    }
    // Several versions of a package have names with the first part of their version.
    if let Some((package, _)) = name.split_once('-') {
        let installed = repo.join("node_modules");
        fs::rename(installed.join(name), installed.join(package)).unwrap();
    }
}

/// Deno is a program, which a package of npm carries.
fn put_deno_on_path(stage: &mut Stage) {
    let packages = tools().join("deno/node_modules/@deno");
    let package = fs::read_dir(packages).unwrap().next().unwrap().unwrap().path();
    for (name, value) in &mut stage.options.environment {
        if name == "PATH" {
            let known = env::split_paths(&*value).collect::<Vec<_>>();
            *value = env::join_paths([package.clone()].into_iter().chain(known)).unwrap();
        }
    }
}

#[test]
fn node_says_which_existing_tests_guard_a_fix() {
    NODE.check();
}

#[test]
fn vitest_says_which_existing_tests_guard_a_fix() {
    VITEST.check();
}

#[test]
fn jest_says_which_existing_tests_guard_a_fix() {
    JEST.check();
}

#[test]
fn mocha_says_which_existing_tests_guard_a_fix() {
    MOCHA.check();
}

#[test]
fn tape_says_which_existing_tests_guard_a_fix() {
    TAPE.check();
}

#[test]
fn tap_says_which_existing_tests_guard_a_fix() {
    TAP.check();
}

#[test]
fn ava_says_which_existing_tests_guard_a_fix() {
    AVA.check();
}

#[test]
fn jasmine_says_which_existing_tests_guard_a_fix() {
    JASMINE.check();
}

#[test]
fn deno_says_which_existing_tests_guard_a_fix() {
    DENO.check();
}

/// All versions have the same reporter, and other options and programs.
#[test]
fn every_version_of_mocha_guards_a_fix() {
    // The oldest differs most from the one that other tests use; `script/nightly` tries all.
    let versions = ["mocha-3", "mocha-5", "mocha-8", "mocha-10"];
    for installed in versions.into_iter().take(if is_whole() { versions.len() } else { 1 }) {
        let package =
            r#"{"scripts": {"test": "nyc mocha --require ./setup.js --bail 'tests/*.js'"}}"#;
        let runner = Runner { installed, package, tests: ("tests/", ".js"), ..MOCHA };
        let double = runner.file("'doubles'", "assert.strictEqual(calc.double(2), factor * 2);");
        let broken = format!("{}throw new Error('not loaded');\n", runner.head);
        let files = [
            runner.settings(),
            ("setup.js", "global.factor = 2;\n"),
            ("tests/calc.js", &double),
            ("tests/other.js", &broken),
        ];
        let row = row(installed, &files, partly(1, unloaded("tests/other.js")));
        runner
            .code()
            .check(&[row.refusing("tests/calc.js > doubles")], |stage| runner.prepare(stage));
    }
}

/// What keeps every test from beginning is not the claim's fault, and no test "could not compile".
#[test]
fn a_runner_that_cannot_start_is_not_the_agents_fault() {
    let exits = ("setup.cjs", "process.exit(0);\n");
    for (runner, package, others) in [
        (
            &NODE,
            r#"{"type": "module", "scripts": {"test": "node --import ./gone.js --test"}}"#,
            vec![],
        ),
        (
            &NODE,
            r#"{"type": "module", "scripts": {"test": "node -r ./setup.cjs --test"}}"#,
            vec![exits],
        ),
        (&MOCHA, r#"{"scripts": {"test": "mocha -r ./gone.js"}}"#, vec![]),
        (&MOCHA, r#"{"scripts": {"test": "mocha -r ./setup.cjs"}}"#, vec![exits]),
        (&JEST, r#"{"scripts": {"test": "jest"}, "jest": {"preset": "gone"}}"#, vec![]),
        (
            &JEST,
            r#"{"scripts": {"test": "jest"}, "jest": {"setupFiles": ["./setup.cjs"]}}"#,
            vec![("setup.cjs", "throw new Error('x');\n")],
        ),
        (&VITEST, r#"{"type": "module", "scripts": {"test": "vitest run -c gone.js"}}"#, vec![]),
        (&TAPE, r#"{"scripts": {"test": "tape -r ./gone.js test/*.js"}}"#, vec![]),
        (
            &AVA,
            r#"{"type": "module", "scripts": {"test": "ava"}, "ava": {"require": ["./gone.js"]}}"#,
            vec![],
        ),
        (
            &JASMINE,
            r#"{"scripts": {"test": "jasmine --helper=gone.js"}}"#,
            vec![("spec/support/jasmine.json", "{")],
        ),
    ] {
        let settings = ("package.json", package);
        // The other tools are looked at in the same way, and start slowly.
        if !is_whole() && !["node", "mocha"].iter().any(|tool| package.contains(tool)) {
            continue;
        }
        let files: Vec<(&str, &str)> = [settings].into_iter().chain(others).collect();
        let verdicts = runner
            .code()
            .verdicts(&row("start", &files, guarded(0)), |stage| runner.prepare(stage));
        let verdict = &verdicts[0];
        assert_eq!(verdict.outcome, Outcome::HarnessError, "{package} {verdict:#?}");
        assert!(matches!(verdict.why, Why::Unstarted(_)), "{package} {verdict:#?}");
        assert_eq!(verdict.fix, FixResult::NotOffered, "{package} {verdict:#?}");
    }
}
