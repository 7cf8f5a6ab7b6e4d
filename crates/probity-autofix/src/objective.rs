//! What an agent can be asked to achieve: one file each, as data.
//!
//! An objective says what the agent is told, which checks prove that it was met, what of the final
//! stage may change for it, and how often the agent may try.

mod command_family;
mod healthcheck;
mod manifests_first;
mod multi_stage;
mod non_root_user;
mod pip_over_conda;
mod python_over_conda;
mod secret_mounts;
mod smaller_base_image;

use probity_dockerfile::Setting;
use serde_json::{Map, Value};

use crate::{
    checks::{AFTER, Change, Check, Explained, PATCH, View, contract::Forget},
    secrets::TOKENS,
};

/// One kind of objective.
pub(crate) struct ObjectiveKind {
    /// As rules name it.
    pub(crate) name: &'static str,
    /// What is wanted, in one sentence.
    pub(crate) goal: &'static str,
    /// What has to be minded, each in one sentence.
    pub(crate) constraints: &'static [&'static str],
    /// What the file shows beside the signals of the rule, as members of a JSON object.
    pub(crate) hints: fn(&View<'_>) -> Map<String, Value>,
    /// Fails where the proposal does not even try.
    pub(crate) must: Check,
    pub(crate) patch_checks: &'static [Check],
    pub(crate) after_checks: &'static [Check],
    /// Checks that nothing else changes; they hold when all objectives that a proposal meets have
    /// them, and then leave out what any of those may change.
    pub(crate) narrow_checks: &'static [Check],
    /// The instructions of both files that its own change explains; its own checks look at them, and the
    /// narrow checks of others leave them out.
    pub(crate) explains: fn(&Change<'_>) -> Explained,
    pub(crate) forgets: &'static [Forget],
    /// Settings of the final stage that may change.
    pub(crate) settings: &'static [Setting],
    /// Beginnings of addresses that may be added.
    pub(crate) addresses: &'static [&'static str],
    pub(crate) retry: Retry,
}

/// How often the agent may try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// Rounds, if the configuration allows so many.
    pub(crate) rounds: u32,
    /// Further attempts in each round when the answer cannot be read at all.
    pub(crate) malformed: u32,
}

impl Retry {
    pub(crate) const USUAL: Self = Self { rounds: 5, malformed: 1 };
}

const KINDS: &[&ObjectiveKind] = &[
    &multi_stage::MULTI_STAGE,
    &smaller_base_image::SMALLER_BASE_IMAGE,
    &command_family::COMMAND_FAMILY,
    &healthcheck::HEALTHCHECK,
    &manifests_first::MANIFESTS_FIRST,
    &non_root_user::NON_ROOT_USER,
    &secret_mounts::SECRET_MOUNTS,
    &pip_over_conda::PIP_OVER_CONDA,
    &python_over_conda::PYTHON_OVER_CONDA,
];

impl ObjectiveKind {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().copied().find(|kind| kind.name == name)
    }
}

/// The names of all checks that a proposal can fail, each once; what `lint` finds goes by the rules'
/// names.
#[must_use]
pub fn check_names() -> Vec<&'static str> {
    let own = KINDS.iter().flat_map(|kind| {
        let lists = [kind.patch_checks, kind.after_checks, kind.narrow_checks];
        std::iter::once(&kind.must).chain(lists.into_iter().flatten())
    });
    let mut names: Vec<&str> =
        PATCH.iter().chain(AFTER).chain(own).map(|check| check.name).collect();
    names.push(TOKENS);
    names.sort_unstable();
    names.dedup();
    names
}

fn explains_nothing(_: &Change<'_>) -> Explained {
    Explained::default()
}

fn no_hints(_: &View<'_>) -> Map<String, Value> {
    Map::new()
}

#[cfg(test)]
mod tests {
    use probity_lint::{DirectiveOptions, LintOptions, Pattern, RULES, RuleSet};

    use super::*;

    /// Every bad example of every rule, linted with all rules on.
    #[test]
    fn every_objective_that_a_rule_attaches_is_known_here() {
        let mut rules = RuleSet::default();
        rules.include(&[Pattern::new("*")]);
        let directives = DirectiveOptions {
            enabled: true,
            validate_rules: false,
            warn_unused: false,
            require_reason: false,
        };
        let options = LintOptions {
            rules: &rules,
            uses: None,
            directives,
            dockerignore: None,
            context_files: None,
            base_images: None,
            detections: &[],
            secrets: None,
        };
        let mut seen = Vec::new();
        for rule in RULES {
            let blocks = rule.metadata().page.split("```dockerfile,bad\n").skip(1);
            for text in blocks.filter_map(|block| block.split("```").next()) {
                let text: String = text.lines().map(|line| format!("{}\n", line.trim())).collect();
                let findings = probity_lint::lint(&text, &options);
                let fixes = findings.iter().flat_map(|finding| &finding.fixes);
                seen.extend(fixes.filter_map(|fix| Some(fix.objective.as_ref()?.kind)));
            }
        }
        for kind in KINDS {
            assert!(seen.contains(&kind.name), "no rule attaches {}", kind.name);
        }
        for kind in seen {
            assert!(ObjectiveKind::named(kind).is_some(), "{kind} is not known");
        }
    }
}
