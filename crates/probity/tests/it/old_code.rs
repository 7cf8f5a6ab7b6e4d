//! A way in for old code: baselines, changed lines, levels of fixes, watching, colors.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Output, directory, probity};

const OLD: &str = "FROM debian:12\nMAINTAINER me\nRUN cd /srv\nUSER 1000\n";

fn check(dir: &TempDir, args: &[&str]) -> Output {
    probity().dir(dir).args(["check", "--format", "gnu"]).args(args).run()
}

fn write(dir: &TempDir, path: &str, text: &str) {
    fs::write(dir.path().join(path), text).unwrap();
}

fn read(dir: &TempDir, path: &str) -> String {
    fs::read_to_string(dir.path().join(path)).unwrap()
}

/// The rules that a report is about, in its order.
fn rules(output: &Output) -> Vec<String> {
    let lines = output.stdout.lines().filter_map(|line| line.rsplit_once('['));
    lines.map(|(_, rule)| rule.trim_end_matches(']').to_owned()).collect()
}

fn with_baseline() -> TempDir {
    let dir = directory(&[("Dockerfile", OLD)]);
    let written = check(&dir, &["--write-baseline", "old.json"]).code(0);
    assert_eq!(
        (written.stdout.as_str(), written.stderr.as_str()),
        ("", "Wrote 2 findings to old.json\n")
    );
    dir
}

/// How many findings a baseline lists.
fn listed(dir: &TempDir, file: &str) -> usize {
    let document: Value = serde_json::from_str(&read(dir, file)).unwrap();
    let rules = document["findings"].as_object().unwrap().values().flat_map(|rules| {
        rules.as_object().unwrap().values().map(|prints| prints.as_array().unwrap().len())
    });
    rules.sum()
}

#[test]
fn what_a_baseline_lists_is_hidden_wherever_it_moves_and_what_is_new_is_not() {
    let dir = with_baseline();
    let hidden = check(&dir, &["--baseline", "old.json"]).code(0);
    assert_eq!(hidden.stderr, "2 old findings hidden by old.json\n");
    write(&dir, "Dockerfile", &format!("# a comment\n{OLD}RUN cd /tmp\n"));
    let one = check(&dir, &["--baseline", "old.json"]).code(1);
    assert_eq!(rules(&one), ["probity/lost-shell-state"]);
    insta::assert_snapshot!(one.stdout, @"probity:Dockerfile:6:5: warning: this is lost when the RUN ends; use WORKDIR [probity/lost-shell-state]");
    // The same line once more is one finding more.
    write(&dir, "Dockerfile", &format!("{OLD}RUN cd /srv\n"));
    assert_eq!(
        rules(&check(&dir, &["--baseline", "old.json"]).code(1)),
        ["probity/lost-shell-state"]
    );
    write(&dir, "probity.toml", "[check]\nbaseline = \"old.json\"\n");
    write(&dir, "Dockerfile", OLD);
    check(&dir, &[]).code(0);
}

