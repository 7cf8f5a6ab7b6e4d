//! The user that a container runs as: not root, known to the image, and able to write what it must.

use probity_dockerfile::{Instruction, Keyword, Setting};

use super::{
    Change, Check, Explained, Issue, View,
    additions::{ACCOUNTS, is_harmless},
    base_image::base,
    belongings::{final_chain, is_within, text_of},
    commands::{self, Segment, segments, words},
    image_kind::ImageKind,
    steps::{absolute, written},
};

pub(crate) const MUST_CHANGE_USER: Check = Check::new("patch/must-change-user", must_change_user);
pub(crate) const USER_KNOWN: Check = Check::new("user-known", user_known);
pub(crate) const STATE_WRITABLE: Check = Check::new("state-writable", state_writable);
pub(crate) const ONLY_USER_CHANGES: Check = Check::new("only-user-changes", only_user_changes);

/// The name or number of the user that a container of a file starts as.
fn user(view: &View<'_>) -> Option<String> {
    let runtime = view.facts.final_runtime();
    let text = text_of(&runtime.get(Setting::User).first()?.entry.value)?;
    text.split(':').next().map(str::to_owned)
}

fn must_change_user(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    match user(change.after).as_deref() {
        Some("root" | "0" | "") | None => {
            vec![change.issue(check, "the final stage must end with a USER that is not root")]
        }
        Some(_) => Vec::new(),
    }
}

/// A number needs no account; a name does.
fn user_known(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(user) = user(change.after) else { return Vec::new() };
    let kind = base(change.after).and_then(|image| ImageKind::of(&image));
    let own: &[&str] = match kind.as_ref().and_then(|kind| kind.language) {
        Some("node") => &["node"],
        Some("php") => &["www-data"],
        _ => &[],
    };
    let is_number = user.bytes().all(|it| it.is_ascii_digit());
    let is_made = final_chain(change.after).into_iter().any(|index| {
        let called = commands::of_instruction(change.after, index);
        called.iter().any(|it| it.is_any(ACCOUNTS) && it.words.contains(&user))
    });
    if is_number || is_made || user == "nobody" || own.contains(&user.as_str()) {
        return Vec::new();
    }
    let message = format!("nothing shows that the image has a user `{user}`");
    vec![change.issue(check, &message)]
}

/// The places that `chown` of the final stage gives to the user.
fn given(view: &View<'_>, user: &str) -> Vec<String> {
    let chain = final_chain(view);
    let mut places = Vec::new();
    for index in chain {
        let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        for called in commands::of_instruction(view, index) {
            let mut words = called.words.iter().filter(|word| !word.starts_with('-'));
            let owner = words.next().and_then(|it| it.split(':').next());
            if called.name == "chown" && owner == Some(user) {
                places.extend(words.filter_map(|word| absolute(word, workdir)));
            }
        }
        let instruction = view.file.instructions.get(index);
        let owner = instruction.and_then(|it| it.flag_value("chown"));
        let is_own = owner.is_some_and(|owner| owner.text.split(':').next() == Some(user));
        if let (true, Some(Instruction { arguments, .. })) = (is_own, instruction)
            && let probity_dockerfile::Arguments::Transfer { destination: Some(target), .. } =
                arguments
        {
            places.extend(absolute(&target.text, workdir));
        }
    }
    places
}

/// Volumes and directories that the file makes are there to be written to.
fn state_writable(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(user) = user(change.after) else { return Vec::new() };
    let runtime = change.after.facts.final_runtime();
    let mut needed: Vec<String> =
        runtime.get(Setting::Volume).iter().map(|entry| entry.entry.key.clone()).collect();
    for index in final_chain(change.before) {
        let state = change.before.facts.state(index);
        let workdir = state.and_then(|state| state.workdir.path.as_deref());
        let made = commands::of_instruction(change.before, index);
        let made = made.iter().filter(|it| it.name == "mkdir").flat_map(|it| &it.words);
        needed
            .extend(made.filter(|it| !it.starts_with('-')).filter_map(|it| absolute(it, workdir)));
    }
    let given = given(change.after, &user);
    let is_given = |path: &str| given.iter().any(|it| is_within(path, it.trim_end_matches('/')));
    let lost = needed.into_iter().find(|path| !is_given(path) && !is_within(path, "/tmp"));
    let Some(lost) = lost else { return Vec::new() };
    let message = format!("`{user}` cannot write to `{lost}`, which belongs to root");
    vec![change.issue(check, &message)]
}

