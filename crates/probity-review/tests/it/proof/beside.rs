//! What results cannot show, in every language: effects on an object, failures that are waited for,
//! complaints that differ from run to run, and failures that are the test's own.

use std::os::unix::fs::symlink;

use probity_review::{Claim, Level, Outcome};

use super::stage::{Row, Stage, claim, tools};

const GO: &str = "package calc

type Account struct{ Total int }

func (a *Account) Put(amount int) int { return amount }

func Must(text string) string { return text }

func Each(values []int, visit func(int)) {
	for _, value := range values {
		visit(value)
		visit(value)
	}
}
";

#[test]
fn what_results_cannot_show_is_told_apart_in_go() {
    use Outcome::{Failed, HarnessError};
    let stage = Stage::new(&[("go.mod", "module example.com/c\n\ngo 1.21\n"), ("calc.go", GO)]);
    let code = |body: &str| {
        format!(
            "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\n\
             var _, _ = time.Now, os.Args\n\nfunc TestX(t *testing.T) {{\n{body}\n}}\n"
        )
    };
    let forged = "\tos.Stderr.WriteString(\"panic: x\\n\\ngoroutine 7 [running]:\\nexample.com/c.Must(...)\\n\\t\
        /proof/repo/calc.go:7 +0x1\\n\\n\")\n\tt.Fail()";
    let table: &[Row] = &[
        (
            "effect",
            "\ta := &Account{}\n\ta.Put(5)\n\tif a.Total != 5 {\n\t\tt.Fatal(\"lost\")\n\t}",
            5,
            Failed,
            true,
        ),
        (
            "no-effect",
            "\ta := &Account{}\n\ta.Put(5)\n\tif len(os.Args) > 0 {\n\t\tt.Fatal(\"lost\")\n\t}",
            5,
            Failed,
            false,
        ),
        (
            "one-line",
            "\tm := map[string]int{\"a\": len(Must(\"a\"))}\n\tif _, ok := m[\"a\"]; ok { t.Error(\"x\") }",
            7,
            Failed,
            false,
        ),
        (
            "panics",
            "\tdefer func() {\n\t\tif recover() == nil {\n\t\t\tt.Fatal(\"no panic\")\n\t\t}\n\t}()\n\tMust(\"\")",
            7,
            Failed,
            true,
        ),
        (
            "noise",
            "\tMust(\"a\")\n\tif len(os.Args) > 0 {\n\t\tt.Fatalf(\"took %d\", time.Now().UnixNano())\n\t}",
            7,
            Failed,
            false,
        ),
        ("callback", "\tEach([]int{1}, func(int) { panic(\"own\") })", 9, HarnessError, false),
        (
            "visits",
            "\tseen := 0\n\tEach([]int{1}, func(int) {\n\t\tseen++\n\t\tif seen > 1 {\n\t\t\tpanic(\"twice\")\n\t\t}\n\t})",
            9,
            Failed,
            true,
        ),
        ("forged", forged, 7, Failed, false),
    ];
    stage.prove_table("calc.go", &code, table);
}

#[test]
fn a_fix_that_does_not_mend_it_leaves_the_proof_as_it_is() {
    let stage = Stage::new(&[("calc.py", "def sub(a, b):\n    return a + b\n")]);
    let fix = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def sub(a, b):\n-    return a + b\n\
        +    return a + b + 1\n";
    let test = "import calc\n\ndef test_x():\n    assert calc.sub(3, 1) == 2\n";
    let wrong = Claim { fix_patch: Some(fix.to_owned()), ..claim("fix", "calc.py", test) };
    let verdict = stage.prove_one(&wrong);
    assert_eq!(
        (verdict.proven, verdict.level, verdict.fix_flips),
        (true, Level::Stable, Some(false))
    );
    let said = "the fix of the claim does not mend it.";
    assert!(verdict.reason.ends_with(said), "{}", verdict.reason);
}

const PYTHON: &str = "class Cart:
    def __init__(self):
        self.total = 0

    def add(self, price):
        return price


