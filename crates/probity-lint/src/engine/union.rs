//! The findings of a file that several builds use: what is wrong in at least one of them.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use probity_dockerfile::Facts;
use probity_finding::{Finding, Fix, Span};

use crate::engine::{
    parsed::Parsed,
    uses::{BuildUses, View},
};

/// What makes two findings of different builds the same one.
type Key = (Cow<'static, str>, Option<Span>, String);

/// A build says nothing about stages that it does not build; the file alone does if no build builds
/// them. A finding that only some builds have says which ones, unless the others do not build its stage
/// and the file alone has it too. Only fixes that are right for any build stay: those that the rules
/// offer for all builds of the stage and for the file alone.
pub(crate) fn union(
    views: &[View<'_>],
    parsed: &Parsed<'_>,
    check: impl Fn(&Facts) -> Vec<Finding>,
) -> Vec<Finding> {
    if views.iter().all(|view| view.builds.is_empty()) {
        return check(&parsed.facts);
    }
    let mut found: Vec<(Finding, BTreeSet<usize>)> = Vec::new();
    let mut numbers: HashMap<Key, usize> = HashMap::new();
    for (number, view) in views.iter().enumerate() {
        for finding in check(&view.facts) {
            if !view.builds_stage(stage_of(parsed, &finding)) {
                continue;
            }
            let place = *numbers.entry(key(&finding)).or_insert(found.len());
            match found.get_mut(place) {
                None => found.push((finding, BTreeSet::from([number]))),
                Some((first, seen)) => {
                    seen.insert(number);
                    if first.fixes != finding.fixes {
                        first.fixes.clear();
                    }
                }
            }
        }
    }
    let (of_file, of_unbuilt): (Vec<Finding>, Vec<Finding>) =
        check(&parsed.facts).into_iter().partition(|finding| {
            let stage = stage_of(parsed, finding);
            views.iter().any(|view| view.builds_stage(stage))
        });
    let of_file: HashMap<Key, Vec<Fix>> =
        of_file.into_iter().map(|finding| (key(&finding), finding.fixes)).collect();
    for (finding, seen) in &mut found {
        let stage = stage_of(parsed, finding);
        let builders = views.iter().filter(|view| view.builds_stage(stage)).count();
        let fixes_alone = of_file.get(&key(finding));
        let is_shared = seen.len() == builders;
        if !is_shared || fixes_alone != Some(&finding.fixes) {
            finding.fixes.clear();
        }
        if !is_shared || seen.len() < views.len() && fixes_alone.is_none() {
            let builds = seen.iter().filter_map(|&number| views.get(number));
            let builds = builds.flat_map(|view| view.builds.iter().cloned()).collect();
            finding.message.push_str(&format!(" (build: {})", BuildUses::list(&builds)));
        }
    }
    found.into_iter().map(|(finding, _)| finding).chain(of_unbuilt).collect()
}

/// The stage that a finding is in. A comment belongs to the instruction below it; the file as a whole,
/// the arguments before the first stage and the end of the file belong to none.
fn stage_of(parsed: &Parsed<'_>, finding: &Finding) -> Option<usize> {
    let start = finding.span?.start;
    let instructions = &parsed.file.instructions;
    let index = instructions.partition_point(|instruction| instruction.span.end < start);
    parsed.facts.stage_of(index).map(|stage| stage.index)
}

fn key(finding: &Finding) -> Key {
    (finding.rule.clone(), finding.span, finding.message.clone())
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use probity_secrets::{FindSecrets, Secret};

    use super::*;
    use crate::{
        BuildUse, LintOptions, Preset, RuleSet,
        engine::harness::{lint_options, run_with_uses},
        lint,
    };

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

    /// Rules of our own presets, and those of hadolint and tally.
    #[test]
    fn words_have_the_values_of_the_build() {
        let from = "ARG TAG\nFROM alpine:${TAG:-latest}\n";
        let with_default = "ARG TAG=latest\nFROM alpine:$TAG\n";
        let user = "FROM a:1\nARG U=root\nUSER $U\n";
        let port = "FROM a:1\nARG P=99999\nEXPOSE $P\n";
        let env = "FROM a:1\nENV U=root\nUSER $U\n";
        let (latest, root, invalid) = ("hadolint/DL3007", "hadolint/DL3002", "hadolint/DL3011");
        // The rule, the file, the build, and how many findings the presets and others have.
        for (rule, text, build, own, elsewhere) in [
            (latest, from, "", 1, 0),
            (latest, from, "a", 1, 1),
            (latest, from, "a TAG=3", 0, 0),
            (latest, from, "a TAG=?", 0, 0),
            (latest, with_default, "", 1, 0),
            (latest, with_default, "a", 1, 1),
            (latest, with_default, "a TAG=3", 0, 0),
            (root, user, "", 1, 0),
            (root, user, "a", 1, 1),
            (root, user, "a U=app", 0, 0),
            (root, user, "a U=?", 0, 0),
            (root, user, "a U=0:0", 1, 1),
            (root, env, "", 1, 0),
            (invalid, port, "", 1, 0),
            (invalid, port, "a", 1, 1),
            (invalid, port, "a P=80", 0, 0),
            (invalid, port, "a P=80a", 1, 1),
            (invalid, port, "a P=?", 0, 0),
        ] {
            let uses = (!build.is_empty()).then(|| uses(&[build]));
            for (rules, expected) in [
                (RuleSet::of(Preset::All), own),
                (RuleSet::of_hadolint(), elsewhere),
                (RuleSet::default(), elsewhere),
            ] {
                let options = LintOptions { uses: uses.as_ref(), ..lint_options(&rules) };
                let found =
                    lint(text, &options).into_iter().filter(|finding| finding.rule == rule).count();
                assert_eq!(found, expected, "{rule} in {text:?} of {build:?}");
            }
        }
    }

    #[test]
    fn a_build_says_nothing_about_stages_that_it_does_not_build() {
        // `app` and `web` are built by targets, and nothing builds `rest`.
        let text = "ARG TAG=1\n\
                    FROM a:$TAG AS base\n\
                    FROM base AS app\nRUN cd /a\n\
                    FROM b:$TAG AS web\nRUN cd /b\n\
                    FROM c:$TAG AS rest\nRUN cd /c\n";
        let tags = |builds: &[&str]| -> Vec<(&str, String)> {
            let found = run_with_uses("hadolint/DL3007", text, &uses(builds));
            let place = |finding: &Finding| finding.span.unwrap().slice(text).unwrap();
            let label = |finding: &Finding| match finding.message.rsplit_once(" (build: ") {
                Some((_, builds)) => builds.trim_end_matches(')').to_owned(),
                None => "all".to_owned(),
            };
            found.iter().map(|finding| (place(finding), label(finding))).collect()
        };
        let of = |name: &str| name.to_owned();
        assert_eq!(tags(&["x @app TAG=latest"]), [("a:$TAG", of("all"))]);
        assert_eq!(
            tags(&["x @app TAG=latest", "y @web"]),
            [("a:$TAG", of("x"))],
            "the file alone does not have it, so the build is named"
        );
        assert_eq!(
            tags(&["x @app TAG=latest", "y @web TAG=latest"]),
            [("a:$TAG", of("x")), ("b:$TAG", of("y"))]
        );
        // What does not depend on a build is reported once, for stages without a build too.
        let found = run_with_uses("hadolint/DL3003", text, &uses(&["x @app", "y @web TAG=2"]));
        let lines: Vec<_> =
            found.iter().map(|finding| finding.message.contains("(build")).collect();
        assert_eq!(lines, [false; 3]);
    }

    #[test]
    fn a_name_that_only_the_build_knows_may_mean_any_stage() {
        let text = "FROM a:latest AS x\nFROM b:1 AS y\nARG S\nCOPY --from=$S /a /a\n";
        assert_eq!(messages("hadolint/DL3007", text, &["a @y"]).len(), 1);
    }

    #[test]
    fn equal_builds_are_computed_once() {
        let text = "ARG V\nFROM a:$V AS x\nFROM b:1 AS y\n";
        let parsed = Parsed::of(text);
        let calls = Cell::new(0);
        let count = |builds: &[String]| {
            let builds: Vec<&str> = builds.iter().map(String::as_str).collect();
            calls.set(0);
            let views = crate::engine::uses::views(&parsed, Some(&uses(&builds)), None);
            union(&views, &parsed, |_| {
                calls.set(calls.get() + 1);
                Vec::new()
            });
            calls.get()
        };
        let named = |values: fn(usize) -> &'static str| -> Vec<String> {
            (0..1000)
                .map(|number| format!("t{number} {}", values(number)).trim().to_owned())
                .collect()
        };
        // Once for the builds, and once for the file alone.
        assert_eq!(count(&named(|_| "V=1")), 2);
        // Arguments that the file does not declare, and other words for one stage.
        assert_eq!(count(&named(|number| ["V=1 OTHER=1", "V=1 OTHER=2"][number % 2])), 2);
        assert_eq!(count(&named(|number| ["@y", "@Y", "@1", ""][number % 4])), 2);
        assert_eq!(count(&named(|number| ["V=1", "V=2"][number % 2])), 3);
    }

    #[test]
    fn a_value_is_searched_for_secrets_once() {
        #[derive(Debug)]
        struct Counting(AtomicUsize);
        impl FindSecrets for Counting {
            fn find(&self, _: &str) -> Vec<Secret> {
                self.0.fetch_add(1, Ordering::Relaxed);
                Vec::new()
            }
        }
        let builds: Vec<String> = (0..1000).map(|number| format!("t{number} V=1 W=2")).collect();
        let builds: Vec<&str> = builds.iter().map(String::as_str).collect();
        let counting = Counting(AtomicUsize::new(0));
        let parsed = Parsed::of("ARG V W\nFROM a:$V\n");
        crate::engine::uses::views(&parsed, Some(&uses(&builds)), Some(&counting));
        assert_eq!(counting.0.into_inner(), 2);
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
