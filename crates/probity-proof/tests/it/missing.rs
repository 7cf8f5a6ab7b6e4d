//! What is not on this machine has a name, and is never the fault of a test.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use probity_proof::{
    Claim, NotTaken, Outcome, Refusal, RunDetail, Unavailable, Verdict, Why, WithoutFix, Workshop,
    wording,
};

use crate::{
    guard::{Code, GO, PYTHON, RUST},
    stage::{Stage, claim},
    tools::tools,
};

/// The verdict on a claim in a repository that cannot be prepared, without a way to fetch anything.
fn verdict(files: &[(&str, &str)], claim: &Claim) -> Verdict {
    let mut stage = Stage::new(files);
    stage.options.fetch = None;
    stage.options.caches = None;
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    workshop.prove_all(std::slice::from_ref(claim), WithoutFix::Leave, &|_, _| {}).remove(0)
}

fn of_code(code: &Code, files: &[(&str, &str)]) -> Verdict {
    let all = [files, &[(code.path, code.text)]].concat();
    verdict(&all, &code.claim("missing", code.defect))
}

/// What is missing, and the way out.
fn missing(verdict: &Verdict) -> String {
    assert_eq!(verdict.outcome, Outcome::HarnessError, "{verdict:#?}");
    match &verdict.why {
        Why::Unstarted(detail @ RunDetail::Missing { .. }) => wording::detail(detail),
        _ => panic!("{verdict:#?}"),
    }
}

#[test]
fn a_python_package_that_is_not_installed_is_named() {
    let needs = Code { text: "import gadgets.tools\n\ndef half(a):\n    return a / 3\n", ..PYTHON };
    for (file, command) in [
        ("README.md", "python3 -m venv .venv"),
        ("poetry.lock", "poetry install"),
        ("uv.lock", "uv sync"),
    ] {
        let told = missing(&of_code(&needs, &[(file, "")]));
        let (what, help) = told.split_once("; ").unwrap();
        assert!(what.starts_with("the Python package `gadgets` is not installed for /"), "{told}");
        assert!(help.starts_with(&format!("run `{command}")), "{told}");
    }
}

/// A test may need what the tests of the project need, and what only its author wants.
#[test]
fn what_tests_need_is_missing_only_if_the_project_needs_it() {
    let test =
        "from gadgets import all\nimport calc\n\ndef test_x():\n    assert calc.half(4) == 2\n";
    let code = Code { defect: (test, PYTHON.defect.1), ..PYTHON };
    let verdict = of_code(&code, &[("tests/test_old.py", "import gadgets\n")]);
    assert_eq!(verdict.outcome, Outcome::HarnessError);
    let Why::Ran(detail @ RunDetail::Missing { .. }) = &verdict.why else { panic!("{verdict:#?}") };
    assert!(wording::detail(detail).contains("`gadgets`"), "{verdict:#?}");
    let verdict = of_code(&code, &[("tests/test_old.py", "import gadgetsmith\n")]);
    assert_eq!(
        (verdict.outcome, &verdict.why),
        (Outcome::BuildError, &Why::Ran(RunDetail::Unbuilt))
    );
}

#[test]
fn a_go_module_that_cannot_be_fetched_is_named() {
    let module = "module example.com/calc\n\ngo 1.21\n\nrequire example.org/gadgets v1.2.3\n";
    let user = "package calc\n\nimport \"example.org/gadgets\"\n\nvar _ = gadgets.All\n";
    let told = missing(&of_code(&GO, &[("go.mod", module), ("gadgets.go", user)]));
    assert!(told.contains("example.org/gadgets"), "{told}");
    assert!(told.ends_with("; run `go mod download`"), "{told}");
}

#[test]
fn a_rust_package_that_cannot_be_fetched_is_named() {
    let manifest = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
        [dependencies]\ngadgets-of-nobody = \"7\"\n";
    let told = missing(&of_code(&RUST, &[("Cargo.toml", manifest)]));
    assert_eq!(
        told,
        "the Rust package `gadgets-of-nobody` could not be fetched; run `cargo fetch`"
    );
}

