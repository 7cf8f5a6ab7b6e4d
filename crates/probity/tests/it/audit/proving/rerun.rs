//! A second audit or verification of the same project: accepted findings, an audit that is continued, and
//! findings that the model does not report again. The service is the one whose tests start fastest.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use super::{FILES, Service, json_report, prove, verify, with_tools};
use crate::audit::{
    NOTHING, audit,
    server::{Play, Server},
    state, wait_for,
};

/// Whether a request is about an exploit, not about a skill.
fn is_about_exploit(body: &Value) -> bool {
    body["messages"][0]["content"].as_str().unwrap().starts_with("You test ")
}

/// How many questions a model got about exploits, and about skills.
fn asked(server: &Server) -> (usize, usize) {
    let bodies = server.bodies();
    let exploits = bodies.iter().filter(|body| is_about_exploit(body)).count();
    (exploits, bodies.len() - exploits)
}

/// Puts a comment that accepts the finding before its line.
fn accept(service: &Service, dir: &std::path::Path, comment: &str) {
    let path = dir.join(service.file);
    let text = fs::read_to_string(&path).unwrap();
    let at = text.find(service.quote).unwrap();
    let start = text[..at].rfind('\n').unwrap() + 1;
    let (before, after) = text.split_at(start);
    fs::write(path, format!("{before}    {comment}\n{after}")).unwrap();
}

#[test]
fn an_accepted_exploit_is_accepted_by_a_verification_and_by_the_next_audit() {
    let (dir, home) = (FILES.project(), tempfile::tempdir().unwrap());
    let server = FILES.server(vec![FILES.exploit()]);
    prove(&dir, home.path(), &FILES, &server, &["--format", "json"]).code(0);
    let id = json_report(dir.path())["findings"][0]["id"].as_str().unwrap().to_owned();
    accept(&FILES, dir.path(), "// probity-ignore[path-traversal-002] -- only staff can call it");
    let output = verify(&dir, home.path(), &["--report-out", "today.json"]).code(0);
    assert_eq!(
        output.stdout,
        format!(
            "accepted {id} (high) Input is trusted <b>: only staff can call it\n\
             Exploits: 0 open, 0 fixed, 1 accepted, 0 unclear\n"
        )
    );
    let today: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("today.json")).unwrap()).unwrap();
    assert_eq!(today["findings"][0]["status"], "accepted");
    assert_eq!(today["findings"][0]["status_reason"], "only staff can call it");

    let run = audit(&dir, &server)
        .args(["--skills-dir", "one-skill", "--include", FILES.file, "--format", "json"])
        .args(["--fail-on", "low"]);
    with_tools(run, home.path()).run().code(0);
    let report = json_report(dir.path());
    assert_eq!(report["ignored"][0]["status"], "accepted", "{report:#}");
    assert_eq!((&report["findings"], &report["previous"]), (&json!([]), &json!([])), "{report:#}");
}

#[test]
fn an_audit_that_was_killed_during_its_first_exploit_is_continued_there() {
    let (dir, home) = (FILES.project(), tempfile::tempdir().unwrap());
    let (found, exploit) = (FILES.found(), FILES.exploit().to_string());
    // The first question about an exploit gets no answer.
    let server = Server::new(move |number, body| match (is_about_exploit(body), number) {
        (false, _) => Play::Says(found.clone()),
        (true, 1) => Play::Silence,
        (true, _) => Play::Says(exploit.clone()),
    });
    let run = audit(&dir, &server).args([
        "--skills-dir",
        "one-skill",
        "--include",
        FILES.file,
        "--prove",
    ]);
    let mut child = with_tools(run, home.path())
        .into_command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| asked(&server) == (1, 1));
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = state(dir.path());
    assert_eq!(killed["iterations"][0]["findings"][0]["verified"], true, "{killed:#}");
    assert!(killed["iterations"][0]["findings"][0].get("exploit").is_none(), "{killed:#}");

    let more = ["--resume", "--format", "json"];
    let output = prove(&dir, home.path(), &FILES, &server, &more).code(0);
    insta::assert_snapshot!(output.stdout, @"
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 1
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.json
    Findings: 1 verified, 0 unverified, 0 ignored, 0 known
    Exploits: 1 exploited and fixed, 0 exploited, 0 quoted
      path-traversal-002: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
    Total, requests: 2, tokens: 200 in, 20 out
    ");
    assert_eq!(asked(&server), (2, 1), "only the exploit was asked for again");
    let report = json_report(dir.path());
    assert_eq!(report["findings"][0]["level"], "exploited-and-fixed", "{report:#}");
    assert_eq!(report["previous"], json!([]));
    let before = state(dir.path());
    prove(&dir, home.path(), &FILES, &server, &more).code(0);
    assert_eq!(asked(&server), (2, 1), "nothing is left to ask");
    assert_eq!(state(dir.path()), before);
}

