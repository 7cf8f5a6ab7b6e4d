//! The prefix below which a step installs what was built: its own, or the one that an earlier step of its
//! stage configured the build with.

use crate::checks::{
    View,
    steps::{chain_of, expanded},
};

use super::last_part;

/// Tools that take a prefix for what they build or install.
const TOOLS: &[&str] = &[
    "Configure",
    "bmake",
    "bootstrap",
    "cmake",
    "config",
    "configure",
    "gmake",
    "make",
    "meson",
    "ninja",
    "samu",
    "scons",
    "waf",
];

const JOINED: &[&str] = &[
    "--prefix=",
    "PREFIX=",
    "prefix=",
    "-DCMAKE_INSTALL_PREFIX=",
    "-DCMAKE_INSTALL_PREFIX:PATH=",
    "-Dprefix=",
];

/// The prefix of an install, if the file tells one.
pub(crate) fn install_prefix(view: &View<'_>, index: usize) -> Option<String> {
    let stage = view.facts.stage_of(index)?.index;
    let mut steps = chain_of(view, stage);
    steps.retain(|step| *step <= index);
    steps.sort_unstable();
    steps.into_iter().rev().find_map(|step| given(view, step))
}

/// The prefix that a command of one RUN is given.
fn given(view: &View<'_>, index: usize) -> Option<String> {
    let scripts = view.facts.scripts(&view.file, index).iter();
    // The last one counts: `make install` may have another than `configure`.
    let commands: Vec<_> = scripts.flat_map(|script| &script.commands).collect();
    commands.into_iter().rev().find_map(|command| {
        let call = command.effective();
        let name = call.name()?;
        if !TOOLS.contains(&last_part(&name)) {
            return None;
        }
        let words = call.args().iter();
        let words: Vec<String> = words
            .map(|word| word.pattern().unwrap_or_else(|| expanded(view, index, word.text())))
            .collect();
        let joined =
            words.iter().find_map(|word| JOINED.iter().find_map(|start| word.strip_prefix(start)));
        let apart = words.windows(2).find_map(|pair| match pair {
            [flag, value] if flag == "--prefix" => Some(value.as_str()),
            _ => None,
        });
        let value = joined.or(apart)?.trim_end_matches('/');
        (value.starts_with('/') && !value.contains('$')).then(|| value.to_owned())
    })
}
