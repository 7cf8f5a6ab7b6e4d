//! Changing directory by hand.

use probity_dockerfile::Keyword;
use probity_finding::{Edit, Finding, Fix};
use probity_shell::{Joiner, Script, StageKind};

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `cd` in a `RUN`.
    ///
    /// A `cd` in a subshell is left alone: it is undone at the closing parenthesis, and `WORKDIR`
    /// cannot do that. hadolint flags it.
    ///
    /// # Why it is bad
    ///
    /// The directory is forgotten at the end of the `RUN`, which surprises whoever adds the next one.
    /// `WORKDIR` stays, and makes the directory where it is missing.
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
    /// Unsafe: `WORKDIR` also holds for everything behind this `RUN`, and makes the directory where
    /// `cd` would have failed. Offered only where the `cd` to an absolute path is the first command
    /// and joined by `&&`.
    Dl3003 {
        name: "hadolint/DL3003",
        severity: Warning,
        category: BestPractice,
        fixes: Unsafe,
        url: "https://github.com/hadolint/hadolint/wiki/DL3003",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
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
                let fix = fix(script, run.keyword_span.start)
                    .filter(|_| script.commands.first() == Some(command) && run.flags.is_empty());
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

/// `RUN cd /x && rest` becomes `WORKDIR /x` and `RUN rest`.
fn fix(script: &Script, start: usize) -> Option<Fix> {
    let [first, second, ..] = script.blocks.first()?.pipelines.as_slice() else { return None };
    let [stage] = first.stages.as_slice() else { return None };
    let StageKind::Command(index) = stage.kind else { return None };
    let command = script.commands.get(index)?;
    let [name, directory] = command.words.as_slice() else { return None };
    let path = directory.literal().filter(|path| path.starts_with('/'))?;
    let is_plain = name.is("cd")
        && command.assignments.is_empty()
        && command.redirections.is_empty()
        && !first.negated
        && second.joiner == Joiner::And
        && !path.contains(['$', ' ', '"', '\'', '\\', '\n'])
        // What stands between must be nothing but the command line itself.
        && name.span.start >= start;
    let edit = Edit::replace(
        probity_finding::Span::new(start, second.span.start),
        format!("WORKDIR {path}\nRUN "),
    );
    is_plain.then(|| Fix::risky("use WORKDIR", vec![edit]))
}

#[cfg(test)]
mod tests {
    use probity_finding::Applicability;

    use crate::harness::{check, fix_with};

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
            let text = format!("FROM a\n{run}\n");
            assert_eq!(fix_with(RULE, &text, Applicability::Unsafe, |_| {}), text);
        }
    }
}
