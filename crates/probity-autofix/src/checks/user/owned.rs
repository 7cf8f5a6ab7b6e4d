//! What belongs to the user of a container, and what it has to write to.

use std::collections::BTreeSet;

use probity_dockerfile::{Arguments, Keyword, Setting, TokenKind};

use crate::checks::{
    Change, View,
    belongings::{final_chain, is_within, text_of},
    commands::{self, Called},
    steps::absolute,
};

/// A path that the user may write to.
struct Given {
    path: String,
    /// The instruction and the command that give it.
    place: (usize, usize),
    /// Whether what root made below it is the user's too.
    is_tree: bool,
}

/// Words of variables and comments that tell of a place to write to.
const WRITTEN: &[&str] = &[
    "cache", "data", "database", "db", "log", "logs", "media", "pid", "queue", "run", "saves",
    "session", "sessions", "socket", "spool", "state", "storage", "store", "stores", "tmp",
    "upload", "uploads", "write", "writes", "written",
];

/// Ends of the files that a program writes.
const WRITTEN_FILES: &[&str] = &[".db", ".log", ".pid", ".sock", ".sqlite", ".sqlite3"];

/// A path that the user has to write to and cannot.
pub(super) fn unwritable(change: &Change<'_>, identities: &[String]) -> Option<String> {
    let given = given(change.after, identities);
    let before = change.before;
    let made = made(before);
    let volumes = before.facts.final_runtime();
    let volumes = volumes.get(Setting::Volume).iter().map(|entry| entry.entry.key.clone());
    let places = made_at(change.after);
    let is_given = |path: &str| {
        // What root makes afterwards is root's again.
        let last = places.iter().filter(|(own, _)| own == path).map(|(_, place)| *place).max();
        given.iter().any(|item| {
            let is_here = item.path == path || (item.is_tree && is_within(path, &item.path));
            is_here && last.is_none_or(|last| item.place >= last)
        })
    };
    let is_free = |path: &str| is_within(path, "/tmp") || is_within(path, "/dev");
    let exact = made.iter().cloned().chain(volumes).chain(closed(change.after, identities));
    let lost = exact.into_iter().find(|path| !is_given(path) && !is_free(path));
    // What the program makes itself needs a directory that is the user's.
    let below = |path: &str| given.iter().any(|item| is_within(path, &item.path));
    lost.or_else(|| told(before).into_iter().find(|path| !below(path) && !is_free(path)))
}

/// Files that the final stage gets with a mode by which only their owner may read them.
fn closed(view: &View<'_>, identities: &[String]) -> Vec<String> {
    let copies = final_chain(view).into_iter().filter_map(|index| {
        let instruction = view.file.instructions.get(index)?;
        let mode = instruction.flag_value("chmod")?;
        let is_closed = is_closed(&mode.text);
        let is_own =
            instruction.flag_value("chown").is_some_and(|owner| is_owner(&owner.text, identities));
        let Arguments::Transfer { destination: Some(target), .. } = &instruction.arguments else {
            return None;
        };
        if !is_closed || is_own {
            return None;
        }
        absolute(&target.text, workdir(view, index).as_deref())
    });
    let modes = final_chain(view).into_iter().flat_map(|index| {
        let called = view.called(index).iter();
        let closing = called.filter(|call| {
            let mut plain = call.words.iter().filter(|word| !word.starts_with('-'));
            call.name == "chmod" && plain.next().is_some_and(|mode| is_closed(mode))
        });
        let paths = closing.flat_map(|call| call.words.iter().skip(1));
        let workdir = workdir(view, index);
        paths.filter_map(|path| absolute(path, workdir.as_deref())).collect::<Vec<_>>()
    });
    copies.chain(modes).map(|path| path.trim_end_matches('/').to_owned()).collect()
}

/// Whether a mode lets nobody but the owner and the group read.
fn is_closed(mode: &str) -> bool {
    mode.bytes().all(|byte| byte.is_ascii_digit()) && mode.ends_with(['0', '1', '2', '3'])
}

/// Directories that the final stage makes.
fn made(view: &View<'_>) -> Vec<String> {
    made_at(view).into_iter().map(|(path, _)| path).collect()
}

/// The same, each with the instruction and the command that make it.
fn made_at(view: &View<'_>) -> Vec<(String, (usize, usize))> {
    let mut found = Vec::new();
    for index in final_chain(view) {
        let workdir = workdir(view, index);
        for (number, called) in view.called(index).iter().enumerate() {
            let words = called.words.iter().filter(|word| !word.starts_with('-'));
            let paths = words.filter_map(|word| absolute(word, workdir.as_deref()));
            let paths = paths.map(|path| (path.trim_end_matches('/').to_owned(), (index, number)));
            if called.name == "mkdir" {
                found.extend(paths);
            }
        }
    }
    found
}

fn workdir(view: &View<'_>, index: usize) -> Option<String> {
    view.facts.state(index).and_then(|state| state.workdir.path.as_deref()).map(str::to_owned)
}

