//! Secrets that move from ARG and ENV to mounts: every command that reads one still gets it, and nothing
//! else changes.

mod effect;
mod git;
mod plumbing;
mod readers;
mod run;
mod script;

use std::collections::{BTreeMap, BTreeSet};

use probity_dockerfile::{Arguments, DirectiveName, Instruction, Keyword, Pair, Setting};
use probity_lint::names_a_secret;
use probity_shell::Word;

use self::run::{Mount, is_word_in, mounts, moved_run};
use super::{Change, Check, Explained, Issue, View, belongings::final_chain, steps::written};

pub(crate) const MUST_MOUNT_SECRET: Check =
    Check::new("patch/must-mount-secret", must_mount_secret);
pub(crate) const SECRETS_MOUNTED: Check = Check::new("secrets-mounted", secrets_mounted);
pub(crate) const SECRETS_SUPPORTED: Check = Check::new("secrets-supported", secrets_supported);
pub(crate) const ONLY_SECRETS_MOVE: Check = Check::new("only-secrets-move", only_secrets_move);

/// The first frontend whose secret mounts set variables.
const FIRST_WITH_VARIABLES: (u32, u32) = (1, 10);

/// The secrets that ARG or ENV declared and no longer do.
fn moved(change: &Change<'_>) -> BTreeSet<String> {
    let left: BTreeSet<&str> =
        declared(change.after).map(|(_, pair)| pair.key.text.as_str()).collect();
    let old = declared(change.before).map(|(_, pair)| pair.key.text.as_str());
    let mut names: BTreeSet<String> =
        old.filter(|name| is_secret(name) && !left.contains(name)).map(str::to_owned).collect();
    // A variable of a package manager with a secret in it is one too.
    let handed_on = declared(change.before).filter(|(_, pair)| {
        let name = pair.key.text.as_str();
        plumbing::is_variable(name)
            && !left.contains(name)
            && !readers::secrets_in(change.before, name, &names).is_empty()
    });
    let handed_on: Vec<String> = handed_on.map(|(_, pair)| pair.key.text.to_string()).collect();
    names.extend(handed_on);
    names
}

/// Bundler reads the login of a host from a variable with the host's name, `__` for each dot.
fn is_secret(name: &str) -> bool {
    let host = name.strip_prefix("BUNDLE_");
    // A personal access token.
    let is_pat = name.split('_').any(|part| part.eq_ignore_ascii_case("pat"));
    is_pat || names_a_secret(&spelled_out(name)) || host.is_some_and(|host| host.contains("__"))
}

/// A name with its words apart: `PGPASSWORD` and `SIGN_STOREPASS` are made of two words in one part.
fn spelled_out(name: &str) -> String {
    const COUNTS: &[&str] =
        &["by", "first", "max", "multi", "num", "one", "second", "single", "two"];
    const WORDS: &[&str] = &["password", "passwd", "passphrase", "secret", "token"];
    // `COMPASS` and `BYPASS` are not.
    const PASSES: &[&str] = &[
        "dbpass",
        "keypass",
        "keystorepass",
        "sshpass",
        "storepass",
        "truststorepass",
        "userpass",
    ];
    let parts = name.split('_').map(|part| {
        let lower = part.to_ascii_lowercase();
        let word = WORDS.iter().find_map(|word| lower.strip_suffix(word).map(|rest| (rest, *word)));
        match word {
            _ if PASSES.contains(&lower.as_str()) => "password".to_owned(),
            Some((before, word)) if !before.is_empty() => format!("{before}_{word}"),
            _ => lower,
        }
    });
    let mut parts: Vec<String> = parts.collect();
    // `NEXUS_PASS`, and `NEXUS_PSW` as Jenkins calls it; `FIRST_PASS` is one of several.
    if let [.., before, last] = parts.as_mut_slice() {
        let is_counted = COUNTS.contains(&before.as_str());
        match last.as_str() {
            "pass" if !is_counted => *last = "password".to_owned(),
            "psw" => *last = "password".to_owned(),
            "cred" | "creds" | "netrc" => *last = "credentials".to_owned(),
            _ => {}
        }
    }
    parts.join("_")
}

