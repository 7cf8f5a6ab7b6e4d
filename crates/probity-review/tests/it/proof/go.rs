//! Go: every outcome, every mistake that others have made, and every kind of misbehaviour.

mod control;

use std::{
    fs,
    time::{Duration, Instant},
};

use probity_review::{Claim, Evidence, Level, Outcome, Reach, Verdict};

use super::stage::{Stage, claim, is_running, line};

const CALC: &str = "package calc

import \"errors\"

var table = build()

func build() []int { return []int{1} }

// Sub is said to subtract.
func Sub(a, b int) int {
	return a + b
}

func Index(values []int) int { return values[3] }

func Check() error { return errors.New(\"cannot undefined: syntax error, build failed\") }

func New() *int { return nil }

func Loop() {
	for {
	}
}

type Paid struct {
	At int `json:\"paid\"`
}
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
             func helper(t *testing.T) { t.Fatal(\"failed before anybody came\") }\n",
        ),
    ])
}

/// A test in the package of the flagged file, with everything imported that it may need.
fn test(body: &str) -> String {
    format!(
        "package calc\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\n\
         var _, _ = fmt.Sprint, os.Exit\n\nfunc TestX(t *testing.T) {{\n{body}\n}}\n"
    )
}

const REAL: &str = "\tif got := Sub(3, 1); got != 2 {\n\t\tt.Fatalf(\"got %d\", got)\n\t}";

