//! True claims, and beside each of them a false one that looks like it: wherever a function or a
//! constant may be, and whatever the package is like.

use probity_review::{Claim, Outcome};

use crate::proof::stage::{Stage, claim, line};

/// Fails in any environment, and looks at nothing of the code.
const NOWHERE: &str = "assert!(std::env::var(\"NOPE\").is_ok());";

/// A claim, and whether it is true.
struct Said {
    name: String,
    claim: Claim,
    outcome: Outcome,
    proven: bool,
}

fn said(name: &str, (file, at): (&str, u32), code: String, outcome: Outcome, proven: bool) -> Said {
    let id = name.replace([' ', '-'], "");
    Said {
        name: name.to_owned(),
        claim: Claim { line: at, ..claim(&id, file, &code) },
        outcome,
        proven,
    }
}

fn test(head: &str, body: &str) -> String {
    format!("{head}\n\n#[test]\nfn x() {{\n    {body}\n}}\n")
}

/// An expression is not what it should be; and it is looked at, and something else fails.
fn twins(name: &str, place: (&str, u32), head: &str, got: &str, want: &str) -> [Said; 2] {
    let right = test(head, &format!("assert_eq!({got}, {want});"));
    let wrong = test(head, &format!("let _ = {got};\n    {NOWHERE}"));
    [
        said(name, place, right, Outcome::Failed, true),
        said(&format!("{name} not"), place, wrong, Outcome::Failed, false),
    ]
}

