//! Go: every outcome, build tags, names that are taken, and modules of every layout.

use probity_proof::{Claim, Level, Outcome};

use crate::stage::{Stage, at, claim, fix, named};

const CALC: &str = "package calc

import \"errors\"

// Sub is said to subtract.
func Sub(a, b int) int {
	return a + b
}

func Index(values []int) int { return values[3] }

func Check() error { return errors.New(\"cannot undefined: syntax error, build failed\") }
";

fn repository() -> Stage {
    Stage::new(&[
        ("go.mod", "module example.com/calc\n\ngo 1.21\n"),
        ("calc.go", CALC),
        ("other.go", "package calc\n\nfunc Other() int { return 1 }\n"),
        ("deep/er/deep.go", "package er\n\nfunc Twice(a int) int { return a * 3 }\n"),
        (
            "calc_test.go",
            "package calc\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) { helper(t) }\n\n\
             func helper(t *testing.T) { t.Fatal(\"failed before anybody came\") }\n\n\
             func TestKept(t *testing.T) {}\n",
        ),
    ])
}

fn test(body: &str) -> String {
    format!(
        "package calc\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\n\
         var _, _ = fmt.Sprint, os.Exit\n\nfunc TestX(t *testing.T) {{\n{body}\n}}\n"
    )
}

const REAL: &str = "\tif got := Sub(3, 1); got != 2 {\n\t\tt.Fatalf(\"got %d\", got)\n\t}";

#[test]
fn every_outcome_of_go_is_told_apart() {
    use Outcome::{BuildError, Failed, HarnessError, NotRun, Passed, Skipped};
    let on = |id: &str, code: &str| Claim { line: 7, ..claim(id, "calc.go", code) };
    let does = |id: &str, body: &str| on(id, &test(body));
    let below = "package er_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/calc/deep/er\"\n)\n\n\
        func TestX(t *testing.T) {\n\tif er.Twice(2) != 4 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    let rows = [
        (does("root", REAL), Failed),
        (at(claim("sub", "deep/er/deep.go", below), "deep/er/x_test.go"), Failed),
        (does("words", "\tif err := Check(); err != nil {\n\t\tt.Fatal(err)\n\t}"), Failed),
        (does("vet", &format!("\tfmt.Printf(\"%d\\n\", \"x\")\n{REAL}")), Failed),
        (does("pass", "\tOther()"), Passed),
        (named(on("same", &test(REAL).replace("TestX", "TestSub")), "TestSub"), Failed),
        (named(does("theirs", "\tOther()"), "TestSub"), NotRun),
        (on("tagged", &format!("//go:build integration && !short\n\n{}", test(REAL))), Failed),
        (on("machine", &format!("//go:build plan9\n\n{}", test(REAL))), NotRun),
        (does("broken", "\tundefined()"), BuildError),
        (named(does("wrong", REAL), "TestY"), NotRun),
        (does("skip", "\tt.Skip(\"no\")"), Skipped),
        (does("exit0", "\tos.Exit(0)"), HarnessError),
        (does("exit1", "\tos.Exit(1)"), HarnessError),
        (on("init", &(test(REAL) + "\nfunc init() { panic(1) }\n")), HarnessError),
        (does("panic", "\tIndex(nil)"), Failed),
        (does("go", "\tgo Index(nil)\n\tselect {}"), Failed),
    ];
    let verdicts = repository().check_outcomes(&rows);
    let by_id = |id: &str| verdicts.iter().find(|verdict| verdict.id == id).unwrap();
    assert_eq!((by_id("root").level, by_id("root").runner), (Level::Fails, Some("go")));
    assert_eq!(by_id("root").test_path, "zz_probity_rootp_test.go");
    assert!(by_id("root").output.contains("zz_probity_rootp_test.go:13: got 4"));
    assert_eq!(by_id("sub").test_path, "deep/er/zz_probity_subp_test.go");
    assert_eq!(by_id("same").test_name, "TestSubProbitysame");
    assert!(by_id("broken").output.contains("undefined"), "{}", by_id("broken").output);
    assert_eq!(by_id("broken").runs, []);
}

#[test]
fn a_fix_proves_and_what_fails_anyway_does_not() {
    let on = |id: &str, body: &str| Claim { line: 7, ..claim(id, "calc.go", &test(body)) };
    let right = fix("calc.go", CALC, "a + b", "a - b");
    let fixed = |claim: Claim| Claim { fix_patch: Some(right.clone()), ..claim };
    repository().check_levels(&[
        (fixed(on("real", REAL)), Level::Flips),
        (fixed(on("constant", "\tSub(1, 1)\n\tt.Fatal(\"it is broken\")")), Level::Fails),
        (on("alone", REAL), Level::Depends),
        (on("behind", "\tSub(1, 1)\n\tif true {\n\t\tt.Fatal(\"it is\")\n\t}"), Level::Fails),
        (on("guarded", "\tif Sub(3, 1) == 2 {\n\t\treturn\n\t}\n\tt.Fatal(\"x\")"), Level::Depends),
        (on("rights", "\tSub(1, 1)\n\tif err := os.Mkdir(\"/usr/x\", 0o700); err != nil {\n\t\tt.Fatal(err)\n\t}"), Level::Fails),
    ]);
}

#[test]
fn a_fix_proves_in_every_layout_of_modules() {
    let source = "package money\n\nfunc Half(a int) int { return a / 3 }\n";
    let body = "func TestX(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    let code = format!("package money\n\nimport \"testing\"\n\n{body}");
    for (path, module) in [
        ("services/pay/money/money.go", "services/pay/go.mod"),
        ("money/money.go", "go.mod"),
        ("money-dir/money.go", "go.mod"),
    ] {
        let stage = Stage::new(&[(path, source), (module, "module example.com/pay\n\ngo 1.21\n")]);
        let right = Some(fix(path, source, "a / 3", "a / 2"));
        let verdict =
            stage.prove_one(&Claim { line: 3, fix_patch: right, ..claim("l", path, &code) });
        assert_eq!((verdict.level, verdict.proven), (Level::Flips, true), "{path}: {verdict:#?}");
    }
}
