//! Rust: every outcome, tests from outside and from inside of a crate, and packages of every kind.

use probity_proof::{Claim, Level, Outcome};

use crate::stage::{Stage, at, claim, fix, named};

const LIB: &str = "//! A crate.

pub mod deep;

pub fn sub(a: i32, b: i32) -> i32 {
    a + b
}

fn private(a: i32) -> i32 {
    a * 3
}

pub fn index(values: &[i32]) -> i32 {
    values[private(1) as usize]
}

#[cfg(test)]
mod tests {
    #[test]
    fn old() {
        panic!(\"failed before anybody came\");
    }

    #[test]
    fn kept() {}
}
";

fn repository() -> Stage {
    Stage::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"calc\"]\nresolver = \"2\"\n"),
        ("calc/Cargo.toml", &manifest("my-calc", "")),
        ("calc/src/lib.rs", LIB),
        ("calc/src/deep.rs", "pub fn half(a: i32) -> i32 {\n    a / 3\n}\n"),
    ])
}

fn manifest(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
}

fn test(body: &str) -> String {
    format!("use my_calc::*;\n\n#[test]\nfn x() {{\n    {body}\n}}\n")
}

const REAL: &str = "assert_eq!(sub(3, 1), 2);";

#[test]
fn every_outcome_of_cargo_is_told_apart() {
    use Outcome::{BuildError, Failed, NotRun, Passed, Rejected, Skipped};
    let on = |id: &str, code: &str| Claim { line: 6, ..claim(id, "calc/src/lib.rs", code) };
    let does = |id: &str, body: &str| on(id, &test(body));
    let inside = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn x() {\n        \
        assert_eq!(private(2), 4);\n    }\n}\n";
    let deep = "#[test]\nfn x() {\n    assert_eq!(super::half(4), 2);\n}\n";
    let rows = [
        (does("real", REAL), Failed),
        (on("inside", inside), Failed),
        (claim("deep", "calc/src/deep.rs", deep), Failed),
        (does("words", "assert!(sub(3, 1) == 2, \"error[E0425]: cannot find\");"), Failed),
        (does("panics", "index(&[]);"), Failed),
        (does("pass", "assert_eq!(sub(1, 1), 2);"), Passed),
        (does("broken", "undefined();"), BuildError),
        (named(does("theirs", REAL), "old"), NotRun),
        (named(does("wrong", REAL), "y"), NotRun),
        (on("none", "fn x() {}\n"), NotRun),
        (on("skip", &test(REAL).replace("#[test]", "#[test]\n#[ignore]")), Skipped),
        (does("exit", "std::process::exit(1);"), Failed),
        (at(does("out", REAL), "../x.rs"), Rejected),
        (at(does("over", REAL), "calc/src/lib.rs"), Rejected),
    ];
    let verdicts = repository().check_outcomes(&rows);
    let by_id = |id: &str| verdicts.iter().find(|verdict| verdict.id == id).unwrap();
    assert_eq!((by_id("real").level, by_id("real").runner), (Level::Fails, Some("rust")));
    assert_eq!(by_id("real").test_path, "calc/tests/zz_probity_real.rs");
    assert!(by_id("real").output.contains("left: 4"), "{}", by_id("real").output);
    assert_eq!(by_id("inside").test_path, "calc/src/zz_probity_inside.rs");
    assert!(by_id("broken").output.contains("undefined"), "{}", by_id("broken").output);
}

#[test]
fn a_copy_never_runs_the_program_of_another() {
    let right = fix("calc/src/lib.rs", LIB, "a + b", "a - b");
    let on = |body: &str| Claim { line: 6, ..claim("a", "calc/src/lib.rs", &test(body)) };
    let fixed = |body: &str| Claim { fix_patch: Some(right.clone()), ..on(body) };
    // One name, so that even the files have one.
    repository().check_levels(&[
        (fixed(REAL), Level::Flips),
        (fixed(REAL), Level::Flips),
        (fixed("sub(1, 1);\n    assert!(false);"), Level::Fails),
        (on("let got = sub(3, 1);\n    assert!(got == 2);"), Level::Depends),
    ]);
}

const SUB: &str = "pub fn sub(a: i32, b: i32) -> i32 {\n    a + b\n}\n";

