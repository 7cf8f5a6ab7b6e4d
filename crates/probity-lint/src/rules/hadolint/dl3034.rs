//! Calls of zypper that ask.

use probity_dockerfile::{Action, Manager};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags a `zypper` installation, removal or upgrade without `-y`.
    ///
    /// `-n`, `--non-interactive` and `--no-confirm` count as `-y`.
    ///
    /// # Why it is bad
    ///
    /// `zypper` asks whether to continue. In a build nobody answers, so the build fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM opensuse/leap:15.6
    /// RUN zypper install httpd=2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM opensuse/leap:15.6
    /// RUN zypper install -y httpd=2.4
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM opensuse/leap:15.6
    /// RUN zypper install -y httpd=2.4
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `-y`. If a pipe answers the question, as in `yes n | zypper install
    /// x`, the call already works, and `-y` overrides the answer.
    Dl3034 {
        name: "hadolint/DL3034",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3034",
    }
}

const FLAGS: &[&str] = &["-y", "-n", "--non-interactive", "--no-confirm"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_asking(
        context,
        &[Manager::Zypper],
        &[Action::Install, Action::Remove, Action::Upgrade],
        FLAGS,
        findings,
    );
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3034";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (zypper "install" x) \
                 ^^^^^^^^^ without `-y` this fails in a non-interactive build
    && b
RUN <<EOF
zypper rm x
       ^^ without `-y` this fails in a non-interactive build
zypper patch
       ^^^^^ without `-y` this fails in a non-interactive build
EOF
"#,
        );
    }

    #[test]
    fn answered_calls_and_mentions_are_silent() {
        for run in [
            r#"zypper -n install x"#,
            r#"zypper in -y x"#,
            r#"zypper --non-interactive in x"#,
            r#"zypper clean"#,
            r#"echo zypper install x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN zypper 'in' x", "RUN zypper 'in' -y x"),
                ("RUN (zypper in x; a)", "RUN (zypper in -y x; a)"),
                ("RUN bash -c \"zypper in $X\"", "RUN bash -c \"zypper in -y $X\""),
                ("RUN zypper in \\\n  # why\n  x", "RUN zypper in -y \\\n  # why\n  x"),
                ("RUN <<EOF\nzypper in x\nEOF", "RUN <<EOF\nzypper in -y x\nEOF"),
                (r#"RUN ["zypper", "in", "x"]"#, r#"RUN ["zypper", "in", "-y", "x"]"#),
                (r#"RUN ["sh", "-c", "zypper in x"]"#, r#"RUN ["sh", "-c", "zypper in -y x"]"#),
                ("RUN zypper $VERB x", "RUN zypper $VERB x"),
                ("RUN echo 'zypper in x'", "RUN echo 'zypper in x'"),
            ],
        );
    }
}