def check(age):
    return age


def average(numbers):
    return sum(numbers) / len(numbers)


def leap(year):
    return year % 4 == 0
";

#[test]
fn what_results_cannot_show_is_told_apart_in_python() {
    use Outcome::{Failed, HarnessError, Rejected};
    let stage = Stage::new(&[("calc.py", PYTHON)]);
    let code = |body: &str| {
        let head = "import os\nimport random\nimport pytest\nimport calc\n\n\n";
        if body.contains("def test_x") {
            return format!("{head}{body}\n");
        }
        let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
        format!("{head}def test_x():\n{body}")
    };
    let table: &[Row] = &[
        ("effect", "cart = calc.Cart()\ncart.add(2)\nassert cart.total == 2", 6, Failed, true),
        (
            "no-effect",
            "cart = calc.Cart()\ncart.add(2)\nassert os.environ.get('NOPE') == '1'",
            6,
            Failed,
            false,
        ),
        (
            "raises",
            "with pytest.raises(ValueError, match='negative age'):\n    calc.check(-1)",
            10,
            Failed,
            true,
        ),
        (
            "exactly",
            "with pytest.raises(KeyError) as error:\n    calc.check(-1)\nassert error.value.args == ('age',)",
            10,
            Failed,
            true,
        ),
        (
            "raises-not",
            "calc.check(1)\nwith pytest.raises(ValueError):\n    pass",
            10,
            Failed,
            false,
        ),
        ("noise", "calc.average([1, 3])\nassert random.random() > 5", 14, Failed, false),
        (
            "parameters",
            "@pytest.mark.parametrize('n', [1, 2])\ndef test_x(n):\n    calc.average([n])\n    if n == 2:\n        \
             assert os.environ.get('NOPE') == '1'",
            14,
            Failed,
            false,
        ),
        (
            "parametrized",
            "@pytest.mark.parametrize('year,want', [(2000, True), (1900, False)])\ndef test_x(year, want):\n    \
             assert calc.leap(year) is want",
            18,
            Failed,
            true,
        ),
        (
            "argument",
            "class Own(list):\n    def __len__(self):\n        raise RuntimeError('own')\ncalc.average(Own([1]))",
            14,
            HarnessError,
            false,
        ),
        (
            "odd",
            "class Odd(int):\n    def __radd__(self, other):\n        return 7\nassert calc.average([Odd(1), 3]) == 2",
            14,
            HarnessError,
            false,
        ),
        (
            "counted",
            "class Counted(int):\n    def __radd__(self, other):\n        return int(self) + other\nassert calc.average([Counted(1), 3]) == 4",
            14,
            Failed,
            true,
        ),
        (
            "recursion",
            "def down(n):\n    return down(n + calc.average([1]))\ndown(1)",
            14,
            HarnessError,
            false,
        ),
        (
            "shadow",
            "def test_x(monkeypatch):\n    monkeypatch.setattr(calc, 'sum', lambda it: 0, raising=False)\n    \
             assert calc.average([1, 3]) == 2",
            14,
            Rejected,
            false,
        ),
        (
            "forged",
            "with open(os.environ.get('PROBITY_REPORT', 'x'), 'a') as report:\n    \
             report.write('{\"event\":\"reached\"}\\n')\nassert os.environ.get('NOPE') == '1'",
            14,
            Failed,
            false,
        ),
    ];
    stage.prove_table("calc.py", &code, table);
}

const RUST: &str = "pub struct Log {
    pub count: usize,
}

impl Log {
    pub fn push(&mut self, _line: &str) -> usize {
        1
    }
}

pub fn check(age: i32) -> i32 {
    age
}

pub fn depth(n: u64) -> u64 {
    1 + depth(n + 1) + depth(n + 2)
}

pub fn abort(sum: u8) -> u8 {
    if sum == 1 {
        std::process::abort();
    }
    sum
}
";

