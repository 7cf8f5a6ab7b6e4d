//! `cargo xtask to-run` and `cargo xtask passed`, on a checkout with three test programs: what each
//! change makes run again, and what counts as passed.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use tempfile::TempDir;

const ALL: &str = "all()\n";

/// Two crates and the binary, and programs that are never started.
struct Checkout {
    directory: TempDir,
}

impl Checkout {
    fn new() -> Self {
        let checkout = Self { directory: tempfile::tempdir().expect("temporary directory") };
        let root = checkout.directory.path();
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(root).status();
        assert!(git.expect("git").success());
        for (path, text) in [
            (".gitignore", "target\n"),
            ("README.md", "the page"),
            ("docs/guide.md", "the guide"),
            ("examples/a/Dockerfile", "FROM a"),
            ("crates/probity/src/main.rs", "main"),
            ("crates/probity-lint/src/lib.rs", "lib"),
            ("crates/probity-lint/tests/it/case.txt", "case"),
            ("crates/probity-lint/examples/steps.rs", "example"),
            ("crates/probity-text/src/lib.rs", "lib"),
            ("target/debug/probity", "binary"),
            ("target/debug/deps/probity", "tests of probity"),
            ("target/debug/deps/lint", "tests of lint"),
            ("target/debug/deps/text", "tests of text"),
        ] {
            checkout.write(path, text);
        }
        let program = |name: &str, package: &str| {
            format!(
                r#""{package}::it": {{"package-id": "path+file://{root}/crates/{package}#0.2.0",
                    "binary-path": "{root}/target/debug/deps/{name}"}}"#,
                root = root.display(),
            )
        };
        let programs = [
            program("probity", "probity"),
            program("lint", "probity-lint"),
            program("text", "probity-text"),
        ];
        checkout.write(
            "target/list/binaries.json",
            &format!(
                r#"{{"rust-build-meta": {{"target-directory": "{root}/target", "non-test-binaries":
                    {{"path+file://{root}/crates/probity#0.2.0": [{{"path": "debug/probity"}}]}}}},
                    "rust-binaries": {{{}}}}}"#,
                programs.join(","),
                root = root.display(),
            ),
        );
        checkout
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// What xtask prints on standard output and on standard error.
    fn xtask(&self, arguments: &[&str], variable: (&str, &str)) -> (String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(arguments)
            .args(["target/list", "--root", "."])
            .env(variable.0, variable.1)
            .current_dir(self.directory.path())
            .output()
            .expect("xtask");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let said = text(output.stderr);
        assert!(output.status.success(), "{said}");
        (text(output.stdout), said)
    }

    fn to_run(&self) -> String {
        self.xtask(&["to-run"], ("LANG", "C")).0
    }

    /// The crates whose tests run; the others are named on standard error.
    fn runs_again(&self) -> String {
        let (filter, said) = self.xtask(&["to-run"], ("LANG", "C"));
        let run = ["lint", "probity", "text"].into_iter().filter(|name| {
            let id =
                if *name == "probity" { "probity::it" } else { &format!("probity-{name}::it") };
            let is_left_out = filter.contains(&format!("binary_id(={id})"));
            let line = format!("{id} passed 0 min ago, and nothing it reads changed\n");
            assert_eq!(said.contains(&line), is_left_out, "{said}");
            !is_left_out
        });
        run.collect::<Vec<_>>().join(" ")
    }

    /// Each program has passed, but for those that are named with what the report says of them.
    fn pass_but(&self, others: &[(&str, &str)]) {
        let suites: String = ["probity::it", "probity-lint::it", "probity-text::it"]
            .iter()
            .map(|id| {
                let passed = r#"skipped="0" errors="0" failures="0""#;
                let counts =
                    others.iter().find(|(name, _)| name == id).map_or(passed, |(_, is)| is);
                format!("    <testsuite name=\"{id}\" tests=\"9\" {counts}>\n    </testsuite>\n")
            })
            .collect();
        self.write("target/list/junit.xml", &format!("<testsuites>\n{suites}</testsuites>\n"));
        self.xtask(&["passed", "--report", "target/list/junit.xml"], ("LANG", "C"));
    }
}

