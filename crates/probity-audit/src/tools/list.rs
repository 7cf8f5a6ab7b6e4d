//! `list_dir`: what `ls -la` would print, without the names of users.

use std::fmt::Write as _;

use jiff::Timestamp;
use probity_scope::{Entry, EntryKind, Metadata, Scope};

use super::{
    Target,
    cut::{Output, failed},
};

/// Many more than fit into the output.
const MOST_ENTRIES: usize = 5_000;

/// Older than this, `ls` shows the year in the place of the time of day.
const HALF_A_YEAR: i64 = 15_778_476;

pub(super) fn list_dir(scope: &Scope, target: &Target) -> String {
    let now = Timestamp::now();
    let shown = target.shown();
    let mut output = Output::default();
    if target.metadata.kind != EntryKind::Directory {
        output.push(&row(&target.metadata, &shown, None, now));
        return output.end(0);
    }
    let entries = match scope.list(&target.path, MOST_ENTRIES) {
        Ok(entries) => entries,
        Err(error) => return failed(&format!("ls: {error}"), 2),
    };
    let blocks: u64 = entries.iter().map(|entry| entry.metadata.size.div_ceil(4_096) * 4).sum();
    output.push(&format!("total {blocks}\n"));
    output.push(&row(&target.metadata, ".", None, now));
    output.push(&row(&target.metadata, "..", None, now));
    for Entry { name, metadata, target } in &entries {
        let link = target.as_ref().map(|target| target.to_string_lossy());
        if !output.push(&row(metadata, &name.to_string_lossy(), link.as_deref(), now)) {
            break;
        }
    }
    output.end(0)
}

fn row(metadata: &Metadata, name: &str, link: Option<&str>, now: Timestamp) -> String {
    let mut row = String::new();
    row.push(match metadata.kind {
        EntryKind::File => '-',
        EntryKind::Directory => 'd',
        EntryKind::Link => 'l',
        EntryKind::Special => 'p',
    });
    for (shift, letter) in (0..9).rev().zip("rwxrwxrwx".chars()) {
        row.push(if metadata.mode & (1 << shift) == 0 { '-' } else { letter });
    }
    let date = date(metadata.modified, now);
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    // Writing to a string cannot fail.
    _ = write!(row, " {} user group {:>8} {date} {name}", metadata.links, metadata.size);
    if let Some(link) = link {
        _ = write!(row, " -> {link}");
    }
    row.push('\n');
    row
}

fn date(modified: i64, now: Timestamp) -> String {
    let Ok(time) = Timestamp::from_second(modified) else { return "Jan  1  1970".to_owned() };
    let age = now.as_second().saturating_sub(modified);
    let format = if (0..HALF_A_YEAR).contains(&age) { "%b %e %H:%M" } else { "%b %e  %Y" };
    time.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_columns_of_ls() {
        let now = Timestamp::from_second(1_794_723_318).unwrap();
        let metadata = Metadata {
            kind: EntryKind::File,
            size: 12,
            mode: 0o640,
            links: 1,
            owner: 1000,
            group: 1000,
            modified: 1_794_723_000,
        };
        insta::assert_snapshot!(row(&metadata, "a.ak", None, now), @"-rw-r----- 1 user group       12 Nov 15 06:10 a.ak");
        let old = Metadata { kind: EntryKind::Link, mode: 0o777, modified: 0, ..metadata };
        insta::assert_snapshot!(row(&old, "l", Some("../x"), now), @"lrwxrwxrwx 1 user group       12 Jan  1  1970 l -> ../x");
    }
}
