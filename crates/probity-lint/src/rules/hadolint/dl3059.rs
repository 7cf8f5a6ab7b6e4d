//! One layer where there are two.

mod shell_state;

use probity_dockerfile::{Arguments, Command, Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Script, StageKind};

use self::shell_state::leaves_shell_alone;
use crate::{engine::context::Context, text::lines};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that directly follows another `RUN` with the same flags.
    ///
    /// The rule flags the pair only if each `RUN` is a single command.
    ///
    /// # Why it is bad
    ///
    /// Each `RUN` creates a layer. If one `RUN` installs files and the next removes them, they stay
    /// in the image.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN make
    /// RUN make install
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN make \
    ///     && make install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN make && make install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix joins the two commands with `&&`. The same commands run in the same
    /// order. But the build then caches both commands as one step, and the author may have
    /// separated them on purpose.
    ///
    /// probity offers no fix if:
    ///
    /// - a comment is between the two instructions;
    /// - a linter directive belongs to one of them;
    /// - one of them is in exec form or has a here-document;
    /// - one of them is not a simple command, for example a background command (`&`);
    /// - one of them may change its shell (`cd`, `export`, `${A:=b}`), because the change would
    ///   also affect the other.
    ///
    /// probity joins a shell builtin only if the builtin is known to leave the shell unchanged.
    Dl3059 {
        name: "hadolint/DL3059",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3059",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let step = lines::indentation(context.file);
    for (index, pair) in context.file.instructions.windows(2).enumerate() {
        let [first, second] = pair else { continue };
        let are_runs = first.keyword == Keyword::Run && second.keyword == Keyword::Run;
        let same_flags = flags(first) == flags(second);
        // Whoever has joined commands already has decided what belongs together.
        let is_single = |at: usize| commands(context, at) <= 1;
        if are_runs && same_flags && is_single(index) && is_single(index + 1) {
            let message = "consecutive RUN instructions; consider one";
            let finding = context
                .finding(second.keyword_span(), message)
                .with_related(first.keyword_span(), "the one before");
            let fix = fix(context, index, &step);
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

/// Joins the `RUN` behind this one to it.
fn fix(context: &Context<'_>, index: usize, step: &str) -> Option<Fix> {
    let instructions = &context.file.instructions;
    let (first, second) = (instructions.get(index)?, instructions.get(index + 1)?);
    let gap = Span::new(first.span.end, second.span.start);
    let between = gap.slice(context.file.text)?;
    let shells = |at: usize| context.facts.state(at).map(|state| &state.shell);
    let is_plain = between.trim().is_empty()
        && first.heredocs().is_empty()
        && second.heredocs().is_empty()
        && !has_directive(context, index)
        && shells(index) == shells(index + 1);
    let end = own_end(context.scripts(index).first()?)?;
    own_end(context.scripts(index + 1).first()?)?;
    let Arguments::Command(Command::Shell(_)) = &first.arguments else { return None };
    let Arguments::Command(Command::Shell(command)) = &second.arguments else { return None };
    let rest = Span::new(end, first.span.end).slice(context.file.text)?;
    let line_end = lines::line_end(context.file.text);
    let joined = format!(" {}{line_end}{step}&& ", context.file.escape);
    let edit = Edit::replace(Span::new(end, command.span.start), joined);
    (is_plain && rest.trim().is_empty()).then(|| Fix::suggestion("join them", vec![edit]))
}

/// Whether a comment at one of the two may tell a linter to be silent about it.
fn has_directive(context: &Context<'_>, index: usize) -> bool {
    let text = context.file.text;
    let instructions = context.file.instructions.iter();
    let before = index.checked_sub(1).and_then(|it| context.file.instructions.get(it));
    let start = before.map_or(0, |instruction| instruction.span.end);
    let pair: Vec<&Instruction> = instructions.skip(index).take(2).collect();
    let end = pair.first().map_or(start, |instruction| instruction.span.start);
    let above = Span::new(start, end).slice(text).into_iter();
    let inner = pair.iter().flat_map(|instruction| instruction.inner_comments());
    let inner = inner.filter_map(|comment| comment.span.slice(text));
    above.chain(inner).any(|comment| {
        let comment = comment.to_ascii_lowercase();
        ["ignore", "disable", "skip", "shell"].iter().any(|word| comment.contains(word))
    })
}

/// Where a text of one simple command ends; none where it is something else, or one that may change
/// its shell.
fn own_end(script: &Script) -> Option<usize> {
    let command = script.only_command()?;
    let pipeline = script.pipeline(command.place)?;
    let is_harmless = script.errors().is_empty()
        && script.commands.len() == 1
        && leaves_shell_alone(command)
        && !pipeline.negated
        && !pipeline.background
        && matches!(&*pipeline.stages, [stage] if matches!(stage.kind, StageKind::Command(_)));
    is_harmless.then_some(pipeline.span.end)
}

fn flags(run: &Instruction) -> Vec<(&str, Option<&str>)> {
    let flags = run.flags.iter();
    flags
        .map(|flag| (flag.name.text.as_str(), flag.value.as_ref().map(|value| value.text.as_str())))
        .collect()
}

fn commands(context: &Context<'_>, index: usize) -> usize {
    let is_exec = context
        .file
        .instructions
        .get(index)
        .is_some_and(|run| matches!(run.arguments, Arguments::Command(Command::Json { .. })));
    if is_exec {
        return 1;
    }
    let mut end = 0;
    // A text behind the one that contains it is an argument: `sh -c 'a && b'` is one command.
    let texts = context.scripts(index).iter().filter(|script| {
        let is_argument = script.span.end <= end;
        end = end.max(script.span.end);
        !is_argument
    });
    // What only sets a variable runs nothing.
    texts.flat_map(|script| &script.commands).filter(|command| !command.words.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3059";
    const SAYS: &str = "consecutive RUN instructions; consider one";

    #[test]
    fn the_second_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN a
# why

RUN b
^^^ {SAYS}
RUN [\"c\"]
^^^ {SAYS}
RUN A=2; d
^^^ {SAYS}
RUN B=3; d
^^^ {SAYS}
RUN sh -c 'a && b'
^^^ {SAYS}
RUN c
^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn others_between_other_flags_and_joined_ones_are_silent() {
        for text in [
            "RUN a\nENV b=c\nRUN d",
            "RUN a\nRUN --mount=type=cache,target=/x b",
            "RUN a && b\nRUN f",
            "RUN a\nRUN a; b",
            "RUN a | b\nRUN c",
            "RUN a\nFROM b\nRUN c",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn commands_are_joined_as_they_are_written() {
        fixes(
            RULE,
            &[
                ("RUN a 'b && c'\n\nRUN d $E", "RUN a 'b && c' \\\n    && d $E"),
                (
                    "RUN a \\\n  # why\n  b\nRUN c \\\n  d",
                    "RUN a \\\n  # why\n  b \\\n  && c \\\n  d",
                ),
                ("RUN --network=none a\nRUN --network=none b", "RUN --network=none a \\\n    && b"),
                ("RUN a\r\nRUN b\r", "RUN a \\\n    && b\r"),
                (
                    "COPY <<-E /x\n\ta\n\tE\nRUN a\nRUN b",
                    "COPY <<-E /x\n\ta\n\tE\nRUN a \\\n    && b",
                ),
                (
                    "# why\nRUN echo \"${A:-b}\" >c\nRUN A=b printf '%s' $C",
                    "# why\nRUN echo \"${A:-b}\" >c \\\n    && A=b printf '%s' $C",
                ),
            ],
        );
        for text in [
            "RUN a\n# why\nRUN b",
            "RUN cd /a\nRUN b",
            "RUN A=b\nRUN c",
            "RUN A=2; make\nRUN B=3; make",
            "RUN a &\nRUN b",
            "RUN a;\nRUN b",
            "RUN a # b\nRUN c",
            "RUN [\"a\"]\nRUN b",
            "RUN a\nRUN <<EOF\nb\nEOF",
            "RUN (a)\nRUN b",
            "RUN command cd /tmp\nRUN b",
            "RUN builtin cd /tmp\nRUN b",
            "RUN : \"${PREFIX:=/opt}\"\nRUN b",
            "RUN echo $((X=5))\nRUN b",
            "RUN echo ${X:=6}\nRUN b",
            "RUN echo a >${X:=6}\nRUN b",
            "RUN echo ${Y:-${X:=6}}\nRUN b",
            "RUN let X=1\nRUN b",
            "RUN printf -v FOO x\nRUN b",
            "RUN enable -n echo\nRUN b",
            "RUN X=1 :\nRUN b",
            "RUN $CD /tmp\nRUN b",
            "# hadolint ignore=DL3003\nRUN a\nRUN b",
            "# hadolint ignore=DL3003\n\nRUN a\nRUN b",
            "RUN a\nRUN b \\\n  # shellcheck disable=SC2086\n  c",
        ] {
            fixes(RULE, &[(text, text)]);
        }
    }
}
