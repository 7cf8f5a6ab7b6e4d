//! The processes of a container as the host sees them.

use std::{collections::BTreeSet, fs, path::PathBuf};

/// An engine elsewhere gives numbers that are other processes here.
pub(super) fn on_this_machine(pid: i32, container: &str) -> Option<i32> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    (!container.is_empty() && groups.contains(container)).then_some(pid)
}

/// Files that are open or mapped in any process of the container. A file that was read and closed is
/// not among them.
pub(super) fn opened(first: i32) -> BTreeSet<String> {
    let space = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let Some(own) = space(&first.to_string()) else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    for pid in names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
        if space(&pid) != Some(own.clone()) {
            continue;
        }
        let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
        let links = links.filter_map(|link| fs::read_link(link.ok()?.path()).ok());
        found.extend(links.filter_map(|path: PathBuf| path.into_os_string().into_string().ok()));
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        found
            .extend(maps.lines().filter_map(|line| line.find('/').map(|at| line[at..].to_owned())));
    }
    found.retain(|path| path.starts_with('/') && !path.ends_with(" (deleted)"));
    found
}
