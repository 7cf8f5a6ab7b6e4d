//! `--prove` and `audit verify`: real services, real tests, and a model behind a server of our own.

mod misbehavior;
mod rerun;

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    audit,
    server::{Play, Server, told, turn},
    state,
};
use crate::{
    binary::{Output, Run, probity, tools},
    review::{commit, git},
};

/// A service below `examples/vulnerable`, and what a model says about it.
struct Service {
    name: &'static str,
    skill: &'static str,
    file: &'static str,
    quote: &'static str,
    test: &'static str,
    exploit: &'static str,
    control: &'static str,
}

const ORDERS: Service = Service {
    name: "orders",
    skill: "web/001-injection.md",
    file: "shop.py",
    quote: "query = f\"select item from orders where customer = '{customer}'\"",
    test: "orders_test.py",
    exploit: "test_nobody_reads_the_orders_of_others",
    control: "test_customers_read_their_own_orders",
};

const FILES: Service = Service {
    name: "files",
    skill: "web/002-path-traversal.md",
    file: "files.js",
    quote: "const path = join(root, name);",
    test: "files.test.js",
    exploit: "nobody leaves the directory",
    control: "visitors read pages",
};

const ACCOUNTS: Service = Service {
    name: "accounts",
    skill: "web/004-missing-authorization.md",
    file: "accounts.go",
    quote: "delete(s.Owners, account)",
    test: "accounts_test.go",
    exploit: "TestNobodyClosesTheAccountsOfOthers",
    control: "TestOwnersCloseTheirAccounts",
};

/// A contract without dependencies, because nothing is downloaded.
const VAULT: Service = Service {
    name: "vault",
    skill: "vulnerabilities/011-missing-signatory.md",
    file: "validators/vault.ak",
    quote: "Withdraw { amount } -> amount > 0 && amount <= held.balance",
    test: "vault.ak",
    exploit: "strangers_withdraw_nothing",
    control: "owners_withdraw_what_they_have",
};

