//! An instruction that has become part of the RUN before it.

use probity_dockerfile::Keyword;
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{CompoundKind, Script, StageKind, Word};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an instruction name in capitals that is part of the `RUN` above it.
    ///
    /// The name is a command of the `RUN` script or the first word of a line, as in `RUN … && \`
    /// followed by `RUN …`.
    ///
    /// The rule ignores names in these places:
    ///
    /// - in quotes;
    /// - in a here-document that a command reads;
    /// - as a later argument, as in `echo RUN`;
    /// - in a script that defines a function with that name.
    ///
    /// # Why it is bad
    ///
    /// The line before ends with a backslash, or a here-document has not ended. The builder
    /// therefore does not see a new instruction. The shell runs a program called `RUN`, or `COPY`
    /// becomes an argument. The build fails, or it silently does something else.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apt-get update && \
    ///     RUN apt-get install -y curl
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN apt-get update && \
    ///     apt-get install -y curl
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update && \
    ///     apt-get install -y curl
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. If the name is `RUN` before a command, the fix removes it. One layer then
    /// contains commands that the author may have meant for two.
    ///
    /// probity offers no fix if the name is another instruction or an argument. In that case, the
    /// end of the line before is wrong.
    NestedRun {
        name: "probity/nested-run",
        severity: Error,
        category: Correctness,
        fixes: Suggestion,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            for command in &script.commands {
                for (at, word) in command.words.iter().enumerate() {
                    let Some(name) = instruction(word) else { continue };
                    let is_command = at == 0 && command.assignments().is_empty();
                    if !is_command && !begins_line(context.file.text, word.span())
                        || defines(script, name)
                    {
                        continue;
                    }
                    let message = format!(
                        "this {name} is an argument of the `RUN` above, which ends with a backslash"
                    );
                    let finding = context.finding(word.span(), message);
                    let next = command.words.get(at + 1).filter(|_| is_command && name == "RUN");
                    findings.push(match next {
                        Some(next) => {
                            let edit =
                                Edit::delete(Span::new(word.span().start, next.span().start));
                            finding.with_fix(Fix::suggestion("remove `RUN`", vec![edit]))
                        }
                        None => finding,
                    });
                }
            }
        }
    }
}

/// The name of an instruction, written without quotes and in capitals.
fn instruction(word: &Word) -> Option<&str> {
    let name = word.text();
    (Keyword::of(name) != Keyword::Unknown && name.bytes().all(|byte| byte.is_ascii_uppercase()))
        .then_some(name)
}

fn begins_line(text: &str, span: Span) -> bool {
    let before = text.get(..span.start).unwrap_or_default();
    before.trim_end_matches([' ', '\t']).ends_with('\n')
}

fn defines(script: &Script, name: &str) -> bool {
    let stages = script
        .blocks
        .iter()
        .flat_map(|block| &block.pipelines)
        .flat_map(|pipeline| &pipeline.stages);
    stages.into_iter().any(|stage| match &stage.kind {
        StageKind::Compound(compound) => {
            compound.kind == CompoundKind::Function
                && compound.words.iter().any(|word| word.is(name))
        }
        StageKind::Command(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "probity/nested-run";
    const SAYS: &str = "is an argument of the `RUN` above, which ends with a backslash";

    #[test]
    fn the_word_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN apt-get update && \
  RUN apt-get install b
  ^^^ this RUN {SAYS}
RUN apt-get install b \
# why
COPY c d
^^^^ this COPY {SAYS}
RUN (a; RUN "$b")
        ^^^ this RUN {SAYS}
RUN <<EOF
set -e
RUN a
^^^ this RUN {SAYS}
EOF
RUN x=$(RUN a)
        ^^^ this RUN {SAYS}
"#
            ),
        );
    }

    #[test]
    fn what_only_mentions_the_word_is_fine() {
        check(RULE, "FROM a\nRUN echo RUN 'RUN' && echo \"\\\n RUN b\" && $RUN a && run b\n");
        check(RULE, "FROM a\nRUN cat <<EOF > Dockerfile\nRUN a\nEOF\n");
        check(RULE, "FROM a\nRUN <<EOF\nRUN() { \"$@\"; }\nRUN a\nEOF\n");
        check(RULE, "FROM a\nRUN a\nRUN b\n");
    }

    #[test]
    fn the_word_goes() {
        fixed(RULE, "FROM a\nRUN a && \\\n    RUN b c\n", "FROM a\nRUN a && \\\n    b c\n");
        fixed(RULE, "FROM a\nRUN a \\\nCOPY b c\n", "FROM a\nRUN a \\\nCOPY b c\n");
    }
}
