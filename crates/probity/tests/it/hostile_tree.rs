//! A repository that somebody hostile wrote, on which a user runs commands: what it cannot reach.

mod named;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::binary::{Output, directory, named, probity};

const BAD: &str = "FROM scratch AS Bad\n";
const GOOD: &str = "FROM scratch AS bad\n";
const PRECIOUS: &str = "export PATH=~/bin:$PATH\n";
/// A line that no output may show.
const SECRET: &str = "machine-secret = hunter2";

/// A home with a file of the user's, and a tree below it that was unpacked there.
struct Home {
    directory: TempDir,
}

impl Home {
    fn with(files: &[(&str, &str)], is_repository: bool) -> Self {
        let home = Self { directory: directory(&[(".bashrc", PRECIOUS), ("x/Dockerfile", BAD)]) };
        home.add("secret", &format!("{SECRET}\n"));
        home.add("own/Dockerfile", BAD);
        for (path, text) in files {
            home.add(&format!("x/{path}"), text);
        }
        if is_repository {
            fs::create_dir(home.at("x/.git")).unwrap();
        }
        home
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn add(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn link(&self, name: &str, target: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        symlink(target, self.at(name)).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    /// A check of the tree, from the home or from the tree itself.
    fn check(&self, from: &str, args: &[&str]) -> Output {
        let target = if from == "x" { "." } else { "x" };
        probity().dir(self.at(from)).args(["check"]).args(args).args([target]).run()
    }

    fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(path)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The files of a repository that can say where the report goes, by the text that does.
fn report_at(path: &str) -> Vec<(&'static str, String)> {
    vec![
        ("probity.toml", format!("[check.output]\npath = '{path}'\nformat = 'json'\n")),
        (".tally.toml", format!("[output]\npath = '{path}'\nformat = 'json'\n")),
        ("pyproject.toml", format!("[tool.probity.check.output]\npath = '{path}'\n")),
    ]
}

#[test]
fn a_report_that_a_repository_places_stays_below_its_file() {
    for from in ["", "x"] {
        for (file, text) in report_at("report") {
            let home = Home::with(&[(file, &text)], false);
            home.check(from, &[]).code(1);
            assert!(home.text("x/report").contains("Stage name 'Bad'"), "{file} from {from}");
            assert!(!home.at("report").exists(), "{file} from {from}");
            // A report of ours takes the place of another one, and of an empty file.
            home.check(from, &[]).code(1);
            home.add("x/report", "");
            home.check(from, &[]).code(1);
            assert!(!home.text("x/report").is_empty());
        }
        // The user's own word counts from where the user is.
        let home = Home::with(&[("probity.toml", &report_at("report")[0].1)], false);
        home.check(from, &["-o", "mine"]).code(1);
        assert!(home.at(from).join("mine").is_file() && !home.at("x/report").exists());
        assert!(home.text(".bashrc") == PRECIOUS);
    }
}

/// The path of a report, the links that are there with their targets, and what becomes of it.
type PlacedReport = (&'static str, &'static [(&'static str, &'static str)], &'static str);

#[test]
fn a_report_that_a_repository_places_replaces_nothing_but_reports() {
    let cases: &[PlacedReport] = &[
        (".bashrc", &[], "stdout"),
        ("/tmp/probity-hostile-report", &[], "ignored"),
        ("../.bashrc", &[], "ignored"),
        ("sub/../../.bashrc", &[], "ignored"),
        (".git/config", &[], "ignored"),
        ("link", &[("link", "../.bashrc")], "ignored"),
        ("new", &[("new", "../made")], "ignored"),
        ("away/.bashrc", &[("away", "..")], "ignored"),
        ("within", &[("within", "Makefile")], "ignored"),
        ("Makefile", &[], "refused"),
        ("sub", &[], "refused"),
    ];
    for is_repository in [true, false] {
        for from in ["", "x"] {
            for (path, links, outcome) in cases {
                for (file, text) in report_at(path) {
                    let files =
                        [(file, text.as_str()), ("Makefile", "all:\n\ttrue\n"), ("sub/keep", "")];
                    let home = Home::with(&files, is_repository);
                    for (name, target) in *links {
                        home.link(&format!("x/{name}"), target);
                    }
                    let output = home.check(from, &[]);
                    let case = format!("{file}: {path} from `{from}`: {}", output.stderr);
                    match *outcome {
                        "refused" => {
                            assert_eq!(output.code, Some(2), "{case}");
                            assert!(output.stderr.contains("--output"), "{case}");
                        }
                        "ignored" => {
                            assert_eq!(output.code, Some(1), "{case}");
                            assert!(output.stderr.contains("is ignored"), "{case}");
                            assert!(!output.stdout.is_empty(), "{case}");
                        }
                        // Below the file, where nothing is in the way.
                        _ => assert!(home.at("x").join(path).is_file(), "{case}"),
                    }
                    assert_eq!(home.text(".bashrc"), PRECIOUS, "{case}");
                    assert_eq!(home.text("x/Makefile"), "all:\n\ttrue\n", "{case}");
                    assert!(!home.at("made").exists(), "{case}");
                }
            }
        }
    }
    assert!(!Path::new("/tmp/probity-hostile-report").exists());
}

#[test]
fn a_baseline_that_a_repository_names_stays_below_its_file() {
    let text = "[check]\nbaseline = 'old.json'\n";
    let home = Home::with(&[("probity.toml", text)], true);
    let empty = "{\"version\":1,\"findings\":{\"gone\":{\"a/b\":[\"x\"]}}}";
    // A link to a baseline elsewhere is neither read nor shortened.
    home.add("theirs.json", empty);
    home.link("x/old.json", "../theirs.json");
    let output = home.check("", &[]).code(1);
    assert!(
        output.stderr.contains("`check.baseline = \"old.json\"` is ignored"),
        "{}",
        output.stderr
    );
    assert_eq!(home.text("theirs.json"), empty);
    // From anywhere the file's own directory counts.
    fs::remove_file(home.at("x/old.json")).unwrap();
    home.add("x/old.json", empty);
    home.add("old.json", "precious");
    home.check("", &[]).code(1);
    assert!(!home.text("x/old.json").contains("gone"), "{}", home.text("x/old.json"));
    assert_eq!(home.text("old.json"), "precious");
}

#[test]
fn a_linked_dockerfile_that_leads_out_of_its_tree_is_not_shown() {
    for is_repository in [true, false] {
        for target in ["../secret", "hop", "/etc/passwd", "away/secret"] {
            let home = Home::with(&[], is_repository);
            home.link("x/hop", "../secret");
            home.link("x/away", "..");
            home.link("x/g.Dockerfile", target);
            let case = format!("{target} in a repository: {is_repository}");
            // Found or named, checked, fixed or sent.
            let dry_run = ["--diff", "--fix-ai", "--ai-dry-run", "--acp-command", "cmd:cat"];
            for args in [&[][..], &["-v"], &["g.Dockerfile"], &["--diff"], &dry_run] {
                let output = home.check("x", args);
                let said = format!("{}{}", output.stdout, output.stderr);
                for secret in [SECRET, "machine-secret", "hunter2", "root:"] {
                    assert!(!said.contains(secret), "{case} {args:?}: {said}");
                }
                assert!(said.contains("outside of"), "{case} {args:?}: {said}");
                assert!(said.contains("pass that file itself"), "{case} {args:?}: {said}");
            }
            // The other file is checked as usual.
            let output = home.check("x", &[]).code(1);
            assert!(output.stdout.contains("Stage name 'Bad'"), "{case}: {}", output.stdout);
            let run = named("hadolint").dir(home.at("x")).args(["g.Dockerfile"]).run();
            assert!(!format!("{}{}", run.stdout, run.stderr).contains("hunter2"), "{case}");
            assert_ne!(run.code, Some(0), "{case}");
        }
        // A link within the tree is read.
        let home = Home::with(&[], is_repository);
        home.link("x/sub/inner.Dockerfile", "../Dockerfile");
        let run = probity().dir(home.at("x")).args(["check", "sub/inner.Dockerfile"]).run();
        assert!(run.code(1).stdout.contains("Stage name 'Bad'"));
        // So is one into a git directory not: it can hold a password of the user's.
        home.add("x/.git/config", SECRET);
        home.link("x/g.Dockerfile", ".git/config");
        let output = home.check("x", &[]).code(1);
        assert!(!output.stdout.contains("hunter2"), "{}", output.stdout);
    }
}

#[test]
fn fixes_follow_no_link_out_of_the_tree() {
    let outside = "own/Dockerfile";
    for is_repository in [true, false] {
        let home = Home::with(&[], is_repository);
        home.link("x/a/Dockerfile", "../../own/Dockerfile");
        home.link("x/linked", "../own");
        home.link("x/twice/Dockerfile", "../a/Dockerfile");
        for from in ["x", "own"] {
            for name in ["a/Dockerfile", "linked/Dockerfile", "twice/Dockerfile"] {
                // Without git, the working directory is the tree of what is below it.
                if !is_repository && from != "x" {
                    continue;
                }
                let path = home.at("x").join(name);
                let named = if from == "x" { Path::new(name) } else { &path };
                let run = probity().dir(home.at(from)).args(["check", "--fix"]).args([named]);
                let output = run.run().code(1);
                let refusal =
                    format!("leads to {}", home.at(outside).canonicalize().unwrap().display());
                assert!(output.stdout.contains(&refusal), "{}", output.stdout);
                assert!(output.stdout.contains("pass that file itself"), "{}", output.stdout);
                assert_eq!(home.text(outside), BAD, "{name} from {from}");
            }
        }
        // A link within the tree stays one, and its target is fixed.
        home.link("x/inner/Dockerfile", "../Dockerfile");
        probity().dir(home.at("x")).args(["check", "--fix", "inner/Dockerfile"]).run().code(0);
        assert!(home.at("x/inner/Dockerfile").is_symlink());
        assert_eq!(home.text("x/Dockerfile"), GOOD);
        assert_eq!(home.names("x/inner"), ["Dockerfile"]);
        // The way out that the message names.
        probity().dir(home.at("x")).args(["check", "--fix", "../own/Dockerfile"]).run().code(0);
        assert_eq!(home.text(outside), GOOD);
    }
}

#[test]
fn a_new_baseline_follows_no_link_out_of_the_tree() {
    let home = Home::with(&[], true);
    home.link("x/base.json", "../.bashrc");
    home.link("x/ci", "..");
    for name in ["base.json", "ci/.bashrc", "ci/new.json"] {
        let output = home.check("x", &["--write-baseline", name]).code(2);
        assert!(output.stderr.contains(name), "{}", output.stderr);
    }
    assert_eq!(home.text(".bashrc"), PRECIOUS);
    assert!(!home.at("new.json").exists());
    home.check("x", &["--write-baseline", "fresh.json"]).code(0);
    assert!(home.text("x/fresh.json").contains("StageNameCasing"));
}

/// Every name under which a configuration file is found, and the program that looks for it.
const FOUND: &[(&str, &str)] = &[
    ("probity", "probity.toml"),
    ("probity", ".tally.toml"),
    ("probity", "tally.toml"),
    ("probity", ".hadolint.yaml"),
    ("probity", ".hadolint.yml"),
    ("tally", ".tally.toml"),
    ("hadolint", ".hadolint.yaml"),
];

#[test]
fn a_configuration_file_that_leads_out_of_its_tree_is_not_shown() {
    for is_repository in [true, false] {
        for (program, file) in FOUND {
            for target in ["../secret", "hop", "/etc/passwd", "../missing"] {
                let home = Home::with(&[], is_repository);
                home.link("x/hop", "../secret");
                home.link(&format!("x/{file}"), target);
                let command = if *program == "tally" { "lint" } else { "check" };
                let mut run = named(program).dir(home.at("x"));
                if *program != "hadolint" {
                    run = run.args([command]);
                }
                let output = run.args(["Dockerfile"]).run();
                let said = format!("{}{}", output.stdout, output.stderr);
                let case = format!("{program} {file} -> {target}: {said}");
                for secret in [SECRET, "machine-secret", "hunter2", "root:"] {
                    assert!(!said.contains(secret), "{case}");
                }
                // What hadolint does not find does not exist for it.
                if *program != "hadolint" || target != "../missing" {
                    assert_ne!(output.code, Some(0), "{case}");
                    assert!(said.contains(file), "{case}");
                }
            }
        }
    }
}

#[test]
fn a_configuration_file_may_be_a_link_within_its_tree_or_one_that_the_user_names() {
    let text = "[check]\npreset = 'all'\n[check.output]\nformat = 'gnu'\n";
    let home = Home::with(&[("config/shared.toml", text)], true);
    home.link("x/probity.toml", "config/shared.toml");
    let output = home.check("x", &[]).code(1);
    assert!(output.stdout.starts_with("probity:"), "{}", output.stdout);
    // The user's word: by flag, and as the user's own file.
    let home = Home::with(&[], true);
    home.add("dotfiles/probity.toml", text);
    home.link("x/mine.toml", "../dotfiles/probity.toml");
    let output = home.check("x", &["--config", "mine.toml"]).code(1);
    assert!(output.stdout.starts_with("probity:"), "{}", output.stdout);
    home.link("settings/probity/probity.toml", "../../dotfiles/probity.toml");
    let settings = home.at("settings").display().to_string();
    let run = probity().dir(home.at("x")).env("XDG_CONFIG_HOME", &settings);
    let output = run.args(["check", "."]).run().code(1);
    assert!(output.stdout.starts_with("probity:"), "{}", output.stdout);
}

/// Longer than any of these commands takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn ends(mut command: Command, within: Duration) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let begin = Instant::now();
    while begin.elapsed() < within {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn a_pipe_in_the_place_of_a_configuration_file_keeps_nobody_waiting() {
    for file in ["probity.toml", ".tally.toml", ".hadolint.yaml", "pyproject.toml"] {
        let home = Home::with(&[], true);
        assert!(Command::new("mkfifo").arg(home.at("x").join(file)).status().unwrap().success());
        let output = home.check("x", &[]);
        // A pyproject.toml counts only with a table of ours.
        let code = if file == "pyproject.toml" { 1 } else { 2 };
        assert_eq!(output.code, Some(code), "{file}: {}", output.stderr);
    }
}

#[test]
fn what_a_repositorys_file_extends_stays_in_its_tree() {
    for is_repository in [true, false] {
        for extended in ["../secret", "link", "/etc/passwd", "away/secret"] {
            let text = format!("extends = '{extended}'\n");
            let home = Home::with(&[("probity.toml", &text)], is_repository);
            home.link("x/link", "../secret");
            home.link("x/away", "..");
            let output = home.check("x", &[]).code(2);
            assert!(output.stderr.contains("outside the repository"), "{}", output.stderr);
            assert!(!output.stderr.contains("hunter2"), "{}", output.stderr);
        }
    }
}

#[test]
fn limits_are_the_users() {
    let home = Home::with(
        &[(
            "probity.toml",
            "[check.slow-checks]\nmode = 'on'\ntimeout = '10h'\n[ai]\ntimeout = '10h'\n\
             proof-disk = '900g'\nmax-rounds = 1\n[review]\nsuite-timeout = '10h'\n",
        )],
        true,
    );
    let output = probity().dir(home.at("x")).args(["config", "--format", "json"]).run().code(0);
    let page: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    for (key, value) in [
        ("check.slow-checks.mode", "auto"),
        ("check.slow-checks.timeout", "20s"),
        ("ai.timeout", "1m30s"),
        ("ai.proof-disk", "20g"),
        ("review.suite-timeout", "2m"),
    ] {
        assert_eq!(page["settings"][key]["value"], value, "{key}");
        let named = format!("`{key} = ");
        let warning = output.stderr.lines().find(|line| line.contains(&named));
        let warning = warning.unwrap_or_else(|| panic!("{key}: {}", output.stderr));
        assert!(warning.contains("probity.toml:") && warning.contains(value), "{warning}");
    }
    assert_eq!(page["settings"]["ai.max-rounds"]["value"], 1);
    // The user sets them.
    let flags = probity().dir(home.at("x")).env("PROBITY_AI__TIMEOUT", "1h");
    let output = flags.args(["config", "--format", "json"]).run().code(0);
    let page: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(page["settings"]["ai.timeout"]["value"], "1h");
}

#[test]
fn a_pipe_in_the_place_of_a_file_stops_nobody() {
    for path in [
        ".gitignore",
        ".ignore",
        "sub/.gitignore",
        "sub/.ignore",
        ".git/info/exclude",
        ".git/config",
        ".git/HEAD",
        ".dockerignore",
        "probity.toml",
        ".hadolint.yaml",
        "compose.yaml",
        "sub/Dockerfile",
        "package.json",
        "go.mod",
    ] {
        let home = Home::with(&[("sub/keep", "")], true);
        fs::create_dir_all(home.at("x/.git/info")).unwrap();
        let pipe = Command::new("mkfifo").arg(home.at("x").join(path)).status().unwrap();
        assert!(pipe.success());
        for args in [&["check"][..], &["check", "--fix", "."], &["audit", "--no-cache", "."]] {
            let run = probity().dir(home.at("x")).args(args);
            assert!(ends(run.into_command(), PATIENCE), "{path}: {args:?}");
        }
    }
    // What may be ignored is not searched, and that is an error.
    let home = Home::with(&[("sub/Dockerfile", BAD)], true);
    assert!(Command::new("mkfifo").arg(home.at("x/sub/.gitignore")).status().unwrap().success());
    let output = home.check("x", &[]).code(2);
    assert!(output.stderr.contains("sub/.gitignore` is not a regular file"), "{}", output.stderr);
    assert!(output.stdout.contains("Stage name 'Bad'"), "{}", output.stdout);
}

#[test]
fn one_repository_decides_nothing_about_another() {
    let settings = "[check]\nbaseline = 'old.json'\noutput.path = 'report.txt'\n";
    let home = Home::with(&[("probity.toml", settings)], true);
    home.check("x", &["--write-baseline", "old.json", "--output", "-"]).code(0);
    // The baseline of the one hides what is in it, also under another name.
    fs::create_dir(home.at("x/moved")).unwrap();
    fs::rename(home.at("x/Dockerfile"), home.at("x/moved/Dockerfile")).unwrap();
    home.add("y/.git/keep", "");
    home.add("y/Dockerfile", BAD);
    let output = probity().dir(home.at("")).args(["check", "x", "y"]).run().code(1);
    assert!(!home.at("x/report.txt").exists());
    assert!(output.stdout.contains("y/Dockerfile"), "{}{}", output.stdout, output.stderr);
    assert!(!output.stdout.contains("x/moved"), "{}", output.stdout);
    assert!(output.stderr.contains("name a file with --output"), "{}", output.stderr);
    home.check("", &[]).code(0);
    assert!(home.at("x/report.txt").exists());
}
