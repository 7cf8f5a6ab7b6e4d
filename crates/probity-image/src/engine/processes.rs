//! The processes of this machine, as `/proc` lists them.

use std::{collections::BTreeMap, fs};

pub(super) struct Process {
    pub(super) name: String,
    pub(super) parent: u32,
}

/// By their numbers; none where there is no `/proc`.
pub(super) fn processes() -> BTreeMap<u32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let listed = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name is in parentheses and may have some itself.
        let (head, rest) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
        Some((pid, Process { name, parent }))
    });
    listed.collect()
}
