//! What can be wrong with a file before a word of it is parsed.
//!
//! | rule | severity | when |
//! |---|---|---|
//! | `tally/missing-file` | error | it is not there, or is a link to nothing |
//! | `tally/unreadable-file` | error | the system refuses to open or to read it, or it leads out of its tree |
//! | `tally/special-file` | error | it is a directory, FIFO, socket or device |
//! | `tally/oversized-file` | error | it is larger than the limit |
//! | `tally/binary-file` | error | it has a NUL byte |
//! | `tally/foreign-encoding` | error | it is UTF-16 or UTF-32; or a byte is not UTF-8, and the rest of its text is checked |
//! | `tally/executable-file` | style | it may be executed; its text is checked all the same |

use std::{io, path::Path};

use probity_finding::{Finding, Severity, Span};
use rustix::fs::FileType;

/// A rule about files, for the listings that rules about text are in too.
#[derive(Clone, Copy, Debug)]
pub struct FileRule {
    pub name: &'static str,
    pub severity: Severity,
    pub summary: &'static str,
}

pub const FILE_RULES: [FileRule; 7] =
    [MISSING, UNREADABLE, SPECIAL, OVERSIZED, BINARY, FOREIGN_ENCODING, EXECUTABLE];

const MISSING: FileRule = FileRule {
    name: "tally/missing-file",
    severity: Severity::Error,
    summary: "The file does not exist, or is a link to nothing",
};
const UNREADABLE: FileRule = FileRule {
    name: "tally/unreadable-file",
    severity: Severity::Error,
    summary: "The file cannot be opened or read, or is a link out of its repository",
};
const SPECIAL: FileRule = FileRule {
    name: "tally/special-file",
    severity: Severity::Error,
    summary: "The path is a directory, FIFO, socket or device",
};
const OVERSIZED: FileRule = FileRule {
    name: "tally/oversized-file",
    severity: Severity::Error,
    summary: "The file is larger than the limit",
};
const BINARY: FileRule = FileRule {
    name: "tally/binary-file",
    severity: Severity::Error,
    summary: "The file has a NUL byte",
};
const FOREIGN_ENCODING: FileRule = FileRule {
    name: "tally/foreign-encoding",
    severity: Severity::Error,
    summary: "The file is not UTF-8",
};
const EXECUTABLE: FileRule = FileRule {
    name: "tally/executable-file",
    severity: Severity::Style,
    summary: "The file may be executed, which a Dockerfile never is",
};

pub(super) fn absent() -> Box<Finding> {
    of(MISSING, "the file does not exist")
}

pub(super) fn dangling_link() -> Box<Finding> {
    of(MISSING, "the file is a link to something that does not exist; restore its target")
}

pub(super) fn unreadable(error: &io::Error) -> Box<Finding> {
    of(UNREADABLE, format!("the file cannot be read: {error}"))
}

/// Nothing of what it leads to is shown but the place.
pub(super) fn outside(target: &Path, top: &Path) -> Box<Finding> {
    let (target, top) = (target.display(), top.display());
    of(
        UNREADABLE,
        format!(
            "the file leads to {target}, which is outside of {top}; pass that file itself to check it"
        ),
    )
}

pub(super) fn in_git_directory() -> Box<Finding> {
    of(
        UNREADABLE,
        "the file leads into a git directory, where nothing is checked; name another file",
    )
}

pub(super) fn not_a_file(kind: FileType) -> Box<Finding> {
    let kind = match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "a special file",
    };
    of(
        SPECIAL,
        format!("this is {kind}, and only regular files are read; use `-` to check standard input"),
    )
}

/// The size is not known when the limit was passed while reading.
pub(super) fn too_large(size: Option<u64>, limit: u64) -> Box<Finding> {
    let size = size.map_or_else(|| "more bytes".to_owned(), |size| format!("{size} bytes, more"));
    of(OVERSIZED, format!("the file has {size} than the limit of {limit}; it was not checked"))
}

pub(super) fn binary(offset: usize, line: usize) -> Box<Finding> {
    of(BINARY, format!("the file is binary: there is a NUL byte at offset {offset} in line {line}"))
}

pub(super) fn foreign_encoding(encoding: &str) -> Box<Finding> {
    of(
        FOREIGN_ENCODING,
        format!("the file is {encoding}, which no builder reads; save it as UTF-8"),
    )
}

/// `place` is that of the first of the `stray` bytes.
pub(super) fn not_utf8(byte: u8, stray: usize, place: Span) -> Finding {
    let more = match stray {
        0 | 1 => String::new(),
        stray => format!(", the first of {stray} places"),
    };
    let message = format!(
        "byte {byte:#04x} is not UTF-8{more}; save the file as UTF-8; until then no fix is applied to it"
    );
    Finding::new(FOREIGN_ENCODING.name, FOREIGN_ENCODING.severity, place, message)
}

pub(super) fn executable() -> Finding {
    *of(EXECUTABLE, "the file is executable, which a Dockerfile never needs; use `chmod -x`")
}

fn of(rule: FileRule, message: impl Into<String>) -> Box<Finding> {
    Box::new(Finding::of_file(rule.name, rule.severity, message))
}
