//! Calls of dnf that ask.

use probity_dockerfile::{Action, Manager};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags a `dnf` installation or upgrade without `-y`.
    ///
    /// `--assumeyes` and `--assume-yes` count as `-y`. The rule also checks `dnf5`, `tdnf` and
    /// `microdnf`.
    ///
    /// # Why it is bad
    ///
    /// `dnf` asks whether to continue. In a build nobody answers, so the build fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM fedora:41
    /// RUN dnf install httpd-2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM fedora:41
    /// RUN dnf install -y httpd-2.4
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM fedora:41
    /// RUN dnf install -y httpd-2.4
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `-y`. If a pipe answers the question, as in `yes n | dnf install
    /// x`, the call already works, and `-y` overrides the answer.
    Dl3038 {
        name: "hadolint/DL3038",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3038",
    }
}

const FLAGS: &[&str] = &["-y", "--assumeyes", "--assume-yes"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_asking(
        context,
        &[Manager::Dnf, Manager::Microdnf],
        &[Action::Install, Action::Upgrade],
        FLAGS,
        findings,
    );
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3038";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (dnf "install" x) \
              ^^^^^^^^^ without `-y` this fails in a non-interactive build
    && b
RUN <<EOF
microdnf install x
         ^^^^^^^ without `-y` this fails in a non-interactive build
EOF
"#,
        );
    }

    #[test]
    fn answered_calls_and_mentions_are_silent() {
        for run in [
            r#"dnf -y install x"#,
            r#"dnf install -yq x"#,
            r#"microdnf install --assumeyes x"#,
            r#"dnf clean all"#,
            r#"echo dnf install x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN dnf 'install' x", "RUN dnf 'install' -y x"),
                ("RUN (dnf install x; a)", "RUN (dnf install -y x; a)"),
                ("RUN bash -c \"dnf install $X\"", "RUN bash -c \"dnf install -y $X\""),
                ("RUN dnf install \\\n  # why\n  x", "RUN dnf install -y \\\n  # why\n  x"),
                ("RUN <<EOF\ndnf install x\nEOF", "RUN <<EOF\ndnf install -y x\nEOF"),
                (r#"RUN ["dnf", "install", "x"]"#, r#"RUN ["dnf", "install", "-y", "x"]"#),
                (r#"RUN ["sh", "-c", "dnf install x"]"#, r#"RUN ["sh", "-c", "dnf install -y x"]"#),
                ("RUN dnf $VERB x", "RUN dnf $VERB x"),
                ("RUN echo 'dnf install x'", "RUN echo 'dnf install x'"),
            ],
        );
    }
}
