//! Finding the one section of a patch and its hunks, before the parser crate reads them.
//!
//! The parser crate wants right counts and rising line numbers, and silently leaves out what follows
//! a complete hunk. So the hunks are found here, their lines counted, and the parser is given headers
//! that it cannot object to; the places that the patch states are kept aside. Whatever cannot be
//! told for certain to be prose or part of a hunk is refused: no change is ever left out in silence.

use std::fmt::Write as _;

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};

use crate::patch::{
    ApplyFailure, Hunk, HunkLine, LineKind, Patch, PatchError,
    header::HunkHeader,
    hunk_body::{self, is_file_header},
    names::Names,
};

/// More than the longest answer that is read.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Each misplaced hunk costs a search through the file.
const MAX_HUNKS: usize = 1000;

/// Names are compared in ways that are not linear in their length.
const MAX_HEADER_BYTES: usize = 8 * 1024;

/// A patch with one section, which has hunks.
#[derive(Debug)]
pub(crate) struct Scanned<'a> {
    /// The section, with right counts, rising line numbers, and nothing around or within it.
    section: String,
    /// What follows `diff --git`, where the section begins with it.
    git_names: Option<&'a str>,
    stated: Vec<Stated>,
    /// The section's first line in the patch.
    line: usize,
}

/// What a hunk's header said.
#[derive(Debug)]
struct Stated {
    old_start: usize,
    recounted: bool,
    patch_line: usize,
}

impl<'a> Scanned<'a> {
    /// Scans a patch whose lines end with `\n`.
    pub(crate) fn new(text: &'a str) -> Result<Self, PatchError> {
        if text.len() > MAX_BYTES {
            return Err(PatchError::TooLarge {
                what: "bytes",
                found: text.len(),
                limit: MAX_BYTES,
            });
        }
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        let mut section = Section::default();
        let mut at = 0;
        while let Some(&line) = lines.get(at) {
            let rest = lines.get(at..).unwrap_or_default();
            at += section.read(line, rest, at + 1)?;
        }
        section.finish(text)
    }

    /// Reads the section, which must be about the file that `names` means.
    pub(crate) fn into_patch(self, names: &Names<'_>) -> Result<Patch, PatchError> {
        let unreadable =
            |reason: &str| PatchError::Unreadable { line: self.line, reason: reason.to_owned() };
        let format = match self.git_names {
            Some(_) => ParseOptions::gitdiff(),
            None => ParseOptions::unidiff(),
        };
        let Some(Ok(file)) = PatchSet::parse(&self.section, format).next() else {
            return Err(unreadable("the section is not a unified diff"));
        };
        match file.operation() {
            FileOperation::Create(_) => return Err(PatchError::CreatesFile),
            FileOperation::Delete(_) => return Err(PatchError::DeletesFile),
            FileOperation::Rename { .. } => return Err(PatchError::RenamesFile),
            FileOperation::Copy { .. } => return Err(PatchError::CopiesFile),
            FileOperation::Modify { original, modified } => {
                names.check(original)?;
                names.check(modified)?;
            }
        }
        if let Some(pair) = self.git_names {
            names.check_pair(pair)?;
        }
        let patch = file.patch().as_text().ok_or(PatchError::Binary)?;
        if patch.hunks().len() != self.stated.len() {
            return Err(unreadable("the section has hunks that cannot be read"));
        }
        let hunks = patch.hunks().iter().zip(self.stated).map(|(hunk, stated)| Hunk {
            old_start: stated.old_start,
            lines: hunk.lines().iter().copied().map(own_line).collect(),
            recounted: stated.recounted,
            patch_line: stated.patch_line,
        });
        Ok(Patch::new(hunks.collect()))
    }
}

fn own_line(line: diffy::Line<'_, str>) -> HunkLine {
    let (kind, text) = match line {
        diffy::Line::Context(text) => (LineKind::Context, text),
        diffy::Line::Delete(text) => (LineKind::Removed, text),
        diffy::Line::Insert(text) => (LineKind::Added, text),
    };
    let stripped = text.strip_suffix('\n');
    HunkLine { kind, text: stripped.unwrap_or(text).to_owned(), ends_file: stripped.is_none() }
}

/// The section as far as it has been read.
#[derive(Debug, Default)]
struct Section<'a> {
    text: String,
    /// The first line of the section, once there is one.
    line: Option<usize>,
    git_names: Option<&'a str>,
    has_names: bool,
    stated: Vec<Stated>,
    /// The first thing it asks for that a patch must not.
    refusal: Option<PatchError>,
    /// Whether text that belongs to no hunk has followed a hunk.
    ended: bool,
    /// A line number behind everything that the parser was told of.
    next_line: usize,
}