/// A user, what belongs to it, and nothing else; it comes after everything that only root can do.
fn only_user_changes(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (before, after) = (change.before, change.after);
    let new_user = user(after).unwrap_or_default();
    let others = &change.limits.explained;
    let old: Vec<String> = texts(before, &|index| others.before.contains(&index));
    let mut new = Vec::new();
    let mut last_root_step = 0;
    for (index, it) in after.file.instructions.iter().enumerate() {
        let text = written(after, it);
        if it.keyword == Keyword::Run || it.keyword == Keyword::Copy || it.keyword == Keyword::Add {
            last_root_step = index;
        }
        let is_new = !old.contains(&text);
        let may_come = it.keyword == Keyword::Run && is_new && prepares(change, index, &new_user);
        if it.keyword != Keyword::User && !others.after.contains(&index) && !may_come {
            new.push(text);
        }
    }
    if old != new {
        let message = "only the last USER may change; beside it an account and the owner of its \
                       directories may be set";
        return vec![change.issue(check, message)];
    }
    let users = after.file.instructions.iter().enumerate();
    let last =
        users.filter(|(_, it)| it.keyword == Keyword::User).map(|(index, _)| index).next_back();
    if last.is_some_and(|last| last < last_root_step) {
        return vec![
            change.issue(check, "the new USER must come after the last RUN, COPY and ADD"),
        ];
    }
    Vec::new()
}

/// The instructions of a file but for USER and what another objective explains.
fn texts(view: &View<'_>, is_explained: &dyn Fn(usize) -> bool) -> Vec<String> {
    let all = view.file.instructions.iter().enumerate();
    all.filter(|(index, it)| it.keyword != Keyword::User && !is_explained(*index))
        .map(|(_, it)| written(view, it))
        .collect()
}

/// Every USER, and new RUNs that make an account or give it directories.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let users = |view: &View<'_>| {
        let all = view.file.instructions.iter().enumerate();
        all.filter(|(_, it)| it.keyword == Keyword::User).map(|(index, _)| index).collect()
    };
    let mut explained = Explained { before: users(change.before), after: users(change.after) };
    let (old, user) = (texts(change.before, &|_| false), user(change.after).unwrap_or_default());
    let after = change.after.file.instructions.iter().enumerate();
    let prepare = after.filter(|(index, it)| {
        it.keyword == Keyword::Run
            && !old.contains(&written(change.after, it))
            && prepares(change, *index, &user)
    });
    explained.after.extend(prepare.map(|(index, _)| index));
    explained
}

/// Whether a RUN makes an account or gives it directories.
fn prepares(change: &Change<'_>, index: usize, user: &str) -> bool {
    let Some(parts) = segments(change.after, index) else { return false };
    let gives = |part: &Segment<'_>| {
        let [command] = part.commands.as_slice() else { return false };
        let Some(all) = words(command) else { return false };
        let words: Vec<&str> = all.iter().map(String::as_str).collect();
        let ["chown", rest @ ..] = words.as_slice() else { return false };
        let rest = rest.strip_prefix(&["-R"]).unwrap_or(rest);
        let [owner, paths @ ..] = rest else { return false };
        let is_system = |path: &&&str| {
            let path = path.trim_end_matches('/');
            !path.starts_with('/') || path.matches('/').count() < 1 || SYSTEM.contains(&path)
        };
        owner.split(':').all(|it| it == user || it.is_empty())
            && !paths.is_empty()
            && !paths.iter().any(|path| is_system(&path))
            && command.redirections().is_empty()
    };
    parts.iter().all(|part| is_harmless(change, part) || gives(part))
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
];