/// Paths that variables and comments tell the program to write to.
fn told(view: &View<'_>) -> BTreeSet<String> {
    let has_word = |text: &str| {
        let lower = text.to_lowercase();
        lower
            .split(|character: char| !character.is_ascii_alphanumeric())
            .any(|part| WRITTEN.contains(&part))
    };
    let mut found = BTreeSet::new();
    for it in view.facts.final_runtime().get(Setting::Env) {
        let Some(value) = text_of(&it.entry.value) else { continue };
        let file = value.split_once("sqlite:///").map(|(_, path)| path.trim_start_matches('/'));
        found.extend(file.and_then(|file| Some(format!("/{}", file.rsplit_once('/')?.0))));
        if value.starts_with('/') && !value.contains(':') && has_word(&it.entry.key) {
            let name = commands::last_part(&value);
            let directory = value.rsplit_once('/').map_or("", |parts| parts.0);
            found.insert(if name.contains('.') { directory.to_owned() } else { value.clone() });
        }
    }
    for token in view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
        let text = token.span.slice(view.text).unwrap_or_default();
        let words = text
            .split_whitespace()
            .map(|word| word.trim_matches(|character: char| ",.;:()`'\"".contains(character)));
        let tells = text.split_whitespace().any(|word| {
            matches!(
                word.trim_matches(['.', ',']),
                "write" | "writes" | "written" | "stores" | "saves" | "uploads"
            )
        });
        if tells {
            found.extend(
                words.filter(|word| word.starts_with('/') && word.len() > 1).map(str::to_owned),
            );
        }
    }
    for setting in [Setting::Entrypoint, Setting::Cmd] {
        for it in view.facts.final_runtime().get(setting) {
            let text = it.entry.to_string();
            let words = text.split(|character: char| {
                character.is_whitespace() || "\"'[],=".contains(character)
            });
            let files = words.filter(|word| {
                word.starts_with('/') && WRITTEN_FILES.iter().any(|ending| word.ends_with(ending))
            });
            found.extend(files.filter_map(|file| Some(file.rsplit_once('/')?.0.to_owned())));
        }
    }
    // What the build brings is there to be read.
    let brought: Vec<String> = view
        .file
        .instructions
        .iter()
        .filter_map(|instruction| match &instruction.arguments {
            Arguments::Transfer { destination: Some(target), .. } => Some(target.text.to_string()),
            _ => None,
        })
        .collect();
    found.retain(|path| {
        !brought.iter().any(|target| target.trim_end_matches('/') == path) && !path.is_empty()
    });
    found
}

fn given(view: &View<'_>, identities: &[String]) -> Vec<Given> {
    let mut found = Vec::new();
    for index in final_chain(view) {
        let workdir = workdir(view, index);
        let called = called_with_variables(view, index);
        let opens = called.iter().any(opens_group);
        let volumes = earlier_volumes(view, index);
        for (number, called) in called.iter().enumerate() {
            let own = given_by(called, workdir.as_deref(), identities, opens);
            // A build may discard what changes in a volume once it is declared.
            let kept =
                own.into_iter().filter(|item| !volumes.iter().any(|at| is_within(&item.path, at)));
            found.extend(kept.map(|item| Given { place: (index, number), ..item }));
        }
        let Some(instruction) = view.file.instructions.get(index) else { continue };
        let is_own =
            instruction.flag_value("chown").is_some_and(|owner| is_owner(&owner.text, identities));
        if let (true, Arguments::Transfer { destination: Some(target), .. }) =
            (is_own, &instruction.arguments)
        {
            let path = absolute(&target.text, workdir.as_deref());
            found.extend(path.map(|path| Given { path, place: (index, 0), is_tree: true }));
        }
    }
    for it in &mut found {
        it.path = it.path.trim_end_matches('/').to_owned();
    }
    found
}

/// Volumes of the stage that are declared before an instruction.
fn earlier_volumes(view: &View<'_>, index: usize) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let entries = runtime.get(Setting::Volume).iter().filter(|entry| entry.instruction < index);
    entries.map(|entry| entry.entry.key.trim_end_matches('/').to_owned()).collect()
}

/// The commands of a RUN, each word as it is written where a variable is in it.
fn called_with_variables(view: &View<'_>, index: usize) -> Vec<Called> {
    let is_run = view
        .file
        .instructions
        .get(index)
        .is_some_and(|instruction| instruction.keyword == Keyword::Run);
    let scripts = view.facts.scripts(&view.file, index).iter().filter(|_| is_run);
    let commands = scripts.flat_map(|script| &script.commands);
    commands
        .filter_map(|command| {
            let call = command.effective();
            let name = commands::last_part(&call.name()?).to_owned();
            let written = |text: &str| text.trim_matches('"').to_owned();
            let words = call.args().iter();
            let words = words.map(|word| word.pattern().unwrap_or_else(|| written(word.text())));
            Some(Called { instruction: index, name, words: words.collect() })
        })
        .collect()
}

