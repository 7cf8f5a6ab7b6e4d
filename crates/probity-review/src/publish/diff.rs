//! Which lines of a file a pull request shows.

use std::collections::BTreeMap;

/// The lines of a pull request on which comments can be, by file.
#[derive(Debug, Default)]
pub(super) struct DiffLines {
    files: BTreeMap<String, DiffFile>,
}

#[derive(Debug, Default)]
pub(super) struct DiffFile {
    pub(super) old_path: String,
    /// By their number in the new file.
    lines: BTreeMap<u64, DiffLine>,
}

#[derive(Debug)]
pub(super) struct DiffLine {
    /// The number in the old file, if it is there.
    pub(super) old: Option<u64>,
    text: String,
    hunk: usize,
}

impl DiffLines {
    /// Adds the hunks of one file.
    pub(super) fn add(&mut self, path: &str, old_path: &str, hunks: &str) {
        let lines = hunk_lines(&mut hunks.lines());
        self.files.insert(path.to_owned(), DiffFile { old_path: old_path.to_owned(), lines });
    }

    /// Of the diff of all files, as git writes it.
    pub(super) fn of_git(diff: &str) -> Self {
        let mut all = Self::default();
        let mut lines = diff.lines().peekable();
        let mut old_path = String::new();
        while let Some(line) = lines.next() {
            if let Some(old) = line.strip_prefix("--- ") {
                old_path = old.strip_prefix("a/").unwrap_or(old).to_owned();
            } else if let Some(new) = line.strip_prefix("+++ b/") {
                let new = new.trim_end_matches('\t').to_owned();
                let mut hunks = Vec::new();
                while let Some(next) = lines.next_if(|next| !next.starts_with("diff --git ")) {
                    hunks.push(next);
                }
                let lines = hunk_lines(&mut hunks.into_iter());
                let old_path = std::mem::take(&mut old_path);
                all.files.insert(new, DiffFile { old_path, lines });
            }
        }
        all
    }

    pub(super) fn file(&self, path: &str) -> Option<&DiffFile> {
        self.files.get(path)
    }

    /// Whether the pull request shows these lines in one piece, with this text where it is known.
    pub(super) fn shows(&self, path: &str, start: u64, end: u64, texts: &[String]) -> bool {
        let Some(file) = self.files.get(path) else { return false };
        let mut hunk = None;
        (start..=end).enumerate().all(|(index, number)| {
            let Some(line) = file.lines.get(&number) else { return false };
            let is_same_hunk = *hunk.get_or_insert(line.hunk) == line.hunk;
            let text = texts.get(index);
            is_same_hunk && text.is_none_or(|text| text.trim_end() == line.text.trim_end())
        })
    }
}

impl DiffFile {
    pub(super) fn old_line(&self, number: u64) -> Option<u64> {
        self.lines.get(&number)?.old
    }
}

fn hunk_lines(lines: &mut dyn Iterator<Item = &str>) -> BTreeMap<u64, DiffLine> {
    let mut found = BTreeMap::new();
    let (mut old, mut new, mut hunk) = (0_u64, 0_u64, 0);
    for line in lines {
        if let Some((from, to)) = header(line) {
            (old, new, hunk) = (from, to, hunk + 1);
            continue;
        }
        if hunk == 0 {
            continue;
        }
        match line.as_bytes().first() {
            Some(b'-') => old += 1,
            Some(b'\\') => {}
            Some(b'+') => {
                let text = line.get(1..).unwrap_or_default().to_owned();
                found.insert(new, DiffLine { old: None, text, hunk });
                new += 1;
            }
            _ => {
                let text = line.get(1..).unwrap_or_default().to_owned();
                found.insert(new, DiffLine { old: Some(old), text, hunk });
                (old, new) = (old + 1, new + 1);
            }
        }
    }
    found
}

/// `@@ -12,3 +12,4 @@`: where the hunk begins in both files.
fn header(line: &str) -> Option<(u64, u64)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let number = |range: &str| range.split(',').next()?.parse().ok();
    Some((number(old)?, number(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUNKS: &str = "@@ -1,3 +1,4 @@ fn a\n one\n-two\n+2\n+2b\n three\n@@ -10 +11,2 @@\n ten\n+11\n\\ No newline at end of file\n";

    #[test]
    fn lines_have_their_numbers_in_both_files_and_stay_in_their_hunk() {
        let mut diff = DiffLines::default();
        diff.add("a.rs", "b.rs", HUNKS);
        let file = diff.file("a.rs").unwrap();
        let olds: Vec<(u64, Option<u64>)> =
            file.lines.iter().map(|(new, line)| (*new, line.old)).collect();
        let expected =
            [(1, Some(1)), (2, None), (3, None), (4, Some(3)), (11, Some(10)), (12, None)];
        assert_eq!(olds, expected);
        let text = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        for (start, end, texts, is_shown) in [
            (2, 3, text(&["2", "2b"]), true),
            (2, 3, text(&["2", "other"]), false),
            (4, 11, text(&[]), false),
            (12, 12, text(&[]), true),
            (9, 9, text(&[]), false),
        ] {
            assert_eq!(diff.shows("a.rs", start, end, &texts), is_shown, "{start}-{end} {texts:?}");
        }
        assert!(!diff.shows("b.rs", 1, 1, &[]));
    }

    #[test]
    fn the_diff_of_all_files_is_split_and_keeps_lines_that_look_like_headers() {
        let diff = "diff --git a/a.sql b/a.sql\n--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ b/new\n same\ndiff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n";
        let lines = DiffLines::of_git(diff);
        assert!(lines.shows("a.sql", 1, 2, &["++ b/new".to_owned(), "same".to_owned()]));
        assert!(lines.shows("b", 1, 1, &["x".to_owned()]));
        assert_eq!(lines.files.len(), 2);
    }
}
