//! `script/site`: the pages build, and a real browser finds its way through them.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use crate::binary::tools;

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn the_site_has_no_dead_link_and_its_search_finds_a_rule_with_the_keyboard_alone() {
    let place = tempfile::tempdir().unwrap();
    let site = place.path().join("site");
    let built = Command::new(root("script/site")).arg("--output").arg(&site).output().unwrap();
    assert!(built.status.success(), "{built:?}");
    let script = root("crates/probity/tests/it/site/browser.mjs");
    let mut node = Command::new("node");
    let output = node.arg(script).arg(tools().join("browser")).arg(&site).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(seen["pages"].as_u64().unwrap() > 250, "{seen:#}");
    for list in ["dead", "foreign", "console"] {
        assert_eq!(seen[list], json!([]), "{list}: {seen:#}");
    }
    assert!(seen["found"].as_str().unwrap().starts_with("hadolint/DL3006"), "{seen:#}");
    for width in ["wide", "narrow"] {
        assert!(seen["overflow"][width].as_i64().unwrap() <= 0, "{width}: {seen:#}");
    }
}
