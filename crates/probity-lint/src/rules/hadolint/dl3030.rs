//! Calls of yum that ask.

use probity_dockerfile::{Action, Manager};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags a `yum` installation or upgrade without `-y`.
    ///
    /// `--assumeyes` and `--assume-yes` count as `-y`.
    ///
    /// # Why it is bad
    ///
    /// `yum` asks whether to continue. In a build nobody answers, so the build fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM rockylinux:9
    /// RUN yum install httpd-2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM rockylinux:9
    /// RUN yum install -y httpd-2.4
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM rockylinux:9
    /// RUN yum install -y httpd-2.4
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `-y`. If a pipe answers the question, as in `yes n | yum install
    /// x`, the call already works, and `-y` overrides the answer.
    Dl3030 {
        name: "hadolint/DL3030",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3030",
    }
}

const FLAGS: &[&str] = &["-y", "--assumeyes", "--assume-yes"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_asking(
        context,
        &[Manager::Yum],
        &[Action::Install, Action::Upgrade],
        FLAGS,
        findings,
    );
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3030";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (yum "install" x) \
              ^^^^^^^^^ without `-y` this fails in a non-interactive build
    && b
RUN <<EOF
yum localinstall x
    ^^^^^^^^^^^^ without `-y` this fails in a non-interactive build
EOF
"#,
        );
    }

    #[test]
    fn answered_calls_and_mentions_are_silent() {
        for run in [
            r#"yum -y install x"#,
            r#"yum install -yq x"#,
            r#"yum install --assumeyes x"#,
            r#"yum clean all"#,
            r#"echo yum install x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN yum 'install' x", "RUN yum 'install' -y x"),
                ("RUN (yum install x; a)", "RUN (yum install -y x; a)"),
                ("RUN bash -c \"yum install $X\"", "RUN bash -c \"yum install -y $X\""),
                ("RUN yum install \\\n  # why\n  x", "RUN yum install -y \\\n  # why\n  x"),
                ("RUN <<EOF\nyum install x\nEOF", "RUN <<EOF\nyum install -y x\nEOF"),
                (r#"RUN ["yum", "install", "x"]"#, r#"RUN ["yum", "install", "-y", "x"]"#),
                (r#"RUN ["sh", "-c", "yum install x"]"#, r#"RUN ["sh", "-c", "yum install -y x"]"#),
                ("RUN yum $VERB x", "RUN yum $VERB x"),
                ("RUN echo 'yum install x'", "RUN echo 'yum install x'"),
            ],
        );
    }
}
