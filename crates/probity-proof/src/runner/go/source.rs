//! A Go test's source: its package, its name, and names that are taken already.

use std::{collections::BTreeSet, path::Path};

use probity_scope::HeldDirectory;

use crate::{Refusal, places::read_text};

/// Words of constraints that the tool chain decides, and the one by which files are put aside.
const OF_THE_MACHINE: &str = "aix android darwin dragonfly freebsd illumos ios js linux netbsd openbsd plan9 solaris \
    wasip1 windows unix 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le \
    riscv64 s390x wasm cgo gc gccgo race msan asan ignore boringcrypto purego goexperiment \
    faketime tools";

/// What the directory of a test declares already.
#[derive(Debug, Default)]
pub(super) struct Package {
    /// Without the `_test` of tests from outside.
    name: Option<String>,
    /// Package clause and function.
    functions: BTreeSet<(String, String)>,
}

impl Package {
    pub(super) fn read(repo: &HeldDirectory, directory: &Path) -> Self {
        let mut package = Self::default();
        for entry in repo.entries(directory).into_iter().flatten() {
            let path = directory.join(&entry.name);
            if path.extension() != Some("go".as_ref()) {
                continue;
            }
            let Ok(source) = read_text(repo, &path) else { continue };
            let Some(clause) = clause(&source) else { continue };
            let of_tests = entry.name.to_string_lossy().ends_with("_test.go");
            let inner =
                if of_tests { clause.strip_suffix("_test").unwrap_or(clause) } else { clause };
            package.name.get_or_insert_with(|| inner.to_owned());
            for function in functions(&source) {
                package.functions.insert((clause.to_owned(), function.to_owned()));
            }
        }
        package
    }
}

#[derive(Debug)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) source: String,
}

/// Gives the test a package if it has none, and names that are not taken. The error says why
/// there is no test to run.
pub(super) fn prepare(
    code: &str,
    wanted: Option<&str>,
    existing: &Package,
    id: &str,
) -> Result<Test, Refusal> {
    let mut source = code.to_owned();
    if !source.ends_with('\n') {
        source.push('\n');
    }
    let package = match clause(&source) {
        Some(package) => package.to_owned(),
        None => {
            let package = existing.name.clone().unwrap_or_else(|| "main".to_owned());
            source = format!("package {package}\n\n{source}");
            package
        }
    };
    let is_test =
        |name: &&str| ["Test", "Fuzz", "Example"].iter().any(|kind| name.starts_with(kind));
    // A part of a test is named by a path, of which the first word is the test.
    let wanted = wanted.and_then(|wanted| wanted.split('/').next()).filter(|name| !name.is_empty());
    let found = functions(&source).into_iter().filter(is_test).filter(|name| *name != "TestMain");
    let name = match wanted {
        Some(wanted) => found
            .into_iter()
            .find(|name| *name == wanted)
            .ok_or_else(|| Refusal::NoSuchTest(Some(wanted.to_owned())))?,
        None => found.into_iter().next().ok_or(Refusal::NoSuchTest(None))?,
    };
    let mut name = name.to_owned();
    let taken: Vec<String> = functions(&source)
        .into_iter()
        .filter(|function| !["init", "main", "_"].contains(function))
        .filter(|function| existing.functions.contains(&(package.clone(), (*function).to_owned())))
        .map(str::to_owned)
        .collect();
    for function in taken {
        let renamed = format!("{function}Probity{id}");
        source = rename(&source, &function, &renamed);
        if name == function {
            name = renamed;
        }
    }
    Ok(Test { name, source })
}

/// The tags without which a file is left out: those of its constraint that are neither negated nor
/// about the machine.
pub(super) fn tags(source: &str) -> Vec<String> {
    let before = source.lines().take_while(|line| !line.starts_with("package "));
    let constraint = before.filter_map(|line| line.strip_prefix("//go:build ")).next();
    let words = constraint.unwrap_or_default().split([' ', '(', ')', '&', '|']);
    let is_own = |word: &&str| {
        !word.is_empty()
            && !word.starts_with('!')
            && !word.starts_with("go1")
            && !OF_THE_MACHINE.split(' ').any(|known| known == *word)
    };
    words.filter(is_own).map(str::to_owned).collect()
}

