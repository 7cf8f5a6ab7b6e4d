//! Copies from a stage that holds nothing.

use probity_dockerfile::{Base, Keyword, Stage, StageReferenceKind, Target};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY --from` whose source stage contains no files.
    ///
    /// A stage is empty if it starts `FROM scratch` and has no `COPY`, `ADD`, `RUN`, `WORKDIR` or
    /// `ONBUILD`. If it is based on other stages, they must be empty as well. The rule also flags
    /// `COPY --from=scratch`.
    ///
    /// # Why it is bad
    ///
    /// The stage has nothing to copy, so the build fails with `not found`. The author often meant
    /// another stage.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.23 AS build
    /// RUN go install example.com/app@v1.0.0
    /// FROM scratch AS artifacts
    /// FROM debian:12-slim
    /// COPY --from=artifacts /go/bin/app /usr/local/bin/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.23 AS build
    /// RUN go install example.com/app@v1.0.0
    /// FROM scratch AS artifacts
    /// COPY --from=build /go/bin/app /go/bin/app
    /// FROM debian:12-slim
    /// COPY --from=artifacts /go/bin/app /usr/local/bin/
    /// ```
    CopyFromEmptyStage {
        name: "probity/copy-from-empty-stage",
        severity: Error,
        category: Correctness,
        equals: &["tally/copy-from-empty-scratch-stage"],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let stages = context.facts.stages();
    for reference in context.facts.graph().references() {
        if reference.kind != StageReferenceKind::Copy {
            continue;
        }
        let is_empty = match &reference.target {
            Target::Scratch => true,
            target => {
                let stage = target.stage().filter(|target| *target != reference.stage);
                stage
                    .and_then(|stage| stages.get(stage))
                    .is_some_and(|stage| is_empty(context, stage))
            }
        };
        if is_empty {
            let message = format!("{} is empty, so there is nothing to copy", reference.text);
            findings.push(context.finding(reference.span, message));
        }
    }
}

/// Whether a stage starts from nothing and no instruction of it, or of those below, makes a file.
fn is_empty(context: &Context<'_>, stage: &Stage) -> bool {
    let stages = context.facts.stages();
    let is_bare = stages.get(stage.root).is_some_and(|root| root.base == Base::Scratch);
    let mut below = context.with_bases(stage);
    is_bare
        && below.all(|stage| {
            let own = context.file.instructions.get(stage.instructions.clone());
            !own.unwrap_or_default().iter().any(|instruction| makes_files(instruction.keyword))
        })
}

fn makes_files(keyword: Keyword) -> bool {
    use Keyword::{Add, Copy, Onbuild, Run, Unknown, Workdir};
    matches!(keyword, Add | Copy | Run | Workdir | Onbuild | Unknown)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/copy-from-empty-stage";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
FROM scratch AS x
ENV A=b
FROM x AS y
LABEL c=d
FROM e
COPY --from=Y /f /g
            ^ Y is empty, so there is nothing to copy
COPY --chown=1 --from=0 /f /g
                      ^ 0 is empty, so there is nothing to copy
COPY --from=scratch /f /g
            ^^^^^^^ scratch is empty, so there is nothing to copy
",
        );
    }

    #[test]
    fn stages_with_files_are_silent() {
        for instruction in ["COPY a /b", "ADD a /b", "RUN [\"/a\"]", "WORKDIR /f"] {
            check(
                RULE,
                &format!(
                    "FROM scratch AS x\n{instruction}\nFROM x AS y\nFROM e\nCOPY --from=y /f /g\n"
                ),
            );
        }
        check(RULE, "FROM a AS x\nFROM b\nCOPY --from=x c d\nCOPY --from=img:1 c d\n");
    }
}
