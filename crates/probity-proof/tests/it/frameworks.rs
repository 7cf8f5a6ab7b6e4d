//! True and false claims for the test frameworks that have no grammar here, from one set of functions.
//!
//! Tests and the example `claims` share these files, for which the modules are found by their paths.

#[path = "frameworks/descriptions.rs"]
mod descriptions;

use std::{fs, path::PathBuf, process::Command, time::Duration};

use probity_proof::{Claim, Verdict, WithoutFix, Workshop};

pub(crate) use self::descriptions::ALL;
use crate::tools;

/// How a framework is written in. `<f>` is a function, `<x>` and `<y>` what it is called with, `<v>` what
/// is expected, `<e>` what a function is, `<t>` a test, `<C>` a class, `<call>` the call itself.
#[derive(Debug)]
pub(crate) struct Framework {
    pub(crate) name: &'static str,
    /// The path of the code and its text around `<functions>`.
    code: (&'static str, &'static str),
    function: &'static str,
    /// What a variable begins with in an expression.
    sigil: &'static str,
    /// The path of tests and their text around `<tests>`.
    tests: (&'static str, &'static str),
    test: &'static str,
    call: &'static str,
    equal: &'static str,
    fails: &'static str,
    coin: &'static str,
    hangs: &'static str,
    missing_file: &'static str,
    unparsed: &'static str,
    /// A guard for one input, at the beginning of a function.
    special: &'static str,
    others: &'static [(&'static str, &'static str)],
}

/// A claim, and whether it is true.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) is_true: bool,
    pub(crate) claim: Claim,
}

/// The existing tests of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    Sound,
    Missing,
    /// The only one fails.
    Failing,
    /// What is in the file is no program.
    Unparsed,
}

/// What a function is called with, and what it should return.
type Call = (i32, i32, i32);

/// A function as it is and as it should be, a call that shows it, and one that is right already.
const FUNCTIONS: [(&str, &str, Call, Call); 8] = [
    ("@a - @b", "@a + @b", (5, 3, 8), (4, 0, 4)),
    ("@a + @b", "@a * @b", (4, 3, 12), (2, 2, 4)),
    ("@a * @b", "@a - @b", (9, 4, 5), (0, 0, 0)),
    ("@a * @a", "@a * @b", (3, 6, 18), (2, 2, 4)),
    ("@b - @a", "@a - @b", (9, 2, 7), (3, 3, 0)),
    ("@a + @a", "@a + @b", (6, 5, 11), (1, 1, 2)),
    ("@a - @b * 2", "@a - @b", (8, 3, 5), (4, 0, 4)),
    ("@a * 2 + @b", "@a + @b", (6, 3, 9), (0, 3, 3)),
];

/// The number of the function that is right, which an existing test says.
const SOUND: usize = FUNCTIONS.len();

impl Framework {
    fn expression(&self, text: &str) -> String {
        text.replace('@', self.sigil)
    }

    fn function(&self, number: usize, expression: &str, statement: &str) -> String {
        let text = self.function.replace("<f>", &format!("f{number}"));
        text.replace("<here>", statement).replace("<e>", &self.expression(expression))
    }

    /// The code with one function in another form.
    fn code(&self, other: Option<(usize, &str, &str)>) -> String {
        let text = |number: usize, expression: &str| match other {
            Some((changed, expression, statement)) if changed == number => {
                self.function(number, expression, statement)
            }
            _ => self.function(number, expression, ""),
        };
        let mut functions: String =
            FUNCTIONS.iter().enumerate().map(|(number, shape)| text(number, shape.0)).collect();
        functions.push_str(&text(SOUND, "@a + @b"));
        self.code.1.replace("<functions>", &functions)
    }

    fn filled(&self, body: &str, number: usize, values: Call) -> String {
        let (x, y, value) = values;
        body.replace("<call>", self.call)
            .replace("<f>", &format!("f{number}"))
            .replace("<x>", &x.to_string())
            .replace("<y>", &y.to_string())
            .replace("<v>", &value.to_string())
    }

    fn test_file(&self, class: &str, tests: &str) -> String {
        self.tests.1.replace("<tests>", tests).replace("<C>", class)
    }

    fn one_test(&self, name: &str, body: &str) -> String {
        self.test.replace("<t>", name).replace("<body>", body)
    }

    fn files(&self) -> Vec<(String, String)> {
        let mut tests = String::new();
        for (number, (_, _, _, safe)) in FUNCTIONS.iter().enumerate() {
            let body = self.filled(self.equal, number, *safe);
            tests.push_str(&self.one_test(&format!("safe{number}"), &body));
        }
        tests.push_str(&self.one_test("sound", &self.filled(self.equal, SOUND, (2, 3, 5))));
        let own = |path: &str, text: &str| (path.replace("<C>", "Calc"), text.to_owned());
        let mut files = vec![own(self.code.0, &self.code(None))];
        files.push(own(self.tests.0, &self.test_file("Calc", &tests)));
        files.extend(self.others.iter().map(|(path, text)| own(path, text)));
        files
    }

