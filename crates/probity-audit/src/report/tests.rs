//! Reports of states.

use std::fs;

use super::*;
use crate::{PermissionPrompt, ProviderSpec, ReadScope};

fn finding(title: &str, line: Option<u64>, verified: bool) -> Finding {
    Finding {
        title: title.to_owned(),
        severity: Risk::High,
        summary: "It is\nopen.".to_owned(),
        evidence: vec!["expect InlineDatum(_) =\n  output.datum".to_owned()],
        recommendation: "Close it.".to_owned(),
        file: line.map(|_| "validators/spend.ak".to_owned()),
        line,
        verified: Some(verified),
        fingerprint: Some(format!("print of {title}")),
        refutation: None,
        impact: None,
        likelihood: None,
        exploit: None,
        offered: None,
    }
}

fn iteration(skill: &str, findings: Vec<Finding>) -> Iteration {
    Iteration {
        skill_id: skill.to_owned(),
        status: "completed".to_owned(),
        findings,
        next_prompt: None,
        error: None,
        skill_digest: None,
        usage: None,
        coverage: None,
        cached: false,
    }
}

fn state(iterations: Vec<Iteration>) -> State {
    let provider = ProviderSpec { name: "p".into(), model: None, notes: String::new() };
    let permission = PermissionPrompt::new(ReadScope::Workspace, false, false, &[]);
    let mut state = State::new(Vec::new(), provider, permission, None, None);
    state.iterations = iterations;
    state
}

fn report(root: &Path, state: &State, baseline: Option<&Baseline>) -> Report {
    let generated_at = "2026-11-15T08:00:00.123456789+00:00".to_owned();
    Report::new(
        state,
        &ReportOptions {
            root,
            generated_at,
            baseline,
            rules: Rules::Probity,
            heeds_ignores: true,
            scope: None,
        },
    )
}

#[test]
fn a_report_without_findings_says_none() {
    let dir = tempfile::tempdir().unwrap();
    let page = report(dir.path(), &state(vec![iteration("a", vec![])]), None).markdown();
    insta::assert_snapshot!(page, @r"
    # Vulnerability Report

    - Generated at: 2026-11-15T08:00:00.123456789+00:00

    ## Findings

    - *(none)*
    ");
}

#[test]
fn findings_have_their_lines_first_then_evidence_and_the_unverified_come_last() {
    let dir = tempfile::tempdir().unwrap();
    let mut failed = iteration("c-3", vec![]);
    (failed.status, failed.error) = ("failed".to_owned(), Some("HTTP 500".to_owned()));
    let state = state(vec![
        iteration(
            "a-1",
            vec![finding("Open datum", Some(42), true), finding("Made up", None, false)],
        ),
        failed,
    ]);
    insta::assert_snapshot!(report(dir.path(), &state, None).markdown(), @r"
    # Vulnerability Report

    - Generated at: 2026-11-15T08:00:00.123456789+00:00

    ## Findings

    - **Open datum** (`high`)
      - Summary: It is open.
      - Recommendation: Close it.
      - Location: validators/spend.ak:42
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `a-1`

    ## Skills that did not finish

    - `c-3` (failed): HTTP 500

    ## Unverified findings

    No quote of these was found where they say it is; the model may have made them up.

    - **Made up** (`high`)
      - Summary: It is open.
      - Recommendation: Close it.
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `a-1`
    ");
}

#[test]
fn unverified_findings_alone_are_not_none_and_not_the_worst() {
    let dir = tempfile::tempdir().unwrap();
    let report =
        report(dir.path(), &state(vec![iteration("a", vec![finding("x", None, false)])]), None);
    assert!(!report.markdown().contains("*(none)*"));
    assert!(!report.reaches(Risk::Low, ExploitLevel::Quoted));
}

#[test]
fn locations_are_file_and_line_or_what_there_is_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut only_line = finding("a", Some(7), true);
    only_line.file = None;
    let mut only_file = finding("b", Some(7), true);
    only_file.line = None;
    let page = report(dir.path(), &state(vec![iteration("s", vec![only_line, only_file])]), None);
    let page = page.markdown();
    let locations: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("  - Location: ")).collect();
    assert_eq!(locations, ["line 7", "validators/spend.ak"]);
}

