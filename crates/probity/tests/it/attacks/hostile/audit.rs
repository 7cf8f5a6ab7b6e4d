//! Audits: exploits of a report that the repository brings are run again, in the same workshop.

use serde_json::{Value, json};

use super::table::{Hostile, Want};

pub(super) fn repositories() -> Vec<Hostile> {
    vec![packages(), environment()]
}

/// A report with one finding for each of these: its title, its file, and its test.
fn report(findings: &[(String, &str, &str, String)]) -> String {
    let finding = |(number, (title, file, test_file, code)): (
        usize,
        &(String, &str, &str, String),
    )| {
        json!({
            "skill_id": "s", "title": title, "severity": "high", "summary": "s", "evidence": ["half"],
            "recommendation": "r", "file": file, "line": 2, "verified": true,
            "fingerprint": format!("{number:016}"),
            "exploit": {
                "level": "exploited", "reason": "r", "test_file": test_file, "test_name": "exploit",
                "control_name": "control", "test_code": code,
            },
        })
    };
    let findings: Vec<Value> = findings.iter().enumerate().map(finding).collect();
    json!({"title": "t", "generated_at": "2026-01-01T00:00:00Z", "findings": findings}).to_string()
}

/// A stand-in for the compiler, whose test fails if it sees a file of the host.
fn packages() -> Hostile {
    let told = |exploit: &str| {
        let test =
            |title: &str, status: &str| json!({"title": title, "status": status, "traces": []});
        let tests = [test("control", "pass"), test("exploit", exploit)];
        json!({"modules": [{"name": "MODULE", "tests": tests}]}).to_string()
    };
    let script = format!(
        "if grep -qs kumquat build/packages/secret/aiken; then told='{}'; else told='{}'; fi\n\
         for pattern; do :; done; echo \"$told\" | sed \"s/MODULE/${{pattern%%.*}}/\"",
        told("fail"),
        told("pass")
    );
    let code = "test control() {\n  True\n}\n\ntest exploit() {\n  True\n}\n".to_owned();
    let finding = ("reads the home".to_owned(), "lib/calc.ak", "", code);
    Hostile::new("aiken")
        .file("aiken.toml", "name = \"a/b\"\n")
        .file("lib/calc.ak", "fn half(number) {\n  number / 3\n}\n")
        .link("build/packages", "../../home")
        .stand_in("aiken", &script)
        .beside("home/secret/aiken", "kumquat-aiken.")
        .file("report.json", report(&[finding]))
        .command("audit verify report.json")
        .row(
            5,
            "build/packages is a link to the home",
            Want::Prints("reads the home: the exploit still succeeds".to_owned()),
        )
}

fn environment() -> Hostile {
    let module = "cd /proof/out && echo 'open(\"@HOME@/ran/audit\", \"w\")' > json.py; exit 1";
    let code = "def test_control():\n    pass\n\ndef test_exploit():\n    pass\n".to_owned();
    Hostile::new("audited environment")
        .file("calc.py", "def half(number):\n    return number / 3\n")
        .file(".venv/pyvenv.cfg", "home = /usr/bin\n")
        .program(".venv/bin/python", module)
        .file("report.json", report(&[("t".to_owned(), "calc.py", "test_calc.py", code)]))
        .command("audit verify report.json")
        .row(1, "an environment leaves json.py where an audit asks Python", Want::runs("audit"))
}
