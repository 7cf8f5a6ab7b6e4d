//! Advice that excludes other advice about the same thing, and which of the two is given.
//!
//! Rules do not know each other, so this table knows them. What loses is dropped only where the winner
//! has found something in the same place; elsewhere it is reported as ever.

use std::collections::{HashMap, HashSet};

use probity_dockerfile::Dockerfile;
use probity_finding::{Finding, Span};

use crate::engine::{overlap::Overlaps, suppress::instruction_of};

/// How near two findings have to be to concern one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// They overlap, or they are the two sides of one `=`.
    Text,
    Instruction,
    File,
}

/// Two rules of which only one speaks: following both makes no sense, or they report one thing twice.
#[derive(Debug)]
pub struct Exclusion {
    pub winner: &'static str,
    pub loser: &'static str,
    pub reach: Reach,
    /// Why following both makes no sense, and following the winner is enough.
    pub reason: &'static str,
}

const fn pair(winner: &'static str, loser: &'static str, reason: &'static str) -> Exclusion {
    Exclusion { winner, loser, reach: Reach::Instruction, reason }
}

const fn overlap(winner: &'static str, loser: &'static str, reason: &'static str) -> Exclusion {
    Exclusion { winner, loser, reach: Reach::Text, reason }
}

const fn in_file(winner: &'static str, loser: &'static str, reason: &'static str) -> Exclusion {
    Exclusion { winner, loser, reach: Reach::File, reason }
}

const CACHE: &str = "a cache mount keeps downloads out of the image, so nothing has to be removed";
const SAME_MOUNT: &str = "both ask for the cache mount of Bundler";
const SIGNAL: &str = "the service decides which signal is right";
const ROOT: &str = "both ask for another user, and one `USER` answers both";

/// All pairs.
pub static EXCLUSIONS: &[Exclusion] = &[
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3009", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3019", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3032", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3036", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3040", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3042", CACHE),
    pair("tally/prefer-package-cache-mounts", "hadolint/DL3060", CACHE),
    pair("tally/prefer-package-cache-mounts", "tally/ruby/prefer-bundler-cache-mount", SAME_MOUNT),
    pair(
        "buildkit/InvalidBaseImagePlatform",
        "tally/platform-mismatch",
        "both report a platform that the image does not have",
    ),
    overlap(
        "tally/ruby/secrets-in-arg-or-env",
        "buildkit/SecretsUsedInArgOrEnv",
        "both report the secret, and the winner knows how Rails takes it",
    ),
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
    pair(
        "tally/invalid-json-form",
        "buildkit/JSONArgsRecommended",
        "the list becomes the JSON form that the loser asks for",
    ),
    pair(
        "probity/unnoticed-download-failure",
        "hadolint/DL4006",
        "both ask for `pipefail`; the winner says what goes wrong",
    ),
    overlap(
        "probity/unverified-script",
        "probity/unnoticed-download-failure",
        "a script that is saved to a file to be verified is not in a pipe",
    ),
    pair(
        "probity/unchecked-checksum",
        "probity/unverified-download",
        "the checksum that is only printed is the one that is missing",
    ),
    overlap(
        "probity/disabled-tls-verification",
        "probity/unverified-download",
        "certificates come first: without them a checksum from the same server proves nothing",
    ),
    pair(
        "probity/lost-shell-state",
        "shellcheck/SC2164",
        "a `WORKDIR` replaces the `cd` whose failure goes unnoticed",
    ),
    pair(
        "probity/lost-shell-state",
        "hadolint/DL3003",
        "both ask for `WORKDIR`; the winner says that the `cd` has no effect at all",
    ),
    in_file("probity/missing-user", "tally/stateful-root-runtime", ROOT),
    in_file("tally/user-created-but-never-used", "tally/stateful-root-runtime", ROOT),
    in_file("tally/user-created-but-never-used", "hadolint/DL3002", ROOT),
    overlap(
        "tally/secrets-in-code",
        "buildkit/SecretsUsedInArgOrEnv",
        "a value that is a secret is graver than a name that sounds like one",
    ),
    overlap(
        "probity/unverified-download",
        "probity/unnoticed-download-failure",
        "the checksum of a download that failed does not fit",
    ),
    pair(
        "buildkit/UndefinedArgInFrom",
        "buildkit/InvalidDefaultArgInFrom",
        "an argument that does not exist has no default",
    ),
    overlap(
        "probity/invalid-platform",
        "buildkit/FromPlatformFlagConstDisallowed",
        "a platform that does not exist has to go, constant or not",
    ),
    pair(
        "probity/shell-in-bare-image",
        "buildkit/JSONArgsRecommended",
        "without a shell an array is necessary, not recommended",
    ),
    pair(
        "probity/lost-system-state",
        "shellcheck/SC3045",
        "a limit that is lost does not have to be portable",
    ),
    overlap("shellcheck/SC2115", "shellcheck/SC2086", "`${name:?}` in quotes answers both"),
    overlap(
        "shellcheck/SC2115",
        "shellcheck/SC2154",
        "`${name:?}` fails if the variable is not set",
    ),
    overlap("shellcheck/SC3010", "shellcheck/SC3014", "without `[[` there is no `==` in it"),
];