#[test]
fn one_problem_of_several_skills_is_one_finding_and_two_of_one_line_are_two() {
    let dir = tempfile::tempdir().unwrap();
    let mut worse = finding("The datum is unvalidated", Some(44), true);
    worse.severity = Risk::Critical;
    let state = state(vec![
        iteration(
            "a",
            vec![
                finding("Unvalidated datum", Some(42), true),
                finding("Address not compared", Some(42), true),
            ],
        ),
        iteration("b", vec![worse, finding("Unvalidated datum", Some(90), true)]),
    ]);
    let report = report(dir.path(), &state, None);
    let shown: Vec<String> = report
        .findings
        .iter()
        .map(|finding| {
            format!(
                "{} {:?} {} {}",
                finding.skill_id,
                finding.also_found_by,
                finding.finding.severity,
                finding.finding.title
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    b ["a"] critical The datum is unvalidated
    a [] high Address not compared
    b [] high Unvalidated datum
    "#);
}

#[test]
fn skills_of_one_class_mean_the_same_on_one_line_and_the_stronger_exploit_stays() {
    let dir = tempfile::tempdir().unwrap();
    let exploit: Exploitation =
        serde_json::from_str(r#"{"level":"exploited","reason":"It succeeds."}"#).unwrap();
    let exploited =
        Finding { exploit: Some(exploit), ..finding("Owner is not asked", Some(42), true) };
    let plain = |title: &str| Finding {
        exploit: Some(Exploitation::none("Nobody tried.".to_owned(), Vec::new())),
        severity: Risk::Critical,
        ..finding(title, Some(42), true)
    };
    let state = state(vec![
        iteration("missing-signatory-011", vec![exploited]),
        iteration("missing-signatory-111", vec![plain("Anybody spends")]),
        iteration("rounding-015", vec![plain("Rounds down")]),
        iteration("016", vec![plain("Sixteen")]),
        iteration("017", vec![plain("Seventeen")]),
    ]);
    let shown: Vec<String> = report(dir.path(), &state, None)
        .findings
        .iter()
        .map(|finding| {
            format!(
                "{} {:?} {} {}",
                finding.skill_id,
                finding.also_found_by,
                finding.finding.level(),
                finding.finding.title
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    missing-signatory-111 ["missing-signatory-011"] exploited Anybody spends
    rounding-015 [] quoted Rounds down
    016 [] quoted Sixteen
    017 [] quoted Seventeen
    "#);
}

#[test]
fn a_skill_that_names_two_problems_means_two_and_evidence_survives_merging() {
    let dir = tempfile::tempdir().unwrap();
    let with = |title: &str, line, quote: &str| Finding {
        evidence: vec![quote.to_owned()],
        ..finding(title, Some(line), true)
    };
    let state = state(vec![
        iteration(
            "a",
            vec![
                with("Unvalidated input datum", 42, "one"),
                with("Unvalidated output datum", 43, "two"),
                with("Unvalidated input datum", 42, "one"),
                with("T", 60, "three"),
            ],
        ),
        iteration(
            "b",
            vec![
                with("Unvalidated input datum", 42, "four"),
                with("T", 60, "three"),
                with("U", 60, "three"),
            ],
        ),
    ]);
    let report = report(dir.path(), &state, None);
    let shown: Vec<String> = report
        .findings
        .iter()
        .map(|finding| {
            let Finding { title, evidence, .. } = &finding.finding;
            format!("{} {:?} {title} {evidence:?}", finding.skill_id, finding.also_found_by)
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    a ["b"] Unvalidated input datum ["one", "four"]
    a [] Unvalidated output datum ["two"]
    a ["b"] T ["three"]
    b [] U ["three"]
    "#);
}

#[test]
fn the_baseline_and_comments_leave_findings_out_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("validators")).unwrap();
    let text = "one\n// probity-ignore[a] -- by design\nthree\nfour\n";
    fs::write(dir.path().join("validators/spend.ak"), text).unwrap();
    let state = state(vec![
        iteration("a", vec![finding("three", Some(3), true), finding("four", Some(4), true)]),
        iteration("b", vec![finding("other", Some(3), true)]),
    ]);
    let baseline = Baseline::parse(r#"{"findings":[{"fingerprint":"print of four"}]}"#).unwrap();
    let report = report(dir.path(), &state, Some(&baseline));
    assert_eq!((report.ignored.len(), report.known, report.findings.len()), (1, 1, 1));
    assert_eq!(report.findings[0].skill_id, "b", "another skill is not taken back");
    let page = report.markdown();
    let (_, left_out) = page.split_once("## Left out\n").unwrap();
    assert_eq!(
        left_out,
        "\n- three (`a`) at validators/spend.ak:3, by the comment on line 2: by design\n\
         - 1 known from the baseline\n"
    );
}

#[test]
fn fingerprints_survive_moved_lines_and_differ_by_skill() {
    let print = |text: &str, line, skill: &str| {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("validators")).unwrap();
        fs::write(dir.path().join("validators/spend.ak"), text).unwrap();
        let mut findings = [finding("any title", Some(line), true)];
        fingerprint(&whole(dir.path()).unwrap(), skill, &mut findings);
        findings[0].fingerprint.clone().unwrap()
    };
    let one = print("a\n  b\n", 2, "s");
    assert_eq!(one, print("new\na\nb\n", 3, "s"));
    assert_ne!(one, print("a\n  b\n", 2, "t"));
    assert_ne!(one, print("a\n  c\n", 2, "s"));
}

#[test]
fn lint_findings_point_at_the_line_and_unverified_ones_weigh_little() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("validators")).unwrap();
    fs::write(dir.path().join("validators/spend.ak"), "one\n  two \nthree\n").unwrap();
    let state = state(vec![iteration(
        "s",
        vec![finding("found", Some(2), true), finding("made up", Some(3), false)],
    )]);
    let files = report(dir.path(), &state, None).by_file(dir.path());
    let shown: Vec<String> = files[0]
        .findings
        .iter()
        .map(|finding| {
            format!(
                "{:?} {} {}",
                finding.span.unwrap().slice(&files[0].text),
                finding.severity.as_str(),
                finding.message
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Some("two") error found
    Some("three") info unverified: made up
    "#);
}

#[test]
fn a_comment_that_takes_nothing_back_is_told_of_unless_its_skill_came_to_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("validators")).unwrap();
    let text = "one // probity-ignore[a, b] -- two skills\n\
                two // probity-ignore[failed] -- might still find it\n\
                // probity-ignore[typo] -- nobody is called so\n\
                four\n\
                five // probity-ignore[a] -- gone\n";
    fs::write(dir.path().join("validators/spend.ak"), text).unwrap();
    let mut failed = iteration("failed", vec![]);
    failed.error = Some("HTTP 500".to_owned());
    let mut state = state(vec![
        iteration("a", vec![finding("x", Some(1), true)]),
        iteration("b", vec![]),
        failed,
    ]);
    // Comments are looked for in every source, whether a finding is in it or not.
    state.source_files = vec!["validators/spend.ak".to_owned()];
    insta::assert_snapshot!(report(dir.path(), &state, None).warnings.join("\n"), @"
    validators/spend.ak:1: `probity-ignore[b]` matches no finding
    validators/spend.ak:3: `probity-ignore[typo]` names no skill of this audit
    validators/spend.ak:5: `probity-ignore[a]` matches no finding
    ");
    state.iterations = vec![crate::session::scaffolded(&crate::embedded().unwrap()[0])];
    assert_eq!(report(dir.path(), &state, None).warnings, [""; 0], "nobody was asked");
}

#[test]
fn no_word_of_a_model_hides_what_comes_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut hostile = finding("<!-- <script>", Some(1), true);
    hostile.summary = "a < b, List<Int> and `Dict<K>`</details>".to_owned();
    hostile.recommendation = "`<style>".to_owned();
    hostile.file = Some("a.ak<!--".to_owned());
    hostile.evidence = vec!["one ` two ``` <!--".to_owned(), "<b>".to_owned()];
    let mut failed = iteration("s-2", vec![]);
    (failed.status, failed.error) = ("<b".to_owned(), Some("<html> says\nno".to_owned()));
    let state = state(vec![iteration("s", vec![hostile]), failed]);
    let page = report(dir.path(), &state, None).markdown();
    insta::assert_snapshot!(page.split_once("## Findings\n\n").unwrap().1, @r"
    - **\<!-- \<script>** (`high`)
      - Summary: a < b, List\<Int> and `Dict<K>`\</details>
      - Recommendation: `\<style>
      - Location: a.ak\<!--:1
      - Evidence: ```` one ` two ``` <!-- ````
      - Evidence: `<b>`
      - Found by: `s`

    ## Skills that did not finish

    - `s-2` (\<b): \<html> says no
    ");
}

fn exploited(title: &str, level: ExploitLevel) -> Finding {
    let exploit = Exploitation {
        level,
        reason: "The exploit succeeds in all 5 runs.".to_owned(),
        tried: vec!["Not exploited: the exploit test passes.".to_owned()],
        test_file: "tests/test_x.py".to_owned(),
        test_name: "test_attack".to_owned(),
        control_name: "test_honest".to_owned(),
        test_code: "def test_attack():\n    \"\"\"```\"\"\"\n".to_owned(),
        fix_patch: Some("--- a/x\n+++ b/x\n-old\n+new\n".to_owned()),
        runner: Some("pytest".to_owned()),
        output: "1 failed\n".to_owned(),
    };
    Finding {
        impact: Some("Strangers read orders.".to_owned()),
        likelihood: Some(Risk::Medium),
        exploit: Some(exploit),
        ..finding(title, Some(3), true)
    }
}

#[test]
fn an_exploit_comes_after_the_lines_of_its_finding() {
    let dir = tempfile::tempdir().unwrap();
    let found = exploited("Injection", ExploitLevel::ExploitedAndFixed);
    let page = report(dir.path(), &state(vec![iteration("a-1", vec![found])]), None).markdown();
    let rest = page.split_once("  - Found by: `a-1`\n").unwrap().1;
    insta::assert_snapshot!(rest, @r#"
      - Id: VULN-print of
      - Impact: Strangers read orders.
      - Likelihood: medium
      - Level: exploited and fixed. The exploit succeeds in all 5 runs.
      - Tried before: Not exploited: the exploit test passes.
      - Exploit `test_attack` and control `test_honest`:

        ````
        def test_attack():
            """```"""
        ````

      - Output of the exploit:

        ```text
        1 failed
        ```

      - Fix:

        ```diff
        --- a/x
        +++ b/x
        -old
        +new
        ```
    "#);
}

#[test]
fn a_report_as_json_is_read_again_with_its_exploits() {
    let dir = tempfile::tempdir().unwrap();
    let found = exploited("Injection", ExploitLevel::Exploited);
    let quoted = finding("Open datum", Some(42), true);
    let written = report(dir.path(), &state(vec![iteration("a-1", vec![found, quoted])]), None);
    let read = Report::parse(&written.json()).unwrap();
    assert_eq!(read.findings, written.findings);
    for (risk, level, reaches) in [
        (Risk::High, ExploitLevel::Exploited, true),
        (Risk::High, ExploitLevel::ExploitedAndFixed, false),
        (Risk::Critical, ExploitLevel::Quoted, false),
    ] {
        assert_eq!(read.reaches(risk, level), reaches, "{risk} {level}");
    }
    let state = state(Vec::new()).to_json().unwrap();
    assert!(matches!(Report::parse(&state), Err(ReportError::State)));
    assert!(matches!(Report::parse("[]"), Err(ReportError::Json(_))));
}
