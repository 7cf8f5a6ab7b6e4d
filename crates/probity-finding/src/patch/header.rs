//! The `@@` line of a hunk.

use crate::patch::PatchError;

/// No file that is patched has more lines; larger numbers are an attack or an accident.
const MAX_NUMBER: usize = 10_000_000;

/// What a hunk's header says of the hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HunkHeader {
    pub(crate) old_start: usize,
    pub(crate) old_count: usize,
    pub(crate) new_count: usize,
}

impl HunkHeader {
    /// Reads `@@ -line,count +line,count @@`, whatever follows; `number` is its line in the patch.
    ///
    /// Numbers may be wrong but not missing: without them a hunk states no place.
    pub(crate) fn parse(line: &str, number: usize) -> Result<Self, PatchError> {
        let unreadable = || PatchError::Unreadable {
            line: number,
            reason: "the hunk header is not `@@ -line,count +line,count @@`".to_owned(),
        };
        let ranges = line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@"));
        let (old, new) =
            ranges.and_then(|(ranges, _)| ranges.split_once(" +")).ok_or_else(unreadable)?;
        let read = |digits: &str| {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(unreadable());
            }
            // Whatever does not fit a number is too large as well.
            digits
                .parse()
                .ok()
                .filter(|&value: &usize| value <= MAX_NUMBER)
                .ok_or(PatchError::NumberTooLarge { line: number })
        };
        let range = |text: &str| match text.split_once(',') {
            Some((start, count)) => Ok((read(start)?, read(count)?)),
            None => Ok((read(text)?, 1)),
        };
        let ((old_start, old_count), (_, new_count)) = (range(old)?, range(new)?);
        Ok(Self { old_start, old_count, new_count })
    }
}
