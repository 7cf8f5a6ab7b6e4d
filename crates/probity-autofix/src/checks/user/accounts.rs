//! Accounts: which ones an image has, which ones a stage makes, and by what other names they go.

use probity_dockerfile::Keyword;

use crate::checks::{
    View, additions::ACCOUNTS, base_image::base, belongings::final_chain, commands::Called,
    system_accounts::Accounts,
};

/// What would make of an account more than one to run a program as.
const POWERS: &[&str] = &["0", "root", "sudo", "wheel", "docker", "shadow", "disk", "adm", "admin"];

const LONG_FLAGS: &[&str] = &[
    "--system",
    "--group",
    "--create-home",
    "--no-create-home",
    "--no-log-init",
    "--user-group",
    "--no-user-group",
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
    "--quiet",
    "--force",
];

/// Letters of flags that make a plain account; the password is not among them.
const LETTERS: &str = "rmMlSDHNUsdhcguGkf";

/// The user as the last USER of the final stage writes it, without its group.
pub(super) fn user(view: &View<'_>) -> Option<String> {
    let last = final_chain(view)
        .into_iter()
        .filter(|index| {
            let stage = view.facts.stage_of(*index).map(|stage| stage.index);
            stage == view.facts.final_stage().map(|stage| stage.index)
        })
        .filter_map(|index| view.file.instructions.get(index))
        .rfind(|instruction| instruction.keyword == Keyword::User)?;
    let text = last.body_text().trim().trim_matches('"').replace(['{', '}'], "");
    text.split(':').next().map(str::to_owned)
}

/// All names and numbers of the user: `app`, `5005`, and those of its own group.
pub(super) fn identities(view: &View<'_>, user: &str) -> Vec<String> {
    let mut found = vec![user.to_owned()];
    let known: &[&[&str]] = &[
        &["node", "1000"],
        &["nobody", "65534", "nogroup"],
        &["nonroot", "65532"],
        &["app", "1654", "$APP_UID"],
    ];
    for names in known.iter().filter(|names| names.contains(&user)) {
        if is_of_image(view, names.first().copied().unwrap_or_default()) {
            found.extend(names.iter().map(|name| (*name).to_owned()));
        }
    }
    let numbers = base(view).map(|image| Accounts::of(&image).numbers(user));
    found.extend(numbers.into_iter().flatten().map(str::to_owned));
    for called in made(view).iter().filter(|call| call.is_any(&["useradd", "adduser"])) {
        let values = called.words.iter().flat_map(|word| word.split('=')).map(str::to_owned);
        let own: Vec<String> =
            values.filter(|value| !value.is_empty() && !value.starts_with(['-', '/'])).collect();
        if own.iter().any(|value| value == user) {
            found.extend(own.into_iter().filter(|value| !POWERS.contains(&value.as_str())));
        }
    }
    found
}

/// Every command of the final image that makes an account or a group.
fn made<'v>(view: &'v View<'_>) -> Vec<&'v Called> {
    let chain = final_chain(view).into_iter();
    let called = chain.flat_map(|index| view.called(index));
    called.filter(|call| call.is_any(ACCOUNTS)).collect()
}

/// Whether the final image has the user: a number needs no account, a name does.
pub(super) fn is_known(view: &View<'_>, user: &str) -> bool {
    let is_number = !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_digit());
    let is_made = made(view).iter().any(|call| {
        call.is_any(&["useradd", "adduser"]) && call.words.iter().any(|word| word == user)
    });
    is_number || is_made || is_of_image(view, user)
}

/// Whether the image below the final stage brings the account.
fn is_of_image(view: &View<'_>, user: &str) -> bool {
    let name = if user == "$APP_UID" { "app" } else { user };
    base(view).is_some_and(|image| Accounts::of(&image).has_user(name))
}

/// Whether a command makes an account that can do no more than run a program.
pub(super) fn is_plain(words: &[&str]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let is_flag = |word: &str| match word.strip_prefix("--") {
        Some(_) => LONG_FLAGS.contains(&word.split('=').next().unwrap_or(word)),
        None => word
            .strip_prefix('-')
            .is_some_and(|own| own.chars().all(|character| LETTERS.contains(character))),
    };
    // `addgroup USER GROUP` gives an account that is there the rights of a group.
    let names = rest.iter().filter(|word| !word.starts_with('-')).count();
    let joins = matches!(*name, "addgroup" | "adduser") && names > 1;
    let has_flags = rest.iter().any(|word| word.starts_with('-'));
    ACCOUNTS.contains(name)
        && rest.iter().filter(|word| word.starts_with('-')).all(|word| is_flag(word))
        && !rest.iter().any(|word| word.split([',', ':', '=']).any(|part| POWERS.contains(&part)))
        && (!joins || has_flags)
}