/// Drops every finding that the table excludes by another one.
///
/// ShellCheck's findings that somebody selects by name are all wanted.
pub(crate) fn settle(
    file: &Dockerfile<'_>,
    findings: &mut Vec<Finding>,
    weighs_shell_findings: bool,
) {
    let is_listed =
        |finding: &Finding| EXCLUSIONS.iter().any(|exclusion| exclusion.loser == finding.rule);
    if !findings.iter().any(is_listed) {
        return;
    }
    let mut winners = HashMap::<&'static str, Winner>::new();
    for finding in findings.iter() {
        if let Some(pair) = EXCLUSIONS.iter().find(|exclusion| exclusion.winner == finding.rule) {
            let winner = winners.entry(pair.winner).or_default();
            winner.spans.extend(finding.span);
            winner.instructions.extend(instruction_of(file, finding));
        }
    }
    for winner in winners.values_mut() {
        winner.overlaps = Overlaps::of(winner.spans.drain(..));
    }
    findings.retain(|finding| {
        if !weighs_shell_findings && finding.rule.starts_with("shellcheck/") {
            return true;
        }
        let mut above = EXCLUSIONS.iter().filter(|exclusion| exclusion.loser == finding.rule);
        !above.any(|exclusion| {
            winners
                .get(exclusion.winner)
                .is_some_and(|winner| winner.reaches(file, finding, exclusion.reach))
        })
    });
}

/// What is between a name and its value, an equals sign and a quote, and one byte more.
const PAIR_GAP: usize = 3;

/// Where the findings of a rule are.
#[derive(Default)]
struct Winner {
    spans: Vec<Span>,
    overlaps: Overlaps,
    instructions: HashSet<usize>,
}

