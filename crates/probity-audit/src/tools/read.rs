//! `read_file`: what `cat` would print.

use std::{borrow::Cow, fmt::Write as _};

use probity_scope::{Kind, Scope};

use super::{
    Target,
    cut::{MOST_CHARS, Output, failed},
};
use crate::secrets::Secrets;

/// Enough bytes for one character more than is shown, and for a secret that begins before it.
const MOST_BYTES: u64 = (MOST_CHARS as u64 + 1) * 4 + (1 << 20);

pub(super) fn read_file(
    scope: &Scope,
    target: &Target,
    numbered: bool,
    secrets: Option<&Secrets>,
) -> String {
    let shown = target.shown();
    if target.metadata.kind == Kind::Directory {
        return failed(&format!("cat: {shown}: Is a directory"), 1);
    }
    let prefix = match scope.read_prefix(&target.path, MOST_BYTES) {
        Ok(prefix) => prefix,
        Err(error) => return failed(&format!("cat: {error}"), 1),
    };
    // Bytes that are no text say nothing to a model, and a terminal may act on them.
    if prefix.bytes.contains(&0) {
        return failed(&format!("cat: {shown}: binary file of {} bytes", prefix.total), 1);
    }
    let text = String::from_utf8_lossy(&prefix.bytes);
    let text = match secrets {
        Some(secrets) => Cow::Owned(secrets.mask(&text)),
        None => text,
    };
    let mut output = Output::default();
    if !numbered {
        output.push(&text);
        return output.end(0);
    }
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let mut shown = String::new();
        // Writing to a string cannot fail.
        _ = write!(shown, "{number:>6}\t{line}");
        if !output.push(&shown) {
            break;
        }
    }
    output.end(0)
}