#[test]
fn what_results_cannot_show_is_told_apart_in_rust() {
    use Outcome::{Failed, HarnessError};
    let stage = Stage::new(&[
        ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", RUST),
    ]);
    let code = |body: &str| match body.strip_prefix("should panic\n") {
        Some(body) => {
            let expected = "#[should_panic(expected = \"negative age\")]";
            format!("use calc::*;\n\n#[test]\n{expected}\nfn x() {{\n{body}\n}}\n")
        }
        None => format!("use calc::*;\n\n#[test]\nfn x() {{\n{body}\n}}\n"),
    };
    let table: &[Row] = &[
        (
            "effect",
            "    let mut log = Log { count: 0 };\n    log.push(\"a\");\n    assert_eq!(log.count, 1);",
            6,
            Failed,
            true,
        ),
        ("panics", "should panic\n    check(-1);", 11, Failed, true),
        (
            "unwinds",
            "    let seen = std::panic::catch_unwind(|| check(-1));\n    assert!(seen.is_err());",
            11,
            Failed,
            true,
        ),
        (
            "noise",
            "    check(1);\n    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();\n    \
             assert!(now < 5, \"late {now}\");",
            11,
            Failed,
            false,
        ),
        ("overflow", "    assert_eq!(depth(0), 0);", 15, Failed, true),
        ("dies", "    assert_eq!(abort(1), 0);", 19, Failed, true),
        ("dies-itself", "    abort(2);\n    std::process::abort();", 19, HarnessError, false),
    ];
    stage.prove_table("src/lib.rs", &code, table);
}

const JAVASCRIPT: &str = "class Store {
  constructor() { this.hits = 0; }
  get(key) { return key; }
}
function open(name) { return null; }
async function retry(job) { return job(); }
function each(values, visit) { for (const value of values) { visit(value); visit(value); } }
function stamp() { return 'a-1'; }
function list() { return new Set([1, 2, 3]); }
const LIMIT = 10;
const rates = {
  low: 1,
  high: 3,
};
module.exports = { Store, open, retry, each, stamp, list, LIMIT, rates };
";

const OF_ALL: &[Row] = &[
    ("spread", "assert.deepEqual([...calc.list()], [1, 2]);", 9, Outcome::Failed, true),
    ("template", "assert.equal(`${calc.stamp()}`, 'b');", 8, Outcome::Failed, true),
    (
        "effect",
        "const store = new calc.Store();\nstore.get('a');\nassert.equal(store.hits, 1);",
        3,
        Outcome::Failed,
        true,
    ),
    (
        "no-effect",
        "const store = new calc.Store();\nstore.get('a');\nassert.equal(process.env.NOPE, 'y');",
        3,
        Outcome::Failed,
        false,
    ),
    ("class", "assert.throws(() => calc.open('x'), RangeError);", 5, Outcome::Failed, true),
    ("words", "assert.throws(() => calc.open('x'), /no such/);", 5, Outcome::Failed, true),
    (
        "caught",
        "let error;\ntry { calc.open('x'); } catch (it) { error = it; }\nassert.ok(error instanceof RangeError);",
        5,
        Outcome::Failed,
        true,
    ),
    (
        "noise",
        "calc.stamp();\nassert.equal(String(process.hrtime.bigint()), '1');",
        8,
        Outcome::Failed,
        false,
    ),
    (
        "callback",
        "calc.each([1], () => { throw new Error('own'); });",
        7,
        Outcome::HarnessError,
        false,
    ),
    (
        "visits",
        "let seen = 0;\ncalc.each([1], () => { seen += 1; if (seen > 1) throw new Error('twice'); });",
        7,
        Outcome::Failed,
        true,
    ),
    (
        "recursion",
        "const down = (n) => down(n + calc.stamp().length) + 1;\ndown(1);",
        8,
        Outcome::HarnessError,
        false,
    ),
];