#[test]
fn what_passed_runs_again_when_something_changed_that_it_could_notice() {
    for (changed, run_again) in [
        ("", ""),
        ("target/debug/deps/lint", "lint"),
        ("target/debug/probity", "probity"),
        ("README.md", "probity"),
        ("docs/guide.md", "probity"),
        ("docs/new.md", "probity"),
        ("crates/probity/src/main.rs", "probity"),
        ("crates/probity-lint/src/lib.rs", "lint"),
        ("crates/probity-lint/tests/it/case.txt", "lint probity text"),
        ("examples/a/Dockerfile", "lint probity text"),
        ("script/tools", "lint probity text"),
        ("target/tools/new", "lint probity text"),
        ("target/debug/examples/steps", "lint"),
        ("target/debug/examples/other", ""),
    ] {
        let checkout = Checkout::new();
        assert_eq!(checkout.to_run(), ALL);
        checkout.pass_but(&[]);
        if !changed.is_empty() {
            checkout.write(changed, "changed");
        }
        assert_eq!(checkout.runs_again(), run_again, "{changed}");
    }
}

#[test]
fn rights_and_links_are_part_of_a_file() {
    let checkout = Checkout::new();
    let root = checkout.directory.path();
    std::os::unix::fs::symlink("a", root.join("crates/probity-lint/tests/link")).expect("a link");
    for run_again in ["lint probity text", "lint probity text", ""] {
        assert_eq!(checkout.runs_again(), run_again);
        checkout.pass_but(&[]);
        let script = root.join("examples/a/Dockerfile");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("rights");
    }
    let link = root.join("crates/probity-lint/tests/link");
    fs::remove_file(&link).expect("the link");
    std::os::unix::fs::symlink("b", link).expect("another link");
    assert_eq!(checkout.runs_again(), "lint probity text");
}

#[test]
fn the_filter_is_one_that_nextest_reads() {
    let checkout = Checkout::new();
    checkout.to_run();
    checkout.pass_but(&[]);
    assert_eq!(
        checkout.to_run(),
        "not (binary_id(=probity-lint::it) | binary_id(=probity-text::it) | binary_id(=probity::it))\n"
    );
}

#[test]
fn only_a_program_whose_tests_all_passed_is_left_out() {
    for counts in [
        r#"skipped="0" errors="0" failures="1""#,
        r#"skipped="0" errors="1" failures="0""#,
        r#"skipped="2" errors="0" failures="0""#,
    ] {
        let checkout = Checkout::new();
        checkout.to_run();
        checkout.pass_but(&[("probity::it", counts), ("probity-text::it", counts)]);
        assert_eq!(checkout.to_run(), "not (binary_id(=probity-lint::it))\n", "{counts}");
    }
}

#[test]
fn a_program_that_fails_later_has_not_passed() {
    let checkout = Checkout::new();
    checkout.to_run();
    checkout.pass_but(&[]);
    checkout.write("target/debug/deps/lint", "changed");
    checkout.to_run();
    checkout.pass_but(&[("probity-lint::it", r#"skipped="0" errors="0" failures="1""#)]);
    checkout.write("target/debug/deps/lint", "tests of lint");
    assert_eq!(
        checkout.to_run(),
        "not (binary_id(=probity-text::it) | binary_id(=probity::it))\n",
        "it may fail as it did, whatever its bytes are"
    );
}

#[test]
fn what_changes_during_a_run_was_not_tested() {
    let checkout = Checkout::new();
    checkout.to_run();
    checkout.write("docs/guide.md", "edited while the tests ran");
    checkout.pass_but(&[]);
    assert_eq!(
        checkout.to_run(),
        "not (binary_id(=probity-lint::it) | binary_id(=probity-text::it))\n"
    );
}

#[test]
fn another_environment_and_a_day_later_make_everything_run() {
    let checkout = Checkout::new();
    checkout.to_run();
    checkout.pass_but(&[]);
    let (filter, _) = checkout.xtask(&["to-run"], ("PROBITY_WITH_AIKEN", "1"));
    assert_eq!(filter, ALL);
    let path = checkout.directory.path().join("target/list/passed.json");
    let passed = fs::read_to_string(&path).expect("passed.json");
    let mut runs: serde_json::Value = serde_json::from_str(&passed).expect("JSON");
    for run in runs.as_object_mut().expect("an object").values_mut() {
        let seconds = run["seconds"].as_u64().expect("seconds");
        run["seconds"] = (seconds - 24 * 60 * 60).into();
    }
    checkout.write("target/list/passed.json", &runs.to_string());
    assert_eq!(checkout.to_run(), ALL);
    checkout.write("target/list/passed.json", "cut off in the mid");
    assert_eq!(checkout.to_run(), ALL);
}
