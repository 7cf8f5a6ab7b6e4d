//! The reports of a review, read back by parsers that are not ours.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use super::{findings, probity, recorded, repository, review_in};
use crate::binary::tools;

#[test]
fn every_report_says_what_the_review_says_and_goes_where_it_is_wanted() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let mut told = findings();
    told[0]["title"] = json!("the <b>average</b> & \"it\" is wrong, 100%:\nreally");
    let agent = recorded(place.path(), &told.to_string());
    let out = place.path().join("review");
    let at = |name: &str| place.path().join(name);
    let wanted = |format: &str, name: &str| format!("{format}={}", at(name).display());
    probity()
        .args(["review", "--agent", &agent, "--no-history", "--output", out.to_str().unwrap()])
        .args(["--report", &wanted("sarif", "a.sarif"), "--report", &wanted("junit", "a.xml")])
        .args(["--report", &wanted("gitlab", "a.json")])
        .env("XDG_CACHE_HOME", at("cache").to_str().unwrap())
        .dir(repo.path())
        .run()
        .code(0);
    let page = review_in(&out);
    let issue = &page["proven_issues"][0];
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    for (name, own) in [
        ("a.sarif", "review.sarif"),
        ("a.xml", "review.junit.xml"),
        ("a.json", "review.gitlab.json"),
    ] {
        assert_eq!(text(&at(name)), text(&out.join(own)), "{name}");
    }

    let schema =
        tools().join("node/node_modules/@microsoft/sarif-multitool-linux/sarif-2.1.0.json");
    let schema: Value = serde_json::from_str(text(&schema).trim_start_matches('\u{feff}')).unwrap();
    let sarif: Value = serde_json::from_str(&text(&at("a.sarif"))).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&sarif).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    let places = "from sarif_pydantic import Sarif\n\
        (run,) = Sarif.model_validate_json(sys.stdin.read()).runs\n\
        places = [it.locations[0].physical_location for it in run.results]\n\
        told = [[it.artifact_location.uri, it.region.start_line] for it in places]\n";
    let seen = read_by_python(places, &at("a.sarif"));
    assert_eq!(seen.as_array().unwrap().len(), 2, "one proven, one observed: {seen:#?}");
    assert_eq!(seen[0], json!([issue["file"], issue["line"]]));

    let quality: Vec<Value> = serde_json::from_str(&text(&at("a.json"))).unwrap();
    assert_eq!(quality[0]["location"]["path"], issue["file"]);
    assert_eq!(quality[0]["location"]["lines"]["begin"], issue["line"]);
    assert_eq!(quality[0]["fingerprint"], issue["fingerprint"]);
    let severities = ["info", "minor", "major", "critical", "blocker"];
    for issue in &quality {
        assert!(severities.contains(&issue["severity"].as_str().unwrap()), "{issue:#}");
    }

    let count = "from junitparser import JUnitXml\n\
        report = JUnitXml.fromstring(sys.stdin.buffer.read())\n\
        cases = [case for suite in report for case in suite]\n\
        kinds = [[type(it).__name__ for it in case.result] for case in cases]\n\
        told = [report.tests, report.failures, report.skipped, kinds]\n";
    let read = read_by_python(count, &at("a.xml"));
    assert_eq!((&read[0], &read[1]), (&json!(3), &json!(1)), "{read}");
    let kinds = read[3].as_array().unwrap();
    assert_eq!(kinds.iter().filter(|kind| **kind == json!(["Failure"])).count(), 1, "{read}");
}

/// What `told` is after a script has read a file.
fn read_by_python(script: &str, file: &Path) -> Value {
    let script = format!("import sys, json\n{script}json.dump(told, sys.stdout)\n");
    let mut python = Command::new(tools().join("python/bin/python"));
    let output =
        python.args(["-c", &script]).stdin(fs::File::open(file).unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_report_without_a_format_or_a_file_is_refused_before_anything_is_asked() {
    let refusals = ["sarif", "sarif=", "nonsense=x", "=x"]
        .map(|word| probity().args(["review", "--report", word]).run().code(2).stderr);
    insta::assert_snapshot!(refusals.join("\n"), @"
    error: invalid value 'sarif' for '--report <FORMAT=FILE>': expected FORMAT=FILE

    For more information, try 'probity review --help'.

    error: invalid value 'sarif=' for '--report <FORMAT=FILE>': expected FORMAT=FILE

    For more information, try 'probity review --help'.

    error: invalid value 'nonsense=x' for '--report <FORMAT=FILE>': `nonsense` is not a valid value (valid: text, json, markdown, html, sarif, junit, gitlab, github-actions)

    For more information, try 'probity review --help'.

    error: invalid value '=x' for '--report <FORMAT=FILE>': `` is not a valid value (valid: text, json, markdown, html, sarif, junit, gitlab, github-actions)

    For more information, try 'probity review --help'.
    ");
}
