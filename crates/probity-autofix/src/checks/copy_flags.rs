//! Owners and modes that a COPY of a proposal may give.

use probity_dockerfile::{Arguments, Instruction, Setting};

use super::{Change, View, additions::ACCOUNTS, commands::last_part, search_path::pattern_of};

/// Owners and modes that the original gives too, or the user that it starts as.
pub(super) fn are_flags_known(change: &Change<'_>, instruction: &Instruction) -> bool {
    let before = change.before;
    instruction.flags.iter().all(|flag| match flag.name.text.as_str() {
        "from" | "link" => true,
        name @ ("chmod" | "chown") => {
            let value = flag.value.as_ref().map(|value| &value.text);
            let mut olds = before.file.instructions.iter();
            let is_old = olds.any(|old| old.flag_value(name).map(|old| &old.text) == value);
            let owner = value.and_then(|text| text.split(':').next()).unwrap_or_default();
            let runtime = before.facts.final_runtime();
            let mut users = runtime.get(Setting::User).iter();
            let is_user =
                users.any(|user| pattern_of(&user.entry.value).split(':').next() == Some(owner));
            let is_owner = name == "chown"
                && !owner.is_empty()
                && (is_user || gives_to(before, owner))
                && !is_of_other_group(before, instruction, value.map_or("", |text| text.as_str()));
            let is_mode = name == "chmod"
                && value.is_some_and(|text| match text.trim_start_matches('0') {
                    "755" | "555" => true,
                    "644" | "444" => is_of_data(instruction),
                    "1777" => is_for_temporary_files(instruction),
                    _ => false,
                });
            is_old || is_owner || is_mode
        }
        _ => false,
    })
}

/// Whether all that is copied are files that nobody executes; a directory would be closed by such a mode.
fn is_of_data(instruction: &Instruction) -> bool {
    const DATA: &[&str] = &["conf", "css", "db", "html", "ini", "jar", "json", "so", "toml", "war"];
    let Arguments::Transfer { sources, .. } = &instruction.arguments else { return false };
    sources.iter().all(|source| {
        let end = last_part(&source.text).rsplit_once('.').map(|(_, end)| end);
        end.is_some_and(|end| DATA.contains(&end))
    })
}

fn is_for_temporary_files(instruction: &Instruction) -> bool {
    let Arguments::Transfer { destination, .. } = &instruction.arguments else { return false };
    let place = destination.as_ref().map(|place| place.text.trim_end_matches('/').to_owned());
    matches!(place.as_deref(), Some("/tmp" | "/var/tmp"))
}

/// Whether the original gives what is copied to another group than the flag does.
fn is_of_other_group(view: &View<'_>, instruction: &Instruction, owner: &str) -> bool {
    let Arguments::Transfer { destination: Some(place), .. } = &instruction.arguments else {
        return false;
    };
    let place = place.text.trim_end_matches('/');
    let Some((_, group)) = owner.split_once(':') else { return false };
    view.all_called().filter(|call| call.name == "install").any(|call| {
        let is_there = call.words.iter().any(|word| word.trim_end_matches('/') == place);
        let mut pairs = call.words.iter().zip(call.words.iter().skip(1));
        let given = pairs.find(|(flag, _)| *flag == "-g").map(|(_, group)| group);
        // A number and a name may be one group.
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        is_there
            && given.is_some_and(|given| given != group && is_number(given) == is_number(group))
    })
}

/// Whether the original makes files of a user, or has a user by this name or number.
fn gives_to(view: &View<'_>, owner: &str) -> bool {
    let is_it = |word: &String| word.split([':', '=']).any(|part| part == owner);
    view.all_called().any(|call| {
        let is_account = call.is_any(ACCOUNTS);
        (is_account || call.is_any(&["chown", "install"])) && call.words.iter().any(is_it)
    })
}
