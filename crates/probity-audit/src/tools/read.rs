//! `read_file`: what `cat` would print, or some lines of it.

use std::{borrow::Cow, fmt::Write as _};

use probity_scope::{EntryKind, Scope};

use super::{
    MOST_BYTES, Target,
    cut::{MOST_CHARS, Output, Reading, failed},
    request::Request,
};
use crate::{Rules, coverage::ShownLines, secrets::Secrets};

/// Which lines are wanted, and how they are shown.
pub(super) struct LineRequest<'a> {
    /// From 1 on.
    pub(super) offset: u64,
    pub(super) limit: Option<u64>,
    pub(super) numbered: bool,
    pub(super) rules: Rules,
    pub(super) secrets: Option<&'a Secrets>,
}

pub(super) fn read_file(scope: &Scope, target: &Target, wanted: &LineRequest<'_>) -> Reading {
    let shown = target.shown();
    if target.metadata.kind == EntryKind::Directory {
        return failed(&format!("cat: {shown}: Is a directory"), 1).into();
    }
    let prefix = match scope.read_prefix(&target.path, MOST_BYTES) {
        Ok(prefix) => prefix,
        Err(error) => return failed(&format!("cat: {error}"), 1).into(),
    };
    // A model cannot read binary data, and a terminal may act on it.
    if prefix.bytes.contains(&0) {
        return failed(&format!("cat: {shown}: binary file of {} bytes", prefix.total), 1).into();
    }
    let text = String::from_utf8_lossy(&prefix.bytes);
    let text = match wanted.secrets {
        Some(secrets) => Cow::Owned(secrets.mask(&text)),
        None => text,
    };
    let is_cut_off = prefix.total > prefix.bytes.len() as u64;
    lines(&shown, target, &text, is_cut_off, wanted)
}

/// The wanted lines, as many as an output holds.
fn lines(
    name: &str,
    target: &Target,
    text: &str,
    is_cut_off: bool,
    wanted: &LineRequest<'_>,
) -> Reading {
    let total = text.lines().count() as u64;
    if wanted.offset > total.max(1) {
        let message = format!("cat: {name}: has {total} lines, and none from {} on", wanted.offset);
        return failed(&message, 1).into();
    }
    let end = wanted.limit.map_or(u64::MAX, |limit| wanted.offset.saturating_add(limit));
    let mut output = Output::default();
    let mut last = wanted.offset - 1;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if number < wanted.offset {
            continue;
        }
        if number >= end {
            break;
        }
        let mut row = String::new();
        if wanted.numbered {
            // Writing to a string cannot fail.
            _ = write!(row, "{number:>6}\t");
        }
        row.push_str(line);
        // The specification cuts in the middle of a line; we show whole ones, and say which.
        if wanted.rules == Rules::Probity && !output.has_room_for(&row) && last >= wanted.offset {
            break;
        }
        if !output.push(&row) {
            break;
        }
        last = number;
    }
    let mut shown = Vec::new();
    if last >= wanted.offset {
        shown.push(ShownLines { path: target.path.clone(), first: wanted.offset, last });
    }
    let mut text = output.end(0);
    if wanted.rules == Rules::Probity {
        text.push_str(&rest(name, last, total, is_cut_off, wanted));
    }
    Reading { text, shown }
}

/// What was left out, and how to see it.
fn rest(name: &str, last: u64, total: u64, is_cut_off: bool, wanted: &LineRequest<'_>) -> String {
    if last < wanted.offset {
        return if total == 0 {
            String::new()
        } else {
            format!(
                "\n(line {} has more than {MOST_CHARS} characters; its rest cannot be shown)",
                wanted.offset
            )
        };
    }
    if last >= total {
        let beyond =
            format!("\n(the file goes on, but no more than {MOST_BYTES} bytes of it can be read)");
        return if is_cut_off { beyond } else { String::new() };
    }
    let next = Request::ReadFile { path: name.to_owned(), offset: last + 1, limit: None };
    format!("\n(lines {} to {last} of {total}; go on with {})", wanted.offset, next.as_json())
}
