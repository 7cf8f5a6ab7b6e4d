//! The same from agents, models and the tests that they write.

use serde_json::{Value, json};

use super::{ATTACKS, assert_nothing_obeyed, choices, commands, read};
use crate::{
    audit::{project, server::Server},
    binary::{directory, probity},
    review::{findings, recorded, repository, review_in},
};

#[test]
fn the_words_of_an_agent_are_no_commands_in_answers_errors_and_logs() {
    let text = ATTACKS.join("\n");
    let script = format!("cat >/dev/null\ncat <<'E' | tee /dev/stderr\n{text}\nE\nexit $1\n");
    let dir = directory(&[("agent.sh", &script)]);
    for (code, more) in [("0", "--quiet"), ("0", "-vv"), ("3", "--quiet"), ("3", "-vv")] {
        let agent = format!("cmd:sh agent.sh {code}");
        let ask = ["agent", "ask", &agent, "x", "--sandbox", "none", more];
        let output = probity().dir(&dir).args(ask).run();
        assert_eq!(output.code == Some(0), code == "0", "{output:?}");
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(said.contains("stop-commands"), "{said}");
        assert_nothing_obeyed(&output);
    }
    // A person's program gets the answer as it is.
    let ask = ["agent", "ask", "cmd:sh agent.sh 0", "x", "--sandbox", "none"];
    let output = probity().dir(&dir).args(ask).env("CI", "").run().code(0);
    assert_eq!(commands(&output.stdout).len(), ATTACKS.len(), "{}", output.stdout);
}

#[test]
fn a_review_gives_a_runner_no_command_while_it_runs_and_in_no_format() {
    let (repo, place) = (repository(), tempfile::tempdir().unwrap());
    let mut told = findings();
    let attacks = ATTACKS.join("\n");
    for (finding, attack) in told.as_array_mut().unwrap().iter_mut().zip(ATTACKS) {
        finding["title"] = json!(attack);
        finding["description"] = json!(attacks);
        let code = finding["test_code"].as_str().unwrap();
        let (head, body) = code.split_once("() => {").unwrap();
        let printed = format!("console.log({});", json!(attacks));
        finding["test_code"] = json!(format!("{head}() => {{ {printed}{body}"));
    }
    let agent = recorded(place.path(), &told.to_string());
    let out = place.path().join("review");
    let output = probity()
        .args([
            "review",
            "-vv",
            "--agent",
            &agent,
            "--no-history",
            "--output",
            out.to_str().unwrap(),
        ])
        .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
        .dir(repo.path())
        .run()
        // Its defect is high.
        .code(1);
    assert_nothing_obeyed(&output);
    assert!(output.stderr.contains("1 of 3 claims"), "{}", output.stderr);
    let page = review_in(&out);
    assert_eq!(page["proven_issues"][0]["title"], ATTACKS[0]);
    let file = out.join("review.json");
    let report = ["review", "report", file.to_str().unwrap()];
    for format in choices(probity().args(report).args(["--format", "nonsense"])) {
        let output = probity().args(report).args(["--format", &format]).run().code(0);
        if format == "github-actions" {
            let given = commands(&output.stdout);
            let own = ["error", "warning", "notice"];
            assert!(given.iter().all(|name| own.contains(&name.as_str())), "{given:?}");
            // One is proven, one is observed, and one is discarded.
            assert_eq!(given.len(), 2, "{}", output.stdout);
        } else {
            assert_nothing_obeyed(&output);
        }
        if format == "json" {
            let shown: Value = serde_json::from_str(&output.stdout).unwrap();
            assert_eq!(shown, serde_json::from_str::<Value>(&read(&file)).unwrap());
        }
    }
}

#[test]
fn an_audit_gives_a_runner_no_command_while_it_runs() {
    let dir = project();
    let attacks = ATTACKS.join("\n");
    let asked = json!({ "action": "grep", "pattern": attacks }).to_string();
    let refused = json!({ "action": "read_file", "path": attacks }).to_string();
    let server = Server::saying(&[&asked, &refused, &attacks, &attacks]);
    let output = crate::audit::audit(&dir, &server).args(["--ai-logs", "-vv"]).run();
    assert!(output.stderr.contains("stop-commands"), "{}", output.stderr);
    assert_nothing_obeyed(&output);
}
