//! `probity audit` and `trix audit`: whole runs, with a model behind a server of our own.

mod agents;
mod failing;
mod page;
mod progress;
mod providers;
mod proving;
mod reading;
mod reports;
mod resuming;
mod second_opinions;
pub(crate) mod server;
mod skills;
mod surface;
mod wire;

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use self::server::Server;
use crate::binary::{Run, directory, probity};

const SPEND: &str = "validator spend {\n  spend(datum, redeemer, ref, self) {\n    expect InlineDatum(_) = output.datum\n    lovelace_of(output.value) == datum.price\n  }\n}\n";

/// The end of a conversation that found nothing.
const NOTHING: &str = r#"{"action":"final","status":"completed","findings":[]}"#;

/// What has to come before it: nobody finds nothing in what he has not read.
const LOOK: &str = r#"{"action":"read_file","path":"validators/spend.ak"}"#;

/// A finding whose quote stands on line 3, though the model says 5.
const TRUE: &str = r#"{"action":"final","status":"completed","findings":[{"title":"Datum not checked","severity":"HIGH","summary":"Any datum passes.","evidence":["expect InlineDatum(_) = output.datum"],"recommendation":"Compare it.","file":"validators/spend.ak","line":5}]}"#;

/// A finding that quotes what nobody wrote.
const INVENTED: &str = r#"{"action":"final","findings":[{"title":"Backdoor","severity":"critical","summary":"s","evidence":["if admin == attacker { True }"],"recommendation":"r","file":"validators/spend.ak","line":3}]}"#;

pub(crate) fn project() -> TempDir {
    directory(&[("validators/spend.ak", SPEND)])
}

/// An audit that asks the server as an OpenAI-compatible one. Ports come again, and with them the
/// addresses by which cached answers are known.
pub(crate) fn audit(dir: &TempDir, server: &Server) -> Run {
    audit_with_cache(dir, server).args(["--no-cache"])
}

fn audit_with_cache(dir: &TempDir, server: &Server) -> Run {
    probity().dir(dir).env("OPENAI_API_KEY", "sk-test-key-of-nobody").args([
        "audit",
        "--provider",
        "openai",
        "--endpoint",
        &server.url(),
    ])
}

fn state(dir: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(dir.join(".tx3/audit/state.json")).unwrap()).unwrap()
}

fn report(dir: &Path) -> String {
    fs::read_to_string(dir.join(".tx3/audit/vulnerabilities.md")).unwrap()
}

/// What a report says of its findings: neither when it was written nor what the audit was made with,
/// which differ from run to run and from version to version.
fn about_findings(report: &str) -> &str {
    let (_, rest) = report.split_once("\n## Findings\n").unwrap();
    rest.split_once("\n## Scope\n").unwrap().0
}

fn statuses(state: &Value) -> Vec<&str> {
    let iterations = state["iterations"].as_array().unwrap();
    iterations.iter().map(|iteration| iteration["status"].as_str().unwrap()).collect()
}

/// Waits for something that happens soon, or fails.
fn wait_for(what: impl Fn() -> bool) {
    for _ in 0..600 {
        if what() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    unreachable!("it did not happen in half a minute");
}
