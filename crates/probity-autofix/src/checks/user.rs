//! The user that a container runs as: not root, known to the image, and able to write what it must.

mod accounts;
pub(crate) mod order;
mod owned;

use probity_dockerfile::{Instruction, Keyword};

use self::accounts::{identities, user};
use super::{
    Change, Check, Explained, Issue, View,
    additions::is_harmless,
    base_image::base,
    belongings::final_chain,
    commands::{Segment, segments},
    image_kind::ImageKind,
    steps::{absolute, written},
};

pub(crate) const MUST_CHANGE_USER: Check = Check::new("patch/must-change-user", must_change_user);
pub(crate) const USER_KNOWN: Check = Check::new("user-known", user_known);
pub(crate) const STATE_WRITABLE: Check = Check::new("state-writable", state_writable);
pub(crate) const ONLY_USER_CHANGES: Check = Check::new("only-user-changes", only_user_changes);

fn must_change_user(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    match user(change.after).as_deref() {
        Some("root" | "0" | "") | None => {
            vec![change.issue(check, "the final stage must end with a USER that is not root")]
        }
        Some(_) => Vec::new(),
    }
}

fn user_known(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(user) = user(change.after) else { return Vec::new() };
    if let Some(name) = order::unknown_owner(change.after) {
        let message = format!("a step names the user or group `{name}` before anything makes it");
        return vec![change.issue(check, &message)];
    }
    if accounts::is_known(change.after, &user) {
        return Vec::new();
    }
    let message = format!("nothing shows that the image has a user `{user}`");
    vec![change.issue(check, &message)]
}

/// Volumes and directories that the file makes are there to be written to.
fn state_writable(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(user) = user(change.after) else { return Vec::new() };
    let own = identities(change.after, &user);
    if owned::needs_home_of_root(change.before) {
        let message = format!("`{user}` cannot enter /root, which the container uses");
        return vec![change.issue(check, &message)];
    }
    if let Some(program) = owned::needs_root(change.before) {
        let message = format!("`{program}` has to start as root; answer NO_CHANGE");
        return vec![change.issue(check, &message)];
    }
    let Some(lost) = owned::unwritable(change, &own) else { return Vec::new() };
    let message = format!("`{user}` cannot write to `{lost}`, which belongs to root");
    vec![change.issue(check, &message)]
}

/// One step: an instruction, or a command of a RUN that works by itself.
struct Step {
    index: usize,
    text: String,
    /// Whether it only makes an account or gives it something.
    prepares: bool,
}

/// A user, what belongs to it, and nothing else; it comes after everything that only root can do.
fn only_user_changes(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (before, after) = (change.before, change.after);
    let own = identities(after, &user(after).unwrap_or_default());
    let others = &change.limits.explained;
    let mut old = steps(change, before, &own, &|index| others.before.contains(&index));
    let new = steps(change, after, &own, &|index| others.after.contains(&index));
    // Directories may be made earlier: what is copied into them does not care.
    let made: Vec<&str> = new.iter().flat_map(|step| made_by(&step.text)).collect();
    old.retain(|step| {
        let paths = made_by(&step.text);
        paths.is_empty() || !paths.iter().all(|path| made.contains(path))
    });
    let all = steps(change, before, &own, &|_| false);
    let known: Vec<&str> = all.iter().flat_map(|step| made_by(&step.text)).collect();
    let message = "only the last USER may change; beside it an account and the owner of its directories \
                   may be set";
    let mut olds = old.iter().peekable();
    for step in &new {
        let is_old =
            |was: &&Step| was.text == step.text || makes_the_same(&was.text, &step.text, &own);
        let makes = made_by(&step.text);
        let is_known = !makes.is_empty() && makes.iter().all(|path| known.contains(path));
        if !is_known && olds.next_if(is_old).is_none() && !step.prepares {
            return vec![at(change, change.issue(check, message), step.index)];
        }
    }
    if let Some(lost) = olds.next() {
        return vec![change.issue(check, message).quoting(&lost.text)];
    }
    let olds = before.file.instructions.iter().enumerate();
    let free: Vec<String> = olds
        .filter(|(index, _)| !before.is_root_at(*index))
        .map(|(_, instruction)| written(before, instruction))
        .collect();
    let late = final_chain(after).into_iter().find(|index| {
        let instruction = after.file.instructions.get(*index);
        let is_old =
            instruction.is_some_and(|instruction| free.contains(&written(after, instruction)));
        !after.is_root_at(*index) && !is_old && needs_root(change, *index, &own)
    });
    match late {
        Some(index) => {
            let message = "this step needs root and comes after the new USER";
            vec![at(change, change.issue(check, message), index)]
        }
        None => Vec::new(),
    }
}

fn at(change: &Change<'_>, issue: Issue, index: usize) -> Issue {
    match change.after.file.instructions.get(index) {
        Some(instruction) => issue.at(change.after, instruction.span),
        None => issue,
    }
}

/// Installs of npm work for the owner of the directory; other commands may need root.
fn needs_root(change: &Change<'_>, index: usize, own: &[String]) -> bool {
    let view = change.after;
    let is_run = |instruction: &Instruction| instruction.keyword == Keyword::Run;
    if !view.file.instructions.get(index).is_some_and(is_run) {
        return false;
    }
    let called = view.called(index);
    let is_install = called.iter().all(|call| call.is_any(&["npm", "yarn", "pnpm", "node"]));
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let gives = |earlier: usize| {
        view.called(earlier).iter().any(|call| {
            let mut plain = call.words.iter().filter(|word| !word.starts_with('-'));
            call.name == "chown"
                && plain.next().is_some_and(|owner| owned::is_owner(owner, own))
                && plain.any(|path| absolute(path, workdir).as_deref() == workdir)
        })
    };
    !is_install || called.is_empty() || !(0..index).any(gives)
}

