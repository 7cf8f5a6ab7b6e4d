//! Runners of the configuration: a real tool that writes TAP, and every way in which one can misbehave.

use probity_proof::{Claim, CustomRunner, FixResult, Gap, Level, Outcome, RunDetail, Why};

use crate::stage::{Stage, at, claim, fix, named};

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

const PERL: &str =
    "package Calc;\nsub half { my ($n) = @_; return $n / 3; }\nsub same { return $_[0]; }\n1;\n";

fn perl_test(body: &str) -> String {
    format!("use Test::More;\nuse Calc;\n{body}\ndone_testing();\n")
}

fn perl(suite: bool) -> Stage {
    let old = perl_test("is(Calc::half(0), 0, 'nothing');\nis(Calc::same(4), 4, 'the same');");
    let mut stage = Stage::new(&[("lib/Calc.pm", PERL), ("t/all.t", &old)]);
    let runner = CustomRunner::new("**/*.pm", words(&["perl", "-Ilib", "{file}"]), "-").unwrap();
    let command = if suite { words(&["perl", "-Ilib", "t/all.t"]) } else { Vec::new() };
    stage.options.runners = vec![runner.with_suite(command).unwrap()];
    stage
}

fn perl_claim(id: &str, body: &str, to: Option<(&str, &str)>) -> Claim {
    let patch = to.map(|(from, to)| fix("lib/Calc.pm", PERL, from, to));
    let on = claim(id, "lib/Calc.pm", &perl_test(body));
    let on = Claim { line: 2, fix_patch: patch, ..on };
    named(at(on, &format!("t/{id}.t")), "claimed")
}

#[test]
fn a_tool_that_writes_tap_proves_what_is_true_and_nothing_else() {
    let real = "is(Calc::half(4), 2, 'claimed');";
    let right = Some(("/ 3", "/ 2"));
    let verdicts = perl(true).check_levels(&[
        (perl_claim("right", real, right), Level::Flips),
        (perl_claim("breaks", real, Some(("$n / 3", "$n / 2 || 7"))), Level::Fails),
        (perl_claim("constant", "Calc::half(1); is(1, 2, 'claimed');", right), Level::Fails),
        // An existing test asks for what this fix takes away.
        (
            perl_claim("pinned", "is(Calc::same(4), 5, 'claimed');", Some(("$_[0]", "$_[0] + 1"))),
            Level::Fails,
        ),
        (perl_claim("unnamed", "is(Calc::half(4), 2, 'another');", right), Level::Claimed),
        (perl_claim("unparsed", "is(((;", right), Level::Claimed),
    ]);
    assert_eq!(verdicts[0].fix, FixResult::Guarded { passed: 2 });
    assert!(matches!(verdicts[1].fix, FixResult::Breaks(_)), "{:#?}", verdicts[1]);
    assert!(matches!(verdicts[3].fix, FixResult::Breaks(_)), "{:#?}", verdicts[3]);
    assert_eq!(verdicts[4].outcome, Outcome::NotRun, "{:#?}", verdicts[4]);
    assert_eq!(verdicts[0].runner, Some("custom"));
}

/// A coin can land on the same side in every run, so its level is open; it is never proven.
#[test]
fn a_coin_that_writes_tap_is_never_proven() {
    let coin = perl_claim("coin", "is(int(rand(2)), 1, 'claimed');", Some(("/ 3", "/ 2")));
    let verdict = perl(true).prove_one(&coin);
    assert!(!verdict.proven && verdict.level < Level::Flips, "{verdict:#?}");
}

#[test]
fn without_a_suite_nothing_guards_a_fix() {
    let real = "is(Calc::half(4), 2, 'claimed');";
    let verdict = perl(false).prove_one(&perl_claim("right", real, Some(("/ 3", "/ 2"))));
    assert_eq!((verdict.level, verdict.proven), (Level::Fails, false), "{verdict:#?}");
    assert_eq!(verdict.fix, FixResult::Unguarded { gaps: vec![Gap::NoSuite] });
    assert!(!verdict.wants_fix(), "no other fix would have a suite");
}

