//! SARIF as others judge it: the schema, and the official validator.

use std::{fs, process::Command};

use serde_json::Value;

use crate::binary::tools;

/// Gives the document back, once nobody has anything against it.
#[track_caller]
pub(crate) fn valid(sarif: &str) -> Value {
    let package = tools().join("node/node_modules/@microsoft/sarif-multitool-linux");
    let schema = fs::read_to_string(package.join("sarif-2.1.0.json")).unwrap();
    let schema: Value = serde_json::from_str(schema.trim_start_matches('\u{feff}')).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document: Value = serde_json::from_str(sarif).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
    assert_eq!(errors, [""; 0]);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report.sarif");
    fs::write(&file, sarif).unwrap();
    let output = Command::new(package.join("Sarif.Multitool"))
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        .arg("validate")
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains(": error "), "{said}");
    // The validator says nothing at all when it trips over a document; this line shows that it ran.
    assert!(said.contains("SARIF2005"), "{said}");
    document
}