/// The paths that a command gives to the user.
fn given_by(
    called: &Called,
    workdir: Option<&str>,
    identities: &[String],
    opens: bool,
) -> Vec<Given> {
    let words: Vec<&str> = called.words.iter().map(String::as_str).collect();
    let (paths, is_tree) = match called.name.as_str() {
        "chown" => {
            let is_tree =
                words.iter().any(|word| matches!(*word, "-R" | "--recursive" | "-hR" | "-Rh"));
            let mut plain = words.iter().filter(|word| !word.starts_with('-'));
            let is_own = plain.next().is_some_and(|owner| is_owner(owner, identities));
            (if is_own { plain.copied().collect() } else { Vec::new() }, is_tree)
        }
        // A number without an account is in the group of root.
        "chgrp" if opens => {
            let is_tree = words.contains(&"-R");
            let mut plain = words.iter().filter(|word| !word.starts_with('-'));
            let is_root = plain.next().is_some_and(|group| matches!(*group, "0" | "root"));
            let is_number = identities
                .first()
                .is_some_and(|identity| identity.bytes().all(|byte| byte.is_ascii_digit()));
            (if is_root && is_number { plain.copied().collect() } else { Vec::new() }, is_tree)
        }
        "install" => (installed(&words, identities).unwrap_or_default(), false),
        _ => return Vec::new(),
    };
    let paths = paths.into_iter().filter_map(|path| absolute(path, workdir));
    paths.map(|path| Given { path, place: (0, 0), is_tree }).collect()
}

/// `chmod -R g=u`: lets the group do what the owner may.
fn opens_group(called: &Called) -> bool {
    let modes = [
        "g=u", "g+rwX", "g+rwx", "g+w", "g+rw", "ug+rwX", "0770", "770", "0775", "775", "2775",
        "g=rwX",
    ];
    called.name == "chmod" && called.words.iter().any(|word| modes.contains(&word.as_str()))
}

pub(super) fn is_group_mode(words: &[&str]) -> bool {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    opens_group(&Called { instruction: 0, name: "chmod".to_owned(), words })
}

/// The directories of `install -d -o USER …`.
pub(super) fn installed<'w>(words: &[&'w str], identities: &[String]) -> Option<Vec<&'w str>> {
    let mut paths = Vec::new();
    let (mut is_directory, mut is_own) = (false, false);
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        match flag {
            "-d" | "--directory" | "-dv" | "-v" => is_directory = true,
            "-o" | "--owner" => {
                let owner = if value.is_empty() { rest.next()? } else { value };
                is_own = is_owner(owner, identities);
            }
            "-g" | "--group" => {
                let _group = if value.is_empty() { rest.next()? } else { value };
            }
            "-m" | "--mode" => {
                let mode = if value.is_empty() { rest.next()? } else { value };
                if matches!(mode.bytes().last(), Some(b'2' | b'3' | b'6' | b'7')) {
                    return None;
                }
            }
            _ if word.starts_with('-') => return None,
            _ => paths.push(word),
        }
    }
    (is_directory && is_own).then_some(paths)
}

/// Whether `user:group` is the user.
pub(super) fn is_owner(owner: &str, identities: &[String]) -> bool {
    let owner = owner.replace(['{', '}'], "");
    let mut parts = owner.split([':', '.']);
    let is_own = |part: &str| identities.iter().any(|own| own == part);
    let is_user = parts.next().is_some_and(is_own);
    is_user && parts.all(|group| group.is_empty() || is_own(group) || matches!(group, "0" | "root"))
}

/// Programs that only root can start, or that take another user themselves.
const OF_ROOT: &[&str] = &[
    "cron",
    "crond",
    "dockerd",
    "gosu",
    "iptables",
    "keepalived",
    "openvpn",
    "sshd",
    "su-exec",
    "tcpdump",
];

/// A program of root that the container starts or that the final stage installs.
pub(super) fn needs_root(view: &View<'_>) -> Option<&'static str> {
    let chain = final_chain(view);
    let calls = commands::calls(view).filter(|(index, _)| chain.contains(index));
    let packages: Vec<String> = calls.flat_map(|(_, call)| commands::names(call)).collect();
    let mut all = OF_ROOT.iter().copied();
    all.find(|name| commands::starts(view, name) || packages.iter().any(|package| package == name))
}

/// Whether what the container needs is in the home of root, which others cannot enter.
pub(super) fn needs_home_of_root(view: &View<'_>) -> bool {
    let is_home = |word: &str| is_within(word.trim_matches(['"', '\'', ',', '[', ']']), "/root");
    let runs = [Keyword::Env, Keyword::Workdir, Keyword::Cmd, Keyword::Entrypoint, Keyword::Copy];
    final_chain(view).into_iter().filter_map(|index| view.file.instructions.get(index)).any(
        |instruction| {
            runs.contains(&instruction.keyword)
                && instruction
                    .body_text()
                    .split(|character: char| {
                        character.is_whitespace() || character == '=' || character == ':'
                    })
                    .any(is_home)
        },
    )
}