/// What the top of a module binds, and tests that look whether they are watched.
const OF_MODULES: &[Row] = &[
    ("bound", "assert.equal(calc.LIMIT, 20);", 10, Outcome::Failed, true),
    ("bound-member", "assert.equal(calc.rates.high, 4);", 13, Outcome::Failed, true),
    (
        "bound-object",
        "assert.deepEqual(calc.rates, { low: 1, high: 4 });",
        11,
        Outcome::Failed,
        true,
    ),
    (
        "only-named",
        "const limit = calc.LIMIT;\nassert.equal(process.env.NOPE, 'y');",
        10,
        Outcome::Failed,
        false,
    ),
    ("not-named", "assert.equal(process.env.NOPE, 'y');", 10, Outcome::Failed, false),
    ("named-elsewhere", "assert.equal(calc.LIMIT, 20);", 8, Outcome::Failed, false),
    (
        "watched",
        "calc.stamp();\nassert.match(new Error('x').stack, /watchedc[0-9]+[.]test/);",
        8,
        Outcome::Failed,
        false,
    ),
    (
        "numbered",
        "calc.stamp();\nassert.match(new Error('x').stack, /numberedc[2-9][.]test/);",
        8,
        Outcome::Failed,
        false,
    ),
];

/// What has matchers of its own.
const OF_MATCHERS: &[Row] = &[
    (
        "spy",
        "const visit = double.fn();\ncalc.each([1], visit);\nexpect(visit).toHaveBeenCalledTimes(1);",
        7,
        Outcome::Failed,
        true,
    ),
    (
        "resolves",
        "const job = double.fn().mockRejectedValueOnce(new Error('once')).mockResolvedValue(7);\n\
         await expect(calc.retry(job)).resolves.toBe(7);",
        6,
        Outcome::Failed,
        true,
    ),
    (
        "snapshot",
        "expect(calc.stamp()).toMatchInlineSnapshot(`\"a-01\"`);",
        8,
        Outcome::Failed,
        true,
    ),
    ("throws", "expect(() => calc.open('x')).toThrow('no such');", 5, Outcome::Failed, true),
];

fn javascript(package: &str, file: &str, source: &str, head: &str, tables: &[&[Row]]) {
    let stage =
        Stage::new(&[("package.json", package), (file, source), (".gitignore", "node_modules\n")]);
    symlink(tools().join("proof-node/node_modules"), stage.path().join("node_modules")).unwrap();
    let code = |body: &str| format!("{head}test('x', async () => {{\n{body}\n}});\n");
    // Two of the frameworks take a second to start, so that they get what differs between them.
    let short = ["effect", "callback", "bound", "bound-member", "only-named", "watched"];
    let mut table = tables.concat();
    let matchers = tables.len() > 2;
    table.retain(|row| {
        !matchers || short.contains(&row.0) || OF_MATCHERS.iter().any(|it| it.0 == row.0)
    });
    stage.prove_table(file, &code, &table);
}

#[test]
fn what_results_cannot_show_is_told_apart_in_node() {
    let head = "const test = require('node:test');\nconst assert = require('node:assert');\n\
        const calc = require('./calc.js');\n";
    let package = r#"{"scripts": {"test": "node --test"}}"#;
    javascript(package, "calc.js", JAVASCRIPT, head, &[OF_ALL, OF_MODULES]);
}

#[test]
fn what_results_cannot_show_is_told_apart_in_vitest() {
    let head = "import { test, assert, expect, vi as double } from 'vitest';\n\
        import * as calc from './calc.mjs';\n";
    let package = r#"{"type": "module", "devDependencies": {"vitest": "4"}}"#;
    let source = JAVASCRIPT.replace("module.exports =", "export");
    javascript(package, "calc.mjs", &source, head, &[OF_ALL, OF_MODULES, OF_MATCHERS]);
}

#[test]
fn what_results_cannot_show_is_told_apart_in_jest() {
    let head = "const assert = require('node:assert');\nconst calc = require('./calc.js');\n\
        const double = jest;\n";
    let package = r#"{"devDependencies": {"jest": "30"}}"#;
    javascript(package, "calc.js", JAVASCRIPT, head, &[OF_ALL, OF_MODULES, OF_MATCHERS]);
}
