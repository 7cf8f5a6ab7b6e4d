//! Commands for a shell that is not there.

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, ShellSource};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::bare_stage};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` in shell form in a `scratch` stage without `/bin/sh`.
    ///
    /// The rule also checks stages that are based on such a stage. It reports nothing in these
    /// cases:
    ///
    /// - A `SHELL` selects another shell.
    /// - A `COPY`, an `ADD` or a `RUN` without a shell may have created `/bin/sh`.
    /// - A mount covers this path.
    /// - A heredoc names its own interpreter.
    ///
    /// tally checks only for `SHELL`, and only in the stage with `FROM scratch`.
    ///
    /// # Why it is bad
    ///
    /// `scratch` is empty. It contains no shell, so the build fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM scratch
    /// COPY app /app
    /// RUN /app --check
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM scratch
    /// COPY app /app
    /// RUN ["/app", "--check"]
    /// ```
    ShellRunInScratch {
        name: "tally/shell-run-in-scratch",
        severity: Warning,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/shell-run-in-scratch/",
    }
}

const SHELL: &str = "/bin/sh";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, run) in context.each(Keyword::Run) {
        let is_shell = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
        if !is_shell || !bare_stage::is_bare(context, index) {
            continue;
        }
        let is_chosen = context
            .facts
            .state(index)
            .is_some_and(|state| matches!(state.shell.source, ShellSource::Instruction(_)));
        let is_there = is_chosen
            || is_mounted(run)
            || names_its_own(context, run)
            || bare_stage::may_hold(context, index, SHELL);
        if !is_there {
            let message =
                format!("scratch has no {SHELL} to run this; name the program in an array");
            findings.push(context.finding(run.keyword_span(), message));
        }
    }
}

/// Whether a mount may bring the shell.
fn is_mounted(run: &Instruction) -> bool {
    let targets = run.flags_named("mount").flat_map(|mount| {
        ["target", "dst", "destination"].into_iter().filter_map(|key| mount.option(key))
    });
    let mut directories = targets.map(|target| target.text.trim_end_matches('/'));
    directories.any(|directory| {
        SHELL.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

fn names_its_own(context: &Context<'_>, run: &Instruction) -> bool {
    let first = run.heredocs().first().and_then(|heredoc| heredoc.body.slice(context.file.text));
    first.is_some_and(|body| body.trim_start_matches('\t').starts_with("#!"))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/shell-run-in-scratch";
    const SAYS: &str = "scratch has no /bin/sh to run this; name the program in an array";

    #[test]
    fn the_keyword_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM scratch AS a
COPY app /
run --mount=type=bind,from=busybox,target=/binary /app \\
^^^ {SAYS}
  # why
  && x
FROM a
COPY . /srv/
WORKDIR /srv
COPY . .
RUN <<EOF
^^^ {SAYS}
a
EOF
"
            ),
        );
    }

    #[test]
    fn where_a_shell_may_be_nothing_is_said() {
        for text in [
            "COPY --from=b /bin/sh /bin/sh\nRUN a",
            "COPY sh /bin/\nRUN a",
            "COPY --from=b /bin /bin\nRUN a",
            "COPY --from=b / /\nRUN a",
            "COPY . .\nRUN a",
            "COPY rootfs /\nRUN a",
            "COPY a* /bin/\nRUN a",
            "ARG X\nCOPY $X /bin/\nRUN a",
            "ARG X\nCOPY a $X\nRUN a",
            "ADD system.tar.gz /\nRUN a",
            "RUN [\"busybox\", \"--install\"]\nRUN a",
            "SHELL [\"/busybox\", \"sh\", \"-c\"]\nRUN a",
            "RUN --mount=type=bind,from=b,target=/bin a",
            "RUN <<EOF\n#!/app\nx\nEOF",
            "RUN [\"sh\", \"-c\", \"a\"]",
            "ONBUILD RUN a",
            "CMD a",
        ] {
            check(RULE, &format!("FROM busybox AS b\nRUN a\nFROM scratch\n{text}\n"));
        }
        check(RULE, "FROM scratch AS a\nCOPY sh /bin/sh\nFROM a\nRUN x\n");
        check(RULE, "FROM --platform=windows/amd64 scratch\nRUN x\n");
    }
}
