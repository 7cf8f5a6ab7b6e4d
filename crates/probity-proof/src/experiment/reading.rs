//! Whether a test that passes on another version of the code passes for the text of the changed files:
//! with nothing but a comment and idle code more in them it ends otherwise.

use super::{
    inert,
    staged::{Staged, Version},
};
use crate::{
    Outcome,
    places::{Vault, read_text},
};

/// Both versions hold the same test, and `flagged` is the file that the claim is about.
pub(super) fn reads_code(
    original: &Staged<'_>,
    other: &Staged<'_>,
    flagged: &str,
    vault: &Vault,
) -> bool {
    let head = &original.version.copies.root;
    let mut others = other.version.changes.to_vec();
    if others.is_empty() {
        let text = read_text(&other.version.copies.root, flagged);
        others.extend(text.ok().map(|text| (flagged.to_owned(), text)));
    }
    let mut originals = Vec::new();
    for (path, _) in &others {
        originals.extend(read_text(head, path).ok().map(|before| (path.clone(), before)));
    }
    // Of what is compiled each program can be run beside the files of the other version, which
    // costs no build; only what seems to read them, or what compilers put into the program, is
    // built again.
    let code = &original.placed.source;
    if original.version.runner.is_compiled() && !code.contains("include") && !code.contains("embed")
    {
        let first = original.beside(&others).run().trial.outcome;
        let second = other.beside(&originals).run().trial.outcome;
        if first != Outcome::Passed && second != Outcome::Failed {
            return false;
        }
    }
    let commented = |ours: &[(String, String)], theirs: &[(String, String)]| {
        let mut changes = ours.to_vec();
        let mut has_comment = false;
        for (path, text) in &mut changes {
            let there = theirs.iter().find(|(known, _)| known == path);
            if let Some(new) = there.and_then(|(_, there)| inert::inert(path, text, there)) {
                (*text, has_comment) = (new, true);
            }
        }
        has_comment.then_some(changes)
    };
    let ends = |staged: &Staged<'_>, changes: Option<Vec<(String, String)>>, name: &str| {
        let changes = changes?;
        let version = Version { changes: &changes, ..staged.version };
        // What does not compile with a comment says nothing.
        let staged = version.build(staged.placed, vault, name).ok()?;
        Some(staged.run().trial.outcome)
    };
    ends(original, commented(&originals, &others), "inert-original") == Some(Outcome::Passed)
        || ends(other, commented(&others, &originals), "inert-other") == Some(Outcome::Failed)
}
