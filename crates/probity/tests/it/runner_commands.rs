//! Texts by strangers that CI runners would obey, on every way to a log.
//!
//! [`obeyed`] is a small model of three parsers: GitHub's two (`ActionCommand.TryParseV2` and
//! `TryParse`) and that of Azure Pipelines (`Command.TryParse`). Each attack first succeeds on it.

mod agents;

use std::{fs, path::Path, process::Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Output, Run, directory, named, probity};

/// The commands that GitHub's runner knows, each of which a stranger may give.
const GITHUB: [&str; 16] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "internal-set-repo-path",
    "warning",
];

/// What a hostile text says: one command for each parser, in the middle of a line and at its start.
const ATTACKS: [&str; 4] = [
    "##[add-path]/owned",
    "x ##vso[task.setvariable variable=PATH]/owned",
    "::stop-commands::owned",
    "\u{a0}::add-mask::owned",
];

/// The command that a runner finds in a line.
fn obeyed(line: &str) -> Option<String> {
    let registered = |info: &str| {
        let name = info.split(' ').next()?.to_ascii_lowercase();
        GITHUB.contains(&name.as_str()).then_some(name)
    };
    let workflow_command = || {
        let (info, _) = line.trim_start().strip_prefix("::")?.split_once("::")?;
        registered(info)
    };
    let legacy_command = || {
        let (_, rest) = line.split_once("##[")?;
        registered(rest.split_once(']')?.0)
    };
    let azure_command = || {
        let (_, rest) = line.split_once("##vso[")?;
        let name = rest.split_once(']')?.0.split(' ').next()?;
        let parts = name.split('.').filter(|part| !part.is_empty()).count();
        (parts == 2).then(|| name.to_owned())
    };
    // They look at the same line one after the other, and one hit is enough.
    workflow_command().or_else(legacy_command).or_else(azure_command)
}

/// All that runners would do with an output. They end a line at `\r` too.
pub(crate) fn commands(output: &str) -> Vec<String> {
    output.split(['\n', '\r']).filter_map(obeyed).collect()
}

#[track_caller]
pub(crate) fn assert_nothing_obeyed(output: &Output) {
    for text in [&output.stdout, &output.stderr] {
        assert_eq!(commands(text), [""; 0], "{text}");
        assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
    }
}

/// Paths and sources that are commands wherever a format shows them.
fn hostile() -> TempDir {
    let dir = directory(&[
        (
            "##[add-path]x/Dockerfile",
            "FROM a AS ##[error]\nMAINTAINER ##vso[task.complete result=Failed]\n",
        ),
        ("::stop-commands::x.Dockerfile", "FROM a AS Bad\nRUN cd x && sudo y # ##[add-path]y\n"),
        ("a\n::add-mask::x/Dockerfile", "FROM a AS Bad\n"),
        (
            "broken/Dockerfile",
            "FROM a\n::stop-commands::x\n##[add-path]x\n::set-env name=A::b \\\n  c\n",
        ),
        (
            "stage/Dockerfile",
            "FROM a AS X\nCOPY --from=##vso[task.setvariable] a b\nWORKDIR x##[add-path]y\n",
        ),
    ]);
    fs::create_dir(dir.path().join("out")).unwrap();
    dir
}

/// The words that the binary gives for a choice.
fn choices(run: Run) -> Vec<String> {
    let refusal = run.run().stderr;
    let (_, list) = refusal
        .split_once("(valid: ")
        .or_else(|| refusal.split_once("[possible values: "))
        .unwrap_or_else(|| unreachable!("no list in {refusal}"));
    let list = list.split([')', ']']).next().unwrap();
    let words: Vec<String> = list.split(", ").map(|word| word.trim().to_owned()).collect();
    assert!(words.len() > 5, "{refusal}");
    words
}

#[test]
fn each_attack_succeeds_where_nothing_breaks_it() {
    let names: Vec<String> = ATTACKS.iter().filter_map(|attack| obeyed(attack)).collect();
    assert_eq!(names, ["add-path", "task.setvariable", "stop-commands", "add-mask"]);
    assert_eq!(commands("## [error]x\n: :error::x\n##vso [a.b]\n::1\n##[derive]"), [""; 0]);
}

#[test]
fn no_format_of_check_gives_a_runner_a_command() {
    let dir = hostile();
    let formats = choices(probity().args(["check", "--format", "nonsense"]));
    for format in &formats {
        let check = |to: &str| {
            let run = probity().dir(&dir).args(["check", "--no-color", "--format", format]);
            run.args(["--output", to]).run().code(1)
        };
        let file = format!("out/{format}");
        check(&file);
        // A file holds the report as it is, with something to obey in every format.
        let whole = fs::read_to_string(dir.path().join(&file)).unwrap();
        assert!(whole.contains("##[") && !commands(&whole).is_empty(), "{format}: {whole}");
        let (stdout, stderr, device) = (check("-"), check("stderr"), check("/dev/stdout"));
        for (shown, other) in
            [(&stdout.stdout, &stdout), (&stderr.stderr, &stderr), (&device.stdout, &device)]
        {
            assert!(!shown.contains("##[") && !shown.contains("##vso["), "{format}: {shown}");
            if format == "github-actions" {
                // Each finding is an annotation, and nothing else is a command.
                let given = commands(shown);
                let is_own = |name: &String| ["error", "warning", "notice"].contains(&&**name);
                assert!(
                    given.iter().all(is_own) && given.len() == whole.lines().count(),
                    "{shown}"
                );
            } else {
                assert_nothing_obeyed(other);
                assert_same_value(shown, &whole);
            }
        }
    }
}