impl Winner {
    fn reaches(&self, file: &Dockerfile<'_>, loser: &Finding, reach: Reach) -> bool {
        match reach {
            Reach::File => true,
            Reach::Instruction => instruction_of(file, loser)
                .is_some_and(|instruction| self.instructions.contains(&instruction)),
            Reach::Text => loser.span.is_some_and(|span| self.overlaps.come_near(span, PAIR_GAP)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Preset, RULES, RuleSet, engine::harness::lint_with};

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
        (
            "tally/prefer-package-cache-mounts",
            "tally/ruby/prefer-bundler-cache-mount",
            "RUN bundle install",
        ),
        ("buildkit/InvalidBaseImagePlatform", "tally/platform-mismatch", "RUN make"),
        (
            "tally/ruby/secrets-in-arg-or-env",
            "buildkit/SecretsUsedInArgOrEnv",
            "ARG RAILS_MASTER_KEY",
        ),
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
        ("tally/invalid-json-form", "buildkit/JSONArgsRecommended", "CMD ['serve', '-v']"),
        (
            "probity/unnoticed-download-failure",
            "hadolint/DL4006",
            "RUN wget -qO- https://a/list | grep -v x > /etc/list",
        ),
        (
            "probity/unverified-script",
            "probity/unnoticed-download-failure",
            "RUN curl -fsSL https://a | sh",
        ),
        (
            "probity/unchecked-checksum",
            "probity/unverified-download",
            "RUN curl -o b https://a && sha256sum b && tar -xf b",
        ),
        (
            "probity/disabled-tls-verification",
            "probity/unverified-download",
            "RUN curl -k -o b https://a && tar -xf b",
        ),
        ("probity/lost-shell-state", "shellcheck/SC2164", "RUN cd /a"),
        ("probity/lost-shell-state", "hadolint/DL3003", "RUN cd /a"),
        (
            "probity/missing-user",
            "tally/stateful-root-runtime",
            "VOLUME /data\nEXPOSE 80\nCMD [\"serve\"]",
        ),
        (
            "tally/user-created-but-never-used",
            "tally/stateful-root-runtime",
            "RUN useradd app\nVOLUME /data\nCMD [\"serve\"]",
        ),
        (
            "tally/user-created-but-never-used",
            "hadolint/DL3002",
            "RUN useradd app\nUSER root\nCMD [\"serve\"]",
        ),
        (
            "tally/secrets-in-code",
            "buildkit/SecretsUsedInArgOrEnv",
            "ENV GITHUB_TOKEN=ghp_a8Kd02LmQx71TzVbN4yRw95HsPc3JeUfG6iO",
        ),
        (
            "probity/unverified-download",
            "probity/unnoticed-download-failure",
            "RUN curl -fsSL https://example.com/shrink.tgz | tar xz -C /usr/local/bin",
        ),
        ("buildkit/UndefinedArgInFrom", "buildkit/InvalidDefaultArgInFrom", "FROM debian:$VERSOIN"),
        (
            "probity/invalid-platform",
            "buildkit/FromPlatformFlagConstDisallowed",
            "FROM --platform=linux/x64 debian:12",
        ),
        (
            "probity/shell-in-bare-image",
            "buildkit/JSONArgsRecommended",
            "FROM scratch\nCOPY app /app\nCMD /app",
        ),
        ("probity/lost-system-state", "shellcheck/SC3045", "RUN ulimit -n 1"),
        ("shellcheck/SC2115", "shellcheck/SC2086", "RUN rm -rf $DIR/*"),
        ("shellcheck/SC2115", "shellcheck/SC2154", "RUN rm -rf $dir/*"),
        ("shellcheck/SC3010", "shellcheck/SC3014", "RUN [[ $HOME == a ]] && make"),
    ];

    #[test]
    fn of_every_pair_only_the_winner_speaks() {
        let told = |text: &str, rules: &RuleSet| -> BTreeSet<String> {
            lint_with(text, rules).into_iter().map(|finding| finding.rule.into_owned()).collect()
        };
        let listed: Vec<(&str, &str)> =
            EXCLUSIONS.iter().map(|exclusion| (exclusion.winner, exclusion.loser)).collect();
        let shown: Vec<(&str, &str)> = TEXTS.iter().map(|case| (case.0, case.1)).collect();
        assert_eq!(listed, shown, "every pair has a text");
        for (winner, loser, text) in TEXTS {
            let base = match (*winner, *loser) {
                (winner, _) if winner.contains("windows") => {
                    "FROM mcr.microsoft.com/windows/nanoserver:1"
                }
                (_, "tally/platform-mismatch") => {
                    "FROM --platform=linux/arm64 registry.example/tool:2"
                }
                (winner, loser) if winner.contains("ruby") || loser.contains("ruby") => {
                    "# syntax=docker/dockerfile:1\nFROM ruby:3.3"
                }
                _ => "FROM debian:12",
            };
            let text = format!("{base}\n{text}\n");
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
        assert_eq!(rules, ["tally/newline-between-instructions", "hadolint/DL3042"]);
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
                let next = EXCLUSIONS.iter().filter(|exclusion| below.contains(exclusion.winner));
                let before = below.len();
                below =
                    next.map(|exclusion| exclusion.loser).chain(below.iter().copied()).collect();
                if below.len() == before {
                    break;
                }
            }
            assert!(!below.contains(pair.winner), "a circle through {}", pair.winner);
        }
    }
}
