//! What a `.hadolint.yaml` says, what is odd about it, and what becomes of it under `check`.

use std::path::Path;

use probity_finding::Severity;

use super::{Format, LabelType, Threshold, read};
use crate::config::{Catalogue, Dialect, error::Problem, settings::resolve};

const PATH: &str = "a/.hadolint.yaml";

/// The warnings of a file, or its errors.
fn said(text: &str) -> Result<Vec<String>, String> {
    match read(Path::new(PATH), text) {
        Ok((_, warnings)) => Ok(warnings.iter().map(Problem::to_string).collect()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn every_key_is_read() {
    let text = "\
failure-threshold: warning
format: gitlab_codeclimate
no-color: true
no-fail: false
strict-labels: true
disable-ignore-pragma: true
ignored: [DL3006, SC2086]
override:
  error:
    - DL3008
  style: [DL3015]
label-schema:
  author: text
  built: rfc3339
trustedRegistries:
  - docker.io
";
    let (file, warnings) = read(Path::new(PATH), text).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(file.failure_threshold.unwrap().value, Threshold::Warning);
    let format = file.format.unwrap();
    assert_eq!((format.value, format.line, format.column), (Format::GitlabCodeclimate, 2, 9));
    assert!(file.no_color.unwrap().value && !file.no_fail.unwrap().value);
    assert!(file.strict_labels.unwrap().value && file.disable_ignore_pragma.unwrap().value);
    let words = |list: &[super::Placed<String>]| -> Vec<(String, usize)> {
        list.iter().map(|item| (item.value.clone(), item.line)).collect()
    };
    assert_eq!(words(&file.ignored), [("DL3006".to_owned(), 7), ("SC2086".to_owned(), 7)]);
    assert_eq!(words(&file.trusted_registries), [("docker.io".to_owned(), 16)]);
    let overrides: Vec<_> =
        file.overrides.iter().map(|(severity, it)| (*severity, it.value.as_str())).collect();
    assert_eq!(overrides, [(Severity::Error, "DL3008"), (Severity::Style, "DL3015")]);
    let labels: Vec<_> =
        file.labels.iter().map(|(name, kind)| (name.as_str(), kind.value)).collect();
    assert_eq!(labels, [("author", LabelType::Text), ("built", LabelType::Rfc3339)]);
}

#[test]
fn unknown_keys_are_odd_and_wrong_values_are_errors() {
    for (text, warnings) in [
        ("", &[][..]),
        ("# nothing\n", &[]),
        ("ignored:\noverride: null\nlabel-schema: ~\n", &[]),
        (
            "ignored: []\nignore: [DL3006]\n",
            &["a/.hadolint.yaml:2:1: unknown key `ignore`; did you mean `ignored`?"],
        ),
        (
            "override:\n  warn: [DL3006]\n",
            &["a/.hadolint.yaml:2:3: unknown key `warn` in `override`"],
        ),
    ] {
        let got = said(text).unwrap();
        assert_eq!(got.len(), warnings.len(), "{text}: {got:?}");
        for (got, expected) in got.iter().zip(warnings) {
            assert!(got.starts_with(expected), "{got}");
        }
    }
    let errors = [
        "ignored: DL3006\n",
        "ignored: [[a]]\n",
        "no-fail: maybe\n",
        "\nfailure-threshold: bad\n",
        "format: xml\n",
        "label-schema:\n  a: number\n",
        "[]\n",
        "ignored: [DL3006\n",
        "no-fail: true\nno-fail: true\n",
    ]
    .map(|text| said(text).unwrap_err());
    insta::assert_snapshot!(errors.join("\n"), @"
    a/.hadolint.yaml:1:10: `ignored` must be a list of words
    a/.hadolint.yaml:1:11: `ignored` must be a list of words
    a/.hadolint.yaml:1:10: `no-fail` must be true or false
    a/.hadolint.yaml:2:20: `failure-threshold` must be one of error, warning, info, style, ignore, none
    a/.hadolint.yaml:1:9: `format` must be one of tty, json, checkstyle, codeclimate, gitlab_codeclimate, gnu, codacy, sonarqube, sarif, junit
    a/.hadolint.yaml:2:6: `label-schema.a` must be one of text, rfc3339, semver, url, hash, spdx, email
    a/.hadolint.yaml:1:1: `the file` must be a table of keys
    a/.hadolint.yaml:1:10: not valid YAML: unclosed bracket '['
    a/.hadolint.yaml:2:1: not valid YAML: duplicate mapping key: no-fail
    ");
}

#[test]
fn check_takes_the_same_from_it() {
    let text = "\
failure-threshold: error
format: tty
ignored: [DL3006]
override: {error: [DL3008, DL4000, DL9999], style: [DL3008]}
trustedRegistries: [docker.io]
label-schema: {a: url, b: text}
strict-labels: true
disable-ignore-pragma: true
";
    let (file, _) = read(Path::new(PATH), text).unwrap();
    let (layer, warnings) = file.layer(&Catalogue::shipped(), Path::new(PATH));
    assert_eq!(warnings, []);
    let (config, _) = resolve(&[&layer], Vec::new());
    let printed = config.print(&Catalogue::shipped(), Dialect::Tally, &["check"]);
    for line in [
        "fail-level = \"error\" # from a/.hadolint.yaml:1",
        "format = \"text\" # from a/.hadolint.yaml:2",
        "enabled = false # from a/.hadolint.yaml:8",
        "trusted-registries = [\"docker.io\"] # from a/.hadolint.yaml:5",
        "labels = [\"a\", \"b\"] # from a/.hadolint.yaml:6",
        "labels = [\"a\"] # from a/.hadolint.yaml:6",
        "severity = \"error\" # from a/.hadolint.yaml:4",
    ] {
        let squeezed: Vec<String> = printed
            .lines()
            .map(|shown| shown.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert!(squeezed.iter().any(|shown| shown == line), "{line}\n{printed}");
    }
    let excluded: Vec<&str> =
        config.check.rules.exclude.iter().map(|rule| rule.value.as_str()).collect();
    assert_eq!(excluded, ["DL3006"]);
    assert!(config.rules.contains_key("buildkit/MaintainerDeprecated"));
    let silent = read(Path::new(PATH), "no-fail: true\nformat: codacy\n").unwrap().0;
    let (layer, warnings) = silent.layer(&Catalogue::shipped(), Path::new(PATH));
    assert_eq!(warnings.len(), 1);
    let (config, _) = resolve(&[&layer], Vec::new());
    assert_eq!(config.check.output.fail_level, crate::config::words::FailLevel::None);
}
