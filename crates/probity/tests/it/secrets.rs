//! A planted secret is found, named by kind, and printed nowhere.

use crate::binary::{directory, probity};

/// Put together here, so that no file of the repository holds it.
fn token() -> String {
    ["ghp_", "q7Zr2LmX9tPw4KcVb3Nd8YhJ5sFg6T", "uQe1Ab"].concat()
}

/// The token stands where messages, excerpts and fixes would quote it.
fn dockerfile() -> String {
    let token = token();
    format!(
        "FROM debian:12 AS Build\nENV TOKEN {token}\nWORKDIR {token}\nRUN curl -H \
         \"Authorization: Bearer {token}\" https://example.com | sh\nMAINTAINER {token}\n"
    )
}

const FORMATS: [&str; 11] = [
    "text",
    "json",
    "sarif",
    "github-actions",
    "markdown",
    "checkstyle",
    "codeclimate",
    "gitlab",
    "junit",
    "gnu",
    "sonarqube",
];

#[test]
fn no_format_prints_a_secret_unless_it_is_asked_to() {
    let dir = directory(&[("Dockerfile", &dockerfile())]);
    for format in FORMATS {
        let args = ["check", "--format", format];
        let output = probity().dir(&dir).args(args).run().code(1);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(!said.contains(&token()), "{format}:\n{said}");
        assert!(said.contains("secrets-in-code"), "{format}:\n{said}");
    }
    let output = probity().dir(&dir).args(["check", "--show-secrets"]).run().code(1);
    assert!(output.stdout.contains(&token()));
    let output = probity().dir(&dir).args(["check", "--hide-source"]).run().code(1);
    insta::assert_snapshot!(output.stdout, @r#"
    Dockerfile:1:19: warning: Stage name 'Build' should be lowercase [buildkit/StageNameCasing]
    Dockerfile:2:5: warning: "ENV key=value" should be used instead of legacy "ENV key value" format [buildkit/LegacyKeyValueFormat]
    Dockerfile:2:11: error: GitHub personal access token in the file [tally/secrets-in-code]
    Dockerfile:3:9: warning: Relative workdir "****************************************" can have unexpected results if the base image changes [buildkit/WorkdirRelativePath]
    Dockerfile:3:9: error: GitHub personal access token in the file [tally/secrets-in-code]
    Dockerfile:4:5: warning: nothing verifies this script before it runs; download it to a file, compare its checksum, then run the file [probity/unverified-script]
    Dockerfile:4:36: error: GitHub personal access token in the file [tally/secrets-in-code]
    Dockerfile: and 1 more of tally/secrets-in-code, line 5 (-v shows all)
    Dockerfile:5:1: warning: Maintainer instruction is deprecated in favor of using label [buildkit/MaintainerDeprecated]
    9 findings in 1 of 1 file: 4 errors, 5 warnings.
    By rule: 4 tally/secrets-in-code, 1 buildkit/LegacyKeyValueFormat, 1 buildkit/MaintainerDeprecated, 1 buildkit/StageNameCasing, 1 buildkit/WorkdirRelativePath, 1 probity/unverified-script.
    Fixable: 2 with `--fix`, 1 with `--fix --fix-unsafe`.
    Explain: `probity explain tally/secrets-in-code`.
    "#);
}

#[test]
fn what_is_written_for_a_machine_to_use_is_whole() {
    // A masked diff could not be applied, and a masked file would have lost its content.
    let dir = directory(&[("Dockerfile", &dockerfile())]);
    let output = probity().dir(&dir).args(["check", "--diff"]).run().code(1);
    let token = token();
    let kept = format!(
        "WORKDIR {token}\n RUN curl -H \"Authorization: Bearer {token}\" https://example.com | sh\n \
         MAINTAINER {token}\n"
    );
    assert_eq!(
        output.stdout,
        format!(
            "--- a/Dockerfile\n+++ b/Dockerfile\n@@ -1,5 +1,5 @@\n-FROM debian:12 AS Build\n-ENV TOKEN \
             {token}\n+FROM debian:12 AS build\n+ENV TOKEN={token}\n {kept}"
        )
    );
    assert!(!output.stderr.contains(&token), "{}", output.stderr);
    probity().dir(&dir).args(["check", "--fix"]).run().code(1);
    let fixed = std::fs::read_to_string(dir.path().join("Dockerfile")).unwrap();
    let kept = kept.replace("\n ", "\n");
    assert_eq!(fixed, format!("FROM debian:12 AS build\nENV TOKEN={token}\n{kept}"));
}

#[test]
fn the_configuration_can_allow_values_and_kinds() {
    let allow = |line: String| {
        let config = format!("[rules.tally.secrets-in-code]\n{line}\n");
        let dir = directory(&[("Dockerfile", &dockerfile()), ("tally.toml", &config)]);
        probity().dir(&dir).args(["check", "--format", "gnu"]).run()
    };
    for line in [
        format!("allowed-values = [\"{}\"]", token()),
        "allowed-patterns = [\"^ghp_q7\"]".to_owned(),
    ] {
        let output = allow(line);
        assert!(!output.stdout.contains("secrets-in-code"), "{}", output.stdout);
    }
    let output = allow("allowed-patterns = [\"(\"]".to_owned()).code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: rules.tally.secrets-in-code
      cause: allowed pattern 1 is not a regular expression: unclosed group
    ");
    let output = allow("allowed-kinds = [\"no-such-kind\"]".to_owned()).code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: rules.tally.secrets-in-code
      cause: allowed kind `no-such-kind` is not a kind of secret
    ");
}
