//! The few commands that a conversion may add: what prepares a stage and brings nothing new into it.

use probity_dockerfile::{Action, Arguments, Instruction, PackageCall};

use super::{Change, View};

/// Flags of package managers that choose neither what is installed nor where it comes from.
const HARMLESS: &[&str] = &[
    "-y",
    "-q",
    "-qq",
    "-yq",
    "-qy",
    "-yqq",
    "-qqy",
    "--yes",
    "--quiet",
    "--assume-yes",
    "--no-install-recommends",
    "--no-cache",
    "--no-cache-dir",
    "--omit",
    "--production",
    "--frozen-lockfile",
];

/// Where package managers keep what they have downloaded.
const LISTS: &[&str] =
    &["/var/lib/apt/lists", "/var/cache/apt", "/var/cache/apk", "/var/cache/dnf"];

pub(super) const ACCOUNTS: &[&str] = &["useradd", "adduser", "groupadd", "addgroup"];

/// Options that say no more of an account than one to run a program as needs.
const ACCOUNT_FLAGS: &[&str] = &[
    "-r",
    "-m",
    "-M",
    "-l",
    "-S",
    "-D",
    "-H",
    "-s",
    "-d",
    "-h",
    "-c",
    "-g",
    "-u",
    "-G",
    "--system",
    "--group",
    "--create-home",
    "--no-create-home",
    "--no-log-init",
    "--disabled-password",
    "--disabled-login",
    "--shell",
    "--home",
    "--home-dir",
    "--comment",
    "--gecos",
    "--gid",
    "--uid",
    "--ingroup",
];

/// What would make of an account more than that.
const POWERS: &[&str] = &["0", "root", "sudo", "wheel", "docker", "shadow", "disk", "adm"];

/// Whether a new RUN installs what the original installs, cleans up, or makes directories and users.
pub(crate) fn is_harmless_run(
    change: &Change<'_>,
    index: usize,
    instruction: &Instruction,
) -> bool {
    let after = change.after;
    let [script] = after.facts.scripts(&after.file, index) else { return false };
    let [block] = &*script.blocks else { return false };
    let is_plain = script.errors().is_empty()
        && script.opaque.is_none()
        && instruction.flags.is_empty()
        && instruction.heredocs().is_empty()
        && block.pipelines.iter().all(|it| it.stages.len() == 1 && !it.background && !it.negated);
    if !is_plain || script.commands.is_empty() || script.commands.len() != block.pipelines.len() {
        return false;
    }
    let calls = after.facts.package_calls(&after.file, index);
    script.commands.iter().enumerate().all(|(place, command)| {
        let assigns = command.assignments().iter().any(|it| it.name != "DEBIAN_FRONTEND");
        if assigns || !command.redirections().is_empty() || !command.effective().wrappers.is_empty()
        {
            return false;
        }
        if let Some(call) = calls.iter().find(|call| call.command == place) {
            return is_known_call(change.before, call);
        }
        let words: Option<Vec<String>> = command.words.iter().map(|word| word.pattern()).collect();
        let Some(words) = words else { return false };
        let Some((name, arguments)) = words.split_first() else { return false };
        match name.as_str() {
            "rm" => arguments
                .iter()
                .all(|it| is_list(it) || matches!(it.as_str(), "-r" | "-f" | "-rf" | "-fr")),
            "mkdir" => arguments.iter().all(|it| {
                // A directory in the place of a file would take the file in.
                it == "-p" || (!it.starts_with('-') && !is_copied_file(change, it))
            }),
            name if ACCOUNTS.contains(&name) => arguments.iter().all(|it| {
                let (flag, value) = it.split_once('=').unwrap_or((it, ""));
                let is_known = !flag.starts_with('-') || ACCOUNT_FLAGS.contains(&flag);
                is_known
                    && !it.split([',', ':', '=']).any(|part| POWERS.contains(&part))
                    && !POWERS.contains(&value)
            }),
            _ => false,
        }
    })
}

/// Whether a COPY of a stage puts a file there.
fn is_copied_file(change: &Change<'_>, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    change.after.file.instructions.iter().any(|it| match &it.arguments {
        Arguments::Transfer { destination: Some(destination), .. } => destination.text == path,
        _ => false,
    })
}

fn is_list(path: &str) -> bool {
    let inside = |list: &str| {
        path.strip_prefix(list).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    LISTS.iter().any(|list| inside(list)) && !path.contains("..")
}

fn is_known_call(before: &View<'_>, call: &PackageCall) -> bool {
    let are_flags_harmless = call.flags.iter().all(|flag| HARMLESS.contains(&flag.name.as_str()));
    match call.action {
        Action::Update | Action::Clean => are_flags_harmless,
        Action::Install => {
            let olds = (0..before.file.instructions.len())
                .flat_map(|index| before.facts.package_calls(&before.file, index))
                .filter(|old| old.manager == call.manager && old.action == Action::Install);
            let olds: Vec<&PackageCall> = olds.collect();
            let is_whole = call.packages.is_empty() && call.files.is_empty();
            let known = |text: &str| {
                olds.iter().any(|old| {
                    old.packages.iter().chain(&old.files).any(|package| package.text == text)
                })
            };
            let is_known = match is_whole {
                true => olds.iter().any(|old| old.packages.is_empty() && old.files.is_empty()),
                false => call.packages.iter().chain(&call.files).all(|it| known(&it.text)),
            };
            are_flags_harmless && call.target.is_none() && is_known
        }
        Action::Remove | Action::Upgrade => false,
    }
}