#[test]
fn a_baseline_shrinks_and_what_was_mended_cannot_come_back() {
    let dir = with_baseline();
    write(&dir, "Dockerfile", &OLD.replace("MAINTAINER me\n", ""));
    // What a run does not look for, or only shows, stays.
    check(&dir, &["--baseline", "old.json", "--select", "lost-shell-state"]).code(0);
    check(&dir, &["--baseline", "old.json", "--diff"]).code(0);
    assert_eq!(listed(&dir, "old.json"), 2);
    let said = check(&dir, &["--baseline", "old.json"]).code(0).stderr;
    insta::assert_snapshot!(said, @"
    1 old finding hidden by old.json
    Removed 1 fixed finding from old.json
    ");
    assert_eq!(listed(&dir, "old.json"), 1);
    write(&dir, "Dockerfile", OLD);
    let back = check(&dir, &["--baseline", "old.json"]).code(1);
    assert_eq!(rules(&back).len(), 1, "{}", back.stdout);
    // Another file, which was not checked, keeps what is listed for it.
    write(&dir, "other.Dockerfile", "FROM debian:12\nRUN cd /srv\nUSER 1000\n");
    check(&dir, &["--write-baseline", "both.json"]).code(0);
    fs::remove_file(dir.path().join("other.Dockerfile")).unwrap();
    check(&dir, &["--baseline", "both.json", "Dockerfile"]).code(0);
    assert_eq!(listed(&dir, "both.json"), 3);
    check(&dir, &["--baseline", "both.json"]).code(0);
    assert_eq!(listed(&dir, "both.json"), 2);
}

#[test]
fn a_file_takes_its_old_findings_along_to_its_new_name() {
    let dir = with_baseline();
    fs::create_dir(dir.path().join("app")).unwrap();
    fs::rename(dir.path().join("Dockerfile"), dir.path().join("app/Dockerfile")).unwrap();
    check(&dir, &["--baseline", "old.json"]).code(0);
    assert_eq!(listed(&dir, "old.json"), 2);
    assert!(read(&dir, "old.json").contains("app/Dockerfile"));
    check(&dir, &["--baseline", "old.json"]).code(0);
}

#[test]
fn only_new_findings_are_fixed() {
    let dir = with_baseline();
    write(&dir, "Dockerfile", &OLD.replace("USER", "RUN true\nMAINTAINER you\nUSER"));
    check(&dir, &["--baseline", "old.json", "--fix", "--fix-unsafe"]);
    let fixed = read(&dir, "Dockerfile");
    insta::assert_snapshot!(fixed, @r#"
    FROM debian:12
    MAINTAINER me
    RUN cd /srv
    RUN true
    LABEL org.opencontainers.image.authors="you"
    USER 1000
    "#);
}

#[test]
fn a_baseline_that_is_none_is_refused_with_a_way_out() {
    let dir = directory(&[
        ("Dockerfile", OLD),
        ("text", "hello"),
        ("later", "{\"version\": 2, \"findings\": {}}"),
    ]);
    let mut printed = Vec::new();
    for file in ["gone", "text", "later"] {
        let refused = check(&dir, &["--baseline", file]).code(2).stderr;
        printed.push(format!("{file:?}\n{refused}"));
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    "gone"
    error: cannot read the baseline gone
      cause: No such file or directory (os error 2)
      help: write a new one with --write-baseline gone

    "text"
    error: text is not a baseline
      cause: expected value at line 1 column 1
      help: write a new one with --write-baseline text

    "later"
    error: later has version 2, not 1
      help: write a new one with --write-baseline later
    "#);
    let refused = check(&dir, &["--write-baseline", "no/such/file"]).code(2).stderr;
    insta::assert_snapshot!(refused, @"
    error: cannot write no/such/file
      cause: No such file or directory (os error 2)
      help: name another file
    ");
}

fn git(dir: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
    let done = Command::new("git").current_dir(dir).args(identity).args(arguments).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

#[test]
fn changed_lines_alone_are_reported_and_fixed() {
    let dir = directory(&[("Dockerfile", OLD), ("same/Dockerfile", OLD)]);
    let path = dir.path();
    git(path, &["init", "-q", "-b", "main"]);
    git(path, &["add", "."]);
    git(path, &["commit", "-qm", "one"]);
    git(path, &["switch", "-qc", "topic"]);
    fs::create_dir(path.join("app")).unwrap();
    git(path, &["mv", "Dockerfile", "app/Dockerfile"]);
    git(path, &["commit", "-qm", "two"]);
    write(&dir, "app/Dockerfile", &OLD.replace("USER", "RUN cd /tmp\nUSER"));
    write(&dir, "new.Dockerfile", "FROM debian:12\nRUN cd /srv\nUSER 1000\n");
    let found = check(&dir, &["--changed", "main"]).code(1);
    let places: Vec<&str> =
        found.stdout.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(places.len(), 2, "{}", found.stdout);
    assert!(
        places[0].starts_with("probity:app/Dockerfile:4")
            && places[1].starts_with("probity:new.Dockerfile:2")
    );
    insta::assert_snapshot!(found.stderr, @"4 findings hidden on unchanged lines");
    // From a directory below, too.
    let below =
        probity().dir(path.join("app")).args(["check", "--format", "gnu", "--changed", "main"]);
    assert_eq!(below.run().code(1).stdout.lines().count(), 1);
    write(&dir, "app/Dockerfile", &OLD.replace("USER", "MAINTAINER you\nUSER"));
    check(&dir, &["--changed", "main", "--fix", "--fix-unsafe"]);
    let fixed = read(&dir, "app/Dockerfile");
    insta::assert_snapshot!(fixed, @r#"
    FROM debian:12
    MAINTAINER me
    RUN cd /srv
    LABEL org.opencontainers.image.authors="you"
    USER 1000
    "#);
    assert_eq!(read(&dir, "same/Dockerfile"), OLD);
    let refused = check(&dir, &["--changed", "nowhere"]).code(2).stderr;
    insta::assert_snapshot!(refused, @"
    error: --changed nowhere: this clone has no branch or commit `nowhere` or `origin/nowhere`
      help: fetch it (`git fetch origin +nowhere:refs/remotes/origin/nowhere`), or name another branch, tag or commit
    ");
    let outside = directory(&[("Dockerfile", OLD)]);
    check(&outside, &["--changed", "main"]).code(2);
}

#[test]
fn a_level_admits_the_fixes_up_to_it() {
    // Without its shell an ENTRYPOINT would see the CMD, which is worse than a suggestion.
    let text = "FROM debian:12\nUSER 1000\nCMD sleep 9\n";
    let worse = "FROM debian:12\nUSER 1000\nENTRYPOINT sleep\nCMD [\"9\"]\n";
    for (level, expected) in
        [("safe", [false, false]), ("suggestion", [true, false]), ("unsafe", [true, true])]
    {
        let dir = directory(&[("a.Dockerfile", text), ("b.Dockerfile", worse)]);
        let rule = ["--fix-rule", "buildkit/JSONArgsRecommended"];
        check(&dir, &["--fix", "--fix-level", level, rule[0], rule[1]]);
        let is_changed = [
            read(&dir, "a.Dockerfile").contains("CMD [\"sleep\""),
            read(&dir, "b.Dockerfile").contains("ENTRYPOINT [\"sleep\""),
        ];
        assert_eq!(is_changed, expected, "{level}");
    }
    let dir = directory(&[("Dockerfile", text)]);
    let refused = check(&dir, &["--fix", "--fix-level", "safe", "--fix-unsafe"]).code(2).stderr;
    insta::assert_snapshot!(refused, @"
    error: --fix-level safe and --fix-unsafe cannot be used together
      help: use one of them
    ");
    let idle = check(&dir, &["--fix-level", "safe"]).stderr;
    insta::assert_snapshot!(idle, @"warning: --fix-level has no effect without --fix or --diff");
    check(&dir, &["--fix", "--fix-level", "all"]).code(2);
}

#[test]
fn colors_and_links_come_where_they_are_asked_for() {
    let dir = directory(&[("Dockerfile", OLD)]);
    let run = |args: &[&str], variable: &str| {
        let run = probity().dir(&dir);
        let run = if variable.is_empty() { run } else { run.env(variable, "1") };
        run.args(["check"]).args(args).run().stdout
    };
    let colored = |text: &str| text.contains("\u{1b}[");
    assert!(!colored(&run(&[], "")));
    assert!(colored(&run(&["--color", "always"], "")));
    assert!(colored(&run(&[], "FORCE_COLOR")) && colored(&run(&[], "CLICOLOR_FORCE")));
    assert!(!colored(&run(&["--color", "never"], "FORCE_COLOR")));
    assert!(!colored(&run(&["--no-color"], "FORCE_COLOR")));
    assert!(!colored(&run(&["--color", "always", "--format", "json"], "")));
    // A link is for a terminal: in a file it would only be in the way.
    assert!(!run(&["--color", "always"], "").contains("\u{1b}]8;;"));
    let site = probity().dir(&dir).env("PROBITY_DOCS_URL", "https://docs.example");
    let shown = site.args(["check"]).in_terminal().run().stdout;
    assert!(shown.contains("\u{1b}]8;;https://docs.example/rules/"), "{shown}");
}

#[test]
fn a_watched_file_is_checked_again_when_it_changes() {
    let dir = directory(&[("Dockerfile", "FROM debian:12\nUSER 1000\n")]);
    let mut command =
        probity().dir(&dir).args(["check", "--format", "gnu", "--watch"]).into_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut reports = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut waits = || said.next().unwrap().unwrap().contains("watching 1 file");
    assert!(waits());
    write(&dir, "Dockerfile", "FROM debian:12\nRUN cd /srv\nUSER 1000\n");
    assert!(waits());
    insta::assert_snapshot!(reports.next().unwrap().unwrap(), @"probity:Dockerfile:2:5: warning: this is lost when the RUN ends; use WORKDIR [probity/lost-shell-state]");
    // A configuration that cannot be read is an error until it can.
    write(&dir, "probity.toml", "[check\n");
    insta::assert_snapshot!(said.next().unwrap().unwrap(), @"error: probity.toml:1:7: not valid TOML: unclosed table, expected `]`");
    write(&dir, "probity.toml", "[check.rules]\nexclude = [\"lost-shell-state\"]\n");
    assert!(said.any(|line| line.unwrap().contains("watching 2 files")));
    child.kill().unwrap();
    child.wait().unwrap();
}
