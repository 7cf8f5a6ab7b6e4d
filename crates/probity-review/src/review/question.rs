//! Whether a finding is a question to the author: a test of behavior that the change altered on
//! purpose, since it altered a test or a document of that behavior too.

use std::path::Path;

use probity_proof::Change;

/// Endings of documents.
const DOCUMENTS: [&str; 5] = ["md", "rst", "txt", "adoc", "rdoc"];

/// The test or document of this function that the change altered beside the code.
pub(super) fn altered_description(function: &str, change: &Change) -> Option<String> {
    let mut file = None;
    for line in change.hunks.lines() {
        if let Some(path) = line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/")) {
            file = Some(path.trim_end()).filter(|path| is_description(path));
        } else if line.starts_with(['+', '-'])
            && let Some(file) = file
            && has_word(line, function)
        {
            return Some(file.to_owned());
        }
    }
    None
}

fn is_description(path: &str) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    let is_document = ending.is_some_and(|ending| DOCUMENTS.contains(&ending));
    let lower = path.to_ascii_lowercase();
    is_document || lower.contains("test") || lower.contains("spec")
}

fn has_word(line: &str, word: &str) -> bool {
    let is_name = |end: char| end.is_alphanumeric() || end == '_' || end == '$';
    line.split(|end: char| !is_name(end)).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_that_changed_with_the_code_makes_a_question() {
        let change = |path: &str, line: &str| Change {
            base: "main".to_owned(),
            merge_base: "a".to_owned(),
            files: Vec::new(),
            hunks: format!(
                "--- a/calc.py\n+++ b/calc.py\n-x\n+total\n--- a/{path}\n+++ b/{path}\n{line}\n"
            ),
        };
        for (path, line, expected) in [
            ("tests/test_calc.py", "-    assert total([1]) == 1", Some("tests/test_calc.py")),
            ("CHANGELOG.md", "+`total` includes taxes now.", Some("CHANGELOG.md")),
            ("CHANGELOG.md", "+subtotal includes taxes now.", None),
            ("CHANGELOG.md", " total", None),
            ("other.py", "+total", None),
        ] {
            let found = altered_description("total", &change(path, line));
            assert_eq!(found.as_deref(), expected, "{path} {line}");
        }
    }
}