fn declared<'v>(view: &'v View<'_>) -> impl Iterator<Item = (Keyword, &'v Pair)> {
    view.file.instructions.iter().flat_map(|instruction| {
        match (instruction.keyword, &instruction.arguments) {
            (Keyword::Arg | Keyword::Env, Arguments::Pairs { pairs, .. }) => {
                pairs.iter().map(|pair| (instruction.keyword, pair)).collect()
            }
            _ => Vec::new(),
        }
    })
}

fn must_mount_secret(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let secrets = |view: &View<'_>| view.file.instructions.iter().flat_map(mounts).count();
    if !moved(change).is_empty() && secrets(change.after) > secrets(change.before) {
        return Vec::new();
    }
    vec![change.issue(check, "the patch does not move a secret from ARG or ENV to a secret mount")]
}

/// Which RUN became which, and the secrets that the new one gets, each with its mount.
type Pairs<'v> = BTreeMap<usize, (usize, BTreeMap<String, Mount<'v>>)>;

fn paired<'v>(change: &Change<'v>, names: &BTreeSet<String>) -> Pairs<'v> {
    let (before, after) = (change.before, change.after);
    let mut pairs = Pairs::new();
    let mut next = 0;
    for (old, was) in before.file.instructions.iter().enumerate() {
        if was.keyword != Keyword::Run {
            continue;
        }
        let mut news = after.file.instructions.iter().enumerate().skip(next);
        let found =
            news.find_map(|(new, is)| Some((new, moved_run((before, was), (after, is), names)?)));
        if let Some((new, secrets)) = found {
            next = new + 1;
            pairs.insert(old, (new, secrets));
        }
    }
    pairs
}

/// Secret arguments without a value that stay where they were, for commands alone.
fn stayed<'v>(change: &Change<'v>) -> Vec<&'v str> {
    let left = declared(change.after).filter(|(keyword, pair)| {
        *keyword == Keyword::Arg && pair.value.is_none() && is_secret(&pair.key.text)
    });
    let chain = final_chain(change.after);
    let is_free = |name: &str| {
        let all = change.after.file.instructions.iter().enumerate();
        // A variable of a stage that is left behind is for its commands too.
        let mut others = all.filter(|(index, instruction)| match instruction.keyword {
            Keyword::Run | Keyword::Arg => false,
            Keyword::Env => chain.contains(index),
            _ => true,
        });
        !others.any(|(_, instruction)| is_word_in(&written(change.after, instruction), name))
    };
    left.map(|(_, pair)| pair.key.text.as_str()).filter(|name| is_free(name)).collect()
}

/// Commands that read a secret get it, by one id, and nothing but commands needs it.
/// A RUN that names the variable of a secret which nothing gives it.
fn unset(check: &Check, change: &Change<'_>, names: &BTreeSet<String>) -> Option<Issue> {
    let after = change.after;
    for (index, it) in after.file.instructions.iter().enumerate() {
        if it.keyword != Keyword::Run {
            continue;
        }
        let text = it.body_text();
        let scripts = after.facts.scripts(&after.file, index).iter();
        // Between single quotes a name is text, for a program that reads the variable itself.
        let words: Vec<&Word> = scripts
            .flat_map(|script| script.all_commands())
            .flat_map(|call| &*call.words)
            .collect();
        let lost = names.iter().find(|name| {
            let is_read = words.iter().any(|word| {
                word.variables().iter().any(|(_, variable)| variable.name == name.as_str())
            });
            let is_set =
                text.contains(&format!("{name}=")) || text.contains(&format!("read {name}"));
            let is_mounted = mounts(it).iter().any(|mount| mount.variable == Some(name.as_str()));
            is_read && !is_set && !is_mounted
        });
        if let Some(name) = lost {
            let message = format!("this command reads `{name}`, which nothing sets");
            return Some(at(change, change.issue(check, &message), index));
        }
    }
    None
}

