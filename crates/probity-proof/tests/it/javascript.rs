//! JavaScript and TypeScript: every outcome, in `node --test`, vitest, jest and mocha alike.

mod packages;

use probity_proof::{Claim, FixResult, Level, Outcome};

use crate::{
    stage::{Stage, at, claim, fix, named},
    tools::install_packages,
    whole_corpus::is_whole,
};

/// How one framework is spoken to.
struct Framework {
    package: &'static str,
    /// What a test imports, `calc` among it.
    head: &'static str,
    ending: &'static str,
    code: &'static str,
}

const NODE: Framework = Framework {
    package: r#"{"type": "module", "scripts": {"test": "node --test"}}"#,
    head: "import test, { describe } from 'node:test';\nimport assert from 'node:assert';\n\
        import * as calc from './calc.js';\n",
    ending: "js",
    code: "export const LIMIT = 10;\n\nexport function sub(a, b) {\n  return a + b;\n}\n",
};

const VITEST: Framework = Framework {
    package: r#"{"type": "module", "devDependencies": {"vitest": "4"}}"#,
    head: "import { test, describe, assert } from 'vitest';\nimport * as calc from './calc';\n",
    ending: "ts",
    code: "export const LIMIT: number = 10;\n\nexport function sub(a: number, b: number): number {\n  \
        return a + b;\n}\n",
};

const JEST: Framework = Framework {
    package: r#"{"devDependencies": {"jest": "30"}}"#,
    head: "const assert = require('node:assert');\nconst calc = require('./calc.js');\n",
    ending: "js",
    code: "const LIMIT = 10;\n\nfunction sub(a, b) {\n  return a + b;\n}\n\
        module.exports = { LIMIT, sub };\n",
};

const MOCHA: Framework = Framework {
    package: r#"{"devDependencies": {"mocha": "12"}}"#,
    head: "const assert = require('node:assert');\nconst test = it;\nconst calc = require('./calc.js');\n",
    ..JEST
};

impl Framework {
    fn file(&self) -> String {
        format!("calc.{}", self.ending)
    }

    fn repository(&self) -> Stage {
        let old = format!(
            "{}test('old', () => {{ assert.fail('before'); }});\n\
             test('sums zero', () => {{ assert.strictEqual(calc.sub(0, 0), 0); }});\n",
            self.head
        );
        let stage = Stage::new(&[
            ("package.json", self.package),
            (&self.file(), self.code),
            (&format!("old.test.{}", self.ending), &old),
            (".gitignore", "node_modules\n"),
            // Vite writes a bundle of it beside the packages before it reads it.
            (
                "vitest.config.ts",
                "import { defineConfig } from 'vitest/config';\n\
                 export default defineConfig({ test: { environment: 'node' } });\n",
            ),
        ]);
        install_packages(stage.path());
        stage
    }

    fn code(&self, body: &str) -> String {
        format!("{}test('x', async () => {{\n{body}\n}});\n", self.head)
    }

    fn claim(&self, id: &str, body: &str) -> Claim {
        Claim { line: 4, ..claim(id, &self.file(), &self.code(body)) }
    }
}

const REAL: &str = "assert.strictEqual(calc.sub(3, 1), 2);";

fn outcomes(framework: &Framework) {
    use Outcome::{BuildError, Failed, HarnessError, NotRun, Passed, Rejected, Skipped};
    let on = |id: &str, body: &str| framework.claim(id, body);
    let with = |claim: Claim, from: &str, to: &str| Claim {
        test_code: claim.test_code.replace(from, to),
        ..claim
    };
    let file = framework.file();
    // There it throws.
    let left = if framework.package == VITEST.package { Failed } else { HarnessError };
    let rows = [
        (named(on("real", REAL), "x"), Failed),
        (on("pass", "assert.strictEqual(calc.sub(1, 1), 2)"), Passed),
        (on("exit", "process.exit(1);"), left),
        (with(on("loading", REAL), "./calc", "./nothing"), BuildError),
        (with(on("skip", REAL), "test('x'", "test.skip('x'"), Skipped),
        (on("unnamed", REAL), Failed),
        (
            named(with(on("parens", REAL), "test('x'", "test('with (parens)'"), "with (parens)"),
            Failed,
        ),
        (on("words", "assert.ok(calc.sub(3, 1) === 2, 'SyntaxError: cannot find')"), Failed),
        (on("missing", "calc.nothing();"), Failed),
        (on("syntax", "assert.ok(("), BuildError),
        (named(on("wrong", REAL), "y"), NotRun),
        (named(on("theirs", REAL), "old"), NotRun),
        (at(on("out", REAL), "../x.test.js"), Rejected),
        (at(on("over", REAL), &file), Rejected),
    ];
    // What the tools tell in ways of their own comes first; `script/nightly` tries all rows with each.
    let count = if is_whole() || framework.package == NODE.package { rows.len() } else { 5 };
    let verdicts = framework.repository().check_outcomes(&rows[..count]);
    assert_eq!((verdicts[0].level, verdicts[0].runner), (Level::Fails, Some("javascript")));
}

