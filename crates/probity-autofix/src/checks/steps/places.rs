//! Directories that a step of a build stage writes into, and that nothing in its stage makes.
//!
//! In the original a package may have made them: the web server `/var/www`, a database `/var/lib/db`. A
//! stage without that package lacks them, and `cp` fails.

use probity_dockerfile::{Base, Keyword};

use super::{
    super::{
        Change, Check, Issue, View,
        base_image::base,
        belongings::{final_chain, is_within},
        commands::{self, Called},
        moved::moves,
    },
    chain_of,
};

/// Directories that every image with a shell has.
const USUAL: &[&str] = &[
    "",
    "/bin",
    "/etc",
    "/home",
    "/lib",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/tmp",
    "/usr",
    "/var",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/spool",
    "/var/tmp",
];

/// Directories below which images bring more than anybody lists.
const OF_IMAGES: &[&str] = &["/etc", "/go", "/home", "/opt", "/root", "/usr"];

/// The first step of a build stage that copies something into a directory which is not there.
pub(super) fn into_nothing(check: &Check, change: &Change<'_>) -> Option<Issue> {
    let after = change.after;
    let finals = final_chain(after);
    for stage in after.facts.stages().iter().filter(|stage| !finals.contains(&stage.instruction)) {
        let chain = chain_of(after, stage.index);
        let has_packages = has_packages(change, &chain);
        for index in stage.instructions.clone() {
            for (place, part) in after.parts(index).unwrap_or_default().iter().enumerate() {
                let called = part.commands.iter().filter_map(|command| Called::of(index, command));
                let copies = called.filter(|call| {
                    call.is_any(&["cp", "mv", "install"])
                        && !call
                            .words
                            .iter()
                            .any(|word| matches!(word.as_str(), "-d" | "-D" | "--parents"))
                });
                let targets = copies.flat_map(|copy| moves(&copy.words, part.directory.as_deref()));
                let lost = targets.map(|(_, to)| to).find(|to| {
                    let parent = to.rsplit_once('/').map_or("", |(parent, _)| parent);
                    let is_packages_own = has_packages && change.before.text.contains(to.as_str());
                    !USUAL.contains(&parent)
                        && !OF_IMAGES.iter().any(|directory| is_within(parent, directory))
                        && !is_packages_own
                        && !is_of_image(change, stage.index, to)
                        && !is_made(after, &chain, (index, place), parent)
                });
                if let Some(to) = lost {
                    let message = format!(
                        "nothing in this stage makes the directory of `{to}`; make it before the copy"
                    );
                    let span = after.file.instructions.get(index)?.span;
                    return Some(change.issue(check, &message).at(after, span));
                }
            }
        }
    }
    None
}

/// Whether a stage installs all system packages that the original does.
fn has_packages(change: &Change<'_>, chain: &[usize]) -> bool {
    let own = commands::calls(change.after).filter(|(index, _)| chain.contains(index));
    let own: Vec<String> = own.flat_map(|(_, call)| commands::names(call)).collect();
    let olds = commands::calls(change.before)
        .filter(|(_, call)| !commands::is_language_manager(call.manager))
        .flat_map(|(_, call)| commands::names(call));
    olds.into_iter().all(|name| own.contains(&name))
}

/// Whether the image of the original may bring a place, and the stage is based on it.
fn is_of_image(change: &Change<'_>, stage: usize, path: &str) -> bool {
    let stages = change.after.facts.stages();
    let root = stages.get(stage).and_then(|stage| stages.get(stage.root));
    let is_same = match root.map(|root| &root.base) {
        Some(Base::Image(image)) => base(change.before).as_ref() == Some(image),
        _ => true,
    };
    let installs = commands::calls(change.before).any(|(_, call)| {
        !commands::is_language_manager(call.manager) && !commands::names(call).is_empty()
    });
    is_same && change.before.text.contains(path) && !installs
}

/// Whether something before a part of a RUN makes a directory, or something in it.
fn is_made(view: &View<'_>, chain: &[usize], (index, place): (usize, usize), path: &str) -> bool {
    let is_inside = |other: &str| is_within(other.trim_end_matches('/'), path);
    let makes = |call: &Called| call.words.iter().any(|word| is_inside(word));
    let own = view.parts(index).unwrap_or_default();
    let mut own = own.iter().take(place).flat_map(|part| &part.commands);
    own.any(|command| Called::of(index, command).is_some_and(|call| makes(&call)))
        || chain.iter().filter(|earlier| **earlier <= index).any(|earlier| {
            let state = view.facts.state(*earlier);
            let workdir = state.and_then(|state| state.workdir.path.as_deref());
            let is_run = view
                .file
                .instructions
                .get(*earlier)
                .is_some_and(|instruction| instruction.keyword == Keyword::Run);
            let copies = view.pairs(*earlier).unwrap_or_default();
            let is_named = is_run && *earlier < index && view.called(*earlier).iter().any(makes);
            is_named
                || workdir.is_some_and(|workdir| {
                    is_inside(workdir) || is_within(path, workdir) && workdir.len() > 1
                })
                || copies.iter().any(|(_, to)| is_inside(to) || is_within(path, to) && to.len() > 1)
        })
}
