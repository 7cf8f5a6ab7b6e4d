//! `probity-ignore[category] -- reason` in the code, which counts only if it was there before the change.

use std::path::Path;

use probity_scope::{Ignored, Policy, Quota, Scope};

use crate::{
    Category,
    output::{ProvenIssue, ReviewOutput},
    verdict::{PersonVerdict, dismiss},
};

const START: &str = "probity-ignore[";
const FILE_BYTES: u64 = 8 << 20;
/// Who dismisses an issue by a comment.
const BY: &str = "probity-ignore";

/// Takes issues out of the count whose lines have a comment for them at the common ancestor with `base`.
/// A comment that the change adds is named in the notes.
pub fn apply_ignores(repo: &Path, base: &str, review: &mut ReviewOutput) {
    let policy = Policy {
        allow_sensitive: false,
        ignored: Ignored::Shown,
        max_file_bytes: FILE_BYTES,
        quota: Quota::UNLIMITED,
    };
    let Ok(scope) = Scope::open(repo, policy) else { return };
    let read = |issue: &ProvenIssue| {
        let bytes = scope.read(Path::new(&issue.file), FILE_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut dismissed: Vec<(String, String)> = Vec::new();
    for issue in &review.proven_issues {
        let Some(text) = read(issue) else { continue };
        let Some(found) = Ignore::of(&text, issue) else { continue };
        let before = probity_proof::file_at_merge_base(repo, base, &issue.file).ok().flatten();
        if before.is_some_and(|before| found.is_in(&before)) {
            dismissed.push((issue.id.clone(), found.reason));
        } else {
            let (file, line) = (&issue.file, found.line);
            review.notes.push(format!(
                "{file}:{line}: probity-ignore does not count, because it is not on the base branch: {}",
                found.reason
            ));
        }
    }
    dismiss(review, |issue| {
        let (_, reason) = dismissed.iter().find(|(id, _)| *id == issue.id)?;
        Some((PersonVerdict::WontFix, BY.to_owned(), reason.clone()))
    });
}

/// A comment, and the line that it is about.
#[derive(Debug, PartialEq, Eq)]
struct Ignore {
    reason: String,
    line: u64,
    /// The line of the comment and the flagged one; the same if the comment is at its end.
    texts: [String; 2],
}

impl Ignore {
    /// On the flagged line, or on the line above it.
    fn of(text: &str, issue: &ProvenIssue) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let index = usize::try_from(issue.line.checked_sub(1)?).ok()?;
        let flagged = lines.get(index)?;
        let above = index.checked_sub(1);
        [Some(index), above].into_iter().flatten().find_map(|at| {
            let comment = lines.get(at)?;
            let reason = directive(comment, issue.category)?;
            let texts = [comment.trim().to_owned(), flagged.trim().to_owned()];
            Some(Self { reason, line: at as u64 + 1, texts })
        })
    }

    fn is_in(&self, before: &str) -> bool {
        let [comment, flagged] = &self.texts;
        let lines: Vec<&str> = before.lines().map(str::trim).collect();
        if comment == flagged {
            return lines.contains(&comment.as_str());
        }
        lines.windows(2).any(|pair| pair == [comment.as_str(), flagged.as_str()])
    }
}

/// The reason of a comment for this category. Without a reason it is not one.
fn directive(line: &str, category: Category) -> Option<String> {
    let (_, rest) = line.split_once(START)?;
    let (named, rest) = rest.split_once(']')?;
    let reason = rest.trim_start().strip_prefix("--")?.trim();
    let reason = reason.trim_end_matches("*/").trim_end_matches("-->").trim();
    let is_it = named.split(',').any(|name| name.trim() == category.to_string());
    (is_it && !reason.is_empty()).then(|| crate::clean::one_line(reason, 300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_the_category_and_has_a_reason() {
        for (line, reason) in [
            ("x(); // probity-ignore[security] -- only for tests", Some("only for tests")),
            ("/* probity-ignore[correctness, security] -- known */", Some("known")),
            ("<!-- probity-ignore[security] -- known -->", Some("known")),
            ("// probity-ignore[correctness] -- other", None),
            ("// probity-ignore[security]", None),
            ("// probity-ignore[security] --  ", None),
            ("// probity-ignore -- everything", None),
        ] {
            assert_eq!(directive(line, Category::Security).as_deref(), reason, "{line}");
        }
    }

    #[test]
    fn a_comment_counts_only_beside_the_line_that_it_was_written_for() {
        let found = Ignore {
            reason: "r".to_owned(),
            line: 1,
            texts: ["// probity-ignore[security] -- r".to_owned(), "danger();".to_owned()],
        };
        assert!(found.is_in("a\n  // probity-ignore[security] -- r\n  danger();\n"));
        assert!(!found.is_in("// probity-ignore[security] -- r\nother();\ndanger();\n"));
        assert!(!found.is_in("danger();\n"));
    }
}
