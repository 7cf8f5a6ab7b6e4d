//! Where findings lead: to `probity explain`, and to a site only if `PROBITY_DOCS_URL` names one.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    binary::{Run, directory, named, probity},
    lsp::client::Editor,
};

const SITE: &str = "https://docs.example/probity";
const BAD: &str = "FROM debian:12\nRUN sudo true\nWORKDIR srv\nRUN echo $1\nUSER 1000\n";
/// Sites of the tools that the rules come from.
const ELSEWHERE: [&str; 2] = ["github.com/hadolint", "docs.docker.com"];

fn project() -> TempDir {
    directory(&[("Dockerfile", BAD)])
}

fn check(dir: &TempDir, args: &[&str]) -> Run {
    probity().dir(dir).args(["check", "--preset", "all", "Dockerfile"]).args(args)
}

/// The link of a rule's finding, in a report of its format.
fn link(format: &str, report: &str, rule: &str) -> Value {
    let report: Value = serde_json::from_str(report).unwrap();
    let (rows, name, link) = match format {
        "json" => (&report["files"][0]["violations"], "rule", "docUrl"),
        "sarif" => (&report["runs"][0]["tool"]["driver"]["rules"], "id", "helpUri"),
        _ => unreachable!("{format}"),
    };
    let mut rows = rows.as_array().unwrap().iter();
    rows.find(|row| row[name] == rule).unwrap()[link].clone()
}

#[test]
fn machines_get_a_url_only_if_there_is_a_site() {
    let dir = project();
    let page = format!("{SITE}/rules/hadolint/DL3004/");
    for format in ["json", "sarif"] {
        let without = check(&dir, &["--format", format]).run().code(1).stdout;
        assert_eq!(link(format, &without, "hadolint/DL3004"), Value::Null);
        let with = check(&dir, &["--format", format]).env("PROBITY_DOCS_URL", &format!("{SITE}/"));
        let with = with.run().code(1).stdout;
        assert_eq!(link(format, &with, "hadolint/DL3004"), page.as_str());
        for report in [&without, &with] {
            assert!(ELSEWHERE.iter().all(|site| !report.contains(site)), "{format}: {report}");
        }
        // Under another name the links stay those of that tool.
        let theirs = named("tally").dir(&dir).env("PROBITY_DOCS_URL", SITE);
        let theirs = theirs.args(["lint", "--format", format, "Dockerfile"]).run().stdout;
        let theirs = link(format, &theirs, "hadolint/DL3004");
        assert_eq!(theirs, "https://github.com/hadolint/hadolint/wiki/DL3004");
    }
    let rules = probity().env("PROBITY_DOCS_URL", SITE).args(["rules", "--format", "json"]);
    let rules: Value = serde_json::from_str(&rules.run().code(0).stdout).unwrap();
    let rule = rules.as_array().unwrap().iter().find(|rule| rule["name"] == "hadolint/DL3004");
    assert_eq!(rule.unwrap()["docUrl"], page.as_str());
}

#[test]
fn no_format_leads_to_another_tools_page() {
    let dir = project();
    for format in [
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
    ] {
        for detail in [&[][..], &["-v"]] {
            let report = check(&dir, &["--format", format]).args(detail).run().code(1).stdout;
            assert!(ELSEWHERE.iter().all(|site| !report.contains(site)), "{format}: {report}");
        }
    }
}

#[test]
fn people_get_a_command_that_they_can_copy() {
    let dir = project();
    let short = check(&dir, &["--select", "DL3004"]).run().code(1).stdout;
    insta::assert_snapshot!(short, @"
    Dockerfile:2:5: error: do not use sudo; switch with USER, or at run time with gosu [hadolint/DL3004]
    2 | RUN sudo true
      |     ^^^^ run it without sudo (--fix --fix-unsafe)

    1 finding in 1 of 1 file: 1 error.
    Fixable: 1 with `--fix --fix-unsafe`.
    Explain: `probity explain hadolint/DL3004`.
    ");
    let full = check(&dir, &["-v"]).run().code(1).stdout;
    let docs = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| Some(line.strip_prefix("  = docs: ")?.to_owned())).collect()
    };
    insta::assert_snapshot!(docs(&full).join("\n"), @"
    probity explain tally/newline-between-instructions
    probity explain hadolint/DL3004
    probity explain tally/newline-between-instructions
    probity explain buildkit/WorkdirRelativePath
    probity explain tally/newline-between-instructions
    https://www.shellcheck.net/wiki/SC2086
    probity explain tally/newline-between-instructions
    ");
    let linked = check(&dir, &["-v"]).env("PROBITY_DOCS_URL", SITE).run().code(1).stdout;
    insta::assert_snapshot!(docs(&linked).join("\n"), @"
    https://docs.example/probity/rules/tally/newline-between-instructions/
    https://docs.example/probity/rules/hadolint/DL3004/
    https://docs.example/probity/rules/tally/newline-between-instructions/
    https://docs.example/probity/rules/buildkit/WorkdirRelativePath/
    https://docs.example/probity/rules/tally/newline-between-instructions/
    https://www.shellcheck.net/wiki/SC2086
    https://docs.example/probity/rules/tally/newline-between-instructions/
    ");
    let terminal = |run: Run| run.in_terminal_of(100).run().stdout;
    assert!(!terminal(check(&dir, &[])).contains("\u{1b}]8;;https://docs.docker.com"));
    let clicked = terminal(check(&dir, &[]).env("PROBITY_DOCS_URL", SITE));
    assert!(clicked.contains(&format!("\u{1b}]8;;{SITE}/rules/hadolint/DL3004/")), "{clicked:?}");
}

#[test]
fn a_site_that_is_not_a_url_is_reported_and_not_used() {
    let dir = project();
    let output = check(&dir, &["--format", "json"]).env("PROBITY_DOCS_URL", "docs.example");
    let output = output.run().code(1);
    assert_eq!(
        output.stderr,
        "warning: PROBITY_DOCS_URL is `docs.example`, which is not an http or https URL, so findings \
         have no links\n"
    );
    assert_eq!(link("json", &output.stdout, "hadolint/DL3004"), Value::Null);
}

#[test]
fn an_editor_gets_the_link_of_the_site() {
    let dir = project();
    let hrefs = |run: Run| {
        let mut editor = Editor::start_as(run.args(["lsp"]), dir.path(), json!({}));
        let uri = editor.open(&dir.path().join("Dockerfile"), BAD);
        let found = editor.pushed(&uri, Some(1));
        editor.leave();
        let of = |rule: &str| found.iter().find(|found| found["code"] == rule).unwrap().clone();
        of("hadolint/DL3004")["codeDescription"]["href"].clone()
    };
    assert_eq!(hrefs(probity()), Value::Null);
    let with = hrefs(probity().env("PROBITY_DOCS_URL", SITE));
    assert_eq!(with, format!("{SITE}/rules/hadolint/DL3004/"));
}
