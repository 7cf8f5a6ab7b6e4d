//! The user that the container runs as has to come along, with the groups it is in.

use std::borrow::Cow;

use probity_dockerfile::Setting;

use super::{
    Change, Check, Issue, View,
    additions::ACCOUNTS,
    belongings::{final_chain, is_within, text_of},
    commands,
    moved::copied,
    user::order,
};

pub(crate) const USER_MADE: Check = Check::new("user-made", user_made);

/// A container cannot start as a user that only the build stage knows.
fn user_made(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    if let Some(name) = order::unknown_owner(change.after) {
        let message = format!(
            "a step of the final stage names the user or group `{name}` before anything makes it"
        );
        return vec![change.issue(check, &message)];
    }
    let runtime = change.before.facts.final_runtime();
    let user = runtime.get(Setting::User).first().and_then(|setting| text_of(&setting.entry.value));
    let Some(user) = user else { return Vec::new() };
    let name = user.split(':').next().unwrap_or_default().to_owned();
    // A number needs no account.
    if name.parse::<u32>().is_ok() {
        return Vec::new();
    }
    let makes = |view: &View<'_>, index: usize| {
        let scripts = view.facts.scripts(&view.file, index).iter();
        scripts.flat_map(|script| &script.commands).any(|command| {
            let call = command.effective();
            let words: Vec<String> =
                call.words.iter().filter_map(|word| word.literal()).map(Cow::into_owned).collect();
            let is_account =
                call.name().is_some_and(|program| ACCOUNTS.contains(&program.as_ref()));
            is_account && words.contains(&name)
        })
    };
    let is_made =
        (0..change.before.file.instructions.len()).any(|index| makes(change.before, index));
    let is_kept = final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let copies =
            instruction.and_then(|copy| copied(change, index, copy)).is_some_and(|sources| {
                sources.iter().any(|source| is_within("/etc/passwd", source.trim_end_matches('/')))
            });
        copies || makes(change.after, index)
    });
    if is_made && is_kept {
        let lost = lost_group(change, &name).map(|group| {
            let message = format!(
                "`{name}` is in the group `{group}` in the original, and no longer in the final stage"
            );
            change.issue(check, &message)
        });
        return lost.into_iter().collect();
    }
    if !is_made {
        return Vec::new();
    }
    let message = format!("the container runs as `{name}`, which the final stage does not make");
    vec![change.issue(check, &message)]
}

/// A group of another name that the original gives a user, and the final stage does not.
fn lost_group(change: &Change<'_>, user: &str) -> Option<String> {
    let chain = final_chain(change.after);
    let takes_accounts = chain.iter().any(|index| {
        let instruction = change.after.file.instructions.get(*index);
        let places = instruction.and_then(|copy| copied(change, *index, copy)).unwrap_or_default();
        places.iter().any(|place| is_within("/etc/group", place.trim_end_matches('/')))
    });
    let before = change.before.all_called().flat_map(|call| groups_of(call, user));
    let after: Vec<String> = chain
        .into_iter()
        .flat_map(|index| change.after.called(index))
        .flat_map(|call| groups_of(call, user))
        .collect();
    before.filter(|_| !takes_accounts).find(|group| !after.contains(group))
}

/// The groups that a command puts a user into, but for one with the user's name.
fn groups_of(it: &commands::Called, user: &str) -> Vec<String> {
    const FLAGS: &[&str] = &["-g", "--gid", "-G", "--groups", "-aG", "--ingroup"];
    let is_about = it.words.iter().any(|word| word == user);
    if !is_about || !(it.is_any(ACCOUNTS) || it.is_any(&["usermod", "gpasswd"])) {
        return Vec::new();
    }
    let pairs = it.words.windows(2).filter_map(|pair| match pair {
        [flag, value] => FLAGS.contains(&flag.as_str()).then_some(value.as_str()),
        _ => None,
    });
    let joined = it.words.iter().filter_map(|word| word.split_once('='));
    let joined = joined.filter(|(flag, _)| FLAGS.contains(flag)).map(|(_, value)| value);
    let names = pairs.chain(joined).flat_map(|value| value.split(','));
    let is_other = |name: &&str| *name != user && name.parse::<u32>().is_err();
    names.filter(is_other).map(str::to_owned).collect()
}
