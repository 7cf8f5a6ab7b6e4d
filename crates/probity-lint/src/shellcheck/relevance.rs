//! Which of ShellCheck's findings matter in a Dockerfile.
//!
//! ShellCheck sees a text without the Dockerfile around it. Two of its checks are mostly right about
//! the text and mostly wrong about the build: SC2086 asks for quotes around lists of packages, and
//! SC2155 warns that `export GNUPGHOME="$(mktemp -d)"` hides a failure that does not happen.

use probity_finding::Span;
use probity_shell::{Command, Joiner, PartKind, Script, ShellFinding, ShellLevel};

/// Programs that take lists, so that a variable without quotes is meant to be split.
const TAKE_LISTS: &[&str] = &[
    "apk",
    "apt",
    "apt-get",
    "apt-mark",
    "cmake",
    "configure",
    "dnf",
    "docker-php-ext-configure",
    "docker-php-ext-install",
    "gpg",
    "make",
    "microdnf",
    "npm",
    "pecl",
    "pip",
    "pip3",
    "yum",
    "zypper",
];

/// Programs that fail only if nothing else works either.
const DO_NOT_FAIL: &[&str] = &[
    "arch", "basename", "date", "dirname", "dpkg", "echo", "getconf", "id", "mktemp", "nproc",
    "printf", "pwd", "uname", "whoami",
];

/// A finding as it matters in a build: none where it does not, and graver where much is at stake.
pub(crate) fn relevant(
    mut found: ShellFinding,
    text: &str,
    script: &Script,
) -> Option<ShellFinding> {
    match found.code {
        2086 => {
            let command = innermost(script, found.span)?;
            let name = found.span.slice(text)?.trim_matches(['$', '{', '}', '"']);
            if is_constant(script, name) || command.effective().is_any(TAKE_LISTS) {
                return None;
            }
            if removes_trees(command) {
                found.level = ShellLevel::Warning;
            }
        }
        2155 => {
            let command = innermost(script, found.span)?;
            if !is_status_wanted(script, command) || cannot_fail(script, command) {
                return None;
            }
        }
        _ => {}
    }
    Some(found)
}

fn innermost(script: &Script, span: Span) -> Option<&Command> {
    let contains = |outer: Span| outer.start <= span.start && span.end <= outer.end;
    let commands = script.commands.iter().filter(|command| contains(command.span));
    commands.min_by_key(|command| command.span.end - command.span.start)
}

/// Whether every value that a script gives a variable is written in it: with spaces it is a list on
/// purpose, and without them quotes change nothing.
fn is_constant(script: &Script, name: &str) -> bool {
    let assigned = script
        .commands
        .iter()
        .flat_map(|command| command.assignments().iter().chain(command.declarations()));
    let mut own = assigned.filter(|assignment| assignment.name == name).peekable();
    own.peek().is_some()
        && own.all(|assignment| {
            assignment.value.as_ref().is_some_and(|value| value.literal().is_some())
        })
}

fn removes_trees(command: &Command) -> bool {
    let call = command.effective();
    call.is_any(&["rm"]) && call.has_flag(&["-r", "-R", "--recursive"])
}

/// Whether the shell would notice that the command in the value fails.
fn is_status_wanted(script: &Script, command: &Command) -> bool {
    let next = script.next_pipeline(command.place).map(|next| next.joiner);
    script.options_at(command).errexit || matches!(next, None | Some(Joiner::And | Joiner::Or))
}

/// Whether the values that a command declares come from programs that do not fail.
fn cannot_fail(script: &Script, command: &Command) -> bool {
    let values = command.declarations().iter().filter_map(|assignment| assignment.value.as_ref());
    let mut parts = values.flat_map(|value| value.parts());
    parts.all(|part| match part.kind {
        PartKind::Substitution { block, .. } => {
            let inner = script.commands_in(block);
            inner.iter().all(|command| command.effective().is_any(DO_NOT_FAIL))
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Pattern, Preset, RuleSet, engine::harness::lint_with};

    /// ShellCheck's codes in a `RUN`.
    fn codes(rules: &RuleSet, run: &str) -> Vec<String> {
        let text = format!("FROM debian:12\nRUN {run}\n");
        let all = lint_with(&text, rules).into_iter();
        let codes =
            all.filter_map(|finding| finding.rule.strip_prefix("shellcheck/").map(str::to_owned));
        codes.collect()
    }

    #[test]
    fn quotes_are_asked_for_where_a_value_is_unknown_and_not_a_list() {
        let strict = RuleSet::of(Preset::Strict);
        for (run, expected) in [
            ("read -r x && cp $x /b", &["SC2086"][..]),
            ("x='a b' && cat $x", &[]),
            ("x=\"$(apt-mark showmanual)\" && apt-mark manual $x", &[]),
            ("read -r x && make $x", &[]),
        ] {
            assert_eq!(codes(&strict, run), expected, "{run}");
        }
    }

    #[test]
    fn removing_trees_by_an_unknown_name_is_a_warning() {
        let recommended = RuleSet::of(Preset::Recommended);
        assert_eq!(codes(&recommended, "read -r x && rm -rf $x"), ["SC2086"]);
        assert_eq!(codes(&recommended, "read -r x && rm -rf \"$x\" && cp $x /b"), [""; 0]);
    }

    #[test]
    fn a_hidden_failure_is_reported_where_it_can_happen_and_would_be_noticed() {
        let recommended = RuleSet::of(Preset::Recommended);
        for (run, expected) in [
            ("set -eux; export V=\"$(curl -f https://a)\"; make \"$V\"", &["SC2155"][..]),
            ("export V=\"$(curl -f https://a)\" && make", &["SC2155"]),
            ("export V=\"$(curl -f https://a)\"; make", &[]),
            ("set -eux; export GNUPGHOME=\"$(mktemp -d)\"; gpg --verify a b", &[]),
            ("export ARCH=\"$(dpkg --print-architecture)\" && make", &[]),
        ] {
            let found = codes(&recommended, run);
            assert_eq!(found, expected, "{run}");
        }
    }

    #[test]
    fn codes_that_are_asked_for_are_reported_as_shellcheck_does() {
        let mut chosen = RuleSet::of(Preset::Recommended);
        chosen.select(&[Pattern::new("SC2086"), Pattern::new("SC2155")]);
        assert_eq!(codes(&chosen, "export A=\"$(pwd)\" && make"), ["SC2155"]);
        assert_eq!(codes(&RuleSet::default(), "read -r x && make $x"), ["SC2086"]);
    }
}
