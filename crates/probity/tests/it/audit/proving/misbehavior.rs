//! Exploits that show nothing about the code: each stays `quoted`, and the report says why.

use std::{fs, net::TcpListener, path::PathBuf, process};

use serde_json::{Value, json};

use super::{ORDERS, json_report, prove};
use crate::whole_corpus::is_whole;

const ATTACK: &str = "assert 'desk' not in shop.orders_of(shop.open_shop(), \"e' or '1'='1\")";
const HONEST: &str = "assert shop.orders_of(shop.open_shop(), 'ada') == ['lamp']";

fn attempt(body: &str) -> Value {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    json!({
        "action": "final", "test_name": "test_exploit", "control_name": "test_control",
        "test_code": format!(
            "import socket\nimport shop\n\n\ndef test_exploit():\n{body}\n\n\
             def test_control():\n    {HONEST}\n"
        ),
    })
}

#[test]
fn exploits_that_misbehave_stay_quoted_each_with_its_own_reason() {
    let (dir, home) = (ORDERS.project(), tempfile::tempdir().unwrap());
    // Not below `/tmp`, where a sandbox has a directory of its own and this checkout may be.
    let marker = PathBuf::from(format!("/data/probity-{}", process::id()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let before = fs::read_to_string(dir.path().join(ORDERS.file)).unwrap();
    let mut rows = vec![
        (
            format!("open({marker:?}, 'w').write('x')\n{ATTACK}"),
            format!(
                "a test writes to {}, but tests may write only to their copy of the code",
                marker.display()
            ),
        ),
        (
            format!("socket.create_connection(('127.0.0.1', {port}), 1)\n{ATTACK}"),
            "a test tries to use the network, but tests run without one".to_owned(),
        ),
        (
            format!("open(shop.__file__, 'a').write('# x\\n')\n{ATTACK}"),
            "the exploit test writes to shop.py, so it shows nothing about the code".to_owned(),
        ),
        (
            "pass".to_owned(),
            "the exploit test passes on the code as it is, so the attack does not succeed"
                .to_owned(),
        ),
        (
            "assert shop.orders_of is None".to_owned(),
            "no fix was offered, and the exploit test also fails if the flagged function rejects \
             everything, so it does not depend on the code"
                .to_owned(),
        ),
        (
            // Asleep; a test of the proof crate has one that is busy.
            "__import__('time').sleep(3600)".to_owned(),
            "the exploit test did not finish within its time limit".to_owned(),
        ),
    ];
    // Each costs ten runs or more; the tests of probity-proof have all of them with a quicker runner.
    if !is_whole() {
        rows = vec![rows.swap_remove(0), rows.swap_remove(3)];
    }
    let server = ORDERS.server(rows.iter().map(|(body, _)| attempt(body)).collect());
    let rounds = rows.len().to_string();
    let more = ["--prove-rounds", &rounds, "--format", "json", "--fail-on", "exploited"];
    prove(&dir, home.path(), &ORDERS, &server, &more).code(0);
    let report = json_report(dir.path());
    let finding = &report["findings"][0];
    assert_eq!(finding["level"], "quoted", "{report:#}");
    let mut reasons = finding["exploit"]["tried"].as_array().unwrap().clone();
    reasons.push(finding["exploit"]["reason"].clone());
    let expected: Vec<String> =
        rows.iter().map(|(_, reason)| format!("Not exploited: {reason}.")).collect();
    assert_eq!(json!(reasons), json!(expected));
    assert!(!marker.exists(), "a test wrote outside its copy");
    assert!(listener.accept().is_err(), "a test reached the network");
    assert_eq!(fs::read_to_string(dir.path().join(ORDERS.file)).unwrap(), before);
}
