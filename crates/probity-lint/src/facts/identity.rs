//! Users and groups: who the image runs as, and who was put where.

use std::borrow::Cow;

use probity_dockerfile::{Setting, Stage, Value};
use probity_shell::{Call, Word};

use crate::{
    engine::context::Context,
    facts::{base_image, startup},
};

/// The flags of the programs that make and change users, where the next word is their value.
pub(crate) const VALUED: &[&str] = &[
    "-u",
    "--uid",
    "-g",
    "--gid",
    "-G",
    "--groups",
    "-d",
    "--home-dir",
    "--home",
    "-h",
    "-s",
    "--shell",
    "-c",
    "--comment",
    "--gecos",
    "-k",
    "--skel",
    "-K",
    "--key",
    "-e",
    "--expiredate",
    "-f",
    "--inactive",
    "-p",
    "--password",
    "-b",
    "--base-dir",
    "--ingroup",
    "--firstuid",
    "--lastuid",
];

/// Whether a container of the image starts as root and stays it, as far as the file tells: the last
/// stage ends with no other user, and nothing that it starts may become one.
pub(crate) fn image_runs_as_root(context: &Context<'_>, last: &Stage) -> bool {
    let runtime = context.facts.final_runtime();
    let is_root = match runtime.get(Setting::User).first().map(|entry| &entry.entry.value) {
        None => !base_says_otherwise(context, last),
        Some(Value::Text(text)) => {
            let name = text.constant_value().unwrap_or_default();
            matches!(name.split(':').next(), Some("root" | "0"))
        }
        Some(_) => false,
    };
    is_root && !startup::may_drop_rights(context, last)
}

/// The registry says so, or images of several makers in their tag.
fn base_says_otherwise(context: &Context<'_>, last: &Stage) -> bool {
    if let Some(base) = base_image::configuration(context, last.instruction) {
        return !base.is_root();
    }
    let image = base_image::root_image(context, last.instruction);
    image.and_then(|image| image.tag).is_some_and(|tag| tag.contains("nonroot"))
}

/// The name that a command creates a user with: its last argument that is not a flag.
pub(crate) fn created<'w>(call: &Call<'w>) -> Option<&'w Word> {
    if !call.is_any(&["useradd", "adduser"]) {
        return None;
    }
    match call.positional(VALUED).as_slice() {
        [name] => Some(name),
        // `adduser USER GROUP` puts a user into a group.
        _ => None,
    }
}

/// The groups that a command puts a user into beside the main one, and who that is.
pub(crate) fn memberships(call: &Call<'_>) -> Option<(String, Vec<String>)> {
    let positional = || -> Vec<String> {
        call.positional(VALUED)
            .iter()
            .map_while(|word| word.literal().map(Cow::into_owned))
            .collect()
    };
    match call.name()?.as_ref() {
        "useradd" | "usermod" => {
            let groups = groups(call)?;
            let [user] = positional().try_into().ok()?;
            Some((user, groups.split(',').map(str::to_owned).collect()))
        }
        // Both are `USER GROUP`: with two names neither makes anything.
        "adduser" | "addgroup" => {
            let [user, group] = positional().try_into().ok()?;
            Some((user, vec![group]))
        }
        "gpasswd" => {
            let (user, value) = call.flag_value(&["-a", "--add"])?;
            let group = call.args().last().filter(|group| group.span() != user.span())?;
            Some((value, vec![group.literal()?.into_owned()]))
        }
        _ => None,
    }
}

/// The value of `-G`, also of `-aG`.
fn groups(call: &Call<'_>) -> Option<String> {
    let flag = call.flag(&["-G", "--groups"])?;
    let is_cluster = flag.prefix().ends_with('G') && flag.prefix().len() > 2;
    let behind = || call.args().iter().find(|word| word.span().start >= flag.span().end)?.literal();
    if is_cluster {
        behind().map(Cow::into_owned)
    } else {
        call.flag_value(&["-G", "--groups"]).map(|(_, it)| it)
    }
}
