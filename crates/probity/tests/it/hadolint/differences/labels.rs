//! Differences in rules about labels.

use super::{Difference, ours, theirs};

const LABELS: &[&str] = &["DL3052", "DL3053", "DL3054", "DL3055", "DL3056", "DL3058"];

pub(super) const ROWS: &[Difference] = &[
    theirs(&["DL3048", "DL3050"], "A variable can be a label key.", |seen| seen.has(&["$"])),
    ours(&["DL3048"], "A slash is not allowed in a label key.", |seen| seen.has(&["a/b"])),
    ours(&["DL3051"], "A value of spaces is empty.", |seen| seen.has(&["=\" \"", "text \"\""])),
    theirs(LABELS, "An empty value is reported once, by DL3051.", |seen| {
        seen.has(&["=\n", "= ", "=\"\"", "=''"])
    }),
    theirs(LABELS, "A value with a variable is only known during the build.", |seen| {
        seen.has(&["$"])
    }),
    theirs(LABELS, "An empty value is reported once, by DL3051.", |seen| {
        seen.source().ends_with('=')
    }),
    ours(&["DL3052"], "A URL has a host.", |seen| seen.has(&["url="])),
    ours(
        &["DL3053"],
        "A time has the exact form of RFC 3339: four digits for the year, a colon in the offset, no spaces.",
        |seen| seen.has(&["rfc3339="]),
    ),
    theirs(
        &["DL3054"],
        "Every SPDX expression is accepted, with operators, exceptions, references and deprecated names.",
        |seen| seen.has(&["spdx="]),
    ),
    theirs(&["DL3055"], "A hash can be of any length from 7 digits, and in capitals.", |seen| {
        seen.has(&["hash="])
    }),
    ours(
        &["DL3056"],
        "Numbers of a semantic version have no leading zeros, and its parts are not empty.",
        |seen| seen.has(&["semver="]),
    ),
    ours(&["DL3058"], "Addresses in brackets, quoted names and spaces are not accepted.", |seen| {
        seen.has(&["email="])
    }),
];
