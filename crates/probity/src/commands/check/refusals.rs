//! What is refused before anything is read or written.

use probity_lint::Pattern;

use super::Options;
use crate::{
    config::{Catalogue, Oddity, Settings, Sourced, Value, key},
    failure::Failure,
};

/// Refuses what can only be a mistake, before anything is read or written.
pub(super) fn refuse_nonsense(options: &Options) -> anyhow::Result<()> {
    let has_stdin = options.paths.iter().any(|path| path.as_os_str() == "-");
    if options.stdin_filename.is_some() && !has_stdin {
        return Err(Failure::new(
            "--stdin-filename names standard input, but no path is `-`",
            "add `-` to the paths",
        )
        .into());
    }
    if options.watch && has_stdin {
        return Err(Failure::new(
            "--watch cannot watch standard input",
            "pass the file instead of `-`, or remove --watch",
        )
        .into());
    }
    let given = |path: &str| options.flags.settings.get(path).map(|said| said.value.plain());
    let level = given(key::check::fix_level.key.path).filter(|level| level != "unsafe");
    let is_unsafe = given(key::check::unsafe_fixes.key.path).is_some_and(|said| said == "true");
    if let (Some(level), true) = (level, is_unsafe) {
        let what = format!("--fix-level {level} and --fix-unsafe cannot be used together");
        return Err(Failure::new(what, "use one of them").into());
    }
    Ok(())
}

/// Refuses names on the command line that no rule has, neither one of ours nor one of the
/// configurations. A rule of a configuration may go without its namespace.
pub(super) fn refuse_unknown_rules<'c>(
    options: &Options,
    configs: impl Iterator<Item = &'c Settings> + Clone,
) -> anyhow::Result<()> {
    let is_own = |text: &str| {
        let pattern = Pattern::new(text);
        let mut own = configs.clone().flat_map(|config| config.check.rule.read());
        own.any(|rule| pattern.matches(rule.name()))
    };
    for key in [&key::check::rules::include.key, &key::check::rules::exclude.key] {
        let Some(Sourced { value: Value::List(patterns), origin: flag }) =
            options.flags.settings.get(key.path)
        else {
            continue;
        };
        for pattern in patterns {
            match Catalogue::shipped().oddity(pattern) {
                Some(Oddity::Unknown(_) | Oddity::Unassigned(_)) if is_own(pattern) => {}
                Some(Oddity::Unknown(what) | Oddity::Unassigned(what)) => {
                    let way_out = "`probity rules` lists the rules";
                    return Err(Failure::new(format!("{flag}: {what}"), way_out).into());
                }
                Some(Oddity::Idle(what)) => tracing::warn!("{flag}: {what}"),
                None => {}
            }
        }
    }
    Ok(())
}

/// Refuses detection if no configuration names an agent.
pub(super) fn refuse_detection_by_nobody<'c>(
    mut configs: impl Iterator<Item = &'c Settings>,
) -> anyhow::Result<()> {
    let names_one = |config: &Settings| {
        let ai = &config.ai;
        ai.command.is_some() || ai.agent.is_some() || ai.provider.is_some()
    };
    if configs.any(names_one) {
        return Ok(());
    }
    let way_out =
        "name one with --acp-command or --ai-provider, or set `ai.agent` in your configuration";
    Err(Failure::new("--ai-detect needs an agent, and none is named", way_out).into())
}
