//! Rust: every outcome, tests from outside and from inside of a crate, and copies kept apart.

mod twins;

use std::time::Duration;

use probity_review::{Claim, Level, Outcome, Reach};

use super::stage::{Stage, claim, is_running, line};

const LIB: &str = "//! A crate.

pub mod deep;

pub fn sub(a: i32, b: i32) -> i32 {
    a + b
}

fn private(a: i32) -> i32 {
    private_twice(a)
}

fn private_twice(a: i32) -> i32 {
    a * 3
}

pub fn index(values: &[i32]) -> i32 {
    values[3]
}

pub fn other() -> i32 {
    private(1)
}

pub fn find(_name: &str) -> Option<String> {
    None
}

pub fn parse(_text: &str) -> Result<i32, std::num::ParseIntError> {
    \"x\".parse()
}

#[cfg(test)]
mod tests {
    #[test]
    fn old() {
        panic!(\"failed before anybody came\");
    }
}
";

fn repository() -> Stage {
    Stage::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"calc\"]\nresolver = \"2\"\n"),
        (
            "calc/Cargo.toml",
            "[package]\nname = \"my-calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("calc/src/lib.rs", LIB),
        ("calc/src/deep.rs", "pub fn half(a: i32) -> i32 {\n    a / 3\n}\n"),
    ])
}

fn test(body: &str) -> String {
    format!("use my_calc::*;\n\n#[test]\nfn x() {{\n{body}\n}}\n")
}

const REAL: &str = "    assert_eq!(sub(3, 1), 2);";

#[test]
fn every_outcome_of_cargo_is_told_apart() {
    use Outcome::{BuildError, Failed, Flaky, HarnessError, NotRun, Passed, Rejected, Skipped};
    let stage = repository();
    let on = |id: &str, code: &str| Claim { line: 6, ..claim(id, "calc/src/lib.rs", code) };
    let at = |mut claim: Claim, path: &str| {
        claim.test_file = Some(path.to_owned());
        claim
    };
    let named = |mut claim: Claim, name: &str| {
        claim.test_name = Some(name.to_owned());
        claim
    };
    let inside = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn x() {\n        \
        assert_eq!(private(2), 4);\n    }\n}\n";
    let once = "    sub(1, 1);\n    if !std::path::Path::new(\"ran\").exists() {\n        \
        std::fs::write(\"ran\", \"\").unwrap();\n        assert_eq!(sub(3, 1), 2);\n    }";
    let table: Vec<(Claim, Outcome, bool)> = vec![
        (on("real", &test(REAL)), Failed, true),
        (on("inside", inside), Failed, true),
        (
            claim(
                "deep",
                "calc/src/deep.rs",
                "#[test]\nfn x() {\n    assert_eq!(super::half(4), 2);\n}\n",
            ),
            Failed,
            true,
        ),
        (
            on("words", &test("    assert!(sub(3, 1) == 2, \"error[E0425]: cannot find\");")),
            Failed,
            true,
        ),
        (on("panics", &test("    index(&[]);")), Failed, true),
        (on("constant", &test("    panic!(\"always\");")), Failed, false),
        (on("behind", &test("    sub(1, 1);\n    assert!(false);")), Failed, false),
        (on("pass", &test("    assert_eq!(sub(1, 1), 2);")), Passed, false),
        (on("broken", &test("    undefined();")), BuildError, false),
        (named(on("theirs", &test(REAL)), "old"), NotRun, false),
        (named(on("wrong", &test(REAL)), "y"), NotRun, false),
        (on("none", "fn x() {}\n"), NotRun, false),
        (on("skip", &test(REAL).replace("#[test]", "#[test]\n#[ignore]")), Skipped, false),
        (on("exit", &test("    sub(1, 1);\n    std::process::exit(1);")), HarnessError, false),
        (on("abort", &test("    sub(1, 1);\n    std::process::abort();")), HarnessError, false),
        (at(on("out", &test(REAL)), "../x.rs"), Rejected, false),
        (at(on("over", &test(REAL)), "calc/src/lib.rs"), Rejected, false),
        (on("flaky", &test(once)), Flaky, false),
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
    let by_id = |id: &str| verdicts.iter().find(|verdict| verdict.id == id).unwrap();
    let real = by_id("real");
    assert_eq!((real.level, real.runs.len(), real.runner), (Level::Stable, 3, "rust"));
    assert!(matches!(real.reach, Reach::Reached { lines: true, .. }), "{:?}", real.reach);
    assert_eq!(real.test_path, "calc/tests/zz_probity_real.rs");
    assert!(real.output.contains("left: 4"), "{}", real.output);
    assert_eq!(by_id("inside").test_path, "calc/src/zz_probity_inside.rs");
    assert!(by_id("broken").output.contains("undefined"), "{}", by_id("broken").output);
}