#[test]
fn every_mistake_of_others_has_its_right_answer() {
    let stage = repository();
    let on = |id: &str, code: String| claim(id, "calc.go", &code);
    let named = |mut claim: Claim, name: &str| {
        claim.test_name = Some(name.to_owned());
        claim
    };
    let at = |mut claim: Claim, path: &str| {
        claim.test_file = Some(path.to_owned());
        claim
    };
    let sub_package = "package er_test\n\nimport (\n\t\"testing\"\n\n\t\
        \"example.com/calc/deep/er\"\n)\n\nfunc TestX(t *testing.T) {\n\tif er.Twice(2) != 4 {\n\
        \t\tt.Fatal(\"no\")\n\t}\n}\n";
    let table: Vec<(&str, Claim, Outcome, bool)> = vec![
        ("real", on("root", test(REAL)), Outcome::Failed, true),
        (
            "in a package below",
            at(claim("sub", "deep/er/deep.go", sub_package), "deep/er/x_test.go"),
            Outcome::Failed,
            true,
        ),
        (
            "a message with a compiler's words",
            on("words", test("\tif err := Check(); err != nil {\n\t\tt.Fatal(err)\n\t}")),
            Outcome::Failed,
            true,
        ),
        (
            "what vet dislikes",
            on("vet", test(&format!("\tfmt.Printf(\"%d\\n\", \"x\")\n{REAL}"))),
            Outcome::Failed,
            true,
        ),
        (
            "an unrelated constant failure",
            on("constant", test("\tt.Fatal(\"always\")")),
            Outcome::Failed,
            false,
        ),
        ("passes beside a failing test", on("pass", test("\tOther()")), Outcome::Passed, false),
        (
            "takes the name of the failing test",
            named(on("same", test(REAL).replace("TestX", "TestSub")), "TestSub"),
            Outcome::Failed,
            true,
        ),
        (
            "names the failing test of the repository",
            named(on("theirs", test("\tOther()")), "TestSub"),
            Outcome::NotRun,
            false,
        ),
        (
            "under a tag of its own",
            on("tagged", format!("//go:build integration && !short\n\n{}", test(REAL))),
            Outcome::Failed,
            true,
        ),
        (
            "for another machine",
            on("machine", format!("//go:build plan9\n\n{}", test(REAL))),
            Outcome::NotRun,
            false,
        ),
        ("does not compile", on("broken", test("\tundefined()")), Outcome::BuildError, false),
        ("outside", at(on("out", test(REAL)), "../x_test.go"), Outcome::Rejected, false),
        ("absolute", at(on("abs", test(REAL)), "/tmp/x_test.go"), Outcome::Rejected, false),
        ("over a source", at(on("over", test(REAL)), "calc.go"), Outcome::Rejected, false),
        ("over a test", at(on("over2", test(REAL)), "calc_test.go"), Outcome::Rejected, false),
        ("no test's name", at(on("name", test(REAL)), "x.go"), Outcome::Rejected, false),
        ("in .git", at(on("git", test(REAL)), ".git/x_test.go"), Outcome::Rejected, false),
        ("wrong name", named(on("wrong", test(REAL)), "TestY"), Outcome::NotRun, false),
        ("skips", on("skip", test("\tSub(1, 1)\n\tt.Skip(\"no\")")), Outcome::Skipped, false),
        ("no test", on("none", String::new()), Outcome::NotRun, false),
        ("no such file", claim("gone", "gone.go", &test(REAL)), Outcome::Rejected, false),
        ("no runner", claim("java", "X.java", &test(REAL)), Outcome::NotRun, false),
        (
            "ends the process with success",
            on("exit0", test("\tSub(1, 1)\n\tos.Exit(0)")),
            Outcome::HarnessError,
            false,
        ),
        (
            "ends the process with failure",
            on("exit1", test("\tSub(1, 1)\n\tos.Exit(1)")),
            Outcome::HarnessError,
            false,
        ),
        (
            "fails while starting",
            on("init", test(REAL) + "\nfunc init() { panic(1) }\n"),
            Outcome::HarnessError,
            false,
        ),
        ("panics", on("panic", test("\tIndex(nil)")), Outcome::Failed, true),
        (
            "panics in the test's frame",
            on("nil", test("\tfmt.Println(*New())")),
            Outcome::Failed,
            true,
        ),
        (
            "panics in another goroutine",
            on("go", test("\tgo Index(nil)\n\tselect {}")),
            Outcome::Failed,
            true,
        ),
        (
            "panics by itself in another goroutine",
            on("ownpanic", test("\tSub(1, 1)\n\tgo panic(1)\n\tselect {}")),
            Outcome::Failed,
            false,
        ),
        (
            "fails now and then",
            on(
                "flaky",
                test(
                    "\tSub(1, 1)\n\tif _, err := os.Stat(\"ran\"); err != nil {\n\
                     \t\tos.WriteFile(\"ran\", nil, 0o600)\n\t\tt.Fatal(\"first\")\n\t}",
                ),
            ),
            Outcome::Flaky,
            false,
        ),
    ];
    let claims: Vec<Claim> = table.iter().map(|(_, claim, ..)| claim.clone()).collect();
    let verdicts = stage.prove(&claims);
    for ((what, _, outcome, proven), verdict) in table.iter().zip(&verdicts) {
        assert_eq!(
            (verdict.outcome, verdict.proven),
            (*outcome, *proven),
            "{what}: {}\n{}\n{:?}",
            line(verdict),
            verdict.output,
            verdict.reach
        );
    }
    let by_id = |id: &str| verdicts.iter().find(|verdict| verdict.id == id).unwrap();
    let real = by_id("root");
    assert_eq!((real.level, real.runs.len(), real.runner), (Level::Stable, 3, "go"));
    assert_eq!(real.test_path, "zz_probity_rootp_test.go");
    assert!(real.output.contains("zz_probity_rootp_test.go:13: got 4"), "{}", real.output);
    assert!(real.isolation.starts_with("bubblewrap"));
    assert_eq!(by_id("sub").test_path, "deep/er/zz_probity_subp_test.go");
    assert_eq!(by_id("same").test_name, "TestSubProbitysame");
    assert_eq!(by_id("constant").reach, Reach::NotReached);
    assert!(matches!(by_id("panic").reach, Reach::Reached { by: Evidence::Stack, .. }));
    assert!(matches!(by_id("nil").reach, Reach::Reached { by: Evidence::Coverage, .. }));
    assert!(by_id("broken").output.contains("undefined"), "{}", by_id("broken").output);
    assert!(by_id("broken").runs.len() == 1);
}

