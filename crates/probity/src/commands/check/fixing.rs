//! `--fix` and `--diff`: what is asked for, and which flags say nothing without them.

use probity_check::FixHandling;
use probity_lint::{AI_DETECTORS, Pattern, RULES};

use super::Options;
use crate::config::{Origin, Settings, key};

/// What the flags and variables of a run ask for.
pub(super) fn handling(options: &Options, config: &Settings) -> FixHandling {
    match (options.diff, config.check.fix) {
        (true, _) => FixHandling::Diff,
        (false, true) => FixHandling::Write,
        (false, false) => FixHandling::Offer,
    }
}

/// Warns about flags that have no effect in this run.
pub(super) fn warn_about_idle_flags(options: &Options, config: &Settings) {
    let is_offer = handling(options, config) == FixHandling::Offer;
    let is_flag = |key| matches!(config.merged.origin(key), Origin::Flag { .. });
    let unsafe_too = config.check.unsafe_fixes == Some(true);
    let of_fixing = [
        (unsafe_too && is_flag(&key::check::unsafe_fixes.key), "--fix-unsafe"),
        (is_flag(&key::check::fix_rule.key), "--fix-rule"),
        (config.check.fix_level.is_some(), "--fix-level"),
        (options.fix_ai, "--fix-ai"),
    ];
    for (_, flag) in of_fixing.iter().filter(|(given, _)| *given && is_offer) {
        tracing::warn!("{flag} has no effect without --fix or --diff");
    }
    let of_asking =
        [(options.ai_dry_run, "--ai-dry-run"), (is_flag(&key::ai::context.key), "--ai-allow-fs")];
    let asks_nobody = is_offer && !options.ai_detect;
    for (_, flag) in of_asking.iter().filter(|(given, _)| *given && asks_nobody) {
        tracing::warn!("{flag} has no effect without --fix, --diff or --ai-detect");
    }
    let mut selected = config.check.rules.include.iter();
    let asked = selected
        .find(|name| name.value.starts_with("ai/") && matches!(name.origin, Origin::Flag { .. }));
    if let (Some(name), false) = (asked, options.ai_detect) {
        tracing::warn!("--select {} has no effect without --ai-detect", name.value);
    }
    for name in config.check.fix_rule.iter().filter(|name| !is_known(name)) {
        tracing::warn!("--fix-rule {name}: no rule here has that name");
    }
}

fn is_known(name: &str) -> bool {
    let pattern = Pattern::new(name);
    RULES.iter().any(|rule| pattern.matches(rule.metadata().name))
        || AI_DETECTORS.iter().any(|detector| pattern.matches(detector.name))
}