#[test]
fn java_packages_that_are_not_here_are_named() {
    let pom = |dependency: &str| {
        format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n\
             <modelVersion>4.0.0</modelVersion>\n<groupId>g</groupId><artifactId>a</artifactId>\
             <version>1</version>\n<properties><maven.compiler.source>17</maven.compiler.source>\
             <maven.compiler.target>17</maven.compiler.target></properties>\n\
             <dependencies>{dependency}</dependencies>\n</project>\n"
        )
    };
    let code = "public class Calc {\n    static int half(int a) { return a / 3; }\n}\n";
    let test = "import static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.Test;\n\n\
        class XTest {\n    @Test\n    void x() { assertEquals(2, Calc.half(4)); }\n}\n";
    let path = "src/main/java/Calc.java";
    let unknown = "<dependency><groupId>org.nobody</groupId><artifactId>gadgets</artifactId>\
        <version>7</version></dependency>";
    for (dependency, expected) in [
        (unknown, "the Java package org.nobody:gadgets:jar:7 is not on this machine; run `mvn"),
        ("", "JUnit is not among the dependencies of the project's tests; add it to the project"),
    ] {
        let claim = Claim { line: 2, ..claim("missing", path, test) };
        let told = missing(&verdict(&[("pom.xml", &pom(dependency)), (path, code)], &claim));
        assert!(told.starts_with(expected), "{told}");
    }
}

/// Every interpreter on the path is named with its reason, and so is each environment of the
/// repository.
#[test]
fn interpreters_without_pytest_are_listed() {
    let mut stage = Stage::new(&[
        (PYTHON.path, PYTHON.text),
        (".gitignore", ".tox\n.nox\n"),
        ("tox.ini", "[tox]\n"),
    ]);
    stage.write(".tox/py312/pyvenv.cfg", "home = /nowhere/bin\n");
    stage.write(".tox/py312/bin/python", "");
    stage.write(".nox/tests/bin/python", "");
    let programs = tempfile::tempdir().unwrap();
    for (name, script) in [
        (
            "python3",
            "echo '{\"executable\": \"/x/python3\", \"directories\": [], \"has_pytest\": false}'",
        ),
        ("python3.9", "exit 127"),
    ] {
        let program = programs.path().join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    stage.options.environment.push(("PATH".into(), programs.path().into()));
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let claims = [PYTHON.claim("none", PYTHON.defect)];
    let verdict = workshop.prove_all(&claims, WithoutFix::Leave, &|_, _| {}).remove(0);
    let Why::Refused(Refusal::Unavailable(Unavailable::NoPytest { tried, install })) = &verdict.why
    else {
        panic!("{verdict:#?}");
    };
    let why = |path: &str| {
        let one = tried.iter().find(|one| one.path.to_string_lossy().starts_with(path));
        one.map(|one| one.why.clone())
    };
    assert_eq!(why(".tox/py312"), Some(NotTaken::UnknownBase("/nowhere/bin".into())));
    assert_eq!(why(".nox/tests"), Some(NotTaken::NoSettings));
    assert_eq!(why("/x/python3"), Some(NotTaken::NoPytest));
    let silent = programs.path().join("python3.9");
    assert_eq!(why(silent.to_str().unwrap()), Some(NotTaken::Silent));
    assert_eq!(*install, "tox --notest");
}

/// Makes an environment that has pytest, out of the one of `script/tools`.
fn copy_environment(to: &Path) {
    let from = tools().join("python");
    let library = fs::read_dir(from.join("lib")).unwrap().next().unwrap().unwrap().file_name();
    let packages = Path::new("lib").join(library).join("site-packages");
    fs::create_dir_all(to.join(&packages)).unwrap();
    let copy = |name: &Path| {
        let copied = Command::new("cp").arg("-a").arg(from.join(name)).arg(to.join(name)).status();
        assert!(copied.unwrap().success());
    };
    fs::create_dir(to.join("bin")).unwrap();
    ["pyvenv.cfg", "bin/python", "bin/python3"].into_iter().map(Path::new).for_each(copy);
    for entry in fs::read_dir(from.join(&packages)).unwrap() {
        let name = entry.unwrap().file_name();
        let of_pytest =
            ["pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py"];
        if of_pytest.iter().any(|package| name.to_string_lossy().starts_with(package)) {
            copy(&packages.join(name));
        }
    }
}

/// Environments that tools made are used where they keep them.
#[test]
fn the_environment_of_a_tool_runs_the_tests() {
    for place in [".tox/py3", ".nox/tests-3", "venv"] {
        let mut stage = Stage::new(&[
            (PYTHON.path, PYTHON.text),
            (
                "tests/test_calc.py",
                "import calc\n\ndef test_zero():\n    assert calc.half(0) == 0\n",
            ),
            (".gitignore", ".tox\n.nox\nvenv\n"),
        ]);
        copy_environment(&stage.path().join(place));
        stage.options.environment.push(("PATH".into(), "/usr/bin".into()));
        let verdict = stage.prove_one(&PYTHON.claim("tool", PYTHON.defect));
        assert!(verdict.proven, "{place}: {verdict:#?}");
    }
}