#[test]
fn a_test_that_hangs_forks_or_floods_is_ended_and_bounded() {
    let mut stage = repository();
    stage.options.test_timeout = Duration::from_secs(10);
    let sleeper = format!("{}", 86_000 + std::process::id() % 1000);
    let bait = format!(
        "\texec.Command(\"setsid\", \"sleep\", \"{sleeper}\").Start()\n\tfor i := 0; i < 50; i++ {{\n\
         \t\texec.Command(\"sleep\", \"{sleeper}\").Start()\n\t}}\n{REAL}"
    );
    let bait = test(&bait).replace("\t\"os\"\n", "\t\"os\"\n\t\"os/exec\"\n");
    let flood = format!(
        "\tline := make([]byte, 1<<20)\n\tfor i := range line {{\n\t\tline[i] = 'x'\n\t}}\n\
         \tfor i := 0; i < 100; i++ {{\n\t\tos.Stdout.Write(line)\n\t}}\n{REAL}"
    );
    let claims = [
        claim("loop", "calc.go", &test("\tLoop()")),
        claim("sleep", "calc.go", &test("\tselect {}")),
        claim("bait", "calc.go", &bait),
        claim("flood", "calc.go", &test(&flood)),
    ];
    let began = Instant::now();
    let verdicts = stage.prove(&claims);
    assert!(began.elapsed() < Duration::from_secs(300));
    let outcomes: Vec<Outcome> = verdicts.iter().map(|verdict| verdict.outcome).collect();
    let expected = [Outcome::Timeout, Outcome::Timeout, Outcome::Failed, Outcome::Failed];
    assert_eq!(outcomes, expected, "{:?}", verdicts.iter().map(line).collect::<Vec<_>>());
    assert!(!is_running(&sleeper), "a sleeper is left");
    let flood = verdicts.last().unwrap();
    assert!(flood.proven && flood.output.len() < 70_000, "{}", flood.output.len());
    assert!(flood.output.contains("bytes left out"));
}

#[test]
fn secrets_network_and_the_machine_are_out_of_sight() {
    let stage = repository();
    let body = "\tSub(1, 1)\n\tfor _, word := range os.Environ() {\n\t\tfmt.Println(word)\n\t}\n\
        \t_, err := net.Dial(\"tcp\", \"1.1.1.1:80\")\n\tfmt.Println(\"dial:\", err)\n\
        \t_, err = os.ReadDir(\"/root\")\n\tfmt.Println(\"home:\", err)\n\
        \tdirectory, _ := os.Getwd()\n\tfmt.Println(\"here:\", directory)\n\
        \tif Sub(3, 1) != 2 {\n\t\tt.Fatal(1)\n\t}";
    let code = test(body).replace("\t\"os\"\n", "\t\"net\"\n\t\"os\"\n");
    let verdict = stage.prove_one(&claim("look", "calc.go", &code));
    assert_eq!(verdict.outcome, Outcome::Failed, "{}", verdict.output);
    assert!(!verdict.output.contains("a-secret-key"), "{}", verdict.output);
    assert!(verdict.output.contains("dial: dial tcp 1.1.1.1:80: connect: network is unreachable"));
    assert!(verdict.output.contains("home: open /root: no such file"), "{}", verdict.output);
    assert!(verdict.output.contains("here: /proof/repo\n"), "{}", verdict.output);
}

#[test]
fn without_a_sandbox_it_works_the_same_and_says_so() {
    let stage = repository().uncontained();
    let claims = [
        claim("real", "calc.go", &test(&format!("\tfmt.Println(os.Environ())\n{REAL}"))),
        claim("constant", "calc.go", &test("\tt.Fatal()")),
    ];
    let verdicts = stage.prove(&claims);
    let proven: Vec<bool> = verdicts.iter().map(|verdict| verdict.proven).collect();
    assert_eq!(proven, [true, false], "{:?}", verdicts.iter().map(line).collect::<Vec<_>>());
    let real = verdicts.first().unwrap();
    assert!(real.isolation.starts_with("none:"));
    assert!(!real.output.contains("a-secret-key"), "{}", real.output);
}

