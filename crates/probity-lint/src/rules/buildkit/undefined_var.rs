//! Variables in a stage that nothing defines.

use std::collections::HashMap;

use probity_dockerfile::{Arguments, Instruction, Keyword};
use probity_finding::{Finding, Span};

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a variable in an instruction of a stage that no `ARG` and no `ENV` before it defines, in
    /// the words that the build itself expands. Those of `RUN`, `CMD` and `ENTRYPOINT` are the shell's
    /// business, and `EXPOSE` is not looked at. An `ONBUILD` is judged where a later stage of the file
    /// runs it.
    ///
    /// # Why it is bad
    ///
    /// The variable becomes an empty text without a warning: `COPY app $HOEM/bin` copies to `/bin`. An
    /// `ARG` before the first `FROM` does not reach into a stage; it has to be declared again there,
    /// and so have the platform arguments. What one `ENV` instruction defines is not yet defined
    /// within that instruction.
    ///
    /// A variable that the base image sets is unknown without a look into that image. Where one is
    /// meant, `ENV NAME=…` in the stage makes the dependence visible and ends the finding.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// ARG VERSION=1.2
    /// FROM alpine:3.20
    /// LABEL version=$VERSION
    /// ```
    ///
    /// ```dockerfile,good
    /// ARG VERSION=1.2
    /// FROM alpine:3.20
    /// ARG VERSION
    /// LABEL version=$VERSION
    /// ```
    UndefinedVar {
        name: "buildkit/UndefinedVar",
        severity: Warning,
        category: Correctness,
        url: "https://docs.docker.com/go/dockerfile/rule/undefined-var/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let first_from = context.facts.stages().first().map_or(0, |stage| stage.instruction);
    let (global, _) = context.file.instructions.split_at(first_from);
    let outside = definitions(global);
    for (index, instruction) in context.file.instructions.iter().enumerate().skip(first_from) {
        let references = context.facts.references(index).iter();
        let mut undefined = references.filter(|it| !it.matched && it.first).peekable();
        if instruction.keyword == Keyword::From || undefined.peek().is_none() {
            continue;
        }
        let own = definitions(std::slice::from_ref(instruction));
        for reference in undefined {
            let name = &reference.name;
            let mut message = format!("Usage of undefined variable '${name}'");
            if let Some(suggestion) = &reference.suggestion {
                message.push_str(&format!(" (did you mean ${suggestion}?)"));
            }
            let finding = context.finding(reference.span, message);
            let redeclare = || format!("declare it in the stage too: `ARG {name}`");
            findings.push(if let Some(&span) = own.get(name.as_str()) {
                finding
                    .with_detail(
                        "split the instruction: its words see only what was defined before it",
                    )
                    .with_related(span, "defined here, by the same instruction")
            } else if let Some(&span) = outside.get(name.as_str()) {
                finding
                    .with_detail(redeclare())
                    .with_related(span, "declared here, outside the stage")
            } else if context.facts.scope(first_from).get(name).is_some() {
                finding.with_detail(redeclare())
            } else {
                finding
            });
        }
    }
}

/// Where instructions define variables.
fn definitions(instructions: &[Instruction]) -> HashMap<&str, Span> {
    let mut found = HashMap::new();
    for instruction in instructions {
        let defines = matches!(instruction.keyword, Keyword::Arg | Keyword::Env);
        if let (Arguments::Pairs { pairs, .. }, true) = (&instruction.arguments, defines) {
            found.extend(pairs.iter().map(|pair| (pair.key.text.as_str(), pair.key.span)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::harness::{check, run};

    const RULE: &str = "buildkit/UndefinedVar";

    #[test]
    fn the_reference_is_underlined() {
        check(
            RULE,
            "\
FROM a
COPY $x \"b/${yy}\" /
     ^^ Usage of undefined variable '$x'
           ^^^^^ Usage of undefined variable '$yy'
ENV P=\"$PAHT\" \\
       ^^^^^ Usage of undefined variable '$PAHT' (did you mean $PATH?)
  # between
  Q=a$b$c$b R=$b
     ^^ Usage of undefined variable '$b'
       ^^ Usage of undefined variable '$c'
              ^^ Usage of undefined variable '$b'
LABEL a=${none:-default}
        ^^^^^^^^^^^^^^^^ Usage of undefined variable '$none'
USER ${PATH:+$user}
             ^^^^^ Usage of undefined variable '$user'
COPY --chown=$own <<-EOF /x
             ^^^^ Usage of undefined variable '$own'
\ttext '$here'
       ^^^^^ Usage of undefined variable '$here'
\tEOF
RUN --mount=type=cache,target=$cache go build $x
                              ^^^^^^ Usage of undefined variable '$cache'
",
        );
    }

    #[test]
    fn what_comes_from_elsewhere_is_defined() {
        check(
            RULE,
            "\
ARG GLOBAL=1 LOST=$none
FROM a AS base
ARG GLOBAL BARE TARGETARCH
ENV FIRST=$GLOBAL$BARE$TARGETARCH PATH=/bin:$PATH
ONBUILD ENV LATE=$FIRST
FROM base AS next
ENV SECOND=$FIRST$BARE$LATE
FROM next
USER $SECOND
LABEL a='$single' b=\\$escaped c=\"\\$escaped\"
RUN echo $shell
CMD echo $shell
ENTRYPOINT [\"echo\", \"$shell\"]
HEALTHCHECK CMD echo $shell
EXPOSE $port
COPY <<\"EOF\" /x
$raw
EOF
ONBUILD USER $whoever
",
        );
    }

    #[test]
    fn scopes_end_with_their_stage() {
        check(
            RULE,
            "\
ARG GLOBAL=1
FROM a AS base
ARG ONE=1
USER $GLOBAL
     ^^^^^^^ Usage of undefined variable '$GLOBAL'
FROM a
USER $ONE$TARGETPLATFORM
     ^^^^ Usage of undefined variable '$ONE'
         ^^^^^^^^^^^^^^^ Usage of undefined variable '$TARGETPLATFORM'
ENV A=1 B=$A
          ^^ Usage of undefined variable '$A'
",
        );
    }

    #[test]
    fn a_trigger_is_judged_where_it_runs() {
        check(
            RULE,
            "\
FROM a AS base
ONBUILD ENV LATE=$KNOWN$unknown
                       ^^^^^^^^ Usage of undefined variable '$unknown'
ENV KNOWN=1
FROM base
FROM base
",
        );
    }

    #[test]
    fn the_declaration_that_does_not_reach_is_pointed_at() {
        let related = |text: &str| {
            let found = run(RULE, text);
            found[0].related.first().map(|it| (it.span.start, it.message.clone()))
        };
        let outside = "declared here, outside the stage".to_owned();
        assert_eq!(related("ARG G=1\nFROM a\nUSER $G\n"), Some((4, outside)));
        let same = "defined here, by the same instruction".to_owned();
        assert_eq!(related("FROM a\nENV A=1 B=$A\n"), Some((11, same)));
        assert_eq!(related("FROM a\nUSER $TARGETARCH\n"), None);
    }
}