/// The directories of `mkdir -p`, if it does nothing else and all are absolute.
fn made_by(text: &str) -> Vec<&str> {
    let words: Vec<&str> = text.split(' ').collect();
    match words.as_slice() {
        ["mkdir", "-p", paths @ ..] if paths.iter().all(|path| path.starts_with('/')) => {
            paths.to_vec()
        }
        _ => Vec::new(),
    }
}

/// `mkdir -p A` and `install -d -o USER A`
fn makes_the_same(old: &str, new: &str, own: &[String]) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
    let (["mkdir", olds @ ..], ["install", news @ ..]) = (old.as_slice(), new.as_slice()) else {
        return false;
    };
    let made = owned::installed(news, own).unwrap_or_default();
    olds.iter().filter(|word| !word.starts_with('-')).all(|path| made.contains(path))
}

/// The steps of a file but for USER and what another objective explains.
fn steps(
    change: &Change<'_>,
    view: &View<'_>,
    own: &[String],
    is_explained: &dyn Fn(usize) -> bool,
) -> Vec<Step> {
    let mut found = Vec::new();
    for (index, it) in view.file.instructions.iter().enumerate() {
        if it.keyword == Keyword::User || is_explained(index) {
            continue;
        }
        let parts = if it.keyword == Keyword::Run { segments(view, index) } else { None };
        match parts {
            Some(parts) => found.extend(parts.iter().map(|part| Step {
                index,
                text: part.text.clone(),
                prepares: prepares(change, part, own),
            })),
            None => found.push(Step { index, text: plain(view, it, own), prepares: false }),
        }
    }
    found
}

/// A copy without the owner, if that is the user.
fn plain(view: &View<'_>, it: &Instruction, own: &[String]) -> String {
    let text = written(view, it);
    let owner = it.flag_value("chown").filter(|owner| owned::is_owner(&owner.text, own));
    match owner {
        Some(owner) => text.replacen(&format!("--chown={} ", owner.text), "", 1),
        None => text,
    }
}

/// Every USER, new RUNs that make an account or give it directories, and copies that it owns.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let users = |view: &View<'_>| {
        let all = view.file.instructions.iter().enumerate();
        all.filter(|(_, instruction)| instruction.keyword == Keyword::User)
            .map(|(index, _)| index)
            .collect()
    };
    let mut explained = Explained { before: users(change.before), after: users(change.after) };
    let own = identities(change.after, &user(change.after).unwrap_or_default());
    let old: Vec<String> = change
        .before
        .file
        .instructions
        .iter()
        .map(|instruction| written(change.before, instruction))
        .collect();
    let after = change.after.file.instructions.iter().enumerate();
    let prepare = after.filter(|(index, instruction)| {
        let parts = segments(change.after, *index);
        instruction.keyword == Keyword::Run
            && !old.contains(&written(change.after, instruction))
            && parts.is_some_and(|parts| parts.iter().all(|part| prepares(change, part, &own)))
    });
    explained.after.extend(prepare.map(|(index, _)| index));
    explained
}

/// Whether a part of a RUN makes an account or gives it directories.
fn prepares(change: &Change<'_>, part: &Segment, own: &[String]) -> bool {
    let [command] = part.commands.as_slice() else { return false };
    let is_plain = command.redirections().is_empty()
        && command.assignments().is_empty()
        && command.effective().wrappers.is_empty();
    // A variable of the image is a word like any other here.
    let all: Option<Vec<String>> = command
        .words
        .iter()
        .map(|word| {
            word.pattern()
                .or_else(|| word.text().contains("APP_UID").then(|| word.text().to_owned()))
        })
        .collect();
    let Some(all) = all else { return false };
    let words: Vec<&str> = all.iter().map(String::as_str).collect();
    if !is_plain {
        return false;
    }
    match words.as_slice() {
        ["chown", rest @ ..] => {
            let rest = match rest {
                ["-R" | "--recursive" | "-h" | "-hR" | "-Rh", rest @ ..] => rest,
                rest => rest,
            };
            matches!(rest, [owner, paths @ ..] if owned::is_owner(owner, own) && may_be_given(paths))
        }
        ["chgrp", "-R", "0" | "root", paths @ ..] => may_be_given(paths),
        ["chmod", "-R", mode, paths @ ..] => owned::is_group_mode(&[mode]) && may_be_given(paths),
        ["install", rest @ ..] => {
            owned::installed(rest, own).is_some_and(|paths| may_be_given(&paths))
        }
        // Busybox and Debian have programs of these names, with other options.
        ["adduser" | "addgroup", rest @ ..]
            if !base(change.after)
                .and_then(|image| ImageKind::of(&image))
                .is_some_and(|kind| kind.is_musl())
                && rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--")) =>
        {
            false
        }
        _ if accounts::is_plain(&words) => true,
        _ => part.calls.is_empty() && is_harmless(change, part),
    }
}

fn may_be_given(paths: &[&str]) -> bool {
    let is_system = |path: &&str| {
        let path = path.trim_end_matches('/');
        let is_root = path.is_empty() || SYSTEM.contains(&path);
        is_root || path.split('/').any(|part| part == "..")
    };
    !paths.is_empty() && !paths.iter().any(is_system)
}

/// Directories that stay root's.
const SYSTEM: &[&str] = &[
    "",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/local/bin",
    "/usr/sbin",
    "/var",
    "/var/lib",
    "/var/log",
];