#[test]
fn a_proof_flips_at_the_merge_base_or_with_the_fix() {
    let mut stage = repository();
    let broken = CALC;
    stage.write("calc.go", &broken.replace("a + b", "a - b"));
    let base = stage.commit();
    stage.write("calc.go", broken);
    stage.write("new.go", "package calc\n\nfunc Fresh() int { return 1 }\n");
    stage.options.base = Some(base);
    stage.options.required = Level::Flips;
    let fix = "--- a/calc.go\n+++ b/calc.go\n@@ -10,3 +10,3 @@\n func Sub(a, b int) int {\n\
        -\treturn a + b\n+\treturn a - b\n }\n";
    let index = "\tif Index([]int{1}) != 1 {\n\t\tt.Fatal(1)\n\t}";
    let with = |mut claim: Claim, fix: &str| {
        claim.fix_patch = Some(fix.to_owned());
        claim
    };
    let declared = test(
        "\ttext, _ := json.Marshal(Paid{1})\n\tif string(text) != `{\"paid_at\":1}` {\n\
         \t\tt.Fatal(string(text))\n\t}",
    )
    .replace("\t\"fmt\"\n", "\t\"encoding/json\"\n\t\"fmt\"\n");
    let reads = test(
        "\tSub(1, 1)\n\tsource, _ := os.ReadFile(\"calc.go\")\n\
         \tif !strings.Contains(string(source), \"FIXED\") {\n\t\tt.Fatal(1)\n\t}",
    )
    .replace("\t\"os\"\n", "\t\"os\"\n\t\"strings\"\n");
    let claims = [
        claim("introduced", "calc.go", &test(REAL)),
        with(claim("fixed", "calc.go", &test(REAL)), fix),
        claim("old", "calc.go", &test(index)),
        with(claim("wrongfix", "calc.go", &test(index)), fix),
        with(claim("nofix", "calc.go", &test(index)), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
        // A tag is run by nobody, and a comment mends nothing.
        with(
            claim("declared", "calc.go", &declared),
            "--- a/calc.go\n+++ b/calc.go\n@@ -25,3 +25,3 @@\n type Paid struct {\n\
             -\tAt int `json:\"paid\"`\n+\tAt int `json:\"paid_at\"`\n }\n",
        ),
        with(
            claim("comment", "calc.go", &reads),
            "--- a/calc.go\n+++ b/calc.go\n@@ -10,3 +10,3 @@\n func Sub(a, b int) int {\n\
             -\treturn a + b\n+\treturn a + b // FIXED\n }\n",
        ),
        claim("fresh", "new.go", &test("\tif Fresh() != 2 {\n\t\tt.Fatal(1)\n\t}")),
        // It makes the test pass and leaves the accused file alone.
        with(
            claim("absurd", "calc.go", &test("\tif Index([]int{1}) != 1 {\n\t\tt.Fatal(1)\n\t}")),
            "--- a/other.go\n+++ b/other.go\n@@ -1,3 +1,3 @@\n package calc\n \n\
             -func Other() int { return 1 }\n+func Other() int { return 2 }\n",
        ),
    ];
    let verdicts = stage.prove(&claims);
    let seen: Vec<_> = verdicts
        .iter()
        .map(|verdict| {
            let Verdict { id, level, proven, introduced, fix_flips, .. } = verdict;
            (id.as_str(), *level, *proven, *introduced, *fix_flips)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("introduced", Level::Flips, true, Some(true), None),
            ("fixed", Level::Flips, true, Some(true), Some(true)),
            ("old", Level::Stable, false, Some(false), None),
            ("wrongfix", Level::Stable, false, Some(false), Some(false)),
            ("nofix", Level::Stable, false, Some(false), None),
            ("declared", Level::Flips, true, Some(false), Some(true)),
            ("comment", Level::Fails, false, Some(false), None),
            ("fresh", Level::Stable, false, None, None),
            ("absurd", Level::Stable, false, Some(false), None),
        ],
        "{:#?}",
        verdicts.iter().map(line).collect::<Vec<_>>()
    );
}

#[test]
fn constant_failures_prove_nothing_even_behind_a_call() {
    let stage = repository();
    let claims = [
        claim("fatal", "calc.go", &test("\tSub(1, 1)\n\tt.Fatal(\"it is broken\")")),
        claim("false", "calc.go", &test("\tSub(1, 1)\n\tif true {\n\t\tt.Fatal(\"it is\")\n\t}")),
        // What looks constant and is not: it depends on the return before it.
        claim(
            "guarded",
            "calc.go",
            &test("\tif Sub(3, 1) == 2 {\n\t\treturn\n\t}\n\tt.Fatal(\"it is broken\")"),
        ),
    ];
    let verdicts = stage.prove(&claims);
    let proven: Vec<bool> = verdicts.iter().map(|verdict| verdict.proven).collect();
    assert_eq!(proven, [false, false, true], "{:?}", verdicts.iter().map(line).collect::<Vec<_>>());
}

#[test]
fn what_the_machine_lacks_is_no_failure_of_the_code() {
    let stage = repository();
    let with = |id: &str, import: &str, body: &str| {
        let code = test(body).replace("\t\"os\"\n", &format!("\t\"os\"\n\t\"{import}\"\n"));
        claim(id, "calc.go", &code)
    };
    let fails = "\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}";
    let claims = [
        with(
            "dial",
            "net",
            &format!("\tSub(1, 1)\n\t_, err := net.Dial(\"tcp\", \"1.1.1.1:80\"){fails}"),
        ),
        with(
            "file",
            "io",
            &format!("\tSub(1, 1)\n\t_ = io.EOF\n\t_, err := os.Open(\"/nowhere/x\"){fails}"),
        ),
        with(
            "rights",
            "io",
            &format!("\tSub(1, 1)\n\t_ = io.EOF\n\terr := os.Mkdir(\"/usr/x\", 0o700){fails}"),
        ),
        with(
            "program",
            "os/exec",
            &format!("\tSub(1, 1)\n\terr := exec.Command(\"nowhere\").Run(){fails}"),
        ),
        with("elsewhere", "os/exec", &format!("\terr := exec.Command(\"false\").Run(){fails}")),
        // The code's own complaint about a file stays one.
        claim("code", "calc.go", &test("\tif err := Check(); err != nil {\n\t\tt.Fatal(err)\n\t}")),
    ];
    let verdicts = stage.prove(&claims);
    let seen: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.outcome, it.proven)).collect();
    let lines: Vec<String> = verdicts.iter().map(line).collect();
    use Outcome::{Failed, HarnessError};
    assert_eq!(
        seen,
        [
            ("dial", HarnessError, false),
            ("file", HarnessError, false),
            ("rights", HarnessError, false),
            ("program", HarnessError, false),
            ("elsewhere", Failed, false),
            ("code", Failed, true),
        ],
        "{lines:#?}"
    );
    assert!(matches!(verdicts[4].reach, Reach::Unmeasured(_)), "{lines:#?}");
}

