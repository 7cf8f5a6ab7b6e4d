//! What the RUNs of a file do beside handing secrets on: the commands that work must stay, and each that
//! had a secret must still have it, however it gets there.
//!
//! A script is taken apart into commands. Those that only hand a secret to a tool (a line of `.npmrc`, a
//! variable, a rule of Git, an option with an address) are plumbing and may change, as long as the tool
//! learns of the same addresses and no file with the secret stays in the layer.

use std::collections::{BTreeMap, BTreeSet};

use probity_dockerfile::{Arguments, Instruction, Keyword};

use super::{
    declared, has_old_frontend, is_secret,
    plumbing::{self, Plumbing},
    readers,
    run::{Mount, braced, is_word_in, mounts, plain},
    script::commands_of,
    without,
};
use crate::checks::{Change, View};

/// A step that must stay: an instruction, or one command of a RUN.
struct Work {
    text: String,
    run: Option<usize>,
}

/// What a file does with its secrets.
#[derive(Default)]
struct Flow {
    works: Vec<Work>,
    /// Where tools use the secrets, by address.
    addresses: BTreeSet<String>,
    /// The secrets that each RUN has.
    has: BTreeMap<usize, BTreeSet<String>>,
    /// RUNs with a whole file of credentials.
    whole: BTreeSet<usize>,
    /// Files that secrets are written to.
    files: BTreeSet<String>,
    /// Those that stay in a layer.
    left: BTreeSet<String>,
}

/// Whether the proposal only hands the secrets on in another way.
pub(super) fn is_same(change: &Change<'_>, names: &BTreeSet<String>) -> bool {
    let is_left = declared(change.after).any(|(_, pair)| is_secret(&pair.key.text));
    let old = before(change.before, names);
    let Some(new) = after(change, names, &old.files) else { return false };
    let dropped = arguments_of_plumbing(change, names);
    let texts = |flow: &Flow| -> Vec<String> {
        let texts = flow.works.iter().map(|work| work.text.clone());
        texts.filter(|text| !dropped.contains(text)).collect()
    };
    let is_known = old.addresses.is_subset(&new.addresses) || !new.whole.is_empty();
    !is_left
        && new.left.is_empty()
        && texts(&old) == texts(&new)
        && is_known
        && names.iter().all(|name| is_had(change.before, name, names, &old, &new, &dropped))
}

/// Whether a RUN leaves a file with a secret in its layer; what Git keeps for later RUNs is another matter.
pub(super) fn is_left(change: &Change<'_>, names: &BTreeSet<String>) -> bool {
    let old = before(change.before, names);
    let new = after(change, names, &old.files);
    new.is_some_and(|flow| flow.left.iter().any(|file| !file.ends_with(".gitconfig")))
}

/// Whether every command that had a secret still has it.
fn is_had(
    view: &View<'_>,
    name: &str,
    names: &BTreeSet<String>,
    old: &Flow,
    new: &Flow,
    dropped: &[String],
) -> bool {
    let readers = readers::of(view, name, names);
    // A variable that contains the secret replaces it, and a command with the secret can set the variable.
    let inner = readers::secrets_in(view, name, names);
    let is_handed_on = names
        .iter()
        .any(|other| readers::secrets_in(view, other, names).iter().any(|own| *own == name));
    let works = |flow: &Flow| -> Vec<Option<usize>> {
        let kept = flow.works.iter().filter(|work| !dropped.contains(&work.text));
        kept.map(|work| work.run).collect()
    };
    let pairs: Vec<(Option<usize>, Option<usize>)> =
        works(old).into_iter().zip(works(new)).collect();
    let mut users = pairs.iter().filter(|(was, _)| was.is_some_and(|was| readers.contains(&was)));
    let has = |run: &Option<usize>| {
        run.is_some_and(|run| {
            let has = |name: &str| new.has.get(&run).is_some_and(|secrets| secrets.contains(name));
            let has_inner = !inner.is_empty() && inner.iter().all(|secret| has(secret));
            new.whole.contains(&run) || has(name) || has_inner
        })
    };
    let mut is_any = false;
    let all = users.all(|(_, run)| {
        is_any = true;
        has(run)
    });
    all && (is_any || is_handed_on)
}

