//! Users and groups that a stage names before it makes them, or that it never makes.
//!
//! `useradd` makes a group by the name of the user, unless it is given one. Debian's `adduser --system`
//! and Busybox's `adduser -S` make none.

use std::collections::BTreeSet;

use probity_dockerfile::{Instruction, Keyword};

use crate::checks::{
    View,
    additions::ACCOUNTS,
    base_image::base,
    belongings::final_chain,
    commands::{self, Called},
    image_kind::ImageKind,
};

/// Groups that images of all distributions have.
const USUAL: &[&str] = &[
    "root", "adm", "audio", "bin", "daemon", "mail", "nobody", "nogroup", "staff", "tty", "users",
    "video", "www-data",
];

/// Letters of account commands that a value follows.
const WITH_VALUE: &str = "bcdefgGhkKpsu";

/// What an account command makes, and the groups that have to be there for it.
struct Account {
    user: Option<String>,
    group: Option<String>,
    needs: Vec<String>,
}

/// A user or group that the final image names before it is made, or that is never made.
pub(crate) fn unknown_owner(view: &View<'_>) -> Option<String> {
    // With the list of accounts, all of a stage's accounts come along.
    let is_list =
        |it: &Instruction| it.keyword == Keyword::Copy && it.body_text().contains("/etc/passwd");
    if view.file.instructions.iter().any(is_list) {
        return None;
    }
    let kind = base(view).and_then(|image| ImageKind::of(&image));
    let is_musl = kind.is_some_and(|it| it.is_musl());
    let is_account = |it: &Called| it.is_any(ACCOUNTS);
    let all = commands::all(view).filter(is_account);
    let own: BTreeSet<String> = all.flat_map(|it| Account::of(&it, is_musl).user).collect();
    let (mut users, mut groups) = (BTreeSet::new(), BTreeSet::new());
    let mut chain = final_chain(view);
    chain.sort_unstable();
    for index in chain {
        let Some(it) = view.file.instructions.get(index) else { continue };
        let mut lacking: Option<String> = None;
        for called in commands::of_instruction(view, index) {
            match is_account(&called) {
                true => {
                    let account = Account::of(&called, is_musl);
                    let is_lost = |it: &&String| !is_given(it) && !groups.contains(*it);
                    lacking = lacking.or(account.needs.iter().find(is_lost).cloned());
                    users.extend(account.user);
                    groups.extend(account.group);
                }
                false => {
                    let lost = owner_of(&called);
                    lacking = lacking.or(lost.and_then(|it| unknown(&it, &own, &users, &groups)));
                }
            }
        }
        let owner = owner_of_instruction(it);
        let lost = lacking.or(owner.and_then(|it| unknown(&it, &own, &users, &groups)));
        if lost.is_some() {
            return lost;
        }
    }
    None
}

/// Numbers need no account, images bring some, and variables tell nothing.
fn is_given(name: &str) -> bool {
    name.is_empty()
        || name.bytes().all(|it| it.is_ascii_digit())
        || name.contains('$')
        || USUAL.contains(&name)
}

/// What is not there yet of `USER:GROUP`, where the file itself makes the user.
fn unknown(
    owner: &str,
    own: &BTreeSet<String>,
    users: &BTreeSet<String>,
    groups: &BTreeSet<String>,
) -> Option<String> {
    let (user, group) = owner.split_once(':').unwrap_or((owner, ""));
    if !own.contains(user) {
        return None;
    }
    if !users.contains(user) {
        return Some(user.to_owned());
    }
    (!is_given(group) && !groups.contains(group)).then(|| group.to_owned())
}

fn owner_of(called: &Called) -> Option<String> {
    let is_chown = called.name == "chown";
    called.words.iter().find(|it| !it.starts_with('-')).filter(|_| is_chown).cloned()
}

fn owner_of_instruction(it: &Instruction) -> Option<String> {
    match it.keyword {
        Keyword::User => Some(it.body_text().trim().trim_matches('"').to_owned()),
        Keyword::Copy | Keyword::Add => it.flag_value("chown").map(|it| it.text.to_string()),
        _ => None,
    }
}

impl Account {
    fn of(called: &Called, is_musl: bool) -> Self {
        let (flags, plain) = split(&called.words);
        let has = |names: &[&str]| {
            let mut all = flags.iter();
            all.find(|(flag, _)| names.contains(&flag.as_str())).map(|(_, value)| value.clone())
        };
        let name = plain.first().cloned();
        let (mut user, mut group) = (None, None);
        let mut needs = Vec::new();
        match called.name.as_str() {
            "groupadd" | "addgroup" if plain.len() == 1 => group = name,
            "useradd" => {
                let given = has(&["-g", "--gid"]);
                let is_alone = given.is_some() || has(&["-N", "--no-user-group"]).is_some();
                group = name.clone().filter(|_| !is_alone);
                user = name;
                needs.extend(given);
            }
            "adduser" => {
                let given = has(&["-G", "--ingroup", "--gid"]);
                let is_system = has(&["-S", "--system"]).is_some();
                let makes = match is_system {
                    true => !is_musl && has(&["--group"]).is_some(),
                    false => given.is_none(),
                };
                group = name.clone().filter(|_| makes);
                user = name;
                needs.extend(given);
            }
            _ => {}
        }
        Self { user, group, needs }
    }
}

/// The flags of an account command with their values, and its other words.
fn split(words: &[String]) -> (Vec<(String, String)>, Vec<String>) {
    const LONG: &[&str] =
        &["--uid", "--gid", "--home", "--home-dir", "--shell", "--comment", "--gecos", "--ingroup"];
    let (mut flags, mut plain) = (Vec::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            flags.push((flag.to_owned(), value.to_owned()));
        } else if word.starts_with("--") {
            let value = if LONG.contains(&word.as_str()) { rest.next().cloned() } else { None };
            flags.push((word.clone(), value.unwrap_or_default()));
        } else if let Some(letters) = word.strip_prefix('-') {
            for letter in letters.chars() {
                let is_last = letters.ends_with(letter) && WITH_VALUE.contains(letter);
                let value = if is_last { rest.next().cloned() } else { None };
                flags.push((format!("-{letter}"), value.unwrap_or_default()));
            }
        } else {
            plain.push(word.clone());
        }
    }
    (flags, plain)
}
