//! The names under which generated tests are left for people to run.

use crate::{findings::AgentFinding, proved::Proved};

/// Longest part of a name that comes from the test.
const NAME_CHARS: usize = 80;

/// One generated test, for the directory `tests` of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// Without any directory.
    pub name: String,
    pub text: String,
}

/// `<id>_<name>` with the ending that the runner of that language wants to see.
pub(crate) fn file_name(id: &str, finding: &AgentFinding, proved: &Proved) -> String {
    let given = finding.test_name.as_deref().unwrap_or_default();
    let name = if proved.test_name.is_empty() { given } else { &proved.test_name };
    let name: String = name
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char } else { '_' })
        .take(NAME_CHARS)
        .collect();
    let name = if name.trim_matches('_').is_empty() { "test".to_owned() } else { name };
    let path = if proved.test_path.is_empty() {
        finding.test_file.as_deref().unwrap_or(&finding.file)
    } else {
        &proved.test_path
    };
    let file = path.rsplit('/').next().unwrap_or(path);
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let extension: String = extension.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    match extension.as_str() {
        "go" | "py" => format!("{id}_{name}_test.{extension}"),
        "js" | "cjs" | "mjs" | "jsx" | "ts" | "cts" | "mts" | "tsx" => {
            format!("{id}_{name}.test.{extension}")
        }
        "" => format!("{id}_{name}.txt"),
        _ => format!("{id}_{name}.{extension}"),
    }
}
