//! Where the code of an earlier issue is today: its file may have another name, and its line moves.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use probity_scope::Scope;
use sha2::{Digest as _, Sha256};

use super::fingerprint::Prints;
use crate::{claims::hex, output::ProvenIssue};

/// The repository of today, as far as an earlier review needs it.
pub(super) struct Today<'a> {
    names: HashSet<&'a str>,
    renames: HashMap<String, String>,
    prints: Prints<'a>,
}

impl<'a> Today<'a> {
    /// `since` is the commit of the earlier review.
    pub(super) fn new(repo: &Path, since: &str, names: &'a [String], scope: &'a Scope) -> Self {
        Self {
            names: names.iter().map(String::as_str).collect(),
            renames: probity_proof::renames(repo, since).into_iter().collect(),
            prints: Prints::new(scope),
        }
    }

    /// Whether there is a file of this name.
    pub(super) fn has(&self, file: &str) -> bool {
        self.names.contains(file)
    }

    /// The flagged lines as they are today.
    pub(super) fn lines(&mut self, issue: &ProvenIssue) -> String {
        self.prints.lines(&issue.file, issue.line, issue.end_line)
    }

    /// Tells one text of a file from another; empty where there is no file.
    pub(super) fn digest(&mut self, file: &str) -> String {
        if !self.has(file) {
            return String::new();
        }
        hex(&Sha256::digest(self.prints.text(file)))
    }

    /// Gives an issue the path, the line and the identity that its code has today.
    pub(super) fn follow(&mut self, issue: &mut ProvenIssue) {
        let called = issue.file.clone();
        let moved = self.renames.get(&called).filter(|new| !self.has(&called) && self.has(new));
        if let Some(new) = moved {
            issue.test_path = beside(&issue.test_path, &called, new);
            if let Some(patch) = &mut issue.fix_patch {
                *patch = renamed(patch, &called, new);
            }
            issue.file.clone_from(new);
        }
        if !self.has(&issue.file) {
            return;
        }
        let wanted = (issue.fingerprint.as_str(), issue.line);
        let found = self.prints.line(&issue.file, &called, issue.category, wanted);
        let last = self.prints.text(&issue.file).lines().count().max(1) as u64;
        let line = found.unwrap_or(issue.line.min(last));
        let end = issue.end_line.map(|end| line.saturating_add(end.saturating_sub(issue.line)));
        issue.end_line = end.map(|end| end.min(last));
        issue.line = line;
        // Without its line an issue has no identity but the one it had.
        if found.is_some() && issue.file != called {
            let place = (issue.file.clone(), line, issue.category);
            issue.fingerprint = self.prints.of(&[place]).pop().unwrap_or_default();
        }
    }
}

/// A patch in whose headers a file has its new name.
fn renamed(patch: &str, old: &str, new: &str) -> String {
    let mut text = String::with_capacity(patch.len());
    for line in patch.split_inclusive('\n') {
        let is_header = ["--- ", "+++ ", "diff --git "].iter().any(|start| line.starts_with(start));
        if is_header {
            text.push_str(&line.replace(old, new));
        } else {
            text.push_str(line);
        }
    }
    text
}

/// Where a test goes whose file has moved: along with it, if it lay in the same directory.
fn beside(test: &str, old: &str, new: &str) -> String {
    let directory = |path: &str| path.rsplit_once('/').map_or("", |(directory, _)| directory).len();
    let (of_test, of_old) = (test.get(..directory(test)), old.get(..directory(old)));
    let name = test.rsplit('/').next().unwrap_or(test);
    match new.rsplit_once('/') {
        _ if of_test != of_old || test.is_empty() => test.to_owned(),
        Some((directory, _)) => format!("{directory}/{name}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn a_test_goes_along_only_from_the_same_directory() {
        for (test, old, new, expected) in [
            ("c/t_test.go", "c/c.go", "c/d.go", "c/t_test.go"),
            ("c/t_test.go", "c/c.go", "d/e/c.go", "d/e/t_test.go"),
            ("c/t_test.go", "c/c.go", "c.go", "t_test.go"),
            ("t_test.go", "c.go", "d/c.go", "d/t_test.go"),
            ("tests/test_c.py", "src/c.py", "lib/c.py", "tests/test_c.py"),
            ("", "c.go", "d/c.go", ""),
        ] {
            assert_eq!(beside(test, old, new), expected, "{test} {old} {new}");
        }
    }
}