fn secrets_mounted(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let names = moved(change);
    let pairs = paired(change, &names);
    let mut issues = Vec::new();
    for name in stayed(change) {
        let message = format!("`{name}` is a secret too, and stays an ARG; mount it as the others");
        issues.push(change.issue(check, &message));
    }
    let is_same = effect::is_same(change, &names);
    if environment(change.before, &names) != environment(change.after, &names) {
        let message = "no variable of the final stage may change but the secrets";
        issues.push(change.issue(check, message));
    }
    for name in &names {
        if readers::secrets_in(change.before, name, &names).is_empty() {
            issues.extend(lost_value(check, change, name));
        }
        issues.extend(used_elsewhere(check, change, name));
        for old in readers::of(change.before, name, &names) {
            let Some((new, secrets)) = pairs.get(&old) else {
                // A command that changed for nothing is another check's business.
                if change.limits.explained.before.contains(&old) {
                    let message = format!(
                        "the command that reads `{name}` changes for another objective; answer with one \
                         of the two"
                    );
                    issues.push(change.issue(check, &message));
                }
                continue;
            };
            if is_same || secrets.contains_key(name) {
                continue;
            }
            let message = format!(
                "this command reads `{name}`; give it `--mount=type=secret,id=…,env={name}`"
            );
            issues.push(at(change, change.issue(check, &message), *new));
        }
    }
    issues.extend(unset(check, change, &names));
    let mut ids: BTreeMap<&str, &str> = BTreeMap::new();
    for (new, secrets) in pairs.values() {
        for (name, mount) in secrets {
            let is_shared = ids.iter().any(|(other, id)| other != name && *id == mount.id);
            let is_other = ids.get(name.as_str()).is_some_and(|id| *id != mount.id);
            ids.insert(name, mount.id);
            if is_shared || is_other {
                let message =
                    format!("`{name}` must have one `id`, and no other secret may have it");
                issues.push(at(change, change.issue(check, &message), *new));
            }
        }
    }
    issues
}

fn environment(view: &View<'_>, names: &BTreeSet<String>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let others =
        runtime.get(Setting::Env).iter().filter(|setting| !names.contains(&setting.entry.key));
    others.map(|other| other.entry.to_string()).collect()
}

fn at(change: &Change<'_>, issue: Issue, index: usize) -> Issue {
    match change.after.file.instructions.get(index) {
        Some(instruction) => issue.at(change.after, instruction.span),
        None => issue,
    }
}

/// A value that the file gives would have to come from somewhere else.
fn lost_value(check: &Check, change: &Change<'_>, name: &str) -> Option<Issue> {
    let is_own = |(_, pair): &(Keyword, &Pair)| {
        let value = pair.value.as_ref().map(|value| value.text.trim_matches(['"', '\'']));
        pair.key.text == name
            && value.is_some_and(|text| !text.is_empty() && !text.starts_with('$'))
    };
    let has_value = declared(change.before).any(|declaration| is_own(&declaration));
    let message = format!("`{name}` has a value in the file, which a secret mount does not keep");
    has_value.then(|| change.issue(check, &message))
}

/// The container's program, and instructions other than RUN, get nothing from a mount.
fn used_elsewhere(check: &Check, change: &Change<'_>, name: &str) -> Option<Issue> {
    let runtime = change.before.facts.final_runtime();
    let stays = runtime.get(Setting::Env).iter().any(|setting| setting.entry.key == name);
    if stays && !readers::is_for_packages(name) {
        let message = format!(
            "the container starts with `{name}`, and its program may read it; only the credentials \
             of package managers may leave the final stage"
        );
        return Some(change.issue(check, &message));
    }
    let is_run = |instruction: &Instruction| instruction.keyword == Keyword::Run;
    let mut others =
        change.after.file.instructions.iter().filter(|instruction| !is_run(instruction));
    let user = others.find(|other| is_word_in(&written(change.after, other), name))?;
    let message = format!("`{name}` is used here, but a secret mount exists for RUN alone");
    Some(change.issue(check, &message).at(change.after, user.span))
}

/// The frontend knows the mount, and the user of the command may read it.
fn secrets_supported(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let names = moved(change);
    let old = has_old_frontend(change.after);
    let mut issues = Vec::new();
    for (new, secrets) in paired(change, &names).values() {
        let user = change.after.facts.state(*new).and_then(|state| state.user.clone());
        let is_root =
            user.is_none_or(|user| matches!(user.pattern(), "root" | "0" | "root:root" | "0:0"));
        for mount in secrets.values() {
            if mount.variable.is_some() && old {
                let message = "the frontend of `# syntax` is older than 1.10, and its secret mounts \
                               have no `env`; read the file below /run/secrets instead";
                issues.push(at(change, change.issue(check, message), *new));
            } else if mount.variable.is_none() && !is_root && !mount.is_readable_for_all() {
                let message =
                    "only root may read this secret; use `env=`, or set `uid=` or `mode=0444`";
                issues.push(at(change, change.issue(check, message), *new));
            }
        }
    }
    issues
}

