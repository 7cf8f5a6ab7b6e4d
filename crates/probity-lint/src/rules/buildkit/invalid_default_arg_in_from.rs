//! Base images that have no name unless the build is given arguments.

use std::collections::HashMap;

use probity_dockerfile::{Arguments, ImageRef, Keyword};
use probity_finding::{Finding, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a base image whose name is empty or invalid in a build without build arguments.
    ///
    /// In such a build every `ARG` has its default value. The rule also checks names without
    /// variables. It ignores names with a platform argument, because the build decides their value.
    ///
    /// # Why it is bad
    ///
    /// A plain `docker build .` fails with a message about the image reference, not about the
    /// missing argument. Users must read the file to learn which argument to pass.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// ARG TAG
    /// FROM alpine:${TAG}
    /// ```
    ///
    /// ```dockerfile,good
    /// ARG TAG=3.20
    /// FROM alpine:${TAG}
    /// ```
    ///
    /// ```dockerfile,good
    /// ARG TAG
    /// FROM alpine:${TAG:-3.20}
    /// ```
    InvalidDefaultArgInFrom {
        name: "buildkit/InvalidDefaultArgInFrom",
        severity: Error,
        category: Correctness,
        url: "https://docs.docker.com/go/dockerfile/rule/invalid-default-arg-in-from/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let declarations = declarations(context);
    for stage in context.facts.stages() {
        let from = context.file.instructions.get(stage.instruction);
        let Some(Arguments::From { image: Some(word), .. }) = from.map(|from| &from.arguments)
        else {
            continue;
        };
        let Some(name) = stage.image.value.as_deref() else { continue };
        let Err(error) = ImageRef::parse(name) else { continue };
        let message = format!(
            "Default value for ARG {} results in empty or invalid base image name",
            word.text
        );
        let mut finding = context.finding(word.span, message).with_detail(error.to_string());
        let references = context.facts.references(stage.instruction).iter();
        for reference in
            references.filter(|reference| reference.first && word.span.encloses(reference.span))
        {
            if let Some(&(span, about)) = declarations.get(reference.name.as_str()) {
                finding = finding.with_related(span, about);
            }
        }
        findings.push(finding);
    }
}

/// The arguments before the first FROM, each with what there is to say about its last declaration.
fn declarations<'a>(context: &Context<'a>) -> HashMap<&'a str, (Span, &'static str)> {
    let mut found = HashMap::new();
    let global = context.each(Keyword::Arg).filter(|&(at, _)| context.facts.stage_of(at).is_none());
    for (_, arg) in global {
        let Arguments::Pairs { pairs, .. } = &arg.arguments else { continue };
        for pair in pairs {
            let about = match &pair.value {
                None => "declared here without a default",
                Some(_) => "this is its default",
            };
            found.insert(pair.key.text.as_str(), (pair.span, about));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "buildkit/InvalidDefaultArgInFrom";

    #[test]
    fn the_name_of_the_image_is_underlined() {
        check(
            RULE,
            "\
ARG TAG
FROM alpine:${TAG} AS one
     ^^^^^^^^^^^^^ Default value for ARG alpine:${TAG} results in empty or invalid base image name
ARG TAG=3
FROM \\
  alpine:$TAG
  ^^^^^^^^^^^ Default value for ARG alpine:$TAG results in empty or invalid base image name
",
        );
        check(
            RULE,
            "\
ARG NAME
ARG UPPER=Alpine
ARG OTHER=$UPPER
FROM \"$NAME\"
     ^^^^^^^ Default value for ARG \"$NAME\" results in empty or invalid base image name
FROM $NAME$OTHER
     ^^^^^^^^^^^ Default value for ARG $NAME$OTHER results in empty or invalid base image name
FROM alpine@sha256:1
     ^^^^^^^^^^^^^^^ Default value for ARG alpine@sha256:1 results in empty or invalid base image name
",
        );
    }

    #[test]
    fn defaults_and_unknown_values_pass() {
        check(
            RULE,
            "\
ARG TAG
ARG BASE=alpine
ARG FULL=${BASE}:${TAG:-3}
FROM alpine:${TAG:-3} AS one
FROM ${FULL}${TAG}
FROM ${TAG:+x/}alpine${TAG:+:$TAG}
FROM one
FROM scratch
FROM alpine-$TARGETVARIANT
FROM ${BASE:?}
FROM ${BASE
FROM
",
        );
    }

    #[test]
    fn the_argument_is_pointed_at() {
        let found = run(RULE, "ARG TAG\nARG NAME=A\nFROM $NAME:$TAG\n");
        let related: Vec<_> = found[0]
            .related
            .iter()
            .map(|related| (related.span.start, related.message.as_str()))
            .collect();
        let expected = [(12, "this is its default"), (4, "declared here without a default")];
        assert_eq!(related, expected);
    }
}
