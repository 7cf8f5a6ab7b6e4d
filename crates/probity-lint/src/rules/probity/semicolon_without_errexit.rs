//! Commands that run although the one before has failed.

use probity_dockerfile::Keyword;
use probity_finding::{Edit, Finding, Fix};
use probity_shell::{Command, Joiner};

use crate::{engine::context::Context, facts::unnoticed};

rule! {
    /// # What it does
    ///
    /// Flags a download, an install or a build in a `RUN` that `;` separates from the next command.
    ///
    /// If the last command is `rm`, the rule also flags other commands, except simple ones such as
    /// `cd`, `echo` or `mkdir`. The rule ignores a command whose failure the shell notices:
    ///
    /// - `set -e` comes before the command.
    /// - The shell starts with `-e`.
    /// - `||` handles the failure.
    ///
    /// `probity/heredoc-without-errexit` checks heredocs.
    ///
    /// # Why it is bad
    ///
    /// The `RUN` returns the exit status of its last command only. If the download fails, the build
    /// still succeeds, and the image lacks the file.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// RUN wget -O /etc/list https://example.com/list ; \
    ///     chmod 0644 /etc/list
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// RUN set -e; wget -O /etc/list https://example.com/list ; \
    ///     chmod 0644 /etc/list
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN wget -O /etc/list https://example.com/list && \
    ///     chmod 0644 /etc/list
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix makes `set -e;` the first command. A build that continued after a
    /// failure then stops at that failure.
    SemicolonWithoutErrexit {
        name: "probity/semicolon-without-errexit",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
    }
}

/// Programs whose failure leaves something out of the image.
const ESSENTIAL: &[&str] = &[
    "apk",
    "apt",
    "apt-get",
    "bundle",
    "cargo",
    "cmake",
    "composer",
    "configure",
    "curl",
    "dnf",
    "dotnet",
    "gem",
    "git",
    "go",
    "gpg",
    "gradle",
    "gradlew",
    "make",
    "microdnf",
    "mvn",
    "mvnw",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "sha256sum",
    "sha512sum",
    "tar",
    "unzip",
    "wget",
    "yarn",
    "yum",
    "zypper",
];

/// Programs whose failure does not matter before a cleanup.
const SLIGHT: &[&str] = &[
    ":", "[", "cd", "chmod", "chown", "cp", "echo", "export", "find", "ln", "ls", "mkdir", "mv",
    "printf", "rm", "rmdir", "set", "test", "touch", "true", "unset",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each(Keyword::Run) {
        let [script, ..] = context.scripts(index) else { continue };
        if !instruction.heredocs().is_empty() {
            continue;
        }
        // A cleanup at the end succeeds whatever came before it.
        let cleans_up = script.commands.last().is_some_and(|last| last.call().is_any(&["rm"]));
        let is_essential = |command: &Command| {
            let call = command.effective();
            call.is_any(ESSENTIAL) || cleans_up && call.name().is_some() && !call.is_any(SLIGHT)
        };
        let first = unnoticed::first_failure(script, &[Joiner::Semicolon], is_essential);
        let Some(command) = first else { continue };
        let message = format!(
            "if `{}` fails, this `RUN` continues; begin it with `set -e;` or use `&&`",
            command.call().name().unwrap_or_default()
        );
        let finding = context.finding(command.span, message);
        let first = script.blocks.first().and_then(|block| block.pipelines.first());
        let fix = first.map(|first| {
            let edit = Edit::insert(first.span.start, "set -e; ");
            Fix::suggestion("stop at the first failure", vec![edit])
        });
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "probity/semicolon-without-errexit";

    #[test]
    fn the_command_is_underlined() {
        check(
            RULE,
            "\
FROM a
RUN x ; apt-get install -y b; c; wget d; e
        ^^^^^^^^^^^^^^^^^^^^ if `apt-get` fails, this `RUN` continues; begin it with `set -e;` or use `&&`
",
        );
    }

    #[test]
    fn what_stops_or_does_not_matter_is_silent() {
        for run in [
            "set -ex; wget a; b",
            "set -eux && wget a; b",
            "wget a && b",
            "wget a || exit 1; b",
            "x; wget a",
            "echo a; rm b; c",
            "if a; then wget b; fi; c",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
        check(RULE, "FROM a\nSHELL [\"/bin/sh\", \"-ec\"]\nRUN wget a; b\n");
    }

    #[test]
    fn the_option_comes_first() {
        fixes(RULE, &[("RUN wget a; b", "RUN set -e; wget a; b")]);
    }
}
