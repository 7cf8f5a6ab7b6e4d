//! `extends`: which value wins, which files are refused, and what the messages say.

use std::{fs, path::Path};

use crate::{config::Choice, name::Name};

fn settings(
    files: &[(&str, &str)],
    target: &str,
) -> Result<(crate::config::Settings, String), String> {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let here = fs::canonicalize(root.path()).unwrap();
    let mut configs = super::discovery::configs_of(Name::Probity, &here, Choice::Nearest, None);
    let found = configs.for_target(Path::new(target)).map_err(|error| error.to_string())?;
    Ok((found.as_ref().clone(), configs.take_warnings().join("\n")))
}

const RULE: &str =
    "[[check.rule]]\nname = 'NAME'\nmessage = 'x'\nwhen = 'instruction == \"RUN\"'\n";

#[test]
fn the_file_itself_wins_over_what_it_extends_and_the_last_extended_over_the_first() {
    let rule = |name: &str| RULE.replace("NAME", name);
    let first = format!(
        "[check]\npreset = 'strict'\n[check.rules.tally.max-lines]\nmax = 3\nskip-comments = true\n{}{}",
        rule("shared"),
        rule("both"),
    );
    let (settings, warnings) = settings(
        &[
            (".git/HEAD", ""),
            ("shared/base.toml", "[check.output]\nformat = 'json'\n[ai]\nmax-rounds = 1\n"),
            ("shared/first.toml", &format!("extends = 'base.toml'\n{first}")),
            ("shared/second.toml", "[check.output]\nformat = 'sarif'\n"),
            (
                "app/probity.toml",
                &format!(
                    "extends = ['../shared/first.toml', '../shared/second.toml']\n\
                     [check.rules.tally.max-lines]\nmax = 5\n{}{}",
                    rule("own"),
                    rule("both"),
                ),
            ),
        ],
        "app/Dockerfile",
    )
    .unwrap();
    assert_eq!(warnings, "");
    let shown: Vec<_> = settings.files.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(
        shown,
        ["shared/base.toml", "shared/first.toml", "shared/second.toml", "app/probity.toml"]
    );
    assert_eq!(settings.ai.max_rounds, 1);
    let output = crate::config::word::Word::word(settings.check.output.format);
    assert_eq!(output, "sarif");
    let rules: Vec<_> =
        settings.check.rule.read().iter().map(|rule| rule.name().to_owned()).collect();
    assert_eq!(rules, ["own/shared", "own/own", "own/both"]);
    assert!(settings.rules.contains_key("tally/max-lines"));
}

#[test]
fn patterns_of_all_files_count() {
    let (settings, _) = settings(
        &[
            (".git/HEAD", ""),
            ("a.toml", "[check.rules]\ninclude = ['StageNameCasing']\nexclude = ['MaintainerDeprecated', 'DL4001']\n"),
            ("probity.toml", "extends = 'a.toml'\n[check.rules]\nexclude = ['DL3026']\n"),
        ],
        "Dockerfile",
    )
    .unwrap();
    let values = |items: &[crate::config::Sourced<String>]| -> Vec<String> {
        items.iter().map(|item| item.value.clone()).collect()
    };
    assert_eq!(values(&settings.check.rules.include), ["StageNameCasing"]);
    assert_eq!(values(&settings.check.rules.exclude), ["MaintainerDeprecated", "DL4001", "DL3026"]);
}

#[test]
fn circles_missing_files_and_files_outside_the_repository_are_errors_with_their_line() {
    for (files, expected) in [
        (
            &[
                ("probity.toml", "# shared\nextends = 'a.toml'\n"),
                ("a.toml", "extends = 'probity.toml'\n"),
            ] as &[(&str, &str)],
            "a.toml:1: `extends = \"probity.toml\"` leads back to a file that is already being read; \
             remove one of the two `extends`",
        ),
        (
            &[("probity.toml", "extends = 'missing.toml'\n")],
            "probity.toml:1: cannot read `missing.toml`: No such file or directory (os error 2); a \
             path in `extends` starts at the directory of this file",
        ),
        (
            &[("probity.toml", "extends = '/etc/passwd'\n")],
            "probity.toml:1: `/etc/passwd` is outside the repository; copy it into the repository, or \
             extend it in your own probity.toml",
        ),
        (
            &[("app/probity.toml", "extends = '../a.toml'\n"), ("a.toml", "")],
            "app/probity.toml:1: `../a.toml` is outside the repository; copy it into the repository, \
             or extend it in your own probity.toml",
        ),
        (
            &[("probity.toml", "extends = 5\n")],
            "probity.toml:1:11: `extends` must be a list of strings, not an integer",
        ),
        (
            &[("probity.toml", "extends = 'a.toml'\n"), ("a.toml", "[check]\nprest = 'all'\n")],
            "a.toml:2:1: unknown key `prest` in [check]; did you mean `preset`? (valid keys: ",
        ),
    ] {
        let target = if files[0].0.starts_with("app") { "app/Dockerfile" } else { "Dockerfile" };
        let found = settings(files, target).unwrap_err();
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn an_extended_file_may_set_no_more_than_the_repositorys_own() {
    let files = [
        ("probity.toml", "extends = 'a.toml'\n"),
        ("a.toml", "[ai]\nendpoint = 'https://attacker.example'\n"),
    ];
    let (settings, warnings) = settings(&files, "Dockerfile").unwrap();
    assert_eq!(settings.ai.endpoint, None);
    assert!(warnings.starts_with("a.toml:2: `ai.endpoint"), "{warnings}");
}