#[test]
fn odd_repositories_are_tried_all_the_same() {
    let files = [("go.mod", "module example.com/calc\n\ngo 1.21\n"), ("calc.go", CALC)];
    let bare = Stage::bare(&files);
    assert!(bare.prove_one(&claim("bare", "calc.go", &test(REAL))).proven);

    let unborn = Stage::bare(&files);
    unborn.git(&["init", "-q"]);
    std::os::unix::fs::symlink("/etc/hostname", unborn.path().join("out")).unwrap();
    std::os::unix::fs::symlink("calc.go", unborn.path().join("in")).unwrap();
    std::os::unix::fs::symlink("/tmp", unborn.path().join("away")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        unborn.path().join("pipe"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let look = "\tfor _, name := range []string{\"out\", \"in\", \"pipe\", \".git\"} {\n\
        \t\t_, err := os.Lstat(name)\n\t\tfmt.Println(name, err == nil)\n\t}\n";
    let mut through = claim("through", "calc.go", &test(REAL));
    through.test_file = Some("away/x_test.go".to_owned());
    let claims = [claim("unborn", "calc.go", &test(&format!("{look}{REAL}"))), through];
    let workshop = probity_review::Workshop::prepare(unborn.options.clone(), &|_| {}).unwrap();
    assert_eq!(workshop.notes(), ["2 links that lead out were not copied"]);
    let verdicts = workshop.prove_all(&claims, &|_, _| {});
    let first = verdicts.first().unwrap();
    assert!(first.proven, "{}", line(first));
    assert!(
        first.output.contains("out false\nin true\npipe false\n.git false\n"),
        "{}",
        first.output
    );
    // The link is not in the copy, so that the directory is a new one there, and nothing more.
    assert_ne!(verdicts.last().unwrap().outcome, Outcome::Rejected);
    assert!(fs::symlink_metadata("/tmp/zz_probity_throughp_test.go").is_err());
}
