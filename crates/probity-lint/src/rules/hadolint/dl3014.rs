//! Calls of apt-get that ask.

use probity_dockerfile::{Action, Manager};
use probity_finding::Finding;
use probity_shell::Call;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags an `apt-get install` without `-y`.
    ///
    /// `--yes` and `--assume-yes` count as `-y`. So do two levels of quiet: `-qq`, `-q=2` or
    /// `--quiet --quiet`.
    ///
    /// # Why it is bad
    ///
    /// `apt-get` asks whether to continue. In a build nobody answers, so the build fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apt-get install curl=7.88.1
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN apt-get install -y curl=7.88.1
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get install -y curl=7.88.1
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `-y`. If a pipe answers the question, as in `yes n | apt-get
    /// install x`, the call already works, and `-y` overrides the answer.
    Dl3014 {
        name: "hadolint/DL3014",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3014",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, call) in packages::calls(context, &[Manager::AptGet], &[Action::Install]) {
        let Some(words) = packages::words(context, index, call) else { continue };
        if assumes_yes(&words) {
            continue;
        }
        let message = "without `-y` this fails in a non-interactive build";
        let finding = context.finding(call.subcommand, message);
        findings.push(packages::with_flag(context, index, call, "-y", finding));
    }
}

/// Twice quiet is a yes too: `-qq`, `-q=2`, `--quiet --quiet`.
fn assumes_yes(call: &Call<'_>) -> bool {
    let words = call.args().iter().filter_map(|word| word.literal());
    let quiet: usize = words.map(|word| quietness(&word)).sum();
    call.has_flag(&["-y", "--yes", "--assume-yes"]) || quiet >= 2
}

fn quietness(word: &str) -> usize {
    let is_long = word == "--quiet" || word.starts_with("--quiet=");
    let is_short = word.starts_with('-') && !word.starts_with("--");
    match word.split_once('=') {
        Some((name, level)) if is_long || is_short && name.ends_with('q') => {
            level.parse().unwrap_or_default()
        }
        _ if is_long => 1,
        _ if is_short => word.matches('q').count(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3014";
    const SAYS: &str = "without `-y` this fails in a non-interactive build";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (apt-get -q "install" x) \
                     ^^^^^^^^^ {SAYS}
    && b
RUN <<EOF
apt-get install x
        ^^^^^^^ {SAYS}
EOF
RUN bash -c 'apt-get install x'
                     ^^^^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn answered_calls_and_mentions_are_silent() {
        for run in [
            "apt-get install -y x",
            "apt-get -yq install x",
            "apt-get install --assume-yes x",
            "apt-get install -qq x",
            "apt-get install -q=2 x",
            "apt-get --quiet --quiet install x",
            "apt-get -q install --quiet x",
            "apt-get install --quiet=2 x",
            "apt-get -q install -q x",
            "apt-get update",
            "echo apt-get install x",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN apt-get 'install' x", "RUN apt-get 'install' -y x"),
                ("RUN (apt-get install x; a)", "RUN (apt-get install -y x; a)"),
                ("RUN bash -c \"apt-get install $X\"", "RUN bash -c \"apt-get install -y $X\""),
                ("RUN apt-get install \\\n  # why\n  x", "RUN apt-get install -y \\\n  # why\n  x"),
                ("RUN <<EOF\napt-get install x\nEOF", "RUN <<EOF\napt-get install -y x\nEOF"),
                (r#"RUN ["apt-get", "install", "x"]"#, r#"RUN ["apt-get", "install", "-y", "x"]"#),
                (
                    r#"RUN ["sh", "-c", "apt-get install x"]"#,
                    r#"RUN ["sh", "-c", "apt-get install -y x"]"#,
                ),
                ("RUN apt-get $VERB x", "RUN apt-get $VERB x"),
                ("RUN echo 'apt-get install x'", "RUN echo 'apt-get install x'"),
            ],
        );
    }
}