/// ARGs that only plumbing used, such as a user name beside a token.
fn arguments_of_plumbing(change: &Change<'_>, names: &BTreeSet<String>) -> Vec<String> {
    let after: Vec<&str> =
        change.after.file.instructions.iter().map(Instruction::body_text).collect();
    let mut dropped = Vec::new();
    for instruction in &change.before.file.instructions {
        let Some(text) = without(change.before, instruction, names) else { continue };
        let name = instruction.body_text().split(['=', ' ']).next().unwrap_or_default();
        let is_gone = instruction.keyword == Keyword::Arg
            && !name.is_empty()
            && after.iter().all(|body| !is_word_in(body, name));
        let all = change.before.file.instructions.iter();
        let users: Vec<&Instruction> = all
            .filter(|other| other.keyword != Keyword::Arg && is_word_in(other.body_text(), name))
            .collect();
        let has_secret =
            |user: &&Instruction| names.iter().any(|name| is_word_in(user.body_text(), name));
        // Without a user in the file, a program may read it.
        if is_gone && !users.is_empty() && users.iter().all(has_secret) {
            dropped.push(text);
        }
    }
    dropped
}

fn before(view: &View<'_>, names: &BTreeSet<String>) -> Flow {
    let mut flow = Flow::default();
    for (index, instruction) in view.file.instructions.iter().enumerate() {
        if instruction.keyword != Keyword::Run {
            flow.works
                .extend(without(view, instruction, names).map(|text| Work { text, run: None }));
            if let Arguments::Pairs { pairs, .. } = &instruction.arguments {
                for pair in pairs.iter().filter(|pair| names.contains(pair.key.text.as_str())) {
                    let value = pair.value.as_ref().map(|it| it.text.as_str()).unwrap_or_default();
                    flow.addresses.extend(plumbing::addresses_of(&pair.key.text, value));
                }
            }
            continue;
        }
        flow.keep_flags(index, view, instruction, &[]);
        for command in commands_of(view, index, instruction) {
            let command = plain(&command, names);
            let has_secret = names.iter().any(|name| is_word_in(&command, name));
            match plumbing::of(&command) {
                Some(Plumbing::File(file)) if has_secret => {
                    flow.addresses.extend(plumbing::addresses(&command));
                    flow.files.insert(file);
                }
                Some(Plumbing::Removal(removed))
                    if removed.iter().all(|file| flow.files.contains(file)) => {}
                Some(Plumbing::Options) => {}
                _ => flow.work(index, &command, names),
            }
        }
    }
    flow
}

/// Nothing where a command reads what is not there, or where the shell prints a secret.
fn after(change: &Change<'_>, names: &BTreeSet<String>, files: &BTreeSet<String>) -> Option<Flow> {
    let view = change.after;
    let is_old = has_old_frontend(change.after);
    let mut flow = Flow::default();
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for (index, instruction) in view.file.instructions.iter().enumerate() {
        if instruction.keyword != Keyword::Run {
            let is_user = names.iter().any(|name| is_word_in(instruction.body_text(), name));
            if is_user && without(view, instruction, names).is_some() {
                return None;
            }
            flow.works
                .extend(without(view, instruction, names).map(|text| Work { text, run: None }));
            continue;
        }
        let mounts = mounts(instruction);
        flow.keep_flags(index, view, instruction, &mounts);
        let mut run = Run::of(view, index, instruction, &mounts, names);
        if run.is_unreadable || (is_old && mounts.iter().any(|mount| mount.variable.is_some())) {
            return None;
        }
        for command in commands_of(view, index, instruction) {
            let command = run.understood(&plain(&command, names), names)?;
            let command = plain(&command, names);
            let has_secret = names.iter().any(|name| is_word_in(&command, name));
            let literal = has_secret && plumbing::is_literal(&command, names);
            match plumbing::of(&command) {
                Some(Plumbing::File(file)) if literal && file.ends_with(".npmrc") => {
                    flow.addresses.extend(plumbing::addresses(&command));
                }
                Some(Plumbing::File(file))
                    if has_secret || command.starts_with("echo ${FILE} >") =>
                {
                    run.needs(&command, names)?;
                    flow.addresses.extend(plumbing::addresses(&command));
                    run.writers.push((command, file.clone()));
                    run.written.insert(file);
                }
                Some(Plumbing::Variables) => {
                    run.needs(&command, names)?;
                    for word in plumbing::assignments(&command).unwrap_or_default() {
                        let (variable, value) = word.split_once('=')?;
                        if names.iter().any(|name| is_word_in(value, name)) {
                            flow.addresses.extend(plumbing::addresses_of(variable, value));
                        }
                    }
                }
                Some(Plumbing::Removal(removed))
                    if removed
                        .iter()
                        .all(|file| run.written.contains(file) || files.contains(file)) =>
                {
                    run.written.retain(|file| !removed.contains(file));
                }
                Some(Plumbing::Options) => {}
                Some(Plumbing::Tracing) => return None,
                _ => {
                    run.needs(&command, names)?;
                    run.forget_overwritten(&command);
                    flow.work(index, &command, names);
                }
            }
        }
        let left = run.written.iter().filter(|file| !run.is_passing(file));
        flow.left.extend(left.cloned());
        for (name, id) in &run.ids {
            let is_shared = ids.iter().any(|(other, known)| other != name && known == id);
            let is_other = ids.insert(name.clone(), id.clone()).is_some_and(|known| known != *id);
            if is_other || (is_shared && !run.is_sourced) {
                return None;
            }
        }
        if run.is_whole {
            flow.whole.insert(index);
        }
        flow.has.insert(index, run.has);
    }
    Some(flow)
}

