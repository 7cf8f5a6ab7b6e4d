//! The files of tests that a package has, as its test script, its settings or their names say, and what
//! a new one is named like.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use globset::{GlobBuilder, GlobMatcher};
use probity_scope::{HeldDirectory, HeldKind};
use serde_json::Value;

use super::{
    ENDINGS,
    framework::Framework,
    setup::{Package, Setup},
};
use crate::{places::read_text, runner::placement};

/// Directories of tests, and directories in them of what is no test.
const TEST_DIRECTORIES: [&str; 5] = ["test", "tests", "__tests__", "spec", "specs"];
const NO_TESTS: [&str; 9] = [
    "fixture",
    "fixtures",
    "__fixtures__",
    "helper",
    "helpers",
    "__helpers__",
    "__mocks__",
    "__snapshots__",
    "support",
];

/// The files of tests of a package, those first that its own settings name. Packages in it have their
/// own, unless a changed file is in them.
pub(super) fn of_package(
    repo: &HeldDirectory,
    setup: &Setup,
    changed: &[String],
) -> BTreeSet<String> {
    let all = scripts(repo, &setup.directory, changed);
    let named = patterns(repo, setup).map(|patterns| chosen(repo, setup, &all, &patterns));
    match named {
        Some(files) if !files.is_empty() => files,
        _ => {
            let is_test = |path: &&String| is_test_file(setup.framework, Path::new(path));
            all.iter().filter(is_test).cloned().collect()
        }
    }
}

/// Whether a file is one of tests, if only its name and place can tell.
pub(super) fn is_test_file(framework: Framework, path: &Path) -> bool {
    if path.file_name().is_some_and(|name| is_test(&name.to_string_lossy())) {
        return true;
    }
    let parents = || path.parent().into_iter().flat_map(Path::iter);
    // Node takes every file of code in a directory of this name for a test.
    let known: &[&str] = match framework {
        Framework::Node => &["test"],
        Framework::Bun | Framework::Deno => &[],
        _ => &TEST_DIRECTORIES,
    };
    let is_helper = framework != Framework::Node
        && (parents().any(|part| NO_TESTS.iter().any(|name| part == *name))
            || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_')));
    parents().any(|part| known.iter().any(|name| part == *name)) && !is_helper
}

/// Whether a name is that of a file of tests, in any directory.
pub(super) fn is_test(name: &str) -> bool {
    stem(name).is_some_and(|stem| stem == "test" || stem == "spec" || Marks::of(name).is_some())
}

/// The patterns of the files of tests, relative to the package; none if its settings do not say.
fn patterns(repo: &HeldDirectory, setup: &Setup) -> Option<Vec<String>> {
    let words = &setup.invocation.files;
    if !words.is_empty() && words.iter().all(|word| !word.is_dynamic) {
        return Some(words.iter().map(|word| word.text.clone()).collect());
    }
    let package = Package::of(repo, &setup.directory);
    match setup.framework {
        Framework::Mocha => mocha_patterns(repo, setup, &package),
        Framework::Ava => strings(package.others.get("ava")?.get("files")?),
        Framework::Jasmine => jasmine_patterns(repo, setup),
        _ => None,
    }
}

fn mocha_patterns(repo: &HeldDirectory, setup: &Setup, package: &Package) -> Option<Vec<String>> {
    let read = |name: &str| read_text(repo, setup.directory.join(name)).ok();
    if let Some(spec) = package.others.get("mocha").and_then(|settings| settings.get("spec")) {
        return strings(spec);
    }
    if let Some(text) = read(".mocharc.json") {
        let settings: Value = serde_json::from_str(&text).ok()?;
        return strings(settings.get("spec")?);
    }
    if let Some(text) = read(".mocharc.yml").or_else(|| read(".mocharc.yaml")) {
        return yaml_strings(&text, "spec");
    }
    let is_program = [".mocharc.js", ".mocharc.cjs", ".mocharc.mjs"];
    if is_program.iter().any(|name| repo.is_file(setup.directory.join(name))) {
        return None;
    }
    Some(vec!["./test".to_owned()])
}

fn jasmine_patterns(repo: &HeldDirectory, setup: &Setup) -> Option<Vec<String>> {
    let named = setup.invocation.options.iter().find_map(|option| option.strip_prefix("--config="));
    let file = named.unwrap_or("spec/support/jasmine.json");
    let text = read_text(repo, setup.directory.join(file)).ok()?;
    let settings: Value = serde_json::from_str(&text).ok()?;
    let directory = settings.get("spec_dir").and_then(Value::as_str).unwrap_or("spec");
    let files = strings(settings.get("spec_files")?)?;
    Some(files.iter().map(|file| format!("{}/{file}", directory.trim_end_matches('/'))).collect())
}

fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(values) => {
            values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}

/// One text or a list of them, as people write them into settings.
fn yaml_strings(text: &str, key: &str) -> Option<Vec<String>> {
    let bare = |text: &str| text.trim().trim_matches(['\'', '"']).to_owned();
    let mut lines = text.lines();
    let own = lines.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))?;
    if let Some(list) = own.trim().strip_prefix('[') {
        return Some(list.trim_end_matches(']').split(',').map(bare).collect());
    }
    if !own.trim().is_empty() {
        return Some(vec![bare(own)]);
    }
    let items = lines.map_while(|line| line.trim_start().strip_prefix('-')).map(bare);
    Some(items.collect::<Vec<_>>()).filter(|items| !items.is_empty())
}

