//! Files that BuildKit rejects and templates: whatever is asked for, their bytes stay as they are.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::{check, text_of};
use crate::binary::{directory, named, probity};

/// Name and content of every file of the corpus.
fn corpus() -> BTreeMap<String, String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/broken");
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn copied(files: &BTreeMap<String, String>) -> TempDir {
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    directory(&files)
}

fn assert_untouched(dir: &TempDir, files: &BTreeMap<String, String>, case: &str) {
    for (name, text) in files {
        let now = fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(now, *text, "{case} edits {name}");
    }
}

#[test]
fn no_level_and_no_preset_edits_a_broken_file() {
    let files = corpus();
    assert!(files.len() >= 60, "{} files", files.len());
    let dir = copied(&files);
    let levels: [&[&str]; 3] = [
        &["--fix"],
        &["--fix", "--fix-unsafe"],
        // An agent that is asked would fail, and the report would say so.
        &["--fix", "--fix-unsafe", "--fix-ai", "--acp-command", "/bin/false"],
    ];
    for preset in ["recommended", "strict", "all"] {
        for level in levels {
            let case = format!("{preset} {level:?}");
            let args = ["check", "--preset", preset, "--format", "json", "."];
            let output = probity().dir(&dir).args(args).args(level).run();
            assert_untouched(&dir, &files, &case);
            let report: Value = serde_json::from_str(&output.stdout).unwrap();
            let unfixed = report["unfixed_files"].as_array().unwrap();
            let mut named: Vec<&str> =
                unfixed.iter().map(|entry| entry["file"].as_str().unwrap()).collect();
            named.sort_unstable();
            assert_eq!(named, files.keys().collect::<Vec<_>>(), "{case}");
            assert!(!output.stdout.contains("suggestedFix"), "{case} offers a fix");
            assert_eq!(report.get("ai_fixes"), None, "{case}");
        }
    }
    named("tally").dir(&dir).args(["lint", "--fix", "--fix-unsafe", "."]).run();
    assert_untouched(&dir, &files, "tally");
}

#[test]
fn the_same_files_are_edited_once_they_are_correct() {
    // The corpus would prove nothing if there were nothing to fix in it.
    let (dir, output) = check("FROM alpine:3.20 as base\nENV A b\n", &["--fix", "--fix-unsafe"]);
    assert_eq!(text_of(&dir), "FROM alpine:3.20 AS base\nENV A=b\n", "{}", output.stderr);
    let fixable = corpus().values().filter(|text| text.contains("ENV A b")).count();
    assert!(fixable > 50, "{fixable}");
}

#[test]
fn the_report_says_once_why_nothing_was_fixed() {
    let text = "FROM alpine:3.20 as base\nENV A b\nLABEL c=\"{{ d }}\"\n";
    let reason = "no fix applied: the template placeholder {{ d }} is not filled in";
    let said = |format: &str| {
        let dir = directory(&[("Dockerfile", text)]);
        let output = probity().dir(&dir).args(["check", "--fix", "--format", format]).run();
        (output.stdout, output.stderr)
    };
    let help = "help: correct this first; probity edits only files that BuildKit accepts\n";
    assert_eq!(said("text").1, format!("note: Dockerfile:3: {reason}\n{help}"));
    for format in ["json", "sarif", "github-actions", "markdown"] {
        let (stdout, _) = said(format);
        assert_eq!(stdout.matches("is not filled in").count(), 1, "{format}: {stdout}");
    }
    let notice = format!("::notice file=Dockerfile,line=3,title=probity::{reason}");
    assert_eq!(said("github-actions").0.lines().last(), Some(notice.as_str()));
    let json: Value = serde_json::from_str(&said("json").0).unwrap();
    let entry = &json["unfixed_files"][0];
    assert_eq!((&entry["file"], &entry["line"]), (&"Dockerfile".into(), &3.into()));
    let sarif: Value = serde_json::from_str(&said("sarif").0).unwrap();
    let notification = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(notification["message"]["text"], reason);
    // Without fixes there is nothing to say.
    let (_, quiet) = check(text, &[]);
    assert!(!quiet.stdout.contains("filled in") && quiet.stderr.is_empty(), "{}", quiet.stderr);
}
