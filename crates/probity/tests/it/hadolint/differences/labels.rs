//! Differences in rules about labels.

use super::{Difference, ours, theirs};

const LABELS: &[&str] = &["DL3052", "DL3053", "DL3054", "DL3055", "DL3056", "DL3058"];

pub(super) const ROWS: &[Difference] = &[
    theirs(
        &["DL3048", "DL3050"],
        "probity ignores a label key with a variable, because only the build knows its value.",
        |seen| seen.has(&["$"]),
    ),
    ours(
        &["DL3048"],
        "probity does not accept a slash in a label key, because Docker's guidelines do not allow it.",
        |seen| seen.has(&["a/b"]),
    ),
    ours(&["DL3051"], "probity treats a value of spaces as empty.", |seen| {
        seen.has(&["=\" \"", "text \"\""])
    }),
    theirs(LABELS, "probity reports an empty value only as DL3051.", |seen| {
        seen.has(&["=\n", "= ", "=\"\"", "=''"])
    }),
    theirs(
        LABELS,
        "probity ignores a value with a variable, because only the build knows it.",
        |seen| seen.has(&["$"]),
    ),
    theirs(LABELS, "probity reports an empty value only as DL3051.", |seen| {
        seen.source().ends_with('=')
    }),
    ours(&["DL3052"], "probity does not accept a URL without a host.", |seen| seen.has(&["url="])),
    ours(
        &["DL3053"],
        "probity accepts only the exact RFC 3339 form: four digits for the year, a colon in the offset, and no spaces.",
        |seen| seen.has(&["rfc3339="]),
    ),
    theirs(
        &["DL3054"],
        "probity accepts every SPDX expression, with operators, exceptions, references and deprecated names.",
        |seen| seen.has(&["spdx="]),
    ),
    theirs(
        &["DL3055"],
        "probity accepts hashes of 7 to 40 or exactly 64 digits, and uppercase digits.",
        |seen| seen.has(&["hash="]),
    ),
    ours(
        &["DL3056"],
        "probity does not accept leading zeros or empty parts in a semantic version.",
        |seen| seen.has(&["semver="]),
    ),
    ours(
        &["DL3058"],
        "probity does not accept email addresses with angle brackets, quoted names or spaces.",
        |seen| seen.has(&["email="]),
    ),
];
