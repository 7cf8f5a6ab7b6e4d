//! Comments in the sources that take a finding back: `// probity-ignore[skill] -- reason`.
//!
//! A comment counts for its own line, or, if it is alone on its line, for the next one. A reason is
//! demanded, because the next reader will ask for it. A comment that takes nothing back is told of: it
//! has outlived its finding, or names a skill wrongly.

use std::{collections::BTreeMap, path::Path};

use probity_scope::Scope;
use probity_text::one_line;

use crate::{Finding, Iteration, language::Language, session::SCAFFOLDED, sources::MOST_BYTES};

const WORD: &str = "probity-ignore[";

pub(crate) struct Ignores {
    scope: Option<Scope>,
    /// In the order of their names, so that warnings are.
    files: BTreeMap<String, Vec<Comment>>,
    warnings: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Comment {
    /// The line of the comment.
    at: u64,
    /// The line that it is about.
    line: u64,
    skills: Vec<Named>,
    reason: String,
}

/// The place of a comment that accepts a finding, and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    pub line: u64,
    pub reason: String,
}

/// A skill of a comment.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    id: String,
    /// Whether it took a finding back.
    is_used: bool,
}

impl Ignores {
    pub(crate) fn new(scope: Option<Scope>) -> Self {
        Self { scope, files: BTreeMap::new(), warnings: Vec::new() }
    }

    /// The comment that takes this finding of this skill back. A finding without a line is not about
    /// any, and stays.
    pub(crate) fn excuse(&mut self, skill: &str, finding: &Finding) -> Option<Excuse> {
        let line = finding.line?;
        let comments = self.comments_of(finding.file.as_ref()?);
        let mut excuse = None;
        for comment in comments.iter_mut().filter(|comment| comment.line == line) {
            for named in comment.skills.iter_mut().filter(|named| named.id == skill) {
                named.is_used = true;
                excuse.get_or_insert(Excuse { line: comment.at, reason: comment.reason.clone() });
            }
        }
        excuse
    }

    /// What is wrong with the comments, and which of them took nothing back. Nothing is said about a
    /// skill that came to no answer, or when none did: it might still find what is meant.
    pub(crate) fn warnings(mut self, sources: &[String], iterations: &[Iteration]) -> Vec<String> {
        for source in sources {
            self.comments_of(source);
        }
        let is_answered = |it: &&Iteration| it.is_done() && it.status != SCAFFOLDED;
        if !iterations.iter().any(|iteration| is_answered(&iteration)) {
            return self.warnings;
        }
        for (file, comment) in self
            .files
            .iter()
            .flat_map(|(file, comments)| comments.iter().map(move |comment| (file, comment)))
        {
            for Named { id, .. } in comment.skills.iter().filter(|named| !named.is_used) {
                let why = match iterations.iter().find(|iteration| iteration.skill_id == *id) {
                    Some(iteration) if is_answered(&iteration) => "matches no finding",
                    Some(_) => continue,
                    None => "names no skill of this audit",
                };
                let at = comment.at;
                self.warnings.push(format!("{file}:{at}: `probity-ignore[{id}]` {why}"));
            }
        }
        self.warnings
    }

    fn comments_of(&mut self, file: &str) -> &mut Vec<Comment> {
        let Self { scope, files, warnings } = self;
        files.entry(file.to_owned()).or_insert_with(|| {
            let bytes =
                scope.as_ref().and_then(|scope| scope.read(Path::new(file), MOST_BYTES).ok());
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            let (comments, wrong) = comments(file, &text);
            warnings.extend(wrong);
            comments
        })
    }
}

fn comments(file: &str, text: &str) -> (Vec<Comment>, Vec<String>) {
    let mut comments = Vec::new();
    let mut warnings = Vec::new();
    let mark = if Language::of_file(file) == Language::Python { "#" } else { "//" };
    for (number, line) in (1..).zip(text.lines()) {
        let Some((before, comment)) = line.split_once(mark) else { continue };
        let Some((_, rest)) = comment.split_once(WORD) else { continue };
        let Some((names, rest)) = rest.split_once(']') else {
            warnings.push(format!("{file}:{number}: `probity-ignore[` has no `]`"));
            continue;
        };
        let reason = rest.trim_start().strip_prefix("--").map_or("", str::trim);
        if reason.is_empty() {
            warnings.push(format!(
                "{file}:{number}: `probity-ignore[{names}]` has no effect without a reason: add `-- why`"
            ));
            continue;
        }
        let named = |name: &str| Named { id: name.trim().to_owned(), is_used: false };
        let skills = names.split(',').map(named).collect();
        let line = if before.trim().is_empty() { number + 1 } else { number };
        comments.push(Comment { at: number, line, skills, reason: one_line(reason, 500) });
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
        let lines: Vec<(u64, usize)> =
            found.iter().map(|comment| (comment.line, comment.skills.len())).collect();
        assert_eq!(lines, [(1, 1), (3, 2)]);
        let (found, _) = comments("a.py", "a == b  # probity-ignore[s-1] -- exact by design\n");
        assert_eq!(found.first().map(|comment| comment.line), Some(1));
        insta::assert_snapshot!(warnings.join("\n"), @r"
        a.ak:4: `probity-ignore[s-1]` has no effect without a reason: add `-- why`
        a.ak:5: `probity-ignore[` has no `]`
        a.ak:6: `probity-ignore[s-1]` has no effect without a reason: add `-- why`
        ");
    }
}
