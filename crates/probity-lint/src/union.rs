//! The findings of a file that several builds use: what is wrong in at least one of them.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use probity_dockerfile::Facts;
use probity_finding::{Finding, Fix, Span};

use crate::uses::{BuildUses, View};

/// What makes two findings of different builds the same one.
type Key = (Cow<'static, str>, Option<Span>, String);

/// A finding that only some builds have says which ones. Only fixes that are right for any build stay:
/// those that the rules offer for all builds and for the `file` alone.
pub(crate) fn union(
    views: &[View<'_>],
    file: &Facts,
    check: impl Fn(&Facts) -> Vec<Finding>,
) -> Vec<Finding> {
    if views.iter().all(|view| view.builds.is_empty()) {
        return check(file);
    }
    let mut found: Vec<(Finding, BTreeSet<usize>)> = Vec::new();
    let mut numbers: HashMap<Key, usize> = HashMap::new();
    for (view, View { facts, .. }) in views.iter().enumerate() {
        for finding in check(facts) {
            let number = *numbers.entry(key(&finding)).or_insert(found.len());
            match found.get_mut(number) {
                None => found.push((finding, BTreeSet::from([view]))),
                Some((first, seen)) => {
                    seen.insert(view);
                    if first.fixes != finding.fixes {
                        first.fixes.clear();
                    }
                }
            }
        }
    }
    let of_file: HashMap<Key, Vec<Fix>> =
        check(file).into_iter().map(|finding| (key(&finding), finding.fixes)).collect();
    for (finding, seen) in &mut found {
        let is_shared = seen.len() == views.len();
        if !is_shared || of_file.get(&key(finding)) != Some(&finding.fixes) {
            finding.fixes.clear();
        }
        if !is_shared {
            let builds = seen.iter().filter_map(|&view| views.get(view));
            let builds = builds.flat_map(|view| view.builds.iter().cloned()).collect();
            finding.message.push_str(&format!(" (build: {})", BuildUses::list(&builds)));
        }
    }
    found.into_iter().map(|(finding, _)| finding).collect()
}

fn key(finding: &Finding) -> Key {
    (finding.rule.clone(), finding.span, finding.message.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildUse, harness::run_with_uses};

    /// `name ARG=value … @target +context`, a build each.
    fn uses(builds: &[&str]) -> BuildUses {
        let build = |text: &&str| {
            let mut build = BuildUse::default();
            for word in text.split(' ') {
                if let Some(context) = word.strip_prefix('+') {
                    build.values.contexts.insert(context.to_owned());
                    continue;
                }
                match (word.split_once('='), word.strip_prefix('@')) {
                    (Some((name, value)), _) => {
                        let value = (value != "?").then(|| value.to_owned());
                        build.values.arguments.insert(name.to_owned(), value);
                    }
                    (None, Some(target)) => build.values.target = Some(target.to_owned()),
                    (None, None) => word.clone_into(&mut build.name),
                }
            }
            build
        };
        BuildUses { builds: builds.iter().map(build).collect(), ..BuildUses::default() }
    }

    fn messages(rule: &str, text: &str, builds: &[&str]) -> Vec<String> {
        let found = run_with_uses(rule, text, &uses(builds));
        found.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn values_of_builds_decide_what_rules_compute() {
        let rule = "hadolint/DL3007";
        let text = "ARG BASE=node:latest\nFROM ${BASE}\n";
        let said = "latest changes without notice; pin the version to a release tag";
        // Without a description, any value is possible; with one, arguments replace the defaults.
        let of_b = format!("{said} (build: b)");
        for (builds, expected) in [
            (vec![], vec![]),
            (vec!["a"], vec![said]),
            (vec!["a BASE=node:22"], vec![]),
            (vec!["a BASE=?"], vec![]),
            (vec!["a BASE=node:22", "b BASE=node:24"], vec![]),
            (vec!["a BASE=node:22", "b"], vec![of_b.as_str()]),
            (vec!["a OTHER=1", "b"], vec![said]),
            (vec!["a BASE=node:latest", "b", "c"], vec![said]),
        ] {
            assert_eq!(messages(rule, text, &builds), expected, "{builds:?}");
        }
        // In a stage as before the first FROM, and through ENV.
        let text = "FROM a:1\nARG DIR=srv\nENV HERE=$DIR\nWORKDIR $HERE\n";
        let rule = "buildkit/WorkdirRelativePath";
        for (builds, expected) in
            [(&[][..], 1), (&["a"], 1), (&["a DIR=/srv"], 0), (&["a DIR=?"], 0)]
        {
            assert_eq!(messages(rule, text, builds).len(), expected, "{builds:?}");
        }
    }

    #[test]
    fn the_target_is_the_final_stage() {
        let rule = "probity/final-stage-on-build-platform";
        let text = "FROM --platform=$BUILDPLATFORM a:1 AS app\nCMD a\nFROM a:1 AS web\nCMD b\n";
        assert_eq!(messages(rule, text, &[]), <[&str; 0]>::default());
        assert_eq!(messages(rule, text, &["a @web"]), <[&str; 0]>::default());
        assert_eq!(messages(rule, text, &["a @unknown"]), <[&str; 0]>::default());
        assert_eq!(messages(rule, text, &["a @app"]).len(), 1);
        let both = messages(rule, text, &["a @APP", "b @1", "c @0"]);
        assert!(both.len() == 1 && both[0].ends_with("(build: a, c)"), "{both:?}");
    }

    #[test]
    fn a_context_has_one_name_for_every_rule() {
        let from = "FROM alpine\n";
        let copy = "FROM a:1\nCOPY --from=alpine /a /a\n";
        for (context, is_it) in [
            ("alpine", true),
            ("alpine:latest", true),
            ("docker.io/library/alpine", true),
            ("docker.io/library/alpine:latest", true),
            ("alpine:3", false),
            ("example.com/alpine", false),
        ] {
            let build = format!("a +{context}");
            let builds = [build.as_str()];
            let expected = usize::from(!is_it);
            assert_eq!(messages("hadolint/DL3006", from, &builds).len(), expected, "{context}");
            assert_eq!(messages("hadolint/DL3022", copy, &builds).len(), expected, "{context}");
        }
    }

    #[test]
    fn only_shared_fixes_are_offered() {
        let text = "FROM a:1\nARG V=1\nRUN echo $V\nMAINTAINER a\n";
        let rule = "buildkit/MaintainerDeprecated";
        let alone = run_with_uses(rule, text, &uses(&[]));
        assert_eq!((alone.len(), alone[0].fixes.is_empty()), (1, false));
        assert_eq!(run_with_uses(rule, text, &uses(&["a V=1", "b V=2"])), alone);
    }
}
