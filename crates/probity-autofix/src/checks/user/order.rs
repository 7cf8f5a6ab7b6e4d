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
    system_accounts::Accounts,
};

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
    let is_list = |instruction: &Instruction| {
        instruction.keyword == Keyword::Copy && instruction.body_text().contains("/etc/passwd")
    };
    if view.file.instructions.iter().any(is_list) {
        return None;
    }
    let image = base(view).unwrap_or_default();
    let is_musl = ImageKind::of(&image).is_some_and(|kind| kind.is_musl());
    let given = Given { accounts: Accounts::of(&image), packages: installed(view) };
    let is_account = |call: &&Called| call.is_any(ACCOUNTS);
    let all = view.all_called().filter(is_account).map(|call| Account::of(call, is_musl));
    let (own_users, own_groups): (Vec<_>, Vec<_>) =
        all.map(|account| (account.user, account.group)).unzip();
    let own = Own {
        users: own_users.into_iter().flatten().collect(),
        groups: own_groups.into_iter().flatten().collect(),
    };
    let (mut users, mut groups) = (BTreeSet::new(), BTreeSet::new());
    let mut chain = final_chain(view);
    chain.sort_unstable();
    for index in chain {
        let Some(instruction) = view.file.instructions.get(index) else { continue };
        let mut lacking: Option<String> = None;
        for called in view.called(index) {
            if is_account(&called) {
                let account = Account::of(called, is_musl);
                let is_lost = |group: &&String| !given.has(group) && !groups.contains(*group);
                lacking = lacking.or(account.needs.iter().find(is_lost).cloned());
                users.extend(account.user);
                groups.extend(account.group);
            } else {
                let lost = owner_of(called);
                lacking = lacking
                    .or(lost.and_then(|owner| unknown(&owner, &own, &users, &groups, &given)));
            }
        }
        let owner = owner_of_instruction(instruction);
        let lost =
            lacking.or(owner.and_then(|owner| unknown(&owner, &own, &users, &groups, &given)));
        if lost.is_some() {
            return lost;
        }
    }
    None
}

/// The accounts that a file makes, in whatever stage.
struct Own {
    users: BTreeSet<String>,
    groups: BTreeSet<String>,
}

/// What a stage begins with, and the packages that it installs.
struct Given {
    accounts: Accounts,
    packages: Vec<String>,
}

impl Given {
    /// Numbers need no account, images bring some, packages of servers make one by their own name, and
    /// variables tell nothing.
    fn has(&self, group: &str) -> bool {
        let is_of_package = |name: &String| {
            name.strip_prefix(group).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
        };
        group.is_empty()
            || group.bytes().all(|byte| byte.is_ascii_digit())
            || group.contains('$')
            || self.accounts.may_have_group(group)
            || self.packages.iter().any(is_of_package)
    }
}

/// The packages of the distribution that the final image installs.
fn installed(view: &View<'_>) -> Vec<String> {
    let chain = final_chain(view);
    let calls = commands::calls(view).filter(|(index, call)| {
        chain.contains(index) && !commands::is_language_manager(call.manager)
    });
    calls.flat_map(|(_, call)| commands::names(call)).collect()
}

/// What is not there yet of `USER:GROUP`, where the file itself makes the user.
fn unknown(
    owner: &str,
    own: &Own,
    users: &BTreeSet<String>,
    groups: &BTreeSet<String>,
    given: &Given,
) -> Option<String> {
    let (user, group) = owner.split_once(':').unwrap_or((owner, ""));
    let is_late = own.groups.contains(group) && !groups.contains(group) && !given.has(group);
    if is_late {
        return Some(group.to_owned());
    }
    if !own.users.contains(user) {
        return None;
    }
    if !users.contains(user) {
        return Some(user.to_owned());
    }
    (!given.has(group) && !groups.contains(group)).then(|| group.to_owned())
}

fn owner_of(called: &Called) -> Option<String> {
    if called.name == "install" {
        let value = |flag: &str| {
            let mut pairs = called.words.iter().zip(called.words.iter().skip(1));
            pairs.find(|(word, _)| *word == flag).map(|(_, value)| value.clone())
        };
        let (owner, group) = (value("-o").unwrap_or_default(), value("-g").unwrap_or_default());
        return (!owner.is_empty() || !group.is_empty()).then(|| format!("{owner}:{group}"));
    }
    if called.name != "chown" {
        return None;
    }
    called.words.iter().find(|word| !word.starts_with('-')).cloned()
}

fn owner_of_instruction(it: &Instruction) -> Option<String> {
    match it.keyword {
        Keyword::User => Some(it.body_text().trim().trim_matches('"').to_owned()),
        Keyword::Copy | Keyword::Add => it.flag_value("chown").map(|value| value.text.to_string()),
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
                group = if is_alone { None } else { name.clone() };
                user = name;
                needs.extend(given);
            }
            "adduser" => {
                let given = has(&["-G", "--ingroup", "--gid"]);
                let is_system = has(&["-S", "--system"]).is_some();
                let makes = if is_system {
                    !is_musl && has(&["--group"]).is_some()
                } else {
                    given.is_none()
                };
                group = if makes { name.clone() } else { None };
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
        if word.starts_with("--")
            && let Some((flag, value)) = word.split_once('=')
        {
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