#[test]
fn a_failure_that_no_value_of_the_code_can_change_proves_nothing() {
    use Outcome::{Failed, HarnessError};
    let stage = repository();
    let helpers = "\nfn fail() {\n    panic!(\"broken\");\n}\n\nfn one() -> i32 {\n    1\n}\n";
    let table: &[(&str, &str, u32, Outcome, bool)] = &[
        ("local", "    sub(1, 1);\n    let x = one();\n    assert_eq!(x, 2);", 6, Failed, false),
        ("helper", "    sub(1, 1);\n    fail();", 6, Failed, false),
        (
            "closure",
            "    sub(1, 1);\n    let bad = || -> i32 { panic!(\"no\") };\n    bad();",
            6,
            Failed,
            false,
        ),
        (
            "loop",
            "    for want in [2, 3] {\n        sub(1, want);\n        assert_eq!(one(), want);\n    }",
            6,
            Failed,
            false,
        ),
        ("message", "    assert_eq!(one(), 2, \"{}\", sub(1, 1));", 6, Failed, false),
        ("unwraps", "    sub(1, 1);\n    None::<i32>.unwrap();", 6, Failed, false),
        (
            "file",
            "    sub(1, 1);\n    std::fs::read(\"/nowhere/x\").unwrap();",
            6,
            HarnessError,
            false,
        ),
        (
            "dial",
            "    sub(1, 1);\n    std::net::TcpStream::connect(\"1.1.1.1:80\").unwrap();",
            6,
            HarnessError,
            false,
        ),
        (
            "program",
            "    sub(1, 1);\n    std::process::Command::new(\"nowhere\").status().unwrap();",
            6,
            HarnessError,
            false,
        ),
        (
            "elsewhere",
            "    assert!(std::process::Command::new(\"false\").status().unwrap().success());",
            6,
            Failed,
            false,
        ),
        ("silent", "    if sub(3, 1) != 2 {\n        fail();\n    }", 6, Failed, true),
        ("nothing", "    assert!(find(\"a\").is_some());", 26, Failed, true),
        ("refused", "    assert!(parse(\"1\").is_ok());", 30, Failed, true),
    ];
    let on = |(id, body, line, ..): &(&str, &str, u32, Outcome, bool)| Claim {
        line: *line,
        ..claim(id, "calc/src/lib.rs", &(test(body) + helpers))
    };
    let claims: Vec<Claim> = table.iter().map(on).collect();
    let verdicts = stage.prove(&claims);
    let mut wrong = Vec::new();
    for ((id, _, _, outcome, proven), verdict) in table.iter().zip(&verdicts) {
        if (verdict.outcome, verdict.proven) != (*outcome, *proven) {
            wrong.push(format!("{id}: {:#?}", (line(verdict), &verdict.output, &verdict.control)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_proof_flips_at_the_merge_base() {
    let mut stage = repository();
    let real = Claim { line: 6, ..claim("base", "calc/src/lib.rs", &test(REAL)) };
    let seen = stage.prove_introduced("calc/src/lib.rs", ("    a + b", "    a - b"), &real);
    assert_eq!(seen, (Some(true), Level::Flips));
}

#[test]
fn a_copy_never_runs_the_program_of_another() {
    let stage = repository();
    let fix = "--- a/calc/src/lib.rs\n+++ b/calc/src/lib.rs\n@@ -5,3 +5,3 @@\n \
        pub fn sub(a: i32, b: i32) -> i32 {\n-    a + b\n+    a - b\n }\n";
    let same = |id: &str| Claim {
        fix_patch: Some(fix.to_owned()),
        ..claim(id, "calc/src/lib.rs", &test(REAL))
    };
    // One id, so that even the files have one name.
    let verdicts = stage.prove(&[same("a"), same("a"), same("a")]);
    for verdict in &verdicts {
        let seen = (verdict.outcome, verdict.level, verdict.fix_flips);
        assert_eq!(seen, (Outcome::Failed, Level::Flips, Some(true)), "{}", line(verdict));
    }
}

#[test]
fn a_test_that_hangs_is_ended_and_sees_no_secrets() {
    let mut stage = repository();
    stage.options.test_timeout = Duration::from_secs(10);
    let look = format!(
        "    for (name, value) in std::env::vars() {{\n        println!(\"{{name}}={{value}}\");\n    }}\n{REAL}"
    );
    let sleeper = (83_000 + std::process::id() % 1000).to_string();
    let bait = format!(
        "    for _ in 0..50 {{\n        drop(std::process::Command::new(\"sleep\").arg(\"{sleeper}\").spawn());\n    }}\n{REAL}"
    );
    let claims = [
        claim("loop", "calc/src/lib.rs", &test("    loop { std::thread::yield_now(); }")),
        claim("look", "calc/src/lib.rs", &test(&look)),
        claim("bait", "calc/src/lib.rs", &test(&bait)),
    ];
    let verdicts = stage.prove(&claims);
    let outcomes: Vec<Outcome> = verdicts.iter().map(|verdict| verdict.outcome).collect();
    assert_eq!(outcomes, [Outcome::Timeout, Outcome::Failed, Outcome::Failed]);
    assert!(!is_running(&sleeper), "a sleeper is left");
    let look = &verdicts.get(1).unwrap().output;
    assert!(look.contains("CI=true") && !look.contains("a-secret-key"), "{look}");
}