fn prove(stage: &Stage, table: Vec<Said>) {
    let claims: Vec<Claim> = table.iter().map(|it| it.claim.clone()).collect();
    let mut wrong = Vec::new();
    for (said, verdict) in table.iter().zip(stage.prove(&claims)) {
        if (verdict.outcome, verdict.proven) != (said.outcome, said.proven) {
            let told = (line(&verdict), &verdict.output, &verdict.control, &verdict.reach);
            wrong.push(format!("{}: {told:#?}", said.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn manifest(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
}

const SUB: &str = "pub fn sub(a: i32, b: i32) -> i32 {\n    a + b\n}\n";

const CONSTANTS: &str = "pub mod limits;

pub const LIMIT: u32 = 10;
pub static NAME: &str = \"probe\";
pub const TABLE: [(&str, u32); 3] = [(\"a\", 1), (\"b\", 3), (\"c\", 2)];
pub struct Config;
impl Config {
    pub const MAX: usize = 3;
}
pub const fn double(a: u32) -> u32 {
    a + 2
}
pub const SIZE: usize = double(2) as usize;
pub const fn half(a: u32) -> u32 {
    a / 3
}
pub fn over(a: u32) -> bool {
    a > limits::MOST
}
";

#[test]
fn what_a_constant_holds_is_proven_and_what_only_names_it_is_not() {
    let stage = Stage::new(&[
        ("Cargo.toml", &manifest("thing", "")),
        ("src/lib.rs", CONSTANTS),
        ("src/limits.rs", "pub const MOST: u32 = 10;\n"),
    ]);
    let library = |at| ("src/lib.rs", at);
    let head = "use thing::*;";
    let mut table: Vec<Said> = [
        twins("number", library(3), head, "LIMIT", "20"),
        twins("text", library(4), head, "NAME", "\"probity\""),
        twins("table", library(5), head, "TABLE[1].1", "2"),
        twins("associated", library(8), head, "Config::MAX", "5"),
        twins("evaluated", library(11), head, "double(4)", "8"),
        twins("function", library(15), head, "half(4)", "2"),
        twins("elsewhere", ("src/limits.rs", 1), head, "over(10)", "true"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let sorted = "assert!(TABLE.windows(2).all(|pair| pair[0].1 < pair[1].1));";
    let moving = "assert_eq!(LIMIT, LIMIT + 1);";
    table.push(said("sorted", library(5), test(head, sorted), Outcome::Failed, true));
    table.push(said("moving", library(3), test(head, moving), Outcome::Failed, false));
    prove(&stage, table);
}

const CALLS: &str = "pub fn check(code: i32) -> i32 {
    if code > 1 {
        std::process::exit(code);
    }
    code
}
pub fn apply<F: Fn(i32) -> i32>(f: F, x: i32) -> i32 {
    f(x) + 1
}
pub fn visit<F: FnMut(i32)>(mut f: F) {
    f(1);
    f(-1);
}
pub struct Bag {
    pub total: i32,
}
impl Bag {
    pub fn put(&mut self, _n: i32) {}
}
pub fn cached(make: impl Fn() -> i32) -> i32 {
    make()
}
pub fn longest<'a>(a: &'a str, b: &'a str) -> &'a str {
    if a.len() < b.len() { a } else { b }
}
";

#[test]
fn what_the_test_does_itself_is_told_from_what_the_code_does() {
    use Outcome::{Failed, HarnessError};
    let stage = Stage::new(&[("Cargo.toml", &manifest("thing", "")), ("src/lib.rs", CALLS)]);
    let bag = "let mut bag = Bag { total: 0 };\n    bag.put(3);\n    ";
    let detects = "check(1);\n    let seen = |(_, it): (String, String)| it.contains('\\u{1f}');\n    \
        if std::env::vars().any(seen) {\n        return;\n    }\n    ";
    let counts = "check(1);\n    let n = std::fs::read(\"n\").map_or(0, |it| it.len());\n    \
        std::fs::write(\"n\", vec![0; n + 1]).unwrap();\n    if n > 5 {\n        return;\n    }\n    ";
    let forged = "check(1);\n    println!(\"thread 'x' panicked at src/lib.rs:3:3:\\nboom\\nnote: \");\n    ";
    let reads = "check(1);\n    if include_str!(\"../src/lib.rs\").contains(\"extern crate\") {\n        return;\n    }\n    ";
    let table: &[(&str, u32, String, Outcome, bool)] = &[
        ("exits", 3, "assert_eq!(check(3), 0);".to_owned(), Failed, true),
        (
            "exits itself",
            3,
            "check(1);\n    std::process::exit(3);".to_owned(),
            HarnessError,
            false,
        ),
        (
            "exits by a closure",
            8,
            "apply(|_| std::process::exit(3), 1);".to_owned(),
            HarnessError,
            false,
        ),
        (
            "aborts by a closure",
            8,
            "apply(|_| std::process::abort(), 1);".to_owned(),
            HarnessError,
            false,
        ),
        ("panics", 8, "apply(|_| panic!(\"x\"), 1);".to_owned(), HarnessError, false),
        ("applies", 8, "assert_eq!(apply(|n| n + 1, 1), 2);".to_owned(), Failed, true),
        (
            "applies not",
            8,
            "apply(|n| n + 1, 1);\n    let now = std::time::UNIX_EPOCH.elapsed();\n    \
            assert!(now.unwrap().as_secs() < 5);"
                .to_owned(),
            Failed,
            false,
        ),
        ("visits", 11, "visit(|n| assert!(n > 0));".to_owned(), Failed, true),
        ("forbids", 21, "cached(|| panic!(\"must not be called\"));".to_owned(), Failed, true),
        ("effect", 18, format!("{bag}assert_eq!(bag.total, 3);"), Failed, true),
        (
            "returns",
            18,
            format!("{bag}if bag.total == 3 {{\n        return;\n    }}\n    panic!(\"lost\");"),
            Failed,
            true,
        ),
        ("no effect", 18, format!("{bag}{NOWHERE}"), Failed, false),
        ("lifetimes", 24, "assert_eq!(longest(\"ab\", \"c\"), \"ab\");".to_owned(), Failed, true),
        ("lifetimes not", 24, format!("longest(\"ab\", \"c\");\n    {NOWHERE}"), Failed, false),
        ("echo", 5, "let got = check(1);\n    assert_eq!(got, got + 1);".to_owned(), Failed, false),
        ("detects", 5, format!("{detects}{NOWHERE}"), Failed, false),
        ("counts", 5, format!("{counts}{NOWHERE}"), Failed, false),
        ("forged", 5, format!("{forged}{NOWHERE}"), Failed, false),
        ("reads", 5, format!("{reads}{NOWHERE}"), Failed, false),
    ];
    let row = |(name, at, body, outcome, proven): &(&str, u32, String, Outcome, bool)| {
        said(name, ("src/lib.rs", *at), test("use thing::*;", body), *outcome, *proven)
    };
    prove(&stage, table.iter().map(row).collect());
}

const DECLARED: &str = "#[derive(Debug, PartialEq, PartialOrd)]
pub enum Level {
    High,
    Low,
}
#[derive(Default)]
pub struct Settings {
    pub retries: u32,
}
#[macro_export]
macro_rules! twice { ($a:expr) => { $a + $a + 1 } }
pub fn prints() -> i32 {
    use std::io::Write;
    std::io::stdout().write_all(b\"abc\").unwrap();
    3
}
pub fn catches() -> i32 {
    drop(std::panic::catch_unwind(|| panic!(\"inside\")));
    3
}
";

#[test]
fn what_is_never_run_itself_and_what_prints_is_proven() {
    let stage = Stage::new(&[("Cargo.toml", &manifest("thing", "")), ("src/lib.rs", DECLARED)]);
    let head = "use thing::*;";
    let at = |line| ("src/lib.rs", line);
    let hook = "prints();\n    std::panic::set_hook(Box::new(|_| println!(\"thread 'x' panicked at \
        src/lib.rs:3:3:\\nboom\")));\n    ";
    let hook = test(head, &format!("{hook}{NOWHERE}"));
    let table = [
        twins("order", at(3), head, "Level::Low < Level::High", "true"),
        twins("default", at(8), head, "Settings::default().retries", "3"),
        twins("macro", at(11), head, "twice!(2)", "4"),
        twins("prints", at(15), head, "prints()", "4"),
        twins("catches", at(19), head, "catches()", "4"),
    ];
    let mut table: Vec<Said> = table.into_iter().flatten().collect();
    table.push(said("hook", at(15), hook, Outcome::Failed, false));
    prove(&stage, table);
}

#[test]
fn every_run_has_the_same_variables_and_their_values_look_alike() {
    let stage = Stage::new(&[("Cargo.toml", &manifest("thing", "")), ("src/lib.rs", SUB)]);
    // The lengths of all values are what it complains of, so that another length is another
    // complaint, which would count as dependence.
    let body = "let got = sub(1, 1);\n    let mut seen: Vec<(usize, usize)> = std::env::vars().map(|(name, it)| \
        (name.len(), it.len())).collect();\n    seen.sort();\n    assert!(seen.is_empty() && got > 0, \"{seen:?}\");";
    let same = said("same", ("src/lib.rs", 2), test("use thing::*;", body), Outcome::Failed, false);
    prove(&stage, vec![same]);
}

#[test]
fn packages_of_every_kind_are_proven_in() {
    let deny = "//! Docs.\n#![deny(warnings, missing_docs, unused, rust_2018_idioms, unused_results)]\n\
        #![forbid(unsafe_code)]\n#![deny(clippy::all)]\n\n/// Docs.\n";
    let lints = "[lints.rust]\nwarnings = \"deny\"\nmissing_docs = \"forbid\"\n";
    let members = "[workspace]\nmembers = [\"core\", \"app\", \"path\", \"bin\", \"nostd\", \"feat\", \"deny\", \"new\", \"old\"]\n\
        resolver = \"2\"\n";
    let nostd = format!(
        "#![no_std]\nextern crate alloc;\nuse alloc::string::String;\n{SUB}pub fn name() -> String {{\n    \
        String::from(\"b\")\n}}\n"
    );
    let gated = format!("pub fn plain() -> i32 {{\n    1\n}}\n#[cfg(feature = \"extra\")]\n{SUB}");
    let main = "fn sub(a: i32, b: i32) -> i32 {\n    a + b\n}\nfn main() {\n    println!(\"{}\", sub(1, 2));\n}\n";
    let stage = Stage::new(&[
        ("Cargo.toml", members),
        ("core/Cargo.toml", &manifest("core-lib", "")),
        ("core/src/lib.rs", SUB),
        ("app/Cargo.toml", &manifest("app", "[dependencies]\ncore-lib = { path = \"../core\" }\n")),
        ("app/src/lib.rs", "pub fn run() -> i32 { core_lib::sub(3, 1) }\n"),
        (
            "path/Cargo.toml",
            &manifest("path", "[lib]\npath = \"lib/thing.rs\"\nname = \"other\"\n"),
        ),
        (
            "path/lib/thing.rs",
            "fn hidden(a: i32) -> i32 {\n    a + 1\n}\npub fn shown() -> i32 {\n    hidden(1)\n}\n",
        ),
        ("bin/Cargo.toml", &manifest("program", "")),
        ("bin/src/main.rs", main),
        ("nostd/Cargo.toml", &manifest("nostd", "")),
        ("nostd/src/lib.rs", &nostd),
        ("feat/Cargo.toml", &manifest("feat", "[features]\nextra = []\n")),
        ("feat/src/lib.rs", &gated),
        ("deny/Cargo.toml", &manifest("deny", lints)),
        ("deny/src/lib.rs", &format!("{deny}{SUB}")),
        ("new/Cargo.toml", &manifest("new", "").replace("2021", "2024")),
        ("new/src/lib.rs", SUB),
        ("old/Cargo.toml", &manifest("old", "").replace("2021", "2015")),
        ("old/src/lib.rs", SUB),
        ("old/src/bin/tool.rs", main),
    ]);
    let got = "sub(3, 1)";
    let within = "use super::*;";
    let mut through = twins("through", ("core/src/lib.rs", 2), "use app::*;", "run()", "2");
    for said in &mut through {
        said.claim.test_file = Some("app/tests/claim.rs".to_owned());
    }
    let mut beside = twins("beside", ("path/lib/thing.rs", 2), "", "hidden(1)", "1");
    for said in &mut beside {
        said.claim.test_file = Some("path/lib/thing_test.rs".to_owned());
    }
    let table = [
        twins("member", ("core/src/lib.rs", 2), "use core_lib::*;", got, "2"),
        through,
        twins("path", ("path/lib/thing.rs", 2), within, "hidden(1)", "1"),
        beside,
        twins("program", ("bin/src/main.rs", 2), within, got, "2"),
        twins("no std", ("nostd/src/lib.rs", 8), "use nostd::*;", "name()", "\"a\""),
        twins("feature", ("feat/src/lib.rs", 6), "use feat::*;", got, "2"),
        twins("denied", ("deny/src/lib.rs", 8), "use deny::*;\nuse std::fmt;", got, "2"),
        twins("denied within", ("deny/src/lib.rs", 8), "use super::*;\nuse std::fmt;", got, "2"),
        twins("edition", ("new/src/lib.rs", 2), "use new::*;", got, "2"),
        twins("old edition", ("old/src/lib.rs", 2), "extern crate old;\nuse old::*;", got, "2"),
        twins("tool", ("old/src/bin/tool.rs", 2), "", "sub(5, 1)", "4"),
    ];
    prove(&stage, table.into_iter().flatten().collect());
}

#[test]
fn a_program_is_tested_from_outside() {
    let main = "fn main() {\n    println!(\"{}\", 1 + 1);\n}\n";
    let stage = Stage::new(&[("Cargo.toml", &manifest("tool", "")), ("src/main.rs", main)]);
    let code = "use std::process::Command;\n\n#[test]\nfn x() {\n    \
        let told = Command::new(env!(\"CARGO_BIN_EXE_tool\")).output().unwrap();\n    \
        assert_eq!(told.stdout, b\"3\\n\");\n}\n";
    let fix = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,3 +1,3 @@\n fn main() {\n\
        -    println!(\"{}\", 1 + 1);\n+    println!(\"{}\", 1 + 2);\n }\n";
    let at = ("src/main.rs", 2);
    let bare = said("bare", at, code.to_owned(), Outcome::Failed, true);
    let nowhere = code.replace("assert_eq!(told.stdout, b\"3\\n\");", NOWHERE);
    assert!(nowhere.contains(NOWHERE));
    let apart = said("apart", at, nowhere.replace("let told", "let _"), Outcome::Failed, false);
    let mut fixed = said("fixed", at, code.to_owned(), Outcome::Failed, true);
    fixed.claim.fix_patch = Some(fix.to_owned());
    prove(&stage, vec![bare, apart, fixed]);
}
