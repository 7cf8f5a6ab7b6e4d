//! The directory for temporary files is there if a program uses it.
//!
//! Small bases have no `/tmp`, and a program notices only when it needs one. A program that was
//! compiled below `/tmp` names it too, so the name alone says nothing: a program uses the directory
//! if it calls a function that makes temporary files, or names a path below it that is not a source file.

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Pair, paths};
use crate::{Difference, Root};

const LARGEST: u64 = 64 << 20;

/// Functions and modules that make or name temporary files; compiled Go has the names of functions
/// even when stripped.
const FUNCTIONS: [&str; 18] = [
    "os.TempDir",
    "os.CreateTemp",
    "os.MkdirTemp",
    "mkstemp",
    "mkostemp",
    "mkdtemp",
    "mkstemp64",
    "tmpfile64",
    "mktemp",
    "tmpfile",
    "tempnam",
    "env8temp_dir",
    "temp_directory_path",
    "tempfile",
    "os.tmpdir",
    "createTempFile",
    "createTempDirectory",
    "sys_get_temp_dir",
];
const DIRECTORY: &str = "/tmp";

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let (before, after) = (&pair.original.root, &pair.proposal.root);
    if !before.has_directory(DIRECTORY) || after.has_directory(DIRECTORY) {
        return Vec::new();
    }
    if is_prepared(pair) || is_used(pair) {
        vec![Difference::PathMissing { path: DIRECTORY.to_owned(), more: 0 }]
    } else {
        Vec::new()
    }
}

/// Whether a file that a process opened was a temporary one.
pub(super) fn is_below(path: &str) -> bool {
    path.strip_prefix(DIRECTORY).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether the original's own instructions make the directory or set its rights.
fn is_prepared(pair: &Pair<'_>) -> bool {
    let rights = |root: &Root| root.get(DIRECTORY).map(|entry| (entry.uid, entry.gid, entry.mode));
    pair.base.is_some_and(|base| rights(&base.root) != rights(&pair.original.root))
}

fn is_used(pair: &Pair<'_>) -> bool {
    let Ok(search) = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(FUNCTIONS.iter().chain([&DIRECTORY]))
    else {
        return true;
    };
    let root = &pair.proposal.root;
    let mut own = root.iter().filter(|(path, entry)| entry.is_file() && pair.is_added(path));
    let names_it = own.any(|(_, entry)| {
        let bytes = root.bytes(entry, LARGEST);
        search.find_iter(&bytes).any(|found| match FUNCTIONS.get(found.pattern().as_usize()) {
            Some(name) => is_call(name, &bytes, found.start(), found.end()),
            None => is_path(&bytes, found.start(), found.end()),
        })
    });
    let mut values = pair.proposal.configuration.environment.values();
    names_it || values.any(|value| is_below(&format!("{value}/")))
}

/// Compiled programs have names of source files and of constants too: a symbol of theirs is one that
/// stands by itself, or one that begins with its package.
fn is_call(name: &str, bytes: &[u8], start: usize, end: usize) -> bool {
    let is_compiled = bytes.starts_with(b"\x7fELF");
    let is_edge = |byte: Option<&u8>| byte == Some(&0);
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let is_whole = is_edge(before) && is_edge(bytes.get(end));
    !is_compiled || is_whole || name.starts_with("os.") || name == "env8temp_dir"
}

/// Whether `/tmp` at this place is the directory, and not `/var/tmp`, `/tmpl`, or where a compiler
/// found a source file.
fn is_path(bytes: &[u8], start: usize, end: usize) -> bool {
    let rest = bytes.get(end..).unwrap_or_default();
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/".contains(byte);
    let length = rest.iter().take_while(|byte| is_letter(byte)).count();
    let rest = String::from_utf8_lossy(rest.get(..length).unwrap_or_default());
    let is_whole = rest.is_empty() || rest.starts_with('/');
    let is_elsewhere = bytes.get(..start).is_some_and(|before| before.ends_with(b"/var"));
    is_whole && !is_elsewhere && !paths::is_for_building(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_program_has_symbols_and_not_words() {
        for (text, name, expected) in [
            ("\u{7f}ELF\0puts\0tmpfile\0", "tmpfile", true),
            ("\u{7f}ELF src/os/tempfile.go\0", "tempfile", false),
            ("\u{7f}ELF io.copyos.CreateTempos.open", "os.CreateTemp", true),
            ("import tempfile", "tempfile", true),
        ] {
            let start = text.find(name).unwrap();
            let found = is_call(name, text.as_bytes(), start, start + name.len());
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_path_is_the_directory_or_something_below_it_that_is_not_a_source_file() {
        for (text, expected) in [
            ("open(/tmp/cache.db)", true),
            ("\0/tmp\0", true),
            ("/var/tmp/x", false),
            ("/tmpl/index.html", false),
            ("\0/tmp/build-7/main.go\0", false),
        ] {
            let start = text.find(DIRECTORY).unwrap();
            let end = start + DIRECTORY.len();
            assert_eq!(is_path(text.as_bytes(), start, end), expected, "{text}");
        }
    }
}