impl Flow {
    fn work(&mut self, run: usize, command: &str, names: &BTreeSet<String>) {
        let (text, addresses) = plumbing::without_addresses(command, names);
        self.addresses.extend(addresses);
        self.works.push(Work { text, run: Some(run) });
    }

    /// Flags other than the new mounts stay.
    fn keep_flags(&mut self, run: usize, view: &View<'_>, it: &Instruction, mounts: &[Mount<'_>]) {
        for flag in &it.flags {
            let is_new = mounts.iter().any(|mount| mount.is_of(flag));
            let is_memory = flag.option("type").is_some_and(|value| value.text == "tmpfs");
            if !is_new && !is_memory {
                let text = flag.span.slice(view.text).unwrap_or_default().to_owned();
                self.works.push(Work { text, run: Some(run) });
            }
        }
    }
}

/// What one RUN of the proposal has.
struct Run {
    /// Files of mounts, and the secret of each if it is known.
    files: Vec<(String, String, Option<String>)>,
    has: BTreeSet<String>,
    /// The secrets and the ids of their mounts.
    ids: BTreeMap<String, String>,
    /// Variables of the script that hold a secret.
    aliases: BTreeMap<String, String>,
    /// Secrets that a command of the script has read.
    read: BTreeSet<String>,
    written: BTreeSet<String>,
    /// The commands that wrote them, with the file of each.
    writers: Vec<(String, String)>,
    memory: Vec<String>,
    is_whole: bool,
    is_sourced: bool,
    is_unreadable: bool,
}