impl<'a> Section<'a> {
    /// Reads what begins with `line`, the first of `rest`, and tells how many lines that was.
    fn read(
        &mut self,
        line: &'a str,
        rest: &[&'a str],
        number: usize,
    ) -> Result<usize, PatchError> {
        if line.starts_with("@@") {
            return self.read_hunk(line, rest, number);
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.begin(number)?;
            short_enough(line, number)?;
            self.git_names = Some(names);
            self.push(line);
            return Ok(1);
        }
        if let Some(names) = is_file_header(rest) {
            if self.git_names.is_none() || self.has_names {
                self.begin(number)?;
            }
            self.has_names = true;
            for line in names {
                short_enough(line, number)?;
                self.push(line);
            }
            return Ok(names.len());
        }
        if line.starts_with("GIT binary patch")
            || (line.starts_with("Binary files ") && line.ends_with(" differ"))
        {
            self.refuse(PatchError::Binary);
        } else if self.line.is_some() && !self.has_names {
            self.read_git_header(line);
        } else if !self.stated.is_empty() && !line.is_empty() {
            self.ended = true;
        }
        Ok(1)
    }

    /// A second section is refused, be it of the same file: one patch, one section.
    fn begin(&mut self, number: usize) -> Result<(), PatchError> {
        if self.line.is_some() {
            return Err(PatchError::SeveralFiles);
        }
        self.line = Some(number);
        Ok(())
    }

    /// Notes what git's own header lines ask for. All other lines there say nothing of use.
    fn read_git_header(&mut self, line: &str) {
        let refusal = match line.split_once(' ').unwrap_or_default() {
            ("new", rest) if rest.starts_with("file mode ") => PatchError::CreatesFile,
            ("deleted", rest) if rest.starts_with("file mode ") => PatchError::DeletesFile,
            ("rename", rest) if is_from_or_to(rest) => PatchError::RenamesFile,
            ("copy", rest) if is_from_or_to(rest) => PatchError::CopiesFile,
            ("old" | "new", rest) if rest.starts_with("mode ") => PatchError::ChangesMode,
            _ => return,
        };
        self.refuse(refusal);
    }

    fn read_hunk(&mut self, line: &str, rest: &[&str], number: usize) -> Result<usize, PatchError> {
        let unreadable =
            |reason: &str| Err(PatchError::Unreadable { line: number, reason: reason.to_owned() });
        if !self.has_names {
            return unreadable("a hunk without `---` and `+++` lines before it");
        }
        if self.ended {
            return unreadable("a hunk after text that belongs to no hunk");
        }
        if self.stated.len() == MAX_HUNKS {
            let found = rest.iter().filter(|line| line.starts_with("@@")).count() + MAX_HUNKS;
            return Err(PatchError::TooLarge { what: "hunks", found, limit: MAX_HUNKS });
        }
        let header = HunkHeader::parse(line, number)?;
        let following = rest.get(1..).unwrap_or_default();
        let body = hunk_body::find(following, &header, number)?;
        if body.old_count == 0 && header.old_count != 0 {
            // The header's line is the first old line or the one to insert after, depending on a
            // count that is wrong.
            return Err(PatchError::ApplyFailed {
                hunk: self.stated.len() + 1,
                patch_line: number,
                failure: ApplyFailure::NoContext { line: header.old_start.max(1) },
            });
        }
        self.stated.push(Stated {
            old_start: header.old_start,
            recounted: (header.old_count, header.new_count) != (body.old_count, body.new_count),
            patch_line: number,
        });
        let (start, old, new) = (self.next_line + 1, body.old_count, body.new_count);
        // Writing to a string cannot fail.
        _ = writeln!(self.text, "@@ -{start},{old} +{start},{new} @@");
        self.next_line = start + old + new;
        for line in following.iter().take(body.length) {
            self.push(line);
        }
        Ok(1 + body.length)
    }

    fn finish(self, text: &'a str) -> Result<Scanned<'a>, PatchError> {
        let Some(line) = self.line else {
            // A binary file may be told of without any header.
            return Err(match self.refusal {
                Some(refusal) => refusal,
                None if text.trim().is_empty() => PatchError::Empty,
                None => PatchError::Unreadable {
                    line: 1,
                    reason: "no `---` and `+++` lines follow".to_owned(),
                },
            });
        };
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        if self.stated.is_empty() {
            return Err(PatchError::Empty);
        }
        Ok(Scanned { section: self.text, git_names: self.git_names, stated: self.stated, line })
    }

    fn refuse(&mut self, refusal: PatchError) {
        self.refusal.get_or_insert(refusal);
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

fn is_from_or_to(rest: &str) -> bool {
    rest.starts_with("from ") || rest.starts_with("to ")
}

fn short_enough(line: &str, number: usize) -> Result<(), PatchError> {
    if line.len() > MAX_HEADER_BYTES {
        let reason = "a name longer than any path".to_owned();
        return Err(PatchError::Unreadable { line: number, reason });
    }
    Ok(())
}
