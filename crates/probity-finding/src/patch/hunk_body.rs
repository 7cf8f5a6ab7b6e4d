//! Where the lines of a hunk end, by its header's counts or, where they are wrong, by the lines.

use crate::patch::{PatchError, header::HunkHeader};

/// How many lines a hunk has in the patch, and how many of the old and the new file they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) length: usize,
    pub(crate) old_count: usize,
    pub(crate) new_count: usize,
}

/// Finds the body of a hunk in the lines that follow its header, line `number` of the patch.
pub(crate) fn find(lines: &[&str], header: &HunkHeader, number: usize) -> Result<Body, PatchError> {
    if let Some(body) = by_counts(lines, header) {
        return Ok(body);
    }
    let body = by_lines(lines);
    // What follows must be prose. A line of a hunk behind it would be left out, and that happens
    // when an agent forgets the blank before a context line.
    let follows = lines.get(body.length..).unwrap_or_default();
    let interrupted = follows.first().is_some_and(|line| !starts_anew(follows) && !line.is_empty())
        && follows.iter().any(|line| line.starts_with([' ', '+', '-']));
    if interrupted && !is_signature(follows) {
        return Err(PatchError::Unreadable {
            line: number + 1 + body.length,
            reason: "the line does not begin with a space, `+` or `-`".to_owned(),
        });
    }
    if body.length == 0 {
        let reason = "a hunk without lines".to_owned();
        return Err(PatchError::Unreadable { line: number, reason });
    }
    Ok(body)
}

/// The two lines that name the file, if `lines` begins with them.
pub(crate) fn is_file_header<'a, 'b>(lines: &'b [&'a str]) -> Option<&'b [&'a str]> {
    match lines {
        [old, new, ..] if old.starts_with("--- ") && new.starts_with("+++ ") => lines.get(..2),
        _ => None,
    }
}

/// The body if the header is right, which it is not where the hunk visibly goes on behind it.
fn by_counts(lines: &[&str], header: &HunkHeader) -> Option<Body> {
    let mut body = Body::default();
    let is_marker = |line: &&str| line.starts_with('\\');
    while body.old_count < header.old_count
        || body.new_count < header.new_count
        || lines.get(body.length).is_some_and(is_marker)
    {
        body.add(lines.get(body.length)?)?;
    }
    let matches = (body.old_count, body.new_count) == (header.old_count, header.new_count);
    let follows = lines.get(body.length..).unwrap_or_default();
    let blank = follows.iter().take_while(|line| line.is_empty()).count();
    let follows = follows.get(blank..).unwrap_or_default();
    let goes_on = follows.first().is_some_and(|line| line.starts_with([' ', '+', '-']))
        && !starts_anew(follows);
    (matches && body.length > 0 && !goes_on).then_some(body)
}

/// The body as far as there are lines of a hunk.
fn by_lines(lines: &[&str]) -> Body {
    let mut body = Body::default();
    // Empty lines are context whose blank was cut off, unless nothing of the hunk follows: then they
    // only set the hunk apart from what comes next.
    let mut without_blank_end = body;
    while let Some(rest) = lines.get(body.length..)
        && let Some(line) = rest.first()
        && !starts_anew(rest)
        && !is_signature(rest)
        && body.add(line).is_some()
    {
        if !line.is_empty() {
            without_blank_end = body;
        }
    }
    without_blank_end
}

impl Body {
    /// Counts a line in, if it can be one of a hunk.
    fn add(&mut self, line: &str) -> Option<()> {
        let (old, new) = match line.bytes().next() {
            None | Some(b' ') => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            Some(_) => return None,
        };
        self.length += 1;
        self.old_count += old;
        self.new_count += new;
        Some(())
    }
}

/// Whether `lines` begins with another hunk or another section.
///
/// Two lines that look like names may as well be a removed and an added one; a hunk must follow.
fn starts_anew(lines: &[&str]) -> bool {
    let begins =
        |at: usize, prefix: &str| lines.get(at).is_some_and(|line| line.starts_with(prefix));
    begins(0, "@@")
        || begins(0, "diff --git ")
        || (is_file_header(lines).is_some() && begins(2, "@@"))
}

/// Whether `lines` are the end of a mailed patch: two dashes and the version of git.
fn is_signature(lines: &[&str]) -> bool {
    lines.first() == Some(&"-- ") && lines.iter().skip(2).all(|line| line.is_empty())
}
