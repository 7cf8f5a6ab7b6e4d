//! SARIF as others judge it: the schema, and the official validator.

use std::{fs, process::Command};

use serde_json::Value;

use crate::binary::tools;

/// Gives the document back, once nobody has anything against it.
#[track_caller]
pub(crate) fn valid(sarif: &str) -> Value {
    all_valid(&[sarif.to_owned()]).remove(0)
}

/// The same for several, since the validator takes seconds to start.
#[track_caller]
pub(crate) fn all_valid(sarifs: &[String]) -> Vec<Value> {
    let package = tools().join("node/node_modules/@microsoft/sarif-multitool-linux");
    let schema = fs::read_to_string(package.join("sarif-2.1.0.json")).unwrap();
    let schema: Value = serde_json::from_str(schema.trim_start_matches('\u{feff}')).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut tool = Command::new(package.join("Sarif.Multitool"));
    tool.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").arg("validate");
    let mut documents = Vec::new();
    for (number, sarif) in sarifs.iter().enumerate() {
        let document: Value = serde_json::from_str(sarif).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{sarif}");
        let file = dir.path().join(format!("{number}.sarif"));
        fs::write(&file, sarif).unwrap();
        tool.arg(&file);
        documents.push(document);
    }
    let output = tool.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains(": error "), "{said}");
    // The validator says nothing at all when it trips over a document; this line shows that it ran.
    for number in 0..sarifs.len() {
        let judged =
            |line: &str| line.contains(&format!("/{number}.sarif(")) && line.contains("SARIF2005");
        assert!(said.lines().any(judged), "{number}: {said}");
    }
    documents
}
