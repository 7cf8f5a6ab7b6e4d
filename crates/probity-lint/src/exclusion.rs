//! Advice that excludes other advice about the same instruction, and which of the two is given.
//!
//! Rules do not know each other, so this table knows them. What loses is dropped only where both have
//! found something in one instruction; elsewhere it is reported as ever.

use probity_dockerfile::Dockerfile;
use probity_finding::Finding;

use crate::suppress::instruction_of;

/// Two rules whose advice cannot both be followed.
#[derive(Debug)]
pub struct Exclusion {
    pub winner: &'static str,
    pub loser: &'static str,
    /// Why following both makes no sense, and following the winner is enough.
    pub reason: &'static str,
}

const fn pair(winner: &'static str, loser: &'static str, reason: &'static str) -> Exclusion {
    Exclusion { winner, loser, reason }
}

const CACHE: &str = "a cache mount keeps downloads out of the image, so nothing has to be removed";
const SIGNAL: &str = "the service decides which signal is right";

/// All pairs.
pub static EXCLUSIONS: &[Exclusion] = &[
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3009", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3019", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3032", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3036", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3040", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3042", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3060", CACHE),
    pair(
        "tally/prefer-copy-heredoc",
        "hadolint/DL3059",
        "the `RUN` that would be joined to another becomes a `COPY`",
    ),
    pair(
        "tally/prefer-run-heredoc",
        "tally/newline-per-chained-call",
        "a heredoc has a line for each command",
    ),
    pair(
        "hadolint/DL3003",
        "shellcheck/SC2164",
        "a `WORKDIR` replaces the `cd` whose failure goes unnoticed",
    ),
    pair("tally/prefer-nginx-sigquit", "tally/no-ungraceful-stopsignal", SIGNAL),
    pair("tally/prefer-nginx-sigquit", "tally/prefer-canonical-stopsignal", SIGNAL),
    pair("tally/prefer-systemd-sigrtmin-plus-3", "tally/no-ungraceful-stopsignal", SIGNAL),
    pair("tally/prefer-systemd-sigrtmin-plus-3", "tally/prefer-canonical-stopsignal", SIGNAL),
    pair(
        "tally/windows/no-stopsignal",
        "tally/no-ungraceful-stopsignal",
        "Windows has no signals, so the instruction goes",
    ),
    pair(
        "tally/windows/no-stopsignal",
        "tally/prefer-canonical-stopsignal",
        "Windows has no signals, so the instruction goes",
    ),
];

