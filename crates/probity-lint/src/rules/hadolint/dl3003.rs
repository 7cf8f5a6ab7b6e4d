//! Changing directory by hand.

mod relative;

use std::cell::LazyCell;

use probity_dockerfile::{Arguments, Command, Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Joiner, Script, StageKind};

use crate::{
    engine::context::Context,
    text::{lines, shell_edits},
};

rule! {
    /// # What it does
    ///
    /// Flags `cd` in a `RUN`.
    ///
    /// The rule ignores a `cd` in a subshell or a command substitution. The shell undoes that `cd`
    /// at the closing parenthesis, and `WORKDIR` cannot do that. hadolint flags it.
    ///
    /// # Why it is bad
    ///
    /// The next `RUN` does not start in that directory, which surprises the person who adds it.
    /// `WORKDIR` stays in effect and creates the directory if it does not exist.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN cd /usr/src/app && make
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// WORKDIR /usr/src/app
    /// RUN make
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// WORKDIR /usr/src/app
    /// RUN make
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: the fix replaces the `cd` with a `WORKDIR` before the `RUN`. `WORKDIR` also applies
    /// to everything after this `RUN`. If the directory does not exist, `cd` fails but `WORKDIR`
    /// creates it.
    ///
    /// probity offers a fix only if:
    ///
    /// - the `RUN` is in shell form, without flags and without a heredoc;
    /// - its first command is a `cd` to an absolute path, and `&&` joins the next command to it.
    ///
    /// probity offers no fix if:
    ///
    /// - a comment is between the two commands;
    /// - a relative path or an `ONBUILD` comes after the `RUN` and before the next absolute
    ///   `WORKDIR`. The rule looks for relative paths in `COPY`, `ADD`, `WORKDIR`, `CMD`,
    ///   `ENTRYPOINT` and `RUN`.
    Dl3003 {
        name: "hadolint/DL3003",
        severity: Warning,
        category: BestPractice,
        fixes: Unsafe,
        url: "https://github.com/hadolint/hadolint/wiki/DL3003",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let relied_on = LazyCell::new(|| relative::relied_on(context));
    for (index, run) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            for command in &script.commands {
                let call = command.effective();
                let is_undone = script.is_within(command, probity_shell::BlockKind::Subshell)
                    || script.is_within(command, probity_shell::BlockKind::Substitution);
                if !call.is_any(&["cd"]) || is_undone {
                    continue;
                }
                let message = "use WORKDIR to switch to a directory";
                let finding = context.finding(call.span().unwrap_or(command.span), message);
                let fix = match context.scripts(index).first().and_then(|it| it.commands.first()) {
                    Some(first) if std::ptr::eq(first, command) => fix(context, run, script),
                    _ => None,
                };
                findings.push(match fix {
                    Some(fix) if relied_on.get(index) == Some(&false) => finding.with_fix(fix),
                    _ => finding,
                });
            }
        }
    }
}

/// `RUN cd /x && rest` becomes `WORKDIR /x` and `RUN rest`.
fn fix(context: &Context<'_>, run: &Instruction, script: &Script) -> Option<Fix> {
    let [first, second, ..] = script.blocks.first()?.pipelines.as_slice() else { return None };
    let [stage] = &*first.stages else { return None };
    let StageKind::Command(command) = stage.kind else { return None };
    let command = script.commands.get(command)?;
    let [name, directory] = &*command.words else { return None };
    let path = directory.literal().filter(|path| path.starts_with('/'))?;
    let gone = Span::new(command.span.start, second.span.start);
    let is_shell_form = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
    let is_plain = name.is("cd")
        && command.assignments().is_empty()
        && command.redirections().is_empty()
        && !first.negated
        && second.joiner == Joiner::And
        && !path.contains(['$', ' ', '"', '\'', '\\', '\n'])
        && is_shell_form
        && run.flags.is_empty()
        && run.heredocs().is_empty()
        && !shell_edits::has_comment(context, gone);
    let edits = vec![
        lines::instruction_before(context.file, run, &format!("WORKDIR {path}")),
        Edit::delete(gone),
    ];
    is_plain.then(|| Fix::risky("use WORKDIR", edits))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, fixes};

    const RULE: &str = "hadolint/DL3003";
    const SAYS: &str = "use WORKDIR to switch to a directory";

    #[test]
    fn the_command_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && cd "$X" \
         ^^^^^^^ {SAYS}
      && b
RUN <<EOF
cd /y
^^^^^ {SAYS}
EOF
RUN ["bash", "-c", "cd z"]
                    ^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn subshells_and_mentions_are_silent() {
        check(RULE, "FROM a\nRUN (cd /x && make) && echo cd /x && x=$(cd /y; pwd)\nCMD cd /x\n");
    }

    #[test]
    fn only_the_first_command_is_moved() {
        for run in
            ["RUN a && cd /x && b", "RUN cd x && b", "RUN cd /x; b", "RUN cd $x && b", "RUN cd /x"]
        {
            fixes(RULE, &[(run, run)]);
        }
    }

    #[test]
    fn a_text_within_another_is_left_whole() {
        for run in [
            "RUN [\"sh\", \"-c\", \"cd /a && ls\"]",
            "RUN bash -c \"cd /a && ls\"",
            "RUN su app -c 'cd /a && ls'",
            "RUN sh -c 'cd /a && ls' && echo done",
            "RUN <<EOF\ncd /a && ls\nEOF",
            "RUN bash <<EOF\ncd /a && ls\nEOF",
        ] {
            fixes(RULE, &[(run, run)]);
        }
    }

    #[test]
    fn comments_and_line_ends_stay() {
        for run in ["RUN cd /a \\\n  # why\n  && ls", "RUN cd /a && \\\n    # build it\n    make"] {
            fixes(RULE, &[(run, run)]);
        }
        fixes(
            RULE,
            &[
                (
                    "RUN \\\n    # first\n    cd /a && make",
                    "WORKDIR /a\nRUN \\\n    # first\n    make",
                ),
                (
                    "# why\n# hadolint ignore=DL3059\nRUN cd /a && make",
                    "WORKDIR /a\n# why\n# hadolint ignore=DL3059\nRUN make",
                ),
            ],
        );
        fixed(
            RULE,
            "FROM a\r\nRUN cd /a \\\r\n  && make\r\n",
            "FROM a\r\nWORKDIR /a\r\nRUN make\r\n",
        );
    }

    #[test]
    fn nothing_behind_it_may_rely_on_the_directory() {
        for behind in [
            "COPY . app\nWORKDIR app",
            "ADD a ./",
            "WORKDIR app",
            "RUN ./configure",
            "RUN cd app && make",
            "RUN make -C sub/dir",
            "CMD [\"./app\"]",
            "CMD [\"python\", \"app.py\"]",
            "ENTRYPOINT bin/app",
            "ONBUILD COPY . .",
            "FROM made\nCOPY . app",
        ] {
            let text = format!("FROM debian:12 AS made\nRUN cd /a && make\n{behind}\n");
            fixed(RULE, &text, &text);
        }
        for behind in [
            "COPY . /app\nWORKDIR /app\nCOPY . .",
            "RUN curl https://a/b | tar xz -C /c",
            "CMD [\"/bin/app\", \"--flag\"]",
            "CMD app",
            "FROM other\nCOPY . app",
        ] {
            let text = |run: &str| format!("FROM debian:12\n{run}\n{behind}\n");
            fixed(RULE, &text("RUN cd /a && make"), &text("WORKDIR /a\nRUN make"));
        }
    }
}