impl Run {
    fn of(
        view: &View<'_>,
        index: usize,
        instruction: &Instruction,
        mounts: &[Mount<'_>],
        names: &BTreeSet<String>,
    ) -> Self {
        let user = view.facts.state(index).and_then(|state| state.user.clone());
        let is_root =
            user.is_none_or(|user| matches!(user.pattern(), "root" | "0" | "root:root" | "0:0"));
        // Variables of tools are made of secrets, and are not mounted themselves.
        let mut plain =
            names.iter().filter(|name| !plumbing::is_variable(name) || names.len() == 1);
        let only = plain.next().filter(|_| plain.next().is_none());
        let files = mounts.iter().filter(|mount| mount.variable.is_none()).map(|mount| {
            let is_of = |name: &&String| {
                let id = mount.id.to_ascii_uppercase().replace(['-', '.'], "_");
                id == **name || id.contains(name.as_str()) || name.contains(&id)
            };
            let name = names.iter().find(is_of).or(only);
            (mount.path(), mount.id.to_owned(), name.cloned())
        });
        let mut run = Self {
            files: files.collect(),
            has: BTreeSet::new(),
            ids: BTreeMap::new(),
            aliases: BTreeMap::new(),
            read: BTreeSet::new(),
            written: BTreeSet::new(),
            writers: Vec::new(),
            memory: instruction.passing_mounts().map(str::to_owned).collect(),
            is_whole: false,
            is_sourced: false,
            is_unreadable: false,
        };
        for mount in mounts {
            match mount.variable {
                Some(variable) if names.contains(variable) => {
                    run.has.insert(variable.to_owned());
                    run.ids.insert(variable.to_owned(), mount.id.to_owned());
                }
                // Another variable, which the commands may name in the place of the old one.
                Some(variable) => {
                    let id = mount.id.to_ascii_uppercase();
                    if let Some(name) = names.iter().find(|name| **name == id).or(only) {
                        run.aliases.insert(variable.to_owned(), name.clone());
                        run.ids.insert(name.clone(), mount.id.to_owned());
                    }
                }
                None if !is_root && !mount.is_readable_for_all() => run.is_unreadable = true,
                None => run.is_whole |= plumbing::is_credentials(&mount.path(), view),
            }
        }
        run
    }

    /// The command with variables where it reads the files of mounts; nothing if it reads another file.
    fn understood(&mut self, command: &str, names: &BTreeSet<String>) -> Option<String> {
        if plumbing::is_used_too_early(command) {
            return None;
        }
        let mut text = command.to_owned();
        for (path, id, name) in &self.files {
            for read in
                [format!("$(cat {path})"), format!("$(cat \"{path}\")"), format!("$(<{path})")]
            {
                while let Some(start) = text.find(&read) {
                    // `export X=$(cat FILE)` tells whose file it is.
                    let own = text.get(..start).and_then(|earlier| {
                        let earlier = earlier.trim_end_matches('"').strip_suffix('=')?;
                        earlier.rsplit(' ').next().filter(|part| names.contains(*part))
                    });
                    let name = own.map(str::to_owned).or_else(|| name.clone())?;
                    self.ids.insert(name.clone(), id.clone());
                    text.replace_range(start..start + read.len(), &format!("${{{name}}}"));
                    self.read.insert(name);
                }
            }
            if text == format!(". {path}") || text == format!("source {path}") {
                self.has.extend(names.iter().cloned());
                self.ids.extend(names.iter().map(|secret| (secret.clone(), id.clone())));
                self.is_sourced = true;
                return Some("set -a".to_owned());
            }
            if let Some(rest) = plumbing::without_path(&text, path) {
                self.is_whole = true;
                text = rest;
            }
        }
        for (alias, name) in &self.aliases {
            let reference = format!("${{{alias}}}");
            text = braced(&text, alias);
            if text.contains(&reference) {
                text = text.replace(&reference, &format!("${{{name}}}"));
                self.read.insert(name.clone());
            }
        }
        if text.contains("/run/secrets") || text.contains("$(cat ") {
            return None;
        }
        // A plain value in a variable of the script.
        for word in plumbing::assignments(&text).unwrap_or_default() {
            let (variable, value) = word.split_once('=')?;
            let value = value.trim_matches('"');
            let name = names.iter().find(|name| value == format!("${{{name}}}"));
            if let Some(name) = name {
                // Programs see what is exported; the words of commands may name the rest.
                if !names.contains(variable) {
                    self.aliases.insert(variable.to_owned(), name.clone());
                } else if text.starts_with("export ") {
                    self.has.insert(variable.to_owned());
                } else {
                    self.read.insert(variable.to_owned());
                }
            }
        }
        Some(text)
    }

    /// Every secret that a command names must be there, by a mount or by a read.
    fn needs(&mut self, command: &str, names: &BTreeSet<String>) -> Option<()> {
        for name in names.iter().filter(|name| is_word_in(command, name)) {
            // What is set for the command alone, or exported, need not be there.
            let is_set = command.starts_with("export ") || plumbing::assignments(command).is_none();
            if is_set
                && command.contains(&format!("{name}="))
                && !command.contains(&format!("${{{name}}}"))
            {
                continue;
            }
            if !self.has.contains(name) && !self.read.contains(name) {
                return None;
            }
            // A variable of the script alone is nothing that a program gets.
            if is_set || plumbing::assignments(command).is_none() {
                self.has.insert(name.clone());
            }
        }
        Some(())
    }

    /// A file has no secret any more where the same key gets another value.
    fn forget_overwritten(&mut self, command: &str) {
        self.writers.retain(|(earlier, _)| !plumbing::overwrites(command, earlier));
        self.written.retain(|file| self.writers.iter().any(|(_, other)| other == file));
    }

    /// Whether a file is in memory, or is the mount itself.
    fn is_passing(&self, file: &str) -> bool {
        self.memory
            .iter()
            .any(|directory| file.starts_with(&format!("{}/", directory.trim_end_matches('/'))))
    }
}
