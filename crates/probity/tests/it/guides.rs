//! The guides: every command in them runs, every link leads somewhere, every promise has its tests.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::binary::probity;

/// What cannot run here, and why; of these the flags alone are tried.
const NEED_MORE: &[(&str, &str)] = &[
    ("probity audit --provider openai", "a model"),
    ("probity audit --provider ollama", "a model"),
    ("probity audit --provider acp", "an agent's login"),
    ("probity review --agent claude", "an agent's login"),
    ("probity review --base", "an agent's login"),
    ("probity config migrate", "a file of another tool"),
    ("probity review show", "a review in the history"),
    ("probity review history --delete", "a review in the history"),
    ("probity acp", "an editor"),
    ("probity agent ask", "an agent's login"),
    ("probity agent replay", "a trace of yours"),
];

/// What belongs to a checkout and not to the program.
const OF_THE_CHECKOUT: &[&str] = &["script/", "cargo "];

#[test]
fn every_command_of_the_guides_runs() {
    let place = Place::new();
    let mut ran = 0;
    // Several guides have the same line, and some lines start every tool of the machine.
    let mut tried = BTreeSet::new();
    for (guide, command) in commands() {
        if !tried.insert(command.clone()) {
            continue;
        }
        let words = command.split_whitespace().skip_while(|word| is_assignment(word));
        let words = words.collect::<Vec<_>>().join(" ");
        if OF_THE_CHECKOUT.iter().any(|start| words.starts_with(start)) {
            assert!(is_there(&words), "{guide}: {command}");
            continue;
        }
        let needs = NEED_MORE.iter().any(|(start, _)| words.starts_with(start));
        let line = if needs { format!("{command} --help") } else { command.clone() };
        let output = place.run(&line);
        let errors = String::from_utf8_lossy(&output.stderr);
        let ok = if needs { &[0][..] } else { &[0, 1] };
        let code = output.status.code().unwrap_or(-1);
        assert!(ok.contains(&code), "{guide}: `{line}` ended with {code}\n{errors}");
        ran += usize::from(!needs);
    }
    assert!(ran >= 15, "only {ran} commands were found: is the form of the guides another?");
    for (start, why) in NEED_MORE {
        let used = commands().iter().any(|(_, command)| command.contains(start));
        assert!(used, "no guide has `{start}` any more, which needs {why}");
    }
}

#[test]
fn links_within_the_project_lead_somewhere() {
    for guide in guides() {
        let text = fs::read_to_string(&guide).unwrap();
        for target in links(&text).map(|(_, target)| target) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let path = guide.parent().unwrap().join(file);
            assert!(path.exists(), "{}: {target} is not there", guide.display());
        }
    }
}

#[test]
fn every_promise_of_the_threat_model_names_tests_that_exist() {
    let guide = root().join("docs/threat-model.md");
    let text = fs::read_to_string(&guide).unwrap();
    // The table of mounts describes, and promises nothing.
    let (before, rest) = text.split_once("<!-- begin: mounts -->").unwrap();
    let text = [before, rest.split_once("<!-- end: mounts -->").unwrap().1].concat();
    let promises: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(promises.len() > 20, "{}", promises.len());
    for promise in promises.into_iter().filter(|line| !line.starts_with("| promise")) {
        assert!(links(promise).count() > 0, "no test shows this: {promise}");
        for (test, file) in links(promise) {
            let source = fs::read_to_string(guide.parent().unwrap().join(file)).unwrap();
            let at =
                source.find(&format!("fn {test}(")).unwrap_or_else(|| panic!("{test}: {file}"));
            let before = source[..at].trim_end();
            assert!(before.ends_with("#[test]"), "{test} in {file} is no test");
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn guides() -> Vec<PathBuf> {
    let mut guides = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    guides.extend(pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    guides.sort();
    guides
}

/// The name and the target of each link of a page.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("](").filter_map(|(at, _)| {
        let name = &text[text[..at].rfind('[')? + 1..at];
        let rest = &text[at + 2..];
        Some((name, &rest[..rest.find(')')?]))
    })
}

/// The lines that a reader would type, with the guide that has them.
fn commands() -> Vec<(String, String)> {
    let mut found = Vec::new();
    // The page of all flags is made by the program itself.
    for guide in guides().iter().filter(|guide| !guide.ends_with("cli.md")) {
        let name = guide.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(guide).unwrap().replace("\\\n", " ");
        let mut language = None;
        for line in text.lines() {
            if let Some(fence) = line.strip_prefix("```") {
                language = if language.is_none() { Some(fence.to_owned()) } else { None };
                continue;
            }
            let command = match language.as_deref() {
                Some("console") => line.strip_prefix("$ "),
                Some("sh") => Some(line).filter(|line| !line.starts_with('#')),
                _ => None,
            };
            let command = command.map(|it| it.split("  #").next().unwrap_or_default().trim());
            found.extend(command.filter(|it| !it.is_empty()).map(|it| (name.clone(), it.into())));
        }
    }
    found
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
}

fn is_there(command: &str) -> bool {
    let word = command.split_whitespace().next().unwrap_or_default();
    match word {
        "cargo" => command.split_whitespace().last().is_some_and(|path| root().join(path).exists()),
        script => {
            fs::metadata(root().join(script)).is_ok_and(|it| it.permissions().mode() & 0o100 != 0)
        }
    }
}

/// A project such as a reader may have, and the names of the tools.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let at = place.0.path();
        for directory in ["bin", "home", "work/examples/go", "work/skills/vulnerabilities"] {
            fs::create_dir_all(at.join(directory)).unwrap();
        }
        probity().args(["names", "install", "--dir"]).args([at.join("bin")]).run().code(0);
        let program = at.join("bin/probity");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_probity"), program).unwrap();
        let dockerfile = "FROM alpine:3.20 AS Build\nCMD [\"true\"]\n";
        for file in ["work/Dockerfile", "work/examples/go/Dockerfile"] {
            fs::write(at.join(file), dockerfile).unwrap();
        }
        fs::write(at.join("work/Makefile"), "all test:\n\t@true\n").unwrap();
        fs::write(at.join("work/escrow.ak"), "validator escrow { spend() { True } }\n").unwrap();
        let git = place.run("git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b commit -qm all");
        assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
        place
    }

    fn run(&self, line: &str) -> Output {
        let at = self.0.path();
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new("timeout")
            .args(["60", "sh", "-c", line])
            .current_dir(at.join("work"))
            .env_clear()
            .env("PATH", format!("{}:{path}", at.join("bin").display()))
            .env("HOME", at.join("home"))
            .env("XDG_STATE_HOME", at.join("state"))
            .output()
            .unwrap()
    }
}