/// Drops every finding that the table excludes by another one in the same instruction.
pub(crate) fn settle(file: &Dockerfile<'_>, findings: &mut Vec<Finding>) {
    let is_loser = |finding: &Finding| EXCLUSIONS.iter().any(|it| it.loser == finding.rule);
    if !findings.iter().any(is_loser) {
        return;
    }
    let at = |finding: &Finding| instruction_of(file, finding);
    let found: Vec<(String, usize)> = findings
        .iter()
        .filter_map(|finding| Some((finding.rule.to_string(), at(finding)?)))
        .collect();
    findings.retain(|finding| {
        let place = at(finding);
        let mut above = EXCLUSIONS.iter().filter(|it| it.loser == finding.rule);
        !above.any(|it| found.iter().any(|(rule, own)| rule == it.winner && Some(*own) == place))
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Preset, RULES, RuleSet, harness::lint_with};

    /// A text for each pair, in which both rules have something to say about one instruction.
    const TEXTS: &[(&str, &str, &str)] = &[
        (
            "tally/prefer-package-cache-mounts",
            "hadolint/DL3009",
            "RUN apt-get update && apt-get install -y x=1",
        ),
        ("tally/prefer-package-cache-mounts", "hadolint/DL3019", "RUN apk add x=1"),
        ("tally/prefer-package-cache-mounts", "hadolint/DL3032", "RUN yum install -y x-1"),
        ("tally/prefer-package-cache-mounts", "hadolint/DL3036", "RUN zypper install -y x=1"),
        ("tally/prefer-package-cache-mounts", "hadolint/DL3040", "RUN dnf install -y x-1"),
        ("tally/prefer-package-cache-mounts", "hadolint/DL3042", "RUN pip install x==1"),
        ("tally/prefer-package-cache-mounts", "hadolint/DL3060", "RUN yarn install"),
        ("tally/prefer-copy-heredoc", "hadolint/DL3059", "RUN make\nRUN echo a > /etc/b"),
        ("tally/prefer-run-heredoc", "tally/newline-per-chained-call", "RUN a && b && c"),
        ("hadolint/DL3003", "shellcheck/SC2164", "RUN cd /a; make"),
        (
            "tally/prefer-nginx-sigquit",
            "tally/no-ungraceful-stopsignal",
            "STOPSIGNAL SIGKILL\nCMD [\"nginx\"]",
        ),
        (
            "tally/prefer-nginx-sigquit",
            "tally/prefer-canonical-stopsignal",
            "STOPSIGNAL 15\nCMD [\"nginx\"]",
        ),
        (
            "tally/prefer-systemd-sigrtmin-plus-3",
            "tally/no-ungraceful-stopsignal",
            "STOPSIGNAL SIGKILL\nCMD [\"/sbin/init\"]",
        ),
        (
            "tally/prefer-systemd-sigrtmin-plus-3",
            "tally/prefer-canonical-stopsignal",
            "STOPSIGNAL 15\nCMD [\"/sbin/init\"]",
        ),
        ("tally/windows/no-stopsignal", "tally/no-ungraceful-stopsignal", "STOPSIGNAL SIGKILL"),
        ("tally/windows/no-stopsignal", "tally/prefer-canonical-stopsignal", "STOPSIGNAL 15"),
    ];

    #[test]
    fn of_every_pair_only_the_winner_speaks() {
        let told = |text: &str, rules: &RuleSet| -> BTreeSet<String> {
            lint_with(text, rules).into_iter().map(|finding| finding.rule.into_owned()).collect()
        };
        let listed: Vec<(&str, &str)> = EXCLUSIONS.iter().map(|it| (it.winner, it.loser)).collect();
        let shown: Vec<(&str, &str)> = TEXTS.iter().map(|it| (it.0, it.1)).collect();
        assert_eq!(listed, shown, "every pair has a text");
        for (winner, loser, text) in TEXTS {
            let base = if winner.contains("windows") {
                "mcr.microsoft.com/windows/nanoserver:1"
            } else {
                "debian:12"
            };
            let text = format!("FROM {base}\n{text}\n");
            let both = told(&text, &RuleSet::default());
            assert!(both.contains(*winner) && both.contains(*loser), "{winner} {loser}: {both:?}");
            let one = told(&text, &RuleSet::of(Preset::All));
            assert!(one.contains(*winner) && !one.contains(*loser), "{winner} {loser}: {one:?}");
        }
    }

    #[test]
    fn what_loses_is_reported_where_the_winner_is_silent() {
        let text =
            "FROM a:1\n# tally ignore=tally/prefer-package-cache-mounts\nRUN pip install x==1\n";
        let found = lint_with(text, &RuleSet::of(Preset::All));
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule.as_ref()).collect();
        assert!(rules.contains(&"hadolint/DL3042"), "{rules:?}");
    }

    #[test]
    fn no_rule_loses_to_one_that_loses_to_it() {
        let is_known = |name: &str| {
            RULES.iter().any(|rule| rule.metadata().name == name)
                || name.starts_with("shellcheck/SC")
        };
        for pair in EXCLUSIONS {
            assert!(is_known(pair.winner) && is_known(pair.loser), "{pair:?}");
            let mut below = BTreeSet::from([pair.loser]);
            loop {
                let next = EXCLUSIONS.iter().filter(|it| below.contains(it.winner));
                let before = below.len();
                below = next.map(|it| it.loser).chain(below.iter().copied()).collect();
                if below.len() == before {
                    break;
                }
            }
            assert!(!below.contains(pair.winner), "a circle through {}", pair.winner);
        }
    }
}