/// Writes, for each name, another kind of report.
const MISBEHAVING: &str = "#!/bin/sh\n\
    [ $# = 1 ] || exit 9\n\
    mkdir -p out\n\
    case $1 in\n\
    garbage) echo hello > out/r.xml ;;\n\
    broken) echo '<testsuite><testcase name=\"broken\">' > out/r.xml ;;\n\
    huge) truncate -s 500M out/r.xml ;;\n\
    other) echo '<testsuite><testcase name=\"another\"/></testsuite>' > out/r.xml ;;\n\
    twice) echo '<testsuite><testcase classname=\"A\" name=\"twice\"/><testcase classname=\"B\" \
    name=\"twice\"><failure/></testcase></testsuite>' > out/r.xml ;;\n\
    link) ln -s /etc/passwd out/r.xml ;;\n\
    pipe) mkfifo out/r.xml ;;\n\
    hang) sleep 3600 ;;\n\
    passes-and-fails) echo '<testsuite><testcase name=\"passes-and-fails\"/></testsuite>' > out/r.xml; \
    exit 1 ;;\n\
    missing) ;;\n\
    *) printf '1..1\\nnot ok 1 - %s\\n' \"$1\" > out/r.xml ;;\n\
    esac\n";

#[test]
fn a_report_that_shows_nothing_is_an_observation_and_says_why() {
    let mut stage = Stage::new(&[
        ("run.sh", MISBEHAVING),
        ("a.foo", "x\n"),
        ("stale/a.foo", "x\n"),
        ("stale/r.xml", "<testsuite><testcase name=\"stale\"><failure/></testcase></testsuite>"),
    ]);
    stage.options.test_timeout = std::time::Duration::from_secs(2);
    let command = words(&["sh", "run.sh", "{name}"]);
    stage.options.runners = vec![
        CustomRunner::new("stale/*.foo", words(&["true", "{name}"]), "stale/*.xml").unwrap(),
        CustomRunner::new("*.foo", command, "out/*.xml").unwrap(),
    ];
    let strange = "$(touch owned); `id` * ? [a-z] \"x\" 'y' {file} & | > \\ %s ü";
    let on = |name: &str| named(claim(&name.replace('$', ""), "a.foo", "x"), name);
    let rows = [
        (on("garbage"), Outcome::HarnessError),
        (on("broken"), Outcome::HarnessError),
        (on("huge"), Outcome::HarnessError),
        (on("twice"), Outcome::HarnessError),
        (on("link"), Outcome::HarnessError),
        (on("pipe"), Outcome::HarnessError),
        (on("missing"), Outcome::HarnessError),
        (on("passes-and-fails"), Outcome::HarnessError),
        (named(claim("stale", "stale/a.foo", "x"), "stale"), Outcome::HarnessError),
        (on("other"), Outcome::NotRun),
        (on("hang"), Outcome::Timeout),
        (on(strange), Outcome::Failed),
        (on("--help"), Outcome::Rejected),
        (on("a\nb"), Outcome::Rejected),
        (claim("nameless", "a.foo", "x"), Outcome::NotRun),
    ];
    let verdicts = stage.check_outcomes(&rows);
    let told: Vec<String> = verdicts
        .iter()
        .filter_map(|verdict| match &verdict.why {
            Why::Ran(RunDetail::NoReport(fault)) => Some(fault.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            "the report out/r.xml is neither JUnit XML nor TAP: line 1: there is neither a plan nor a test",
            "the report out/r.xml is neither JUnit XML nor TAP: line 2: the report ends inside <testcase>",
            "the report out/r.xml is larger than 67108864 bytes",
            "2 tests of the report are named `twice`",
            "the report out/r.xml cannot be read: Too many levels of symbolic links (os error 40)",
            "the report out/r.xml cannot be read: it is not a file",
            "the command wrote no report that matches `out/*.xml`",
            "the report stale/r.xml was written before the run",
        ]
    );
    assert_eq!(verdicts[7].why, Why::Ran(RunDetail::ProcessFailed));
    assert_eq!(verdicts[11].test_name, strange);
}

#[test]
fn what_was_built_is_there_in_every_run_and_is_built_once() {
    let code = "two=3\n";
    let build =
        "mkdir -p \"$1\"; cp code.foo \"$1/built\"; grep -q broken \"$2\" && exit 1; exit 0\n";
    let run = ". \"$1/built\"; [ $two = 2 ] && word=ok || word='not ok'; printf '1..1\\n%s 1 - two\\n' \"$word\"\n";
    let mut stage = Stage::new(&[("code.foo", code), ("build.sh", build), ("run.sh", run)]);
    let command = words(&["sh", "run.sh", "{build}", "{name}"]);
    let mut runner = CustomRunner::new("*.foo", command, "-").unwrap();
    runner.build = words(&["sh", "build.sh", "{build}", "{file}"]);
    stage.options.runners = vec![runner];
    let on = |id: &str, code: &str| named(claim(id, "code.foo", code), "two");
    let verdicts = stage.check_outcomes(&[
        (on("real", "test"), Outcome::Failed),
        (on("unbuilt", "broken"), Outcome::BuildError),
    ]);
    assert_eq!(verdicts[0].level, Level::Fails);
}
