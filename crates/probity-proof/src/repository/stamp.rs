//! What tells a file from itself before a change.
//!
//! The time of the last change of status is part of it, which no program can set back, so that a
//! file that was changed and put back is noticed as well.

use std::path::Path;

use probity_scope::HeldStat;

/// Endings of what is code. Data may be written by the code under review itself.
const SOURCES: &str =
    "bats c cc cjs cpp cts go h hpp java js jsx kt mjs mts php pl py rb rs scala sh ts tsx";

/// Whether it is the same file or directory with the same rights, whatever is in it.
pub(crate) fn is_same_entry(one: &HeldStat, other: &HeldStat) -> bool {
    let of = |stat: &HeldStat| (stat.device, stat.number, stat.mode);
    of(one) == of(other)
}

pub(crate) fn is_source(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| SOURCES.split(' ').any(|known| known == ending))
}
