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
    assert!(output.stdout.contains("GitHub personal access token"), "{}", output.stdout);
}

#[test]
fn what_is_written_for_a_machine_to_use_is_whole() {
    // A masked diff could not be applied, and a masked file would have lost its content.
    let dir = directory(&[("Dockerfile", &dockerfile())]);
    let output = probity().dir(&dir).args(["check", "--diff"]).run().code(1);
    assert!(output.stdout.contains(&format!("+ENV TOKEN={}", token())), "{}", output.stdout);
    assert!(!output.stderr.contains(&token()), "{}", output.stderr);
    probity().dir(&dir).args(["check", "--fix"]).run().code(1);
    let fixed = std::fs::read_to_string(dir.path().join("Dockerfile")).unwrap();
    assert!(fixed.contains(&format!("ENV TOKEN={}", token())), "{fixed}");
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