/// The files that patterns choose; one with an exclamation mark takes some away.
fn chosen(
    repo: &HeldDirectory,
    setup: &Setup,
    all: &BTreeSet<String>,
    patterns: &[String],
) -> BTreeSet<String> {
    let is_recursive = setup.framework != Framework::Mocha
        || setup.invocation.options.iter().any(|option| option == "--recursive");
    let mut files = BTreeSet::new();
    for pattern in patterns {
        let (pattern, is_taken) = match pattern.strip_prefix('!') {
            Some(pattern) => (pattern, false),
            None => (pattern.as_str(), true),
        };
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        let place = setup.directory.join(pattern);
        let text = match () {
            () if !repo.is_directory(&place) => place,
            () if is_recursive => place.join("**"),
            () => place.join("*"),
        };
        let Some(glob) = glob(&placement::slashes(&text)) else { continue };
        let fitting = all.iter().filter(|path| glob.is_match(path)).cloned();
        if is_taken {
            files.extend(fitting);
        } else {
            for path in fitting.collect::<Vec<_>>() {
                files.remove(&path);
            }
        }
    }
    files
}

/// A pattern as shells and runners know them; what only some of them know is rewritten.
fn glob(pattern: &str) -> Option<GlobMatcher> {
    let mut text = String::new();
    let mut letters = pattern.chars().peekable();
    let mut is_group = false;
    while let Some(letter) = letters.next() {
        match letter {
            '?' | '@' | '+' if letters.next_if_eq(&'(').is_some() => {
                is_group = true;
                text.push('{');
                if letter == '?' {
                    text.push(',');
                }
            }
            '|' if is_group => text.push(','),
            ')' if is_group => {
                is_group = false;
                text.push('}');
            }
            other => text.push(other),
        }
    }
    let mut glob = GlobBuilder::new(&text);
    glob.literal_separator(true).empty_alternates(true);
    glob.build().ok().map(|glob| glob.compile_matcher())
}

/// All files of code of a package, but for installed ones.
fn scripts(repo: &HeldDirectory, directory: &Path, changed: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in repo.entries(&directory).into_iter().flatten() {
            let path = directory.join(&entry.name);
            let is_installed = ["node_modules", ".git"].iter().any(|own| entry.name == *own);
            if entry.kind == HeldKind::Directory && !is_installed {
                let is_own = !repo.is_file(path.join("package.json"))
                    || changed.iter().any(|file| Path::new(file).starts_with(&path));
                if is_own {
                    pending.push(path);
                }
            } else if entry.kind == HeldKind::File && stem(&entry.name.to_string_lossy()).is_some()
            {
                found.insert(placement::slashes(&path));
            }
        }
    }
    found
}

/// The name of a file of code without its ending.
fn stem(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    ENDINGS.contains(&ending).then_some(stem).filter(|stem| !stem.is_empty())
}

/// What the names of tests have before and after the name of what they test.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Marks {
    before: String,
    after: String,
}

impl Marks {
    fn of(name: &str) -> Option<Self> {
        let stem = stem(name)?;
        for kind in ["test", "tests", "spec", "specs"] {
            for joint in ['.', '-', '_'] {
                let after = format!("{joint}{kind}");
                if stem.strip_suffix(&after).is_some_and(|rest| !rest.is_empty()) {
                    return Some(Self { after, ..Self::default() });
                }
                let before = format!("{kind}{joint}");
                if stem.strip_prefix(&before).is_some_and(|rest| !rest.is_empty()) {
                    return Some(Self { before, ..Self::default() });
                }
            }
        }
        let camel = ["Test", "Spec"].into_iter().find(|kind| {
            stem.strip_suffix(kind).is_some_and(|rest| {
                rest.ends_with(|letter: char| {
                    letter.is_ascii_lowercase() || letter.is_ascii_digit()
                })
            })
        })?;
        Some(Self { after: camel.to_owned(), ..Self::default() })
    }

