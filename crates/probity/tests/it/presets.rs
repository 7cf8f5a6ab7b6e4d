//! Presets, the fail level and the short text report, through the built binary.

use std::fs;

use serde_json::Value;

use crate::binary::{Run, directory, named, probity};

/// Written as maintainers of well-kept images write them.
const WELL_KEPT: [&str; 3] = [
    include_str!("presets/ledger.Dockerfile"),
    include_str!("presets/cache.Dockerfile"),
    include_str!("presets/orders.Dockerfile"),
];

/// Written in a hurry: about sixty lines, and eight defects.
const SHOP: &str = include_str!("presets/shop.Dockerfile");

/// Three packages without a version in one instruction, and nothing else that is recommended.
const PINNING: &str = "FROM debian:12\nRUN apt-get update && apt-get install -y curl \\\n  git wget && rm -rf /var/lib/apt/lists/*\n";

fn rules(run: Run) -> Vec<String> {
    let output = run.args(["--format", "json"]).run();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let files = report["files"].as_array().unwrap().iter();
    let found = files.flat_map(|file| file["violations"].as_array().unwrap());
    found.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn well_kept_files_are_clean_by_default_and_not_under_the_other_presets() {
    for text in WELL_KEPT {
        let dir = directory(&[("Dockerfile", text)]);
        let check = |preset: &str| probity().dir(&dir).args(["check", "--preset", preset]);
        assert_eq!(rules(probity().dir(&dir).args(["check"])), [""; 0]);
        let strict = rules(check("strict"));
        let all = rules(check("all"));
        assert!(!strict.is_empty() && all.len() > strict.len(), "{strict:?} {all:?}");
    }
}

#[test]
fn an_ordinary_file_is_a_screenful_that_reads_as_a_review() {
    let dir = directory(&[("Dockerfile", SHOP)]);
    let output = probity().dir(&dir).args(["check"]).run().code(1);
    assert!(output.stdout.lines().count() <= 40, "{}", output.stdout);
    insta::assert_snapshot!(output.stdout, @r#"
Dockerfile:2:6: warning: latest changes without notice; pin the version to a release tag [hadolint/DL3007]
2 | FROM node:latest AS Build
  |      ^^^^^^^^^^^

Dockerfile:2:21: warning: Stage name 'Build' should be lowercase [buildkit/StageNameCasing]
2 | FROM node:latest AS Build
  |                     ^^^^^ Rename the stage to `build` (--fix)

Dockerfile:6:5: warning: "ENV key=value" should be used instead of legacy "ENV key value" format [buildkit/LegacyKeyValueFormat]
6 | ENV PORT 8080
  |     ^^^^ Write it with an equals sign (--fix)

Dockerfile:25:5: warning: nothing verifies this download; compare its checksum with a known one (`sha256sum -c`) before using it [probity/unverified-download]
25 | RUN curl -fsSL https://example.com/shrink.tgz | tar xz -C /usr/local/bin
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

Dockerfile:34:5: info: delete the apt-get lists after installing something: rm -rf /var/lib/apt/lists/* at the end of this RUN [hadolint/DL3009]
34 | RUN apt-get update \
   |     ^^^^^^^^^^^^^^ remove the lists (--fix --fix-unsafe)

Dockerfile:46:13: warning: no earlier stage is called biuld [hadolint/DL3022]
46 | COPY --from=biuld /srv/shop/public public
   |             ^^^^^

Dockerfile:50:8: error: do not use sudo; switch with USER, or at run time with gosu [hadolint/DL3004]
50 |     && sudo chown shop /srv/uploads
   |        ^^^^ run it without sudo (--fix --fix-unsafe)

Dockerfile:52:5: warning: Do not use ARG or ENV instructions for sensitive data (ENV "SESSION_SECRET") [buildkit/SecretsUsedInArgOrEnv]
52 | ENV SESSION_SECRET=change-me
   |     ^^^^^^^^^^^^^^ The value can be read in the image's history; use RUN --mount=type=secret.

Dockerfile:61:1: info: JSON arguments recommended for CMD to prevent unintended behavior related to OS signals [buildkit/JSONArgsRecommended]
61 | CMD node dist/server.js
   | ^^^ Write a JSON array (--fix --fix-unsafe)

9 findings in 1 of 1 file: 1 error, 6 warnings, 2 info.
By rule: 1 buildkit/JSONArgsRecommended, 1 buildkit/LegacyKeyValueFormat, 1 buildkit/SecretsUsedInArgOrEnv, 1 buildkit/StageNameCasing, 1 hadolint/DL3004, 1 hadolint/DL3007, 1 hadolint/DL3009, 1 hadolint/DL3022, 1 probity/unverified-download.
Fixable: 2 with `--fix`, 3 with `--fix --fix-unsafe`.
Explain: `probity explain buildkit/JSONArgsRecommended`.
"#);
}

#[test]
fn a_rule_folds_in_text_and_nowhere_else() {
    let dir = directory(&[("Dockerfile", SHOP)]);
    let check = |args: &[&str]| {
        let run = probity().dir(&dir).args(["check", "--select", "DL4006"]).args(args);
        run.run().code(1).stdout
    };
    insta::assert_snapshot!(check(&["--hide-source"]), @"
Dockerfile:25:47: warning: set the SHELL option -o pipefail before RUN with a pipe in it [hadolint/DL4006]
Dockerfile:26:20: warning: set the SHELL option -o pipefail before RUN with a pipe in it [hadolint/DL4006]
Dockerfile:27:21: warning: set the SHELL option -o pipefail before RUN with a pipe in it [hadolint/DL4006]
Dockerfile: and 1 more of hadolint/DL4006, line 28 (-v shows all)
4 findings in 1 of 1 file: 4 warnings.
By rule: 4 hadolint/DL4006.
Fixable: 4 with `--fix --fix-unsafe`.
Explain: `probity explain hadolint/DL4006`.
");
    let told = |text: String| text.matches("hadolint/DL4006").count();
    for args in [&["-v", "--hide-source"][..], &["--format", "gnu"], &["--format", "json"]] {
        let text = check(args);
        assert!(!text.contains("more of"), "{text}");
        assert!(told(text) >= 4);
    }
}

#[test]
fn files_variables_and_flags_name_the_preset() {
    let dir = directory(&[("Dockerfile", PINNING)]);
    let has = |run: Run| rules(run).contains(&"hadolint/DL3008".to_owned());
    let check = || probity().dir(&dir).args(["check"]);
    assert!(!has(check()));
    assert!(has(check().args(["--preset", "strict"])));
    assert!(has(check().env("PROBITY_CHECK__PRESET", "strict")));
    fs::write(dir.path().join("probity.toml"), "[check]\npreset = \"strict\"\n").unwrap();
    assert!(has(check()));
    assert!(!has(check().args(["--preset", "recommended"])));
    fs::write(dir.path().join("probity.toml"), "[check]\npreset = \"strickt\"\n").unwrap();
    let output = check().run().code(2);
    insta::assert_snapshot!(output.stderr, @r#"
    error: probity.toml:2:10: `check.preset`: `strickt` is not a valid value; did you mean `strict`? (valid: recommended, strict, all)
      2 | preset = "strickt"
        |          ^
      help: fix it; then `probity config` shows every key and its value
    "#);
}

#[test]
fn naming_a_rule_switches_it_on() {
    let ways: &[(&str, &[&str])] = &[
        ("", &["--select", "DL3008"]),
        ("", &["--select", "hadolint/*"]),
        ("", &["--fix-rule", "DL3008", "--diff"]),
        ("[check.rules]\ninclude = [\"hadolint/DL3008\"]\n", &[]),
        ("[check.rules.hadolint.DL3008]\nseverity = \"info\"\n", &[]),
    ];
    for (config, args) in ways {
        let dir = directory(&[("Dockerfile", PINNING), ("probity.toml", config)]);
        let output = probity().dir(&dir).args(["check", "--format", "gnu"]).args(*args).run();
        let text = output.stdout + &output.stderr;
        assert!(text.contains("hadolint/DL3008"), "{config} {args:?}: {text}");
    }
    let dir = directory(&[("Dockerfile", PINNING)]);
    let run = probity().dir(&dir).args(["check", "--select", "DL3008", "--ignore", "DL3008"]);
    assert_eq!(rules(run), [""; 0]);
}

#[test]
fn only_warnings_fail_unless_told_otherwise_and_tally_keeps_its_own_way() {
    // A command without JSON is `info`, a missing blank line `style`.
    let dir = directory(&[("Dockerfile", "FROM debian:12\nCMD date\n")]);
    let check = |args: &[&str]| probity().dir(&dir).args(["check"]).args(args).run();
    let output = check(&[]).code(0);
    insta::assert_snapshot!(output.stdout, @"
    Dockerfile:2:1: info: JSON arguments recommended for CMD to prevent unintended behavior related to OS signals [buildkit/JSONArgsRecommended]
    2 | CMD date
      | ^^^ Write a JSON array (--fix --fix-unsafe)

    1 finding in 1 of 1 file: 1 info.
    Fixable: 1 with `--fix --fix-unsafe`.
    Explain: `probity explain buildkit/JSONArgsRecommended`.
    ");
    check(&["--fail-level", "info"]).code(1);
    check(&["--preset", "all"]).code(0);
    check(&["--preset", "all", "--fail-level", "style"]).code(1);
    let output = named("tally").dir(&dir).args(["lint"]).run().code(1);
    insta::assert_snapshot!(output.stdout, @"
    info[hadolint/DL3057]: HEALTHCHECK instruction missing
     --> Dockerfile:1:6
      |
    1 | FROM debian:12
      |      ^^^^^^^^^
      |
      = docs: https://github.com/hadolint/hadolint/wiki/DL3057
      = help: AI AutoFix: add a HEALTHCHECK (an agent's fix, --fix --fix-ai)

    info[buildkit/JSONArgsRecommended]: JSON arguments recommended for CMD to prevent unintended behavior related to OS signals
     --> Dockerfile:2:1
      |
    2 | CMD date
      | ^^^
      |
      = note: The shell that runs the command does not pass signals on, so the container is killed instead of stopped.
      = docs: https://docs.docker.com/go/dockerfile/rule/json-args-recommended/
      = help: Write a JSON array (suggested fix, --fix --fix-unsafe)

    style[tally/newline-between-instructions]: expected blank line between FROM and CMD
     --> Dockerfile:2:1
      |
    2 | CMD date
      | ^^^
      |
      = help: Add a blank line (safe fix, --fix)

    3 findings in 1 of 1 file: 2 info, 1 style.
    By rule: 1 buildkit/JSONArgsRecommended, 1 hadolint/DL3057, 1 tally/newline-between-instructions.
    Fixable: 1 with `--fix`, 1 with `--fix --fix-unsafe`, 1 with `--fix --fix-ai` and `--acp-command` or `--ai --ai-provider`.
    ");
}

#[test]
fn packages_of_one_instruction_are_one_finding_with_a_place_each() {
    let dir = directory(&[("Dockerfile", PINNING)]);
    let run = probity().dir(&dir).args(["check", "--select", "DL3008", "--format", "json"]);
    let report: Value = serde_json::from_str(&run.run().code(1).stdout).unwrap();
    let found = report["files"][0]["violations"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{report}");
    let place =
        |span: &Value| [&span["start"]["line"], &span["start"]["column"]].map(Value::as_u64);
    let places: Vec<_> = found[0]["spans"].as_array().unwrap().iter().map(place).collect();
    assert_eq!(places, [(2, 41), (3, 2), (3, 6)].map(|(line, at)| [Some(line), Some(at)]));
    let output = named("hadolint").dir(&dir).args(["--format", "tty", "Dockerfile"]).run().code(1);
    assert_eq!(output.stdout.matches("DL3008").count(), 1, "{}", output.stdout);
}

#[test]
fn a_script_is_one_finding_but_not_to_tally() {
    let script = "#!/bin/sh\nset -eu\nname=$1\nshift\nexec \"$name\" \"$@\"\n";
    let dir = directory(&[("Dockerfile", script)]);
    assert_eq!(rules(probity().dir(&dir).args(["check"])), ["probity/not-a-dockerfile"]);
    probity().dir(&dir).args(["check"]).run().code(4);
    let each = rules(named("tally").dir(&dir).args(["lint"]));
    assert_eq!(each, ["tally/unknown-instruction"; 4]);
    let output = named("hadolint").dir(&dir).args(["Dockerfile"]).run().code(1);
    assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
}

#[test]
fn of_two_that_contradict_each_other_one_speaks_and_never_none() {
    let text = "FROM python:3.12\nRUN pip install flask==3.0.3\n";
    let mount = "tally/prefer-package-cache-mounts";
    let clean = "hadolint/DL3042";
    let cases = [
        ("", mount),
        ("[check.rules]\nexclude = [\"tally/prefer-package-cache-mounts\"]\n", clean),
        (
            "[check.rules.tally.prefer-package-cache-mounts]\nexclude.paths = [\"Dockerfile\"]\n",
            clean,
        ),
    ];
    for (config, expected) in cases {
        let dir = directory(&[("Dockerfile", text), ("probity.toml", config)]);
        let found = rules(probity().dir(&dir).args(["check", "--preset", "all"]));
        let told: Vec<&String> =
            found.iter().filter(|rule| [mount, clean].contains(&rule.as_str())).collect();
        assert_eq!(told, [expected], "{config}");
    }
}