fn root(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn example(path: &str) -> String {
    fs::read_to_string(root("examples/vulnerable").join(path)).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

impl Service {
    /// The service in a repository of its own, with one skill.
    fn project(&self) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        copy(&root("examples/vulnerable").join(self.name), dir.path());
        let skills = dir.path().join("one-skill");
        fs::create_dir_all(&skills).unwrap();
        fs::copy(root("skills").join(self.skill), skills.join("one.md")).unwrap();
        git(dir.path(), &["init", "-q", "-b", "main"]);
        commit(dir.path());
        dir
    }

    fn found(&self) -> String {
        json!({"action": "final", "status": "completed", "findings": [{
            "title": "Input is trusted <b>", "severity": "high", "summary": "Nothing checks it.",
            "evidence": [self.quote], "recommendation": "Check it.", "file": self.file,
            "impact": "Strangers read data.", "likelihood": "high",
        }]})
        .to_string()
    }

    fn exploit(&self) -> Value {
        json!({
            "action": "final", "test_file": null, "test_name": self.exploit,
            "control_name": self.control, "test_code": example(&format!("answers/{}", self.test)),
            "fix_patch": example(&format!("answers/{}.diff", self.name)),
        })
    }

    /// Applies the fix.
    fn fix(&self, dir: &Path) {
        fs::write(dir.join("fix.diff"), example(&format!("answers/{}.diff", self.name))).unwrap();
        git(dir, &["apply", "fix.diff"]);
    }

    /// A model that finds the vulnerability and then gives these answers about its exploit.
    fn server(&self, answers: Vec<Value>) -> Server {
        let found = self.found();
        Server::new(move |_, body| {
            let system = body["messages"][0]["content"].as_str().unwrap();
            let is_exploit = system.starts_with("You test ");
            let answer = &answers[turn(body).min(answers.len() - 1)];
            Play::Says(if is_exploit { answer.to_string() } else { found.clone() })
        })
    }
}

/// With the tools that tests need, and a home that nobody shares. The build caches are those of the
/// tests of proofs, since Go compiles its own library in each new one.
fn with_tools(run: Run, home: &Path) -> Run {
    let path = format!(
        "{}:{}:{}",
        tools().join("python/bin").display(),
        tools().join("aiken/bin").display(),
        std::env::var("PATH").unwrap()
    );
    run.env("PATH", &path)
        .env("HOME", home.to_str().unwrap())
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
}

fn prove(dir: &TempDir, home: &Path, service: &Service, server: &Server, more: &[&str]) -> Output {
    let run = audit(dir, server)
        .args(["--skills-dir", "one-skill", "--include", service.file, "--prove"])
        .args(more);
    with_tools(run, home).run()
}

fn json_report(dir: &Path) -> Value {
    let text = fs::read_to_string(dir.join(".tx3/audit/vulnerabilities.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Runs the exploits of the JSON report again.
fn verify(dir: &TempDir, home: &Path, more: &[&str]) -> Output {
    let kept = ".tx3/audit/vulnerabilities.json";
    let run = probity().dir(dir).args(["audit", "verify", kept]).args(more);
    with_tools(run, home).run()
}

/// A wrong exploit, then a right one; the report; and the report's exploit on the fixed code.
fn check(service: &Service) {
    let (dir, home) = (service.project(), tempfile::tempdir().unwrap());
    let mut wrong = service.exploit();
    (wrong["test_name"], wrong["control_name"]) =
        (service.exploit()["control_name"].clone(), service.exploit()["test_name"].clone());
    let server = service.server(vec![wrong, service.exploit()]);
    let bar = ["--format", "json", "--fail-on", "high:exploited-and-fixed"];
    let output = prove(&dir, home.path(), service, &server, &bar).code(1);
    assert!(
        output.stdout.contains("Exploits: 1 exploited and fixed, 0 exploited, 0 quoted\n"),
        "{output:?}"
    );
    let last = server.bodies().pop().unwrap();
    assert!(told(&last).starts_with("Your tests were run. Not exploited: "), "{last:#}");
    assert!(told(&last).contains("passes on the code as it is"), "{last:#}");

    let report = json_report(dir.path());
    let finding = &report["findings"][0];
    assert_eq!(finding["level"], "exploited-and-fixed", "{report:#}");
    assert_eq!((&finding["status"], &finding["likelihood"]), (&json!("open"), &json!("high")));
    assert_eq!(report["summary"]["levels"]["exploited-and-fixed"], 1);
    assert_eq!(finding["exploit"]["tried"].as_array().unwrap().len(), 1);
    assert_eq!(report["scope"]["commit"], git(dir.path(), &["rev-parse", "HEAD"]));
    assert_eq!(report["scope"]["files"][0]["name"], service.file);
    let id = finding["id"].as_str().unwrap();
    assert!(id.starts_with("VULN-") && id.len() == 13, "{id}");
    assert!(git(dir.path(), &["status", "--porcelain", service.file]).is_empty());

    let verify = |more: &[&str]| verify(&dir, home.path(), more);
    let output = verify(&[]).code(1);
    assert_eq!(
        output.stdout,
        format!(
            "open {id} (high) Input is trusted <b>: the exploit still succeeds, and the control \
             passes\nExploits: 1 open, 0 fixed, 0 accepted, 0 unclear\n"
        )
    );
    service.fix(dir.path());
    let output = verify(&["--report-out", "today.html"]).code(0);
    assert_eq!(
        output.stdout,
        format!(
            "fixed {id} (high) Input is trusted <b>: the exploit no longer succeeds, and the \
             control passes\nExploits: 0 open, 1 fixed, 0 accepted, 0 unclear\n"
        )
    );
    let page = fs::read_to_string(dir.path().join("today.html")).unwrap();
    assert!(page.contains("On today&#39;s code 1 exploit no longer succeeds."), "{page}");
    assert!(page.contains("<h3>Input is trusted &lt;b&gt;</h3>"), "{page}");
}

#[test]
fn an_sql_injection_in_python_is_proven_and_verified() {
    check(&ORDERS);
}

#[test]
fn a_path_traversal_in_javascript_is_proven_and_verified() {
    check(&FILES);
}

#[test]
fn a_missing_authorization_in_go_is_proven_and_verified() {
    check(&ACCOUNTS);
}

/// Whether the machine has the Aiken compiler; `script/test --with-aiken` installs it.
#[expect(clippy::print_stdout, reason = "somebody has to know what was not tested")]
fn has_aiken() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories =
        std::iter::once(tools().join("aiken/bin")).chain(std::env::split_paths(&path));
    let found = directories.into_iter().any(|directory| directory.join("aiken").is_file());
    if !found {
        println!("skipped: aiken is not installed; `script/test --with-aiken` installs it");
    }
    found
}

#[test]
fn a_missing_signature_check_in_aiken_is_proven_and_verified() {
    if has_aiken() {
        check(&VAULT);
    }
}

#[test]
fn an_aiken_exploit_without_a_fix_depends_on_the_handler() {
    if !has_aiken() {
        return;
    }
    let mut alone = VAULT.exploit();
    alone["fix_patch"] = Value::Null;
    // It fails whatever the handler says.
    let mut always = alone.clone();
    let code = example("answers/vault.ak").replace("  !vault.spend", "  False && !vault.spend");
    always["test_code"] = json!(code);
    for (answer, level, reason) in [
        (
            alone,
            "exploited",
            "The exploit succeeds in all 5 runs, and fails once `spend` rejects everything, as does \
             the control; no fix was offered.",
        ),
        (
            always,
            "quoted",
            "Not exploited: no fix was offered, and the exploit test also fails if the flagged \
             function rejects everything, so it does not depend on the code.",
        ),
    ] {
        let (dir, home) = (VAULT.project(), tempfile::tempdir().unwrap());
        let server = VAULT.server(vec![answer]);
        let more = ["--prove-rounds", "1", "--format", "json"];
        prove(&dir, home.path(), &VAULT, &server, &more).code(0);
        let finding = &json_report(dir.path())["findings"][0];
        assert_eq!(
            (&finding["level"], &finding["exploit"]["reason"]),
            (&json!(level), &json!(reason))
        );
    }
}

#[test]
fn a_model_that_shows_nothing_is_stopped_and_the_finding_stays_quoted() {
    let mut passes = ORDERS.exploit();
    passes["test_code"] = json!(
        "import shop\n\n\ndef test_a():\n    assert shop\n\n\ndef test_b():\n    assert shop\n"
    );
    (passes["test_name"], passes["control_name"]) = (json!("test_a"), json!("test_b"));
    let gives_up = json!({"action": "final", "test_code": null, "reason": "a proxy filters it"});
    let unwilling = json!({"action": "final", "status": "completed"});
    let mut reasons = Vec::new();
    for (answers, requests, tried) in [
        (vec![passes.clone()], 2, 0),
        (vec![passes, gives_up.clone()], 3, 1),
        (vec![gives_up], 2, 0),
        (vec![unwilling], 3, 0),
    ] {
        let (dir, home) = (ORDERS.project(), tempfile::tempdir().unwrap());
        // One finding's conversation, and so many questions about its exploit.
        let rounds = if requests == 2 { "1" } else { "2" };
        let server = ORDERS.server(answers);
        let more = ["--prove-rounds", rounds, "--fail-on", "exploited"];
        prove(&dir, home.path(), &ORDERS, &server, &more).code(0);
        assert_eq!(server.requests().len(), requests, "{:#?}", server.bodies());
        let state = state(dir.path());
        let exploit = &state["iterations"][0]["findings"][0]["exploit"];
        assert_eq!(exploit["level"], "quoted");
        reasons.push(exploit["reason"].as_str().unwrap().to_owned());
        assert_eq!(exploit["tried"].as_array().map_or(0, Vec::len), tried, "{exploit:#}");
        let page = super::report(dir.path());
        let level = page.lines().find(|line| line.starts_with("  - Level: ")).unwrap();
        reasons.push(level.to_owned());
        assert!(page.starts_with("# Vulnerability Report\n\n- Generated at: "), "{page}");
    }
    insta::assert_snapshot!(reasons.join("\n"), @"
    Not exploited: the exploit test passes on the code as it is, so the attack does not succeed.
      - Level: quoted. Not exploited: the exploit test passes on the code as it is, so the attack does not succeed.
    Not exploited: the exploit test passes on the code as it is, so the attack does not succeed.
      - Level: quoted. Not exploited: the exploit test passes on the code as it is, so the attack does not succeed.
    The agent gave up: a proxy filters it
      - Level: quoted. The agent gave up: a proxy filters it
    The agent wrote no further exploit: the model's answer could not be used, twice in a row: the final answer has no `test_code`, and no `reason` why not
      - Level: quoted. The agent wrote no further exploit: the model's answer could not be used, twice in a row: the final answer has no `test_code`, and no `reason` why not
    ");
}

#[test]
fn what_cannot_be_proven_or_verified_is_refused_at_once() {
    let (dir, server) = (ORDERS.project(), Server::saying(&["{}"]));
    let mut refusals = Vec::new();
    for more in [
        &["--read-scope", "strict"][..],
        &["--interactive-permissions"],
        &["--provider", "heuristic"],
    ] {
        let mut run = probity().dir(&dir).env("OPENAI_API_KEY", "sk-nobody").args(["audit"]);
        if more[0] != "--provider" {
            run = run.args(["--provider", "openai", "--endpoint", &server.url()]);
        }
        let output = run.args(["--include", "shop.py", "--prove"]).args(more).run().code(2);
        refusals.push(output.stderr);
    }
    assert_eq!(server.requests().len(), 0);
    for text in
        ["no JSON", r#"{"findings": 3}"#, r#"{"title": "t", "generated_at": "g", "findings": []}"#]
    {
        fs::write(dir.path().join("kept.json"), text).unwrap();
        let output = probity().dir(&dir).args(["audit", "verify", "kept.json"]).run().code(2);
        refusals.push(output.stderr);
    }
    let output = probity().dir(&dir).args(["audit", "verify", "no-such.json"]).run().code(2);
    refusals.push(output.stderr);
    insta::assert_snapshot!(refusals.join("\n"), @"
    error: --prove shows the output of tests to the model, and tests can read every file of the project
      help: leave out --interactive-permissions and `--read-scope strict`, or leave out --prove

    error: --prove shows the output of tests to the model, and tests can read every file of the project
      help: leave out --interactive-permissions and `--read-scope strict`, or leave out --prove

    error: --prove needs a model, and the provider 'heuristic' asks none
      help: name one, for example `--provider openai`, or leave out --prove

    error: kept.json cannot be verified
      cause: it is not JSON of a report: expected ident at line 1 column 2
      help: name a report that `probity audit --prove --format json` wrote

    error: kept.json cannot be verified
      cause: it is not JSON of a report: invalid type: integer `3`, expected a sequence at line 1 column 14
      help: name a report that `probity audit --prove --format json` wrote

    error: kept.json has no exploit that could be run again
      help: name a report that `probity audit --prove --format json` wrote

    error: cannot read no-such.json
      cause: No such file or directory (os error 2)
      help: name a report that `probity audit --prove --format json` wrote
    ");
}
