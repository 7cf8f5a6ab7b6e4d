//! Stages that need each other.

use probity_dockerfile::{Stage, StageReference, StageReferenceKind};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags stages that depend on each other in a cycle.
    ///
    /// A stage depends on another stage through `FROM`, `COPY --from` or the `from` option of a
    /// mount. The finding points to the first `COPY --from` or mount in the cycle.
    ///
    /// `hadolint/DL3023` reports a stage that copies from itself.
    ///
    /// # Why it is bad
    ///
    /// The builder cannot build any stage in the cycle before the others, so the build fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.23 AS build
    /// COPY --from=assets /dist /src/dist
    /// FROM node:22 AS assets
    /// COPY --from=build /src/api.json /web/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22 AS assets
    /// COPY web /web
    /// FROM golang:1.23 AS build
    /// COPY --from=assets /dist /src/dist
    /// ```
    CircularStages {
        name: "probity/circular-stages",
        severity: Error,
        category: Correctness,
        equals: &["tally/circular-stage-deps"],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let graph = context.facts.graph();
    let stages = context.facts.stages();
    let mut links: Vec<Vec<&StageReference>> = vec![Vec::new(); graph.cycles().len()];
    for reference in graph.references().iter().filter(|reference| is_link(reference)) {
        if let Some(own) = graph.cycle_of(reference).and_then(|cycle| links.get_mut(cycle)) {
            own.push(reference);
        }
    }
    for (cycle, mut links) in graph.cycles().iter().zip(links) {
        links.sort_by_key(|reference| reference.span);
        let Some((first, more)) = links.split_first() else { continue };
        let names: Vec<String> = cycle.iter().filter_map(|&at| stages.get(at)).map(name).collect();
        let message = match names.as_slice() {
            [only] => format!("stage {only} needs itself, so it cannot be built"),
            _ => format!("stages {} need each other, so none can be built", names.join(" and ")),
        };
        let finding = context.finding(first.span, message);
        findings.push(more.iter().fold(finding, |finding, link| {
            finding.with_related(link.span, "the cycle continues here")
        }));
    }
}

/// Every circle has a link that is not a `FROM`, which only goes back. A stage that copies from itself
/// is another rule's.
fn is_link(reference: &StageReference) -> bool {
    match reference.kind {
        StageReferenceKind::From => false,
        StageReferenceKind::Copy => reference.target.stage() != Some(reference.stage),
        StageReferenceKind::Mount => true,
    }
}

fn name(stage: &Stage) -> String {
    stage.name.clone().unwrap_or_else(|| stage.index.to_string())
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/circular-stages";

    #[test]
    fn the_first_link_is_underlined() {
        check(
            RULE,
            "\
FROM a AS x
COPY --from=Y b c
            ^ stages x and y need each other, so none can be built
FROM x AS y
RUN d
FROM e AS z
RUN --mount=type=bind,from=z,target=/z f
                           ^ stage z needs itself, so it cannot be built
",
        );
        check(
            RULE,
            "\
FROM a AS x
RUN --mount=type=bind,from=y,target=/y b
                           ^ stages x and y and z need each other, so none can be built
FROM a AS y
COPY --from=2 b c
FROM a AS z
COPY --from=x b c
",
        );
    }

    #[test]
    fn straight_lines_and_copies_of_oneself_are_silent() {
        check(RULE, "FROM a AS x\nFROM x AS y\nCOPY --from=x b c\nFROM y\nCOPY --from=y b c\n");
        check(RULE, "FROM a AS x\nCOPY --from=x b c\nFROM a AS a\nFROM a\n");
    }
}
