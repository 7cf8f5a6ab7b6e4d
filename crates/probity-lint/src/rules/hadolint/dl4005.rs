//! Another shell by a link.

use probity_dockerfile::{self as dockerfile, Arguments, Instruction, ShellSource};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Call, Command, Dialect, Joiner, Script};

use crate::{
    engine::context::Context,
    text::{lines, shell_edits},
};

rule! {
    /// # What it does
    ///
    /// Flags an `ln` in a `RUN` that replaces `/bin/sh` or `/usr/bin/sh` with another program.
    ///
    /// # Why it is bad
    ///
    /// Scripts of the image's own packages rely on the `sh` that they were written for. `SHELL`
    /// changes only the shell that the build uses.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN ln -sfv /bin/bash /bin/sh
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// SHELL ["/bin/bash", "-c"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// SHELL ["/bin/bash", "-c"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: the fix replaces the link with a `SHELL` instruction. Other programs in the image
    /// that start `/bin/sh` get the original shell again. That is the purpose of the fix, but it
    /// may break them.
    ///
    /// probity offers a fix only if:
    ///
    /// - the link is the only command of the `RUN`, or its first command, followed by `&&`;
    /// - the link points to a shell that probity knows by its path;
    /// - the `RUN` is in shell form, without flags and without a heredoc.
    ///
    /// probity offers no fix if:
    ///
    /// - a `SHELL` is already in effect, because that `SHELL` sets the shell, and a new one could
    ///   lose its options;
    /// - a comment is inside the text that the fix removes;
    /// - the `RUN` is after `ONBUILD`.
    Dl4005 {
        name: "hadolint/DL4005",
        severity: Warning,
        category: BestPractice,
        fixes: Unsafe,
        url: "https://github.com/hadolint/hadolint/wiki/DL4005",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, run) in context.runs() {
        let scripts = context.scripts(index).iter();
        let commands =
            scripts.flat_map(|script| script.commands.iter().map(move |command| (script, command)));
        for (script, command) in commands {
            let call = command.effective();
            let target = call.positional(&["-t", "-S", "--suffix"]).last().copied();
            let is_shell = target
                .is_some_and(|word| ["/bin/sh", "/usr/bin/sh"].iter().any(|path| word.is(path)));
            if call.is_any(&["ln"]) && is_shell {
                let message = "use SHELL to change the default shell";
                let finding = context.finding(call.span().unwrap_or(command.span), message);
                let shell = context.facts.state(index).map(|state| state.shell.source);
                let is_whole = !context.is_trigger(index)
                    && shell == Some(ShellSource::Default)
                    && context.scripts(index).len() == 1
                    && run.flags.is_empty();
                let fix = if is_whole { fix(context, run, script, command) } else { None };
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

/// `RUN ln -s /bin/bash /bin/sh && rest` becomes `SHELL ["/bin/bash", "-c"]` and `RUN rest`.
fn fix(
    context: &Context<'_>,
    run: &Instruction,
    script: &Script,
    command: &Command,
) -> Option<Fix> {
    let pipelines = &script.blocks.first()?.pipelines;
    let is_first = script.commands.first() == Some(command)
        && command.place.block() == 0
        && pipelines.first()?.stages.len() == 1
        && command.redirections().is_empty();
    let shell = shell(&command.effective())?;
    let instruction = format!("SHELL [\"{shell}\", \"-c\"]");
    let (edits, gone) = match pipelines.get(1) {
        None => (vec![Edit::replace(run.span, instruction)], run.span),
        Some(next) if next.joiner == Joiner::And => {
            let gone = Span::new(command.span.start, next.span.start);
            let before = lines::instruction_before(context.file, run, &instruction);
            (vec![before, Edit::delete(gone)], gone)
        }
        Some(_) => return None,
    };
    let is_lossless =
        run.heredocs().is_empty() && !shell_edits::has_comment(context, gone) && is_first;
    let is_shell_form = matches!(run.arguments, Arguments::Command(dockerfile::Command::Shell(_)));
    (is_lossless && is_shell_form).then(|| Fix::risky("use SHELL", edits))
}

/// The path of the shell that is linked to.
fn shell(call: &Call<'_>) -> Option<String> {
    let positional = call.positional(&[]);
    let [source, _] = positional.as_slice() else { return None };
    let path = source.literal()?;
    let path = if path.starts_with('/') { path } else { format!("/bin/{path}").into() };
    let dialect = Dialect::of_program(&path);
    let is_known =
        dialect.is_posix() && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/');
    is_known.then(|| path.into_owned())
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL4005";
    const SAYS: &str = "use SHELL to change the default shell";

    #[test]
    fn the_command_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (ln -sfv /bin/bash "/bin/sh") \
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
    && b
RUN <<EOF
ln -s bash /bin/sh
^^^^^^^^^^^^^^^^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn other_links_and_mentions_are_silent() {
        check(RULE, "FROM a\nRUN ln -s /bin/sh /bin/x && echo ln -s bash /bin/sh && ln -s $A $B\n");
    }

    #[test]
    fn the_first_command_becomes_an_instruction() {
        let shell = "SHELL [\"/bin/bash\", \"-c\"]";
        let cases = [
            ("RUN ln -sf '/bin/bash' /bin/sh", shell.to_owned()),
            (
                "RUN ln -sf bash /bin/sh \\\n  && a $B \\\n  # why\n  c",
                format!("{shell}\nRUN a $B \\\n  # why\n  c"),
            ),
            (
                "# why\n# hadolint ignore=DL3059\nRUN ln -sf bash /bin/sh && a",
                format!("{shell}\n# why\n# hadolint ignore=DL3059\nRUN a"),
            ),
        ];
        for (before, after) in &cases {
            fixes(RULE, &[(before, after)]);
        }
        for text in [
            "RUN a && ln -sf /bin/bash /bin/sh",
            "RUN ln -sf /bin/bash /bin/sh; a",
            "RUN ln -sf \\\n  # why\n  /bin/bash /bin/sh",
            "RUN (ln -sf /bin/bash /bin/sh)",
            "SHELL [\"/bin/bash\", \"-euxo\", \"pipefail\", \"-c\"]\nRUN ln -sf /bin/bash /bin/sh && a",
            "SHELL [\"/bin/sh\", \"-c\"]\nRUN ln -sf /bin/bash /bin/sh",
            "ONBUILD RUN ln -sf /bin/bash /bin/sh",
            "RUN ln -sf $X /bin/sh",
            "RUN ln -sf /opt/tool /bin/sh",
            "RUN bash -c 'ln -sf /bin/bash /bin/sh'",
            "RUN <<EOF\nln -sf /bin/bash /bin/sh\nEOF",
            r#"RUN ["ln", "-sf", "/bin/bash", "/bin/sh"]"#,
        ] {
            fixes(RULE, &[(text, text)]);
        }
    }
}