    fn name(&self, bare: &str, ending: &str) -> String {
        format!("{}{bare}{}.{ending}", self.before, self.after)
    }
}

/// A new file of tests in a directory: named like the tests there, otherwise as it wants to be,
/// otherwise like most tests of the package.
pub(super) fn path_like(
    repo: &HeldDirectory,
    tests: &BTreeSet<String>,
    directory: &Path,
    wanted: Option<&str>,
    bare: &str,
    ending: &str,
) -> String {
    let mut counts: BTreeMap<Marks, usize> = BTreeMap::new();
    let mut here: BTreeMap<Marks, usize> = BTreeMap::new();
    for path in tests.iter().map(Path::new) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let marks = Marks::of(&name);
        if path.parent() == Some(directory) && stem(&name) != Some("test") {
            *here.entry(marks.clone().unwrap_or_default()).or_default() += 1;
        }
        if let Some(marks) = marks {
            *counts.entry(marks).or_default() += 1;
        }
    }
    let most = |counts: BTreeMap<Marks, usize>| {
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(marks, _)| marks)
    };
    let wanted = wanted.and_then(|path| Marks::of(path.rsplit('/').next().unwrap_or_default()));
    let usual = || Marks { after: ".test".to_owned(), ..Marks::default() };
    let marks = most(here).or(wanted).or_else(|| most(counts)).unwrap_or_else(usual);
    placement::unused(repo, directory, |number| marks.name(&format!("{bare}{number}"), ending))
}

/// Directories of a package that lead to a file, nearest first.
pub(super) fn directory_of(path: &str) -> PathBuf {
    Path::new(path).parent().unwrap_or(Path::new("")).to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Framework, Marks, glob, is_test, is_test_file, yaml_strings};

    #[test]
    fn tests_are_known_by_their_names_and_places() {
        for name in ["a.test.js", "a.spec.tsx", "a_test.ts", "test.js", "test-a.mjs", "aSpec.js"] {
            assert!(is_test(name), "{name}");
        }
        for name in ["a.js", "test.py", "latest.js", "a.test", "test", "Spec.js", ".test.js"] {
            assert!(!is_test(name), "{name}");
        }
        for (framework, path, expected) in [
            (Framework::Node, "test/deep/a.js", true),
            (Framework::Node, "tests/a.js", false),
            (Framework::Mocha, "tests/a.js", true),
            (Framework::Mocha, "test/fixtures/a.js", false),
            (Framework::Deno, "test/a.ts", false),
            (Framework::Deno, "src/a_test.ts", true),
        ] {
            assert_eq!(is_test_file(framework, Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn names_have_marks_before_or_after() {
        for (name, expected) in [
            ("a.test.js", Some("x.test.ts")),
            ("a-test.js", Some("x-test.ts")),
            ("test_a.js", Some("test_x.ts")),
            ("aSpec.js", Some("xSpec.ts")),
            ("a.js", None),
        ] {
            let marks = Marks::of(name).map(|marks| marks.name("x", "ts"));
            assert_eq!(marks.as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn patterns_are_those_of_shells_and_runners() {
        for (pattern, path, expected) in [
            ("test/*.js", "test/a.js", true),
            ("test/*.js", "test/b/a.js", false),
            ("test/**/*.{js,ts}", "test/b/a.ts", true),
            ("spec/**/*[sS]pec.?(m)js", "spec/aSpec.js", true),
            ("spec/**/*[sS]pec.?(m)js", "spec/b/a.spec.mjs", true),
            ("t/*.@(a|b).js", "t/x.b.js", true),
            ("t/*.@(a|b).js", "t/x.c.js", false),
        ] {
            assert_eq!(glob(pattern).unwrap().is_match(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn settings_are_one_text_or_a_list() {
        let read = |text: &str| yaml_strings(text, "spec").map(|texts| texts.join(" "));
        assert_eq!(read("ui: tdd\nspec: 'a/*.js'\n").as_deref(), Some("a/*.js"));
        assert_eq!(read("spec:\n  - a\n  - \"b\"\nui: tdd\n").as_deref(), Some("a b"));
        assert_eq!(read("spec: [a, 'b']").as_deref(), Some("a b"));
        assert_eq!(read("ui: tdd"), None);
    }
}
