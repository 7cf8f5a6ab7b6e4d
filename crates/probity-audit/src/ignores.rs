//! Comments in the sources that take a finding back: `// probity-ignore[skill] -- reason`.
//!
//! A comment counts for its own line, or, where it stands alone, for the next one. A reason is
//! demanded, because the next reader will ask for it.

use std::{collections::HashMap, path::Path};

use probity_scope::Scope;

use crate::Finding;

const WORD: &str = "probity-ignore[";

pub(crate) struct Ignores {
    scope: Option<Scope>,
    files: HashMap<String, Vec<Comment>>,
    warnings: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Comment {
    /// The line that it is about.
    line: u64,
    skills: Vec<String>,
}

impl Ignores {
    pub(crate) fn new(scope: Option<Scope>) -> Self {
        Self { scope, files: HashMap::new(), warnings: Vec::new() }
    }

    /// Whether a comment takes this finding of this skill back. A finding without a line is not about
    /// any, and stays.
    pub(crate) fn takes_back(&mut self, skill: &str, finding: &Finding) -> bool {
        let (Some(file), Some(line)) = (&finding.file, finding.line) else { return false };
        if !self.files.contains_key(file) {
            let bytes =
                self.scope.as_ref().and_then(|scope| scope.read(Path::new(file), u64::MAX).ok());
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            let (comments, warnings) = comments(file, &text);
            self.warnings.extend(warnings);
            self.files.insert(file.clone(), comments);
        }
        let comments = self.files.get(file).map(Vec::as_slice).unwrap_or_default();
        comments
            .iter()
            .any(|comment| comment.line == line && comment.skills.iter().any(|it| it == skill))
    }

    pub(crate) fn warnings(self) -> Vec<String> {
        self.warnings
    }
}

fn comments(file: &str, text: &str) -> (Vec<Comment>, Vec<String>) {
    let mut comments = Vec::new();
    let mut warnings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((before, comment)) = line.split_once("//") else { continue };
        let Some((_, rest)) = comment.split_once(WORD) else { continue };
        let Some((names, rest)) = rest.split_once(']') else {
            warnings.push(format!("{file}:{number}: `probity-ignore[` has no `]`"));
            continue;
        };
        let reason = rest.trim_start().strip_prefix("--").map_or("", str::trim);
        if reason.is_empty() {
            warnings.push(format!(
                "{file}:{number}: `probity-ignore[{names}]` is not heeded without a reason: add `-- why`"
            ));
            continue;
        }
        let skills = names.split(',').map(|name| name.trim().to_owned()).collect();
        let line = if before.trim().is_empty() { number + 1 } else { number };
        comments.push(Comment { line, skills });
    }
    (comments, warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_count_for_their_line_or_the_next_and_need_a_reason() {
        let text = "a == b // probity-ignore[s-1] -- exact by design\n\
                    // probity-ignore[s-1, s-2] -- see the paper\n\
                    c == d\n\
                    e // probity-ignore[s-1]\n\
                    f // probity-ignore[s-1\n\
                    g // probity-ignore[s-1] --\n";
        let (found, warnings) = comments("a.ak", text);
        let lines: Vec<(u64, usize)> = found.iter().map(|it| (it.line, it.skills.len())).collect();
        assert_eq!(lines, [(1, 1), (3, 2)]);
        insta::assert_snapshot!(warnings.join("\n"), @r"
        a.ak:4: `probity-ignore[s-1]` is not heeded without a reason: add `-- why`
        a.ak:5: `probity-ignore[` has no `]`
        a.ak:6: `probity-ignore[s-1]` is not heeded without a reason: add `-- why`
        ");
    }
}
