//! The languages of a repository, how it tests them, and what its tests look like.

use std::{collections::BTreeMap, path::Path};

use probity_scope::Scope;

/// What is read of a file in which a framework is named.
const MANIFEST_BYTES: u64 = 256 << 10;
/// Existing tests that are named as examples.
const EXAMPLES: usize = 3;

/// One language with its tests, as the prompt describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language {
    pub name: &'static str,
    pub files: usize,
    pub framework: &'static str,
    /// Where tests go and what they are called, in a sentence.
    pub convention: &'static str,
    /// Paths of tests that are there already.
    pub examples: Vec<String>,
}

/// The languages that can be proven in, most files first. `files` are all files of the repository.
#[must_use]
pub fn languages(scope: &Scope, files: &[String]) -> Vec<Language> {
    let mut counts: BTreeMap<LanguageKind, (usize, Vec<String>)> = BTreeMap::new();
    for file in files {
        let Some(kind) = kind(file) else { continue };
        let (count, examples) = counts.entry(kind).or_default();
        if is_test(kind, file) {
            if examples.len() < EXAMPLES {
                examples.push(file.clone());
            }
        } else {
            *count += 1;
        }
    }
    let mut languages: Vec<Language> = counts
        .into_iter()
        .map(|(kind, (files_of_kind, examples))| {
            let (name, framework, convention) = describe(kind, scope, files, &examples);
            Language { name, files: files_of_kind, framework, convention, examples }
        })
        .collect();
    languages.sort_by_key(|language| std::cmp::Reverse(language.files));
    languages
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LanguageKind {
    Go,
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Shell,
    Ruby,
    Php,
    Java,
    C,
}

fn kind(file: &str) -> Option<LanguageKind> {
    let (_, extension) = file.rsplit_once('.')?;
    Some(match extension {
        "go" => LanguageKind::Go,
        "rs" => LanguageKind::Rust,
        "py" => LanguageKind::Python,
        "js" | "cjs" | "mjs" | "jsx" => LanguageKind::JavaScript,
        "ts" | "cts" | "mts" | "tsx" => LanguageKind::TypeScript,
        "sh" | "bash" | "bats" => LanguageKind::Shell,
        "rb" => LanguageKind::Ruby,
        "php" => LanguageKind::Php,
        "java" => LanguageKind::Java,
        "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" => LanguageKind::C,
        _ => return None,
    })
}

fn is_test(kind: LanguageKind, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    match kind {
        LanguageKind::Go => name.ends_with("_test.go"),
        LanguageKind::Rust => file.starts_with("tests/") || file.contains("/tests/"),
        LanguageKind::Python => name.starts_with("test_") || name.ends_with("_test.py"),
        LanguageKind::JavaScript | LanguageKind::TypeScript => {
            name.contains(".test.") || name.contains(".spec.") || file.contains("__tests__/")
        }
        LanguageKind::Shell => name.ends_with(".bats"),
        LanguageKind::Ruby => ["_spec.rb", "_test.rb"].iter().any(|end| name.ends_with(end)),
        LanguageKind::Php => name.ends_with("Test.php"),
        LanguageKind::Java => ["Test.java", "Tests.java"].iter().any(|end| name.ends_with(end)),
        LanguageKind::C => {
            ["_test.c", "_test.cc", "_test.cpp"].iter().any(|end| name.ends_with(end))
        }
    }
}

fn describe(
    kind: LanguageKind,
    scope: &Scope,
    files: &[String],
    tests: &[String],
) -> (&'static str, &'static str, &'static str) {
    match kind {
        LanguageKind::Go => (
            "Go",
            "go test",
            "the test is in the directory of the code, in a file ending in _test.go, in the \
             package of the code or in that package with _test added; its name begins with Test",
        ),
        LanguageKind::Rust => (
            "Rust",
            "cargo test",
            "the test is an integration test of the crate: a file in the crate's tests/ directory \
             with one #[test] function that uses what the crate makes public",
        ),
        LanguageKind::Python => (
            "Python",
            "pytest",
            "the test is a function whose name begins with test_, in a file whose name does too, \
             and imports the code as the repository's own tests do",
        ),
        LanguageKind::JavaScript => ("JavaScript", script_framework(scope, files, tests), SCRIPTS),
        LanguageKind::TypeScript => ("TypeScript", script_framework(scope, files, tests), SCRIPTS),
        LanguageKind::Shell => (
            "Shell",
            "bats",
            "the test is one @test in a file ending in .bats in the directory of the code, and \
             sources the code or runs it below $BATS_TEST_DIRNAME",
        ),
        LanguageKind::Ruby => ruby(files),
        LanguageKind::Php => (
            "PHP",
            "PHPUnit",
            "the test is one method whose name begins with test, in a class whose name ends in Test, \
             in a file named after the class; name that file in test_file",
        ),
        LanguageKind::Java => (
            "Java",
            "JUnit 5",
            "the test is one method with @Test in a class whose name ends in Test and that no other \
             file has, in the package of the code",
        ),
        LanguageKind::C => (
            "C and C++",
            "CTest with GoogleTest or Catch2",
            "the test is one TEST or TEST_CASE in a file ending in _test.cpp that includes \
             gtest/gtest.h or catch2/catch.hpp, and has no main",
        ),
    }
}

/// RSpec where there are specs, as the runner has it.
fn ruby(files: &[String]) -> (&'static str, &'static str, &'static str) {
    let is_spec = |file: &String| file.starts_with("spec/") || file.contains("/spec/");
    if files.iter().any(is_spec) {
        let convention =
            "the test is one example in a file ending in _spec.rb in the directory spec";
        ("Ruby", "RSpec", convention)
    } else {
        let convention = "the test is one method whose name begins with test_, in a subclass of \
                          Minitest::Test, in a file ending in _test.rb that requires minitest/autorun";
        ("Ruby", "minitest", convention)
    }
}

const SCRIPTS: &str = "the test is one top-level test in a new file, named like the existing tests and \
                       with the extension of the code, and imports the code by a path relative to it";

/// The framework that the nearest `package.json` names, else Node's own.
fn script_framework(scope: &Scope, files: &[String], tests: &[String]) -> &'static str {
    let manifests = files
        .iter()
        .filter(|file| file.as_str() == "package.json" || file.ends_with("/package.json"));
    let manifests = manifests.filter(|file| !file.contains("node_modules/")).take(20);
    let texts: Vec<String> = manifests
        .chain(tests)
        .filter_map(|file| scope.read_prefix(Path::new(file), MANIFEST_BYTES).ok())
        .map(|prefix| String::from_utf8_lossy(&prefix.bytes).into_owned())
        .collect();
    let named = |word: &str| texts.iter().any(|text| text.contains(word));
    if named("\"vitest\"") || named("'vitest'") {
        "vitest"
    } else if named("\"jest\"") || named("\"ts-jest\"") || named("'@jest/globals'") {
        "jest"
    } else if named("\"mocha\"") {
        "mocha"
    } else {
        // Keywords of packages have these words, too.
        let others = ["ava", "tap", "tape", "jasmine"];
        let listed = |name: &&str| named(&format!("\"{name}\":"));
        others.into_iter().find(listed).unwrap_or("node --test")
    }
}
