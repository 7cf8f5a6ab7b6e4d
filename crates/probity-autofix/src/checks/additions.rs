//! The few commands that a conversion may add: what prepares a stage and brings nothing new into it.

use probity_dockerfile::{Action, Arguments, Manager, PackageCall};
use probity_shell::Command;

use super::{
    Change, View,
    commands::{self, Segment, words},
    kept_packages::is_twin,
};

/// Packages that programs of any kind need of a small image.
const USUAL: &[&str] = &["ca-certificates", "tzdata"];

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
    "--no-audit",
    "--no-fund",
    "--no-dev",
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

/// Whether a part of a RUN installs what the original installs, cleans up, or makes directories and
/// users.
pub(crate) fn is_harmless(change: &Change<'_>, part: &Segment<'_>) -> bool {
    let [command] = part.commands.as_slice() else { return false };
    let assigns = command.assignments().iter().any(|it| it.name != "DEBIAN_FRONTEND");
    if assigns || !command.redirections().is_empty() || !command.effective().wrappers.is_empty() {
        return false;
    }
    if let Some(call) = part.calls.first() {
        return is_known_call(change.before, call) || is_pruning(change.before, command);
    }
    let Some(words) = words(command) else { return false };
    let Some((name, arguments)) = words.split_first() else { return false };
    match name.as_str() {
        "rm" => arguments
            .iter()
            .all(|it| is_list(it) || matches!(it.as_str(), "-r" | "-f" | "-rf" | "-fr")),
        "mkdir" => arguments.iter().all(|it| {
            // A directory in the place of a file would take the file in.
            it == "-p" || (!it.starts_with('-') && !is_copied_file(change, it))
        }),
        "ldconfig" | "update-ca-certificates" => arguments.is_empty(),
        "npm" => is_pruning(change.before, command),
        name if ACCOUNTS.contains(&name) => is_plain_account(name, arguments),
        _ => false,
    }
}

fn is_plain_account(name: &str, arguments: &[String]) -> bool {
    // `addgroup USER GROUP` gives an account that is there the rights of a group.
    let names = arguments.iter().filter(|it| !it.starts_with('-')).count();
    let joins = matches!(name, "addgroup" | "adduser") && names > 1;
    let has_values = arguments.iter().any(|it| it.starts_with('-'));
    arguments.iter().all(|it| {
        let (flag, value) = it.split_once('=').unwrap_or((it, ""));
        let is_known = !flag.starts_with('-') || ACCOUNT_FLAGS.contains(&flag);
        is_known
            && !it.split([',', ':', '=']).any(|part| POWERS.contains(&part))
            && !POWERS.contains(&value)
    }) && (!joins || has_values)
}

/// `npm prune --omit=dev`: leaves out what only the build needed.
fn is_pruning(before: &View<'_>, command: &Command) -> bool {
    let Some(words) = words(command) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_prune = matches!(
        words.as_slice(),
        ["npm", "prune", "--omit=dev" | "--production"] | ["npm", "prune", "--omit", "dev"]
    );
    is_prune && commands::calls(before).any(|(_, call)| call.manager == Manager::Npm)
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
            let installed = commands::installed(before);
            let is_system = !commands::is_language_manager(call.manager);
            let known = |text: &str| {
                let is_old = olds.iter().any(|old| {
                    old.packages.iter().chain(&old.files).any(|package| package.text == text)
                });
                let is_twin = installed.iter().any(|name| is_twin(name, text));
                is_old || (is_system && (USUAL.contains(&text) || is_twin))
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
