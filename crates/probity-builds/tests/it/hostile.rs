//! Files that mean harm end in an error, soon.

use probity_builds::{Format, LARGEST_FILE, describe};
use proptest::prelude::*;

use super::{Given, shown, source};

#[test]
fn deep_large_and_endless_files_are_refused() {
    let matrix = |size: usize| {
        let values: Vec<String> = (0..size).map(|number| number.to_string()).collect();
        let list = format!("[{}]", values.join(", "));
        format!("target \"a\" {{\n  matrix = {{ x = {list}, y = {list} }}\n}}\n")
    };
    for (format, text, error) in [
        (Format::BakeHcl, format!("a = {}", "[".repeat(100_000)), "it is nested too deeply"),
        (Format::BakeHcl, format!("a = {}true", "!".repeat(100_000)), "it is nested too deeply"),
        (Format::BakeHcl, format!("a = \"{}\"", "${\"".repeat(50_000)), "it is nested too deeply"),
        (Format::BakeHcl, format!("a = {}1", "1 ? 2 : ".repeat(50_000)), "it is nested too deeply"),
        (Format::BakeJson, "[".repeat(100_000), "it is nested too deeply"),
        (Format::BakeHcl, matrix(200), "it describes more than 1000 builds"),
        (Format::Compose, " ".repeat(LARGEST_FILE + 1), "it is larger than 1024 KiB"),
    ] {
        assert_eq!(shown(format, &text, &[], &Given::default()), format!("error: {error}"));
    }
    let nested = format!("services: {}", "[".repeat(100_000));
    assert!(shown(Format::Compose, &nested, &[], &Given::default()).starts_with("error: "));
}

#[test]
fn aliases_that_explode_are_refused() {
    let mut text = "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n".to_owned();
    for level in 1..10 {
        let before = format!("*x{}, ", level - 1).repeat(10);
        text.push_str(&format!("x{level}: &x{level} [{}]\n", before.trim_end_matches(", ")));
    }
    text.push_str("services:\n  a:\n    build: .\n");
    let found = shown(Format::Compose, &text, &[], &Given::default());
    assert!(found.starts_with("error: ") || found == "a: Dockerfile in .", "{found}");
}

#[test]
fn a_file_that_includes_itself_ends() {
    let itself = "include: [compose.yaml]\nservices:\n  a:\n    build: .\n";
    let given = Given { files: [("compose.yaml", itself)].into(), ..Given::default() };
    assert_eq!(shown(Format::Compose, itself, &[], &given), "a: Dockerfile in .");
}

/// Each file is read once; two files that include each other twice were read 2^16 times.
#[test]
fn files_that_include_each_other_are_read_once() {
    let a = "include: [b.yaml, ./b.yaml, sub/../b.yaml]\nservices:\n  a:\n    build: a\n";
    let b = "include: [a.yaml, a.yaml, a.yaml]\nservices:\n  b:\n    build: b\n";
    let given = Given { files: [("a.yaml", a), ("b.yaml", b)].into(), ..Given::default() };
    let found = shown(Format::Compose, a, &[], &given);
    assert_eq!(found, "a: a/Dockerfile in a\nb: b/Dockerfile in b");
    assert!(given.reads.get() <= 2, "{}", given.reads.get());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(services:|target|variable|\"|\\{|\\}|\\[|\\]|=|\\$|\n| |a|build|matrix|<<|&x|\\*x|:|-|[ -~]){0,60}") {
        for format in [Format::Compose, Format::BakeHcl, Format::BakeJson] {
            drop(describe(&source(format, "description", &text), &[], &[], &Given::default()));
        }
    }
}
