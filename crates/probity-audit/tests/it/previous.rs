//! A second audit: what becomes of the findings that no skill reports again.

use std::{fs, path::Path};

use probity_audit::{
    AuditOptions, ExploitLevel, Previous, Report, Risk, State, embedded, is_contract,
};

use crate::{
    model::{audit, options, saying},
    project::{SPEND, project, report},
};

const FOUND: &str = r#"{"action":"final","findings":[{"title":"Datum not checked","severity":"high","summary":"s","evidence":["expect InlineDatum(_) = output.datum"],"recommendation":"r","file":"a.ak","line":3}]}"#;
const NOTHING: &str = r#"{"action":"final","status":"completed","findings":[]}"#;
const REWORKED: &str = r#"{"action":"final","findings":[{"title":"Datum is not checked","severity":"high","summary":"s","evidence":["expect InlineDatum(any) = output.datum"],"recommendation":"r","file":"a.ak","line":3}]}"#;

/// An audit of the `*.ak` files of a directory, after another.
fn run(root: &Path, says: &str, before: Option<State>) -> State {
    let sources =
        probity_audit::discover(root, probity_audit::ignored_files(false), &is_contract).unwrap();
    let skills = &embedded().unwrap()[..1];
    let (provider, _) = saying(&[says]);
    let previous = before.map(Previous::of).unwrap_or_default();
    audit(AuditOptions { previous, ..options(root, &sources, skills, &provider) })
}