/// Whether programs read the same from the log as from a file.
#[track_caller]
fn assert_same_value(shown: &str, whole: &str) {
    // Code Climate ends each document with a NUL, and Codacy with nothing.
    let documents = |text: &str| -> Option<Vec<Value>> {
        let parts = text.split('\0').filter(|part| !part.trim().is_empty());
        let read = |part| serde_json::Deserializer::from_str(part).into_iter::<Value>();
        parts.flat_map(read).collect::<Result<_, _>>().ok()
    };
    match documents(whole) {
        Some(values) => assert_eq!(documents(shown), Some(values)),
        None if whole.starts_with("<?xml") => {
            assert_eq!(shown.replace("&#91;", "[").replace("&#58;", ":"), whole);
        }
        None => assert_eq!(shown.replace(' ', ""), whole.replace(' ', "")),
    }
}

#[test]
fn no_format_of_hadolint_gives_a_runner_a_command() {
    let dir = hostile();
    let files = ["##[add-path]x/Dockerfile", "::stop-commands::x.Dockerfile", "broken/Dockerfile"];
    for format in choices(named("hadolint").args(["--format", "nonsense", "x"])) {
        let hadolint = |more: &[&str]| {
            let run = named("hadolint").dir(&dir).args(["--no-color", "--no-fail", "-V"]);
            run.args(["--format", &format]).args(more).args(files).run()
        };
        let file = dir.path().join("out/hadolint");
        hadolint(&["--output", file.to_str().unwrap()]);
        let output = hadolint(&[]);
        assert_nothing_obeyed(&output);
        assert_same_value(&output.stdout, &fs::read_to_string(&file).unwrap());
    }
}

#[test]
fn errors_and_logs_give_a_runner_no_command() {
    let dir = hostile();
    let configurations = [
        "[check]\n'##[add-path]x' = 1\n",
        "[\n::stop-commands::x\n",
        "[check.output]\nformat = '''a\n::add-mask::x'''\n",
    ];
    for (number, text) in configurations.iter().enumerate() {
        fs::write(dir.path().join(format!("{number}.toml")), text).unwrap();
    }
    let lines: [&[&str]; 10] = [
        &["check", "--config", "0.toml"],
        &["check", "--config", "1.toml"],
        &["check", "--config", "2.toml"],
        &["check", "--config", "::stop-commands::x"],
        &["check", "##[add-path]x\n::add-mask::x"],
        &["##[add-path]x\n::add-mask::x"],
        &["check", "--##[add-path]x"],
        &["check", "--format", "\r::stop-commands::x"],
        &["check", "-vvvv"],
        &["explain", "\n::stop-commands::x##[error]y"],
    ];
    for line in lines {
        let output = probity().dir(&dir).args(line).run();
        assert_ne!(output.code, Some(0), "{line:?}");
        let said = format!("{}{}", output.stdout, output.stderr);
        let is_told =
            ["add-path", "stop-commands", "add-mask"].iter().any(|word| said.contains(word));
        assert!(is_told, "{line:?}: {said}");
        assert_nothing_obeyed(&output);
    }
}

/// A file with something to fix, and a command for either runner beside it.
const FIXABLE: &str = "FROM a AS Bad\n# ##[add-path]x\nRUN <<EOF\n::stop-commands::x\nEOF\n";

#[test]
fn a_patch_is_broken_only_where_a_runner_reads_it() {
    let dir = directory(&[("Dockerfile", FIXABLE)]);
    let ways: [(&[&str], Option<&str>); 2] =
        [(&["check", "--diff"], None), (&["check", "--fix", "-"], Some(FIXABLE))];
    for (words, input) in ways {
        let check = |variables: &[(&str, &str)]| {
            let run = probity().dir(&dir).args(words).env("CI", "");
            let run = variables.iter().fold(run, |run: Run, (name, value)| run.env(name, value));
            match input {
                Some(text) => run.input(text).run(),
                None => run.run(),
            }
        };
        let whole = check(&[]).stdout;
        assert!(!commands(&whole).is_empty(), "{whole}");
        for variable in ["CI", "GITHUB_ACTIONS", "TF_BUILD"] {
            let output = check(&[(variable, "true")]);
            assert_eq!(commands(&output.stdout), [""; 0], "{variable}: {}", output.stdout);
            assert_same_value(&output.stdout, &whole);
        }
        // A regular file is not the log.
        let path = dir.path().join("patch");
        let mut command =
            probity().dir(&dir).args(words).env("GITHUB_ACTIONS", "true").into_command();
        let text = dir.path().join("input");
        fs::write(&text, input.unwrap_or_default()).unwrap();
        command.stdin(fs::File::open(text).unwrap()).stdout(fs::File::create(&path).unwrap());
        command.stderr(Stdio::null());
        command.status().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), whole);
    }
}

#[test]
fn values_of_json_lists_stay_what_they_are() {
    let rule = "[[check.rule]]\nname = 'x'\nmessage = '##[add-path]x'\nwhen = 'true'\n";
    let dir = directory(&[("probity.toml", rule)]);
    let output = probity().dir(&dir).args(["config", "--format", "json"]).run().code(0);
    assert_nothing_obeyed(&output);
    let page: Value = serde_json::from_str(&output.stdout).unwrap();
    assert!(page.to_string().contains("##[add-path]x"), "{page:#}");
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
