//! Heredocs that go on after a command has failed.

use probity_dockerfile::{Heredoc, Keyword};
use probity_finding::{Edit, Finding, Fix};
use probity_shell::{Command, Joiner};

use crate::{engine::context::Context, facts::unnoticed};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` heredoc script that continues after a failed command.
    ///
    /// A script stops at a failure in one of these cases, and the rule then ignores it:
    ///
    /// - `set -e` comes before the command.
    /// - The shell starts with `-e`.
    /// - `||` handles the failure.
    ///
    /// The rule ignores commands that only print or set something, such as `echo`, `export` and
    /// `set`.
    ///
    /// # Why it is bad
    ///
    /// The heredoc returns the exit status of its last command only. In a `RUN` with `&&`, a failed
    /// `apt-get install` ends the build. In a heredoc, the shell ignores the failure and runs the
    /// next line.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN <<EOF
    /// apt-get update
    /// apt-get install -y curl
    /// EOF
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN <<EOF
    /// set -e
    /// apt-get update
    /// apt-get install -y curl
    /// EOF
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN <<EOF
    /// set -e
    /// apt-get update
    /// apt-get install -y curl
    /// EOF
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix makes `set -e` the first line of the script, or the second line after a
    /// shebang. A build that continued after a failure then stops at that failure.
    HeredocWithoutErrexit {
        name: "probity/heredoc-without-errexit",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
    }
}

/// Commands whose failure nobody waits for.
const HARMLESS: &[&str] =
    &[":", "echo", "export", "printf", "set", "shopt", "trap", "true", "umask", "unset"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            let body = |it: &&Heredoc| it.body.encloses(script.span) && !it.body.is_empty();
            let Some(heredoc) = instruction.heredocs().iter().find(body) else { continue };
            let ends = [Joiner::Newline, Joiner::Semicolon];
            let Some(command) = unnoticed::first_failure(script, &ends, matters) else { continue };
            let message = format!(
                "if `{}` fails, the script continues; begin it with `set -e`",
                context.quoted(command.span)
            );
            let start = heredoc.body.start;
            let text = heredoc.body.slice(context.file.text).unwrap_or_default();
            let first = text.split_inclusive('\n').next().unwrap_or_default();
            let at = if first.starts_with("#!") { start + first.len() } else { start };
            let line_end = crate::text::lines::line_end(context.file.text);
            let edit = Edit::insert(at, format!("set -e{line_end}"));
            let fix = Fix::suggestion("stop at the first failure", vec![edit]);
            findings.push(context.finding(heredoc.marker, message).with_fix(fix));
        }
    }
}

/// Whether somebody waits for what a command does.
fn matters(command: &Command) -> bool {
    !command.words.is_empty() && !command.call().is_any(HARMLESS)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "probity/heredoc-without-errexit";

    #[test]
    fn the_marker_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN <<EOF
    ^^^^^ if `apt-get update` fails, the script continues; begin it with `set -e`
export X=1
apt-get update
apt-get install "$X"
EOF
RUN bash <<'END'
         ^^^^^^^ if `make all` fails, the script continues; begin it with `set -e`
cd /src && \
  make all
make install
END
RUN <<EOF
    ^^^^^ if `b "set -e"` fails, the script continues; begin it with `set -e`
(set -e; a)
b "set -e"; c
EOF
"#,
        );
    }

    #[test]
    fn what_stops_or_cannot_fail_is_fine() {
        check(RULE, "FROM a\nRUN <<EOF\nset -eu\na\nb\nEOF\n");
        check(RULE, "FROM a\nRUN <<EOF\na &&\nb\nEOF\n");
        check(RULE, "FROM a\nRUN <<EOF\na || exit 1\nb\nEOF\n");
        check(RULE, "FROM a\nRUN <<EOF\n#!/bin/bash -e\na\nb\nEOF\n");
        check(RULE, "FROM a\nSHELL [\"/bin/sh\", \"-ec\"]\nRUN <<EOF\na\nb\nEOF\n");
        check(RULE, "FROM a\nRUN <<EOF\nx=1\necho y\na\nEOF\n");
        check(RULE, "FROM a\nRUN <<EOF\n#!/usr/bin/env python3\na\nb\nEOF\n");
        check(RULE, "FROM a\nRUN cat <<EOF > x\na\nb\nEOF\nRUN a; b\nCOPY <<EOF x\na\nb\nEOF\n");
    }

    #[test]
    fn the_option_becomes_the_first_line() {
        fixed(RULE, "FROM a\nRUN <<EOF\na\nb\nEOF\n", "FROM a\nRUN <<EOF\nset -e\na\nb\nEOF\n");
        fixed(
            RULE,
            "FROM a\nRUN <<EOF\n#!/bin/bash\na\nb\nEOF\n",
            "FROM a\nRUN <<EOF\n#!/bin/bash\nset -e\na\nb\nEOF\n",
        );
    }
}