/// Each finding of the first audit as the report of the second has it.
fn told(report: &Report) -> String {
    let line = |it: &probity_audit::Reported| {
        let place = format!("{}:{:?}", it.finding.file.as_ref().unwrap(), it.finding.line);
        let reason = it.status_reason.as_deref().unwrap_or_default();
        format!("{} {place}: {reason}", it.status.as_str())
    };
    report.previous.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A name, the files of the second audit, what the model says, what the report says, and whether the
/// build fails.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str, bool);

#[test]
fn silence_fixes_nothing_and_changed_code_is_looked_at() {
    let changed = SPEND.replace("(_) = output.datum", "(known) = output.datum");
    let moved = format!("use a\n\n{SPEND}");
    let accepted = SPEND.replace(
        "output.datum\n",
        "output.datum // probity-ignore[strict-value-equality-001] -- nobody reads it\n",
    );
    let reworked = SPEND.replace("InlineDatum(_)", "InlineDatum(any)");
    let other = "validator other {\n  spend(a, b, c, d) { True }\n}\n";
    let unchanged =
        "open a.ak:Some(3): no skill reports it again, but the quoted code is unchanged";
    let rows: [Row<'_>; 9] = [
        ("same code", &[("a.ak", SPEND)], NOTHING, unchanged, true),
        (
            "moved code",
            &[("a.ak", &moved)],
            NOTHING,
            "open a.ak:Some(5): no skill reports it again, but the quoted code is unchanged",
            true,
        ),
        (
            "renamed file",
            &[("b.ak", SPEND)],
            NOTHING,
            "open b.ak:Some(3): no skill reports it again, but the quoted code is unchanged",
            true,
        ),
        (
            "changed code",
            &[("a.ak", &changed)],
            NOTHING,
            "fixed a.ak:Some(3): code changed; skill `strict-value-equality-001` does not report it \
             again",
            false,
        ),
        (
            "removed file",
            &[("b.ak", other)],
            NOTHING,
            "fixed a.ak:Some(3): code changed; skill `strict-value-equality-001` does not report it \
             again",
            false,
        ),
        (
            "changed code that nobody looked at",
            &[("a.ak", &changed)],
            "not JSON",
            "unclear a.ak:Some(3): the quoted code has changed, and skill \
             `strict-value-equality-001` did not examine the new code",
            false,
        ),
        (
            "accepted",
            &[("a.ak", &accepted)],
            NOTHING,
            "accepted a.ak:Some(3): nobody reads it",
            false,
        ),
        ("reported again", &[("a.ak", SPEND)], FOUND, "", true),
        ("reworked, and reported again", &[("a.ak", &reworked)], REWORKED, "", true),
    ];
    for (name, files, says, expected, fails) in rows {
        let dir = project(&[("a.ak", SPEND)]);
        let first = run(dir.path(), FOUND, None);
        assert!(first.previous.is_empty());
        fs::remove_file(dir.path().join("a.ak")).unwrap();
        for (path, text) in files {
            fs::write(dir.path().join(path), text).unwrap();
        }
        let second = run(dir.path(), says, Some(first));
        let report = report(dir.path(), &second);
        assert_eq!(told(&report), expected, "{name}");
        assert_eq!(report.reaches(Risk::High, ExploitLevel::Quoted), fails, "{name}");
        assert!(report.warnings.is_empty(), "{name}: {:?}", report.warnings);
    }
}

#[test]
fn an_open_finding_is_carried_on_until_it_is_fixed() {
    let dir = project(&[("a.ak", SPEND)]);
    let mut state = run(dir.path(), FOUND, None);
    for _ in 0..2 {
        let text = state.to_json().unwrap();
        state = run(dir.path(), NOTHING, Some(serde_json::from_str(&text).unwrap()));
        assert_eq!(state.previous.len(), 1);
    }
    fs::write(dir.path().join("a.ak"), SPEND.replace("(_) =", "(known) =")).unwrap();
    let fixed = run(dir.path(), NOTHING, Some(state));
    insta::assert_snapshot!(told(&report(dir.path(), &fixed)), @"fixed a.ak:Some(3): code changed; skill `strict-value-equality-001` does not report it again");
    let last = run(dir.path(), NOTHING, Some(fixed));
    assert!(last.previous.is_empty(), "{:#?}", last.previous);
}

#[test]
fn a_finding_in_a_file_that_is_not_a_source_is_left_to_other_audits() {
    let dir = project(&[("a.ak", SPEND), ("b.ak", "validator b {\n}\n")]);
    let first = run(dir.path(), FOUND, None);
    let (provider, _) = saying(&[NOTHING]);
    let (skills, sources) = (embedded().unwrap(), ["b.ak".to_owned()]);
    let previous = Previous::of(first);
    let options = options(dir.path(), &sources, &skills[..1], &provider);
    assert!(audit(AuditOptions { previous, ..options }).previous.is_empty());
}

#[test]
fn every_format_has_the_findings_of_the_previous_audit() {
    let dir = project(&[("a.ak", SPEND)]);
    let state = run(dir.path(), NOTHING, Some(run(dir.path(), FOUND, None)));
    let report = report(dir.path(), &state);
    let page = report.markdown();
    let section = page.split_once("## Findings of the previous audit").unwrap().1;
    insta::assert_snapshot!(section, @r"


    No skill reported these again. Each has a status: open, fixed, accepted or unclear.

    - **Datum not checked** (`high`)
      - Summary: s
      - Recommendation: r
      - Location: a.ak:3
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `strict-value-equality-001`
      - Status: open. no skill reports it again, but the quoted code is unchanged
    ");
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["previous"][0]["status"], "open");
    assert_eq!(
        json["summary"]["previous"],
        serde_json::json!({"open": 1, "fixed": 0, "accepted": 0, "unclear": 0})
    );
    let sentence = "No skill reports 1 finding of the previous audit again: 1 open, 0 fixed, 0 \
                    accepted, 0 unclear.";
    assert_eq!(json["summary"]["sentences"][1], sentence);
    assert!(report.html().contains("<h2 id=\"previous\">Findings of the previous audit</h2>"));
    let again = Report::parse(&report.json()).unwrap();
    assert_eq!(again.previous, report.previous);
    let files = report.by_file(dir.path());
    assert_eq!(files[0].findings[0].message, "not reported again: Datum not checked");
    assert!(files[0].marks[0].is_previous);
}
