//! A patch of several files, split into one patch a file.

use crate::patch::{PatchError, hunk_body::is_file_header};

/// The part of a patch that is about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// The file's path, without `a/` or `b/`.
    pub path: &'a str,
    pub text: String,
}

/// Splits a patch at the names of its files. Prose before the first of them is left out.
///
/// # Errors
///
/// When a section creates, deletes or moves its file, or the patch has no section.
pub fn sections(patch: &str) -> Result<Vec<Section<'_>>, PatchError> {
    let lines: Vec<&str> = patch.lines().collect();
    let mut found: Vec<Section<'_>> = Vec::new();
    let mut head: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        if let Some(&[old, new]) = is_file_header(rest) {
            let path = modified(old, new)?;
            let mut text: String = head.drain(..).flat_map(|line| [line, "\n"]).collect();
            text.extend([old, "\n", new, "\n"]);
            found.push(Section { path, text });
            at += 2;
            continue;
        }
        at += 1;
        if line.starts_with("diff --git ") {
            head = vec![line];
        } else if !head.is_empty() {
            head.push(line);
        } else if let Some(section) = found.last_mut() {
            section.text.extend([line, "\n"]);
        }
    }
    // A header without hunks: a new mode, a new name, a binary.
    if let [_, ..] = head.as_slice() {
        return Err(refused(&head));
    }
    if found.is_empty() { Err(PatchError::Empty) } else { Ok(found) }
}

fn modified<'a>(old: &'a str, new: &'a str) -> Result<&'a str, PatchError> {
    let (old, new) = (name(old, "a/"), name(new, "b/"));
    match (old, new) {
        ("/dev/null", _) => Err(PatchError::CreatesFile),
        (_, "/dev/null") => Err(PatchError::DeletesFile),
        (old, new) if old == new => Ok(new),
        _ => Err(PatchError::RenamesFile),
    }
}

/// The path of a `---` or `+++` line; what follows a tab is a time.
fn name<'a>(line: &'a str, side: &str) -> &'a str {
    let path = line.get(4..).unwrap_or_default();
    let path = path.split('\t').next().unwrap_or(path).trim_end();
    path.strip_prefix(side).unwrap_or(path)
}

fn refused(head: &[&str]) -> PatchError {
    let has = |start: &str| head.iter().any(|line| line.starts_with(start));
    if has("rename ") {
        PatchError::RenamesFile
    } else if has("copy ") {
        PatchError::CopiesFile
    } else if has("deleted file ") {
        PatchError::DeletesFile
    } else if has("new file ") {
        PatchError::CreatesFile
    } else if has("old mode ") {
        PatchError::ChangesMode
    } else if has("Binary ") || has("GIT binary") {
        PatchError::Binary
    } else {
        PatchError::Empty
    }
}

#[cfg(test)]
mod tests {
    use super::{PatchError, sections};

    #[test]
    fn each_file_is_a_section() {
        let patch = "Here is the fix:\ndiff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n\
            +++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n--- y.go\t2026-01-01\n+++ y.go\n@@ -1 +1 @@\n-c\n+d\n";
        let found = sections(patch).unwrap();
        let paths: Vec<&str> = found.iter().map(|section| section.path).collect();
        assert_eq!(paths, ["x.go", "y.go"]);
        assert!(found[0].text.starts_with("diff --git") && found[0].text.ends_with("+b\n"));
        assert!(found[1].text.starts_with("--- y.go") && found[1].text.ends_with("+d\n"));
    }

    #[test]
    fn only_changes_of_existing_files_are_taken() {
        let change = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
        for (patch, expected) in [
            (change("/dev/null", "b/x"), PatchError::CreatesFile),
            (change("a/x", "/dev/null"), PatchError::DeletesFile),
            (change("a/x", "b/y"), PatchError::RenamesFile),
            (
                "diff --git a/x b/y\nrename from x\nrename to y\n".to_owned(),
                PatchError::RenamesFile,
            ),
            ("diff --git a/x b/x\nold mode 1\nnew mode 2\n".to_owned(), PatchError::ChangesMode),
            (
                "diff --git a/x b/x\nBinary files a/x and b/x differ\n".to_owned(),
                PatchError::Binary,
            ),
            ("nothing".to_owned(), PatchError::Empty),
        ] {
            assert_eq!(sections(&patch).unwrap_err(), expected, "{patch}");
        }
    }
}