#[test]
fn every_outcome_of_node_is_told_apart() {
    outcomes(&NODE);
}

#[test]
fn every_outcome_of_vitest_is_told_apart() {
    outcomes(&VITEST);
}

#[test]
fn every_outcome_of_jest_is_told_apart() {
    outcomes(&JEST);
}

#[test]
fn every_outcome_of_mocha_is_told_apart() {
    outcomes(&MOCHA);
}

/// The existing tests have to be found with every framework. What no fix mends, and a test that a fix
/// breaks, is run up to eight times more: with the slower tools in `script/nightly` alone.
#[test]
fn a_fix_proves_in_every_framework_and_one_that_breaks_a_test_does_not() {
    // By default the tests of `guard` prove one fix with each of the others.
    let frameworks = [NODE, VITEST, JEST, MOCHA];
    for framework in frameworks.into_iter().take(if is_whole() { 4 } else { 1 }) {
        let patch = |to: &str| Some(fix(&framework.file(), framework.code, "a + b", to));
        let fixed =
            |id: &str, to: &str| Claim { fix_patch: patch(to), ..framework.claim(id, REAL) };
        let mut rows = vec![(fixed("right", "a - b"), Level::Flips)];
        if is_whole() || framework.package == NODE.package {
            let constant = "calc.sub(1, 1);\nassert.fail('no');";
            rows.push((fixed("breaks", "a - b || 7"), Level::Fails));
            rows.push((framework.claim("constant", constant), Level::Fails));
        }
        let verdicts = framework.repository().check_levels(&rows);
        let complete = FixResult::Guarded { passed: 1 };
        assert_eq!(verdicts[0].fix, complete, "{verdicts:#?}");
        for verdict in verdicts.iter().filter(|verdict| verdict.id == "breaks") {
            assert!(matches!(verdict.fix, FixResult::Breaks(_)), "{verdicts:#?}");
        }
    }
}

#[test]
fn a_test_in_a_suite_is_found_by_any_of_its_names() {
    for framework in [NODE, VITEST, JEST, MOCHA] {
        let code = format!(
            "{}describe('the suite', () => {{\n  test('other', () => {{}});\n  \
             test('x', () => {{\n{REAL}\n}});\n}});\n",
            framework.head
        );
        let each = format!(
            "{}test.each([[1, 2], [3, 2]])('%i less one', (a, b) => {{\n\
             assert.strictEqual(calc.sub(a, 1), b);\n}});\n",
            framework.head
        );
        let of = |name: &str| named(claim("suite", &framework.file(), &code), name);
        let names = ["the suite > x", "x", "the suite x", "the suite"];
        let count = if is_whole() || framework.package == NODE.package { names.len() } else { 1 };
        let mut rows: Vec<(Claim, Outcome)> =
            names[..count].iter().map(|name| (of(name), Outcome::Failed)).collect();
        rows.push((of("the y"), Outcome::NotRun));
        // Node and mocha have no such tests.
        if ![NODE.package, MOCHA.package].contains(&framework.package) {
            rows.push((Claim { test_code: each, ..of("%i less one") }, Outcome::Failed));
        }
        framework.repository().check_outcomes(&rows);
    }
}

#[test]
fn packages_of_a_monorepo_are_proven_in() {
    let source = "exports.half = (a) => a / 3;\n";
    let test = "const test = require('node:test');\nconst assert = require('node:assert');\n\
        const { half } = require('./money.js');\ntest('x', () => assert.equal(half(4), 2));\n";
    let path = "packages/pay desk/money.js";
    let stage = Stage::new(&[
        ("package.json", r#"{"workspaces": ["packages/*"], "devDependencies": {"vitest": "4"}}"#),
        ("packages/pay desk/package.json", r#"{"scripts": {"test": "node --test"}}"#),
        (path, source),
    ]);
    let right =
        Claim { fix_patch: Some(fix(path, source, "/ 3", "/ 2")), ..claim("m", path, test) };
    let verdict = stage.prove_one(&right);
    assert_eq!((verdict.level, verdict.proven), (Level::Flips, true), "{verdict:#?}");
}