/// The same finding with a quote that the fix changes: its lines come between these two.
const READ_PAGE: Service = Service {
    quote: "const path = join(root, name);\n  return readFileSync(path, 'utf8');",
    ..FILES
};

#[test]
fn a_kept_exploit_decides_about_a_finding_that_the_model_does_not_report_again() {
    let (dir, home) = (READ_PAGE.project(), tempfile::tempdir().unwrap());
    let finds = READ_PAGE.server(vec![READ_PAGE.exploit()]);
    prove(&dir, home.path(), &READ_PAGE, &finds, &["--format", "json"]).code(0);
    let silent = Server::saying(&[NOTHING]);
    let plain = |server: &Server, code: i32| {
        let run = audit(&dir, server)
            .args(["--skills-dir", "one-skill", "--include", READ_PAGE.file, "--format", "json"])
            .args(["--fail-on", "high:exploited"]);
        with_tools(run, home.path()).run().code(code)
    };
    let proving = |code: i32| {
        let bar = ["--format", "json", "--fail-on", "high:exploited"];
        prove(&dir, home.path(), &READ_PAGE, &silent, &bar).code(code)
    };
    let told = || {
        let report = json_report(dir.path());
        let it = &report["previous"][0];
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        format!("{} ({}): {}", text("status"), text("level"), text("status_reason"))
    };
    // The same sources keep their exploit, and a finding that is reported again has no other status.
    plain(&finds, 1);
    assert_eq!(json_report(dir.path())["findings"][0]["level"], "exploited-and-fixed");
    assert_eq!(told(), " (): ");
    let output = plain(&silent, 1);
    assert_eq!(
        told(),
        "open (exploited-and-fixed): no skill reports it again, but the quoted code is unchanged"
    );
    insta::assert_snapshot!(output.stdout, @"
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 1
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.json
    Findings: 0 verified, 0 unverified, 0 ignored, 0 known
    Previous findings, not reported again: 1 open, 0 fixed, 0 accepted, 0 unclear
      path-traversal-002: completed, findings: 0, requests: 1, tokens: 100 in, 10 out
    Total, requests: 1, tokens: 100 in, 10 out
    ");
    proving(1);
    assert_eq!(
        told(),
        "open (exploited-and-fixed): the exploit still succeeds, and the control passes"
    );
    READ_PAGE.fix(dir.path());
    plain(&silent, 0);
    assert_eq!(
        told(),
        "unclear (exploited-and-fixed): the quoted code has changed, and the exploit did not run; \
         `--prove` runs it"
    );
    let output = verify(&dir, home.path(), &[]).code(0);
    insta::assert_snapshot!(output.stdout, @"
    fixed VULN-fb3c7425 (high) Input is trusted <b>: the exploit no longer succeeds, and the control passes
    Exploits: 0 open, 1 fixed, 0 accepted, 0 unclear
    ");
    proving(0);
    assert_eq!(
        told(),
        "fixed (exploited-and-fixed): the exploit no longer succeeds, and the control passes"
    );
    assert_eq!(asked(&silent).0, 0, "kept exploits need no model");
}