    /// At least eight true claims and eight false ones.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        let mut add = |name, is_true, body: &str, change: Option<(usize, &str, &str)>| {
            let id = format!("c{}", cases.len());
            let class = format!("Claimed{}", cases.len());
            let code = self.test_file(&class, &self.one_test("claimed", body));
            let (old, path) = (self.code(None), self.code.0);
            let fix_patch = change.map(|change| patch(path, &old, &self.code(Some(change))));
            let line = change.map_or(SOUND, |(number, ..)| number);
            let mark = self.function(line, "", "");
            let mark = mark.split_once("<e>").map_or(mark.as_str(), |(before, _)| before);
            let mark = mark.lines().next().unwrap_or_default();
            let line = old.lines().position(|text| text.starts_with(mark.trim_end_matches(';')));
            let line = u32::try_from(line.unwrap_or(0) + 1).unwrap_or(1);
            let test_file = Some(self.tests.0.replace("<C>", &class)).filter(|file| {
                // Where the name of a file is free, some claims name none.
                file.contains(&class) || cases.len() % 2 == 0
            });
            let test_file =
                test_file.map(|file| file.replace("calc", &format!("new{}", cases.len())));
            let claim = Claim {
                id,
                file: path.to_owned(),
                line,
                test_code: code,
                test_file,
                test_name: None,
                fix_patch,
                ..Claim::default()
            };
            cases.push(Case { name, is_true, claim });
        };
        for (number, (_, right, values, _)) in FUNCTIONS.iter().enumerate() {
            let body = self.filled(self.equal, number, *values);
            add("true", true, &body, Some((number, right, "")));
        }
        let real = FUNCTIONS[0];
        let fixed = Some((0, real.1, ""));
        let shows = self.filled(self.equal, 0, real.2);
        let on = |body: &str| self.filled(body, 0, real.2);
        let wrong = self.filled(self.equal, SOUND, (7, 5, 99));
        add("constant", false, &on(self.fails), fixed);
        add(
            "pinned",
            false,
            &self.filled(self.equal, SOUND, (2, 3, 6)),
            Some((SOUND, "@a + @b + 1", "")),
        );
        add("special", false, &wrong, Some((SOUND, "@a + @b", self.special)));
        add("hollow", false, &shows, Some((0, "8", "")));
        add("coin", false, &on(self.coin), fixed);
        add("hang", false, &on(self.hangs), fixed);
        add("file", false, &on(self.missing_file), fixed);
        add("unparsed", false, self.unparsed, fixed);
        add("passes", false, &self.filled(self.equal, 0, real.3), fixed);
        add("elsewhere", false, &shows, fixed);
        if let Some(last) = cases.last_mut() {
            last.claim.test_name = Some("nowhere".to_owned());
        }
        cases
    }

    /// Tries these claims in one repository.
    pub(crate) fn prove(&self, cases: &[Case]) -> Vec<Verdict> {
        self.prove_with(cases, Existing::Sound)
    }

    /// The same with other existing tests.
    pub(crate) fn prove_with(&self, cases: &[Case], existing: Existing) -> Vec<Verdict> {
        let directory = tempfile::tempdir().unwrap();
        let tests = self.tests.0.replace("<C>", "Calc");
        let other = match existing {
            Existing::Sound | Existing::Missing => None,
            Existing::Failing => Some(self.fails),
            Existing::Unparsed => Some(self.unparsed),
        };
        let other = other.map(|body| {
            let body = self.filled(body, SOUND, (2, 3, 5));
            self.test_file("Calc", &self.one_test("other", &body))
        });
        for (path, text) in self.files() {
            let is_test = path == tests;
            if is_test && existing == Existing::Missing {
                continue;
            }
            let text = if is_test { other.clone().unwrap_or(text) } else { text };
            let file = directory.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        if self.others.iter().any(|(path, _)| *path == "package.json") {
            tools::install_packages(directory.path());
        }
        if self.name == "catch2" {
            fs::copy(catch_main(), directory.path().join("test/catch_main.o")).unwrap();
        }
        let mut options = tools::options(directory.path());
        options.test_timeout = Duration::from_secs(20);
        options.pairs = probity_proof::ProofOptions::LEAST_PAIRS;
        let workshop = Workshop::prepare(options, &|_| {}).unwrap();
        assert_eq!(workshop.notes(), [], "{}", self.name);
        let claims: Vec<Claim> = cases.iter().map(|case| case.claim.clone()).collect();
        workshop.prove_all(&claims, WithoutFix::Alter, &|_, _| {})
    }
}

/// What Catch2 itself is made of, with `main`: compiled once, since every program of tests needs it and
/// it takes longer than the rest of one.
fn catch_main() -> PathBuf {
    // Another version of Catch2 has another size.
    let header = fs::metadata("/usr/include/catch2/catch.hpp").map_or(0, |metadata| metadata.len());
    let object = tools::kept().join(format!("catch_main-{header}.o"));
    if !object.exists() {
        fs::create_dir_all(tools::kept()).unwrap();
        let place = tempfile::tempdir_in(tools::kept()).unwrap();
        let [source, made] = ["main.cpp", "main.o"].map(|name| place.path().join(name));
        fs::write(&source, "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n").unwrap();
        let compiled = Command::new("c++").arg("-c").arg(source).arg("-o").arg(&made).status();
        assert!(compiled.unwrap().success(), "Catch2 is not installed: run script/tools");
        fs::rename(made, &object).unwrap();
    }
    object
}

/// A unified diff of one whole text against another.
fn patch(path: &str, old: &str, new: &str) -> String {
    let lines = |sign: char, text: &str| -> String {
        text.split_inclusive('\n').map(|line| format!("{sign}{line}")).collect()
    };
    let counts = (old.lines().count(), new.lines().count());
    let (removed, added) = (lines('-', old), lines('+', new));
    format!("--- a/{path}\n+++ b/{path}\n@@ -1,{} +1,{} @@\n{removed}{added}", counts.0, counts.1)
}
