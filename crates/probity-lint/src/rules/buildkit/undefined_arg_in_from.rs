//! Variables in FROM that no ARG declares.

use std::collections::HashMap;

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Finding, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a variable in `FROM` that no `ARG` before the first `FROM` declares.
    ///
    /// The rule checks the image name and `--platform`. The platform arguments, such as
    /// `TARGETPLATFORM` and `BUILDARCH`, need no declaration.
    ///
    /// # Why it is bad
    ///
    /// The variable is empty in every build. `--build-arg` cannot change that, because only
    /// declared arguments accept a value. Either the name is misspelled, or its `ARG` is inside a
    /// stage, where no `FROM` sees it. A default such as `${NAME:-value}` hides the mistake,
    /// because the build always uses the default.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22${VARIANT} AS build
    /// ARG VARIANT=-alpine
    /// ```
    ///
    /// ```dockerfile,good
    /// ARG VARIANT=-alpine
    /// FROM node:22${VARIANT} AS build
    /// ```
    UndefinedArgInFrom {
        name: "buildkit/UndefinedArgInFrom",
        severity: Warning,
        category: Correctness,
        url: "https://docs.docker.com/go/dockerfile/rule/undefined-arg-in-from/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let declarations = declarations(context);
    for (index, _) in context.each(Keyword::From) {
        let references = context.facts.references(index).iter();
        for reference in references.filter(|reference| !reference.matched && reference.first) {
            let name = &reference.name;
            let mut message = format!("FROM argument '{name}' is not declared");
            if let Some(suggestion) = &reference.suggestion {
                message.push_str(&format!(" (did you mean {suggestion}?)"));
            }
            let finding = context.finding(reference.span, message);
            findings.push(match declarations.get(name.as_str()) {
                None => finding
                    .with_detail(format!("declare it before the first FROM: `ARG {name}=default`")),
                Some(&span) => finding
                    .with_detail(format!("move `ARG {name}` before the first FROM"))
                    .with_related(span, "declared here, inside a stage, where no FROM sees it"),
            });
        }
    }
}

/// Where arguments are declared. One that FROM does not know and that is among them stands in a stage.
fn declarations<'a>(context: &Context<'a>) -> HashMap<&'a str, Span> {
    let mut found = HashMap::new();
    for (_, arg) in context.each(Keyword::Arg) {
        let Arguments::Pairs { pairs, .. } = &arg.arguments else { continue };
        for pair in pairs {
            found.entry(pair.key.text.as_str()).or_insert(pair.key.span);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "buildkit/UndefinedArgInFrom";

    #[test]
    fn the_reference_is_underlined() {
        check(RULE, "FROM alpine:$TAG\n            ^^^^ FROM argument 'TAG' is not declared\n");
        check(
            RULE,
            "\
ARG VERSION=1
FROM alpine:${VERSON} AS build
            ^^^^^^^^^ FROM argument 'VERSON' is not declared (did you mean VERSION?)
ARG TAG
FROM \"$TAG\"
      ^^^^ FROM argument 'TAG' is not declared
FROM ${TAG:-alpine}
     ^^^^^^^^^^^^^^ FROM argument 'TAG' is not declared
FROM --platform=$TARGETPLATFROM alpine
                ^^^^^^^^^^^^^^^ FROM argument 'TARGETPLATFROM' is not declared (did you mean TARGETPLATFORM?)
",
        );
    }

    #[test]
    fn several_in_one_word_and_over_lines() {
        check(
            RULE,
            "\
FROM $REGISTRY/$REGISTRY/a:$TAG
     ^^^^^^^^^ FROM argument 'REGISTRY' is not declared
                           ^^^^ FROM argument 'TAG' is not declared
FROM \\
  # why not
  --platform=$P \\
             ^^ FROM argument 'P' is not declared
  alpine:$P
         ^^ FROM argument 'P' is not declared
",
        );
    }

    #[test]
    fn declared_and_predefined_arguments_pass() {
        check(
            RULE,
            "\
ARG TAG
ARG FULL=alpine:${OTHER} ANY=$FULL
FROM --platform=$BUILDPLATFORM alpine:${TAG:-3} AS stage-$TARGETARCH
FROM $ANY-$TARGETVARIANT-\\$ESCAPED-'$QUOTED'
RUN echo $TAG2
",
        );
    }

    #[test]
    fn an_argument_of_a_stage_is_pointed_at() {
        let found = run(RULE, "FROM a AS b\nARG TAG=1\nFROM a:$TAG\n");
        let related: Vec<_> =
            found[0].related.iter().map(|related| (related.span.start, related.span.end)).collect();
        assert_eq!(related, [(16, 19)]);
        assert!(run(RULE, "FROM a:$TAG\n")[0].related.is_empty());
    }
}