#[test]
fn packages_of_every_kind_are_proven_in() {
    let deny = "//! Docs.\n#![deny(warnings, missing_docs, unused)]\n\n/// Docs.\n";
    let members = "[workspace]\nmembers = [\"core\", \"app\", \"path\", \"bin\", \"nostd\", \"feat\", \"deny\", \"new\", \"old\"]\n\
        resolver = \"2\"\n";
    let gated = format!("pub fn plain() -> i32 {{\n    1\n}}\n#[cfg(feature = \"extra\")]\n{SUB}");
    let hidden = "fn hidden(a: i32, b: i32) -> i32 {\n    a + b\n}\npub fn shown() -> i32 {\n    hidden(1, 2)\n}\n";
    let main = "fn sub(a: i32, b: i32) -> i32 {\n    a + b\n}\nfn main() {\n    println!(\"{}\", sub(1, 2));\n}\n";
    let files = [
        ("Cargo.toml", members.to_owned()),
        ("core/Cargo.toml", manifest("core-lib", "")),
        ("core/src/lib.rs", SUB.to_owned()),
        ("app/Cargo.toml", manifest("app", "[dependencies]\ncore-lib = { path = \"../core\" }\n")),
        ("app/src/lib.rs", "pub fn run() -> i32 { core_lib::sub(3, 1) }\n".to_owned()),
        ("path/Cargo.toml", manifest("path", "[lib]\npath = \"lib/thing.rs\"\nname = \"other\"\n")),
        ("path/lib/thing.rs", hidden.to_owned()),
        ("bin/Cargo.toml", manifest("program", "")),
        ("bin/src/main.rs", main.to_owned()),
        ("nostd/Cargo.toml", manifest("nostd", "")),
        ("nostd/src/lib.rs", format!("#![no_std]\n{SUB}")),
        ("feat/Cargo.toml", manifest("feat", "[features]\nextra = []\n")),
        ("feat/src/lib.rs", gated),
        ("deny/Cargo.toml", manifest("deny", "[lints.rust]\nwarnings = \"deny\"\n")),
        ("deny/src/lib.rs", format!("{deny}{SUB}")),
        ("new/Cargo.toml", manifest("new", "").replace("2021", "2024")),
        ("new/src/lib.rs", SUB.to_owned()),
        ("old/Cargo.toml", manifest("old", "").replace("2021", "2015")),
        ("old/src/lib.rs", SUB.to_owned()),
        ("old/src/bin/tool.rs", main.to_owned()),
    ];
    let stage = Stage::new(&files.each_ref().map(|(path, text)| (*path, text.as_str())));
    let source = |path: &str| &files.iter().find(|(known, _)| *known == path).unwrap().1;
    let row = |id: &str, file: &str, head: &str, got: &str| {
        let code = format!("{head}\n\n#[test]\nfn x() {{\n    assert_eq!({got}, 2);\n}}\n");
        let right = fix(file, source(file), "a + b", "a - b");
        let line = source(file).lines().position(|line| line.contains("a + b")).unwrap() + 1;
        let line = u32::try_from(line).unwrap();
        (Claim { line, fix_patch: Some(right), ..claim(id, file, &code) }, Level::Flips)
    };
    let (through, level) = row("through", "core/src/lib.rs", "use app::*;", "run()");
    let (beside, _) = row("beside", "path/lib/thing.rs", "", "hidden(3, 1)");
    let got = "sub(3, 1)";
    let verdicts = stage.check_levels(&[
        row("member", "core/src/lib.rs", "use core_lib::*;", got),
        (at(through, "app/tests/claim.rs"), level),
        row("path", "path/lib/thing.rs", "use super::*;", "hidden(3, 1)"),
        (at(beside, "path/lib/thing_test.rs"), level),
        row("program", "bin/src/main.rs", "use super::*;", got),
        row("nostd", "nostd/src/lib.rs", "use nostd::*;", got),
        row("feature", "feat/src/lib.rs", "use feat::*;", got),
        row("denied", "deny/src/lib.rs", "use deny::*;\nuse std::fmt;", got),
        row("within", "deny/src/lib.rs", "use super::*;\nuse std::fmt;", got),
        row("edition", "new/src/lib.rs", "use new::*;", got),
        row("oldedition", "old/src/lib.rs", "extern crate old;\nuse old::*;", got),
        row("tool", "old/src/bin/tool.rs", "", got),
    ]);
    assert!(verdicts.iter().all(|verdict| verdict.proven));
}

#[test]
fn a_program_is_tested_from_outside() {
    let main = "fn main() {\n    println!(\"{}\", 1 + 1);\n}\n";
    let stage = Stage::new(&[("Cargo.toml", &manifest("tool", "")), ("src/main.rs", main)]);
    let code = "use std::process::Command;\n\n#[test]\nfn x() {\n    \
        let told = Command::new(env!(\"CARGO_BIN_EXE_tool\")).output().unwrap();\n    \
        assert_eq!(told.stdout, b\"3\\n\");\n}\n";
    let right = Some(fix("src/main.rs", main, "1 + 1", "1 + 2"));
    let verdict =
        stage.prove_one(&Claim { line: 2, fix_patch: right, ..claim("p", "src/main.rs", code) });
    assert_eq!((verdict.level, verdict.proven), (Level::Flips, true), "{verdict:#?}");
}