/// The name in the package clause, which only comments may precede.
pub(super) fn clause(source: &str) -> Option<&str> {
    let mut in_comment = false;
    for line in source.lines() {
        let line = line.trim();
        if in_comment || line.starts_with("/*") {
            in_comment = !line.contains("*/");
        } else if let Some(rest) = line.strip_prefix("package ") {
            return rest.split(|end: char| !is_word(end)).find(|word| !word.is_empty());
        } else if !line.is_empty() && !line.starts_with("//") {
            return None;
        }
    }
    None
}

/// Functions without a receiver; gofmt or not, they begin a line.
fn functions(source: &str) -> Vec<&str> {
    let function = |line: &'_ str| -> Option<usize> {
        let rest = line.strip_prefix("func ")?.trim_start();
        let name = rest.split(|end: char| !is_word(end)).next().filter(|name| !name.is_empty())?;
        rest.get(name.len()..)?.trim_start().starts_with(['(', '[']).then_some(name.len())
    };
    source
        .lines()
        .filter_map(|line| {
            let length = function(line)?;
            line.strip_prefix("func ")?.trim_start().get(..length)
        })
        .collect()
}

/// Replaces a word, but not where it is a member of something.
fn rename(source: &str, from: &str, to: &str) -> String {
    let mut renamed = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(from) {
        let (before, after) =
            (rest.get(..at).unwrap_or(""), rest.get(at + from.len()..).unwrap_or(""));
        let bounded = !before.ends_with(|end: char| is_word(end) || end == '.')
            && !after.starts_with(is_word);
        renamed.push_str(before);
        renamed.push_str(if bounded { to } else { from });
        rest = after;
    }
    renamed.push_str(rest);
    renamed
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::{Package, Refusal, clause, functions, prepare, rename, tags};

    #[test]
    fn tags_are_those_that_somebody_has_to_ask_for() {
        for (source, expected) in [
            ("//go:build integration\n\npackage a\n", "integration"),
            ("// x\n\n//go:build (linux || darwin) && slow && !short && go1.20\npackage a", "slow"),
            ("package a\n\n//go:build integration\n", ""),
            ("//go:build ignore\npackage a\n", ""),
        ] {
            assert_eq!(tags(source).join(" "), expected, "{source}");
        }
    }

    #[test]
    fn the_package_clause_is_found_behind_comments() {
        for (source, expected) in [
            ("package a\n", Some("a")),
            ("// x\n/* y\n*/\n\npackage a_test // z\n", Some("a_test")),
            ("func TestX() {}\npackage a\n", None),
            ("", None),
        ] {
            assert_eq!(clause(source), expected, "{source:?}");
        }
    }

    #[test]
    fn functions_are_those_without_a_receiver() {
        let source =
            "func A() {}\nfunc (r R) B() {}\nfunc C[T any](t T) {}\n\tfunc D() {}\nfuncE()\n";
        assert_eq!(functions(source), ["A", "C"]);
    }

    #[test]
    fn names_that_are_taken_give_way() {
        let mut existing = Package { name: Some("a".to_owned()), ..Package::default() };
        for name in ["TestX", "helper"] {
            existing.functions.insert(("a".to_owned(), name.to_owned()));
        }
        let code = "package a\nfunc helper() {}\nfunc TestX(t *testing.T) { helper(); t.helper() }";
        let test = prepare(code, Some("TestX"), &existing, "1").unwrap();
        assert_eq!(test.name, "TestXProbity1");
        assert!(test.source.contains("func helperProbity1() {}"), "{}", test.source);
        assert!(test.source.contains("{ helperProbity1(); t.helper() }"), "{}", test.source);
        // Another package in the same directory has names of its own.
        let outside = prepare(&code.replace("package a", "package a_test"), None, &existing, "1");
        assert_eq!(outside.unwrap().name, "TestX");
    }

    #[test]
    fn a_test_without_a_package_gets_one_and_a_missing_test_is_said() {
        let existing = Package { name: Some("a".to_owned()), ..Package::default() };
        let test = prepare("func TestX(t *testing.T) {}", None, &existing, "1").unwrap();
        assert!(test.source.starts_with("package a\n"));
        assert!(prepare("package a\n", None, &existing, "1").is_err());
        let missing = prepare("package a\nfunc TestX() {}", Some("TestY"), &existing, "1");
        assert_eq!(missing.unwrap_err(), Refusal::NoSuchTest(Some("TestY".to_owned())));
        assert!(prepare("func TestMain() {}", None, &existing, "1").is_err());
    }

    #[test]
    fn words_are_renamed_whole() {
        assert_eq!(rename("ab a.ab abc ab(x)", "ab", "q"), "q a.ab abc q(x)");
    }
}