fn has_old_frontend(view: &View<'_>) -> bool {
    let mut directives = view.file.directives.iter();
    let Some(syntax) = directives.find(|directive| directive.name == DirectiveName::Syntax) else {
        return false;
    };
    let tag = syntax.value.rsplit_once(':').map_or("", |(_, tag)| tag);
    let tag = tag.split('@').next().unwrap_or(tag);
    let mut numbers = tag.split(['.', '-']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < FIRST_WITH_VARIABLES,
        _ => false,
    }
}

fn only_secrets_move(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let names = moved(change);
    let pairs = paired(change, &names);
    let known: BTreeMap<usize, usize> = pairs.iter().map(|(old, (new, _))| (*new, *old)).collect();
    let rest =
        |view: &View<'_>, original: &dyn Fn(usize) -> Option<usize>, skip: &BTreeSet<usize>| {
            let all = view.file.instructions.iter().enumerate();
            let all = all.filter(|(index, _)| !skip.contains(index));
            all.filter_map(|(index, instruction)| match original(index) {
                Some(old) => Some(format!("RUN number {old}")),
                None => without(view, instruction, &names),
            })
            .collect::<Vec<String>>()
        };
    let others = &change.limits.explained;
    let original = |index| pairs.contains_key(&index).then_some(index);
    let old = rest(change.before, &original, &others.before);
    let new = rest(change.after, &|index| known.get(&index).copied(), &others.after);
    if (old == new && !effect::is_left(change, &names)) || effect::is_same(change, &names) {
        return Vec::new();
    }
    let place = new.iter().zip(&old).find(|(new, old)| new != old).map(|(new, _)| new.as_str());
    let message = "only secrets may leave ARG and ENV, and only their mounts may be added to RUN; a \
                   command may change only to read the file of its mount";
    vec![change.issue(check, message).quoting(place.unwrap_or_default())]
}

/// The instructions that declared the secrets, and the RUNs that got one.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let names = moved(change);
    let pairs = paired(change, &names);
    let got = || pairs.iter().filter(|(_, (_, secrets))| !secrets.is_empty());
    let declares = |view: &View<'_>, instruction: &Instruction| {
        without(view, instruction, &names) != without(view, instruction, &BTreeSet::new())
    };
    let (before, after) = (&change.before.file.instructions, &change.after.file.instructions);
    let declared: Vec<usize> = (0..before.len())
        .filter(|index| {
            before.get(*index).is_some_and(|instruction| declares(change.before, instruction))
        })
        .collect();
    // Of an ENV with several pairs, the others stay.
    let left: Vec<String> = declared
        .iter()
        .filter_map(|index| without(change.before, before.get(*index)?, &names))
        .collect();
    let kept = (0..after.len()).filter(|index| {
        let text =
            after.get(*index).and_then(|instruction| without(change.after, instruction, &names));
        text.is_some_and(|text| left.contains(&text))
    });
    Explained {
        before: got().map(|(old, _)| *old).chain(declared).collect(),
        after: got().map(|(_, (new, _))| *new).chain(kept).collect(),
    }
}

/// An instruction without the pairs of these names; nothing where no other pair is left.
fn without(view: &View<'_>, it: &Instruction, names: &BTreeSet<String>) -> Option<String> {
    let (Keyword::Arg | Keyword::Env, Arguments::Pairs { pairs, .. }) = (it.keyword, &it.arguments)
    else {
        return Some(written(view, it));
    };
    let left: Vec<String> = pairs
        .iter()
        .filter(|pair| !names.contains(pair.key.text.as_str()))
        .map(|pair| {
            format!("{} {:?}", pair.key.text, pair.value.as_ref().map(|value| value.text.as_str()))
        })
        .collect();
    (!left.is_empty()).then(|| format!("{} {}", it.keyword, left.join(" ")))
}
