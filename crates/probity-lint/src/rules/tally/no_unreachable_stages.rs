//! Stages that no image needs.

use std::collections::HashSet;

use probity_dockerfile::{Base, Setting, Stage, StageReference, StageReferenceKind, Target};
use probity_finding::Finding;

use crate::engine::{context::Context, uses::BuildUses};

rule! {
    /// # What it does
    ///
    /// Flags a stage that the final stage does not use.
    ///
    /// The final stage uses another stage if it is based on it, or if it copies or mounts files
    /// from it. Use through other stages counts, too.
    ///
    /// The rule ignores these stages, and all stages that they use:
    ///
    /// - stages named `test`, `dev`, `debug`, `lint` or similar;
    /// - named stages with their own `CMD` or `ENTRYPOINT`;
    /// - stages that a Compose or Bake file builds as a target.
    ///
    /// The rule ignores the whole file if a build argument selects a stage. It also does so if a
    /// `COPY --from` names a stage that does not exist, because that name is the mistake.
    ///
    /// # Why it is bad
    ///
    /// A build skips such a stage, so nobody notices when the stage stops building. Either another
    /// stage should use it, or you can remove it. If you build the stage with `--target`, add a
    /// directive that suppresses this finding.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.22 AS build
    /// RUN go build -o /app .
    /// FROM debian:12
    /// CMD ["/app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS build
    /// RUN go build -o /app .
    /// FROM debian:12
    /// COPY --from=build /app /app
    /// CMD ["/app"]
    /// ```
    NoUnreachableStages {
        name: "tally/no-unreachable-stages",
        severity: Warning,
        category: BestPractice,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let graph = context.facts.graph();
    // Where a build argument says which stage is meant, another build needs another one.
    let is_chosen =
        |stage: &Stage| stage.image.open.is_some() && matches!(stage.base, Base::Stage(_));
    if context.facts.stages().iter().any(is_chosen) {
        return;
    }
    let is_lost = |reference: &StageReference| {
        names_nothing(reference) && !context.is_build_context(&reference.text)
    };
    if graph.references().iter().any(is_lost) {
        return;
    }
    let targets = needed_by_targets(context);
    for stage in context.facts.stages() {
        if graph.is_reachable(stage.index) || targets.contains(&stage.index) {
            continue;
        }
        let Some(from) = context.file.instructions.get(stage.instruction) else { continue };
        let (place, name) = match (&stage.name, stage.name_span) {
            (Some(name), Some(span)) => (span, format!("stage '{name}'")),
            _ => (from.span, format!("stage {}", stage.index)),
        };
        let message = format!("{name} does not contribute to the final image");
        findings.push(context.finding(place, message).with_detail(
            "No later stage is based on it or copies from it; a build skips it unless it is the target.",
        ));
    }
}

/// Whether a copy names a stage that does not exist: the misspelt stage is the one that nobody uses.
fn names_nothing(reference: &StageReference) -> bool {
    let is_copy = reference.kind == StageReferenceKind::Copy;
    is_copy
        && match &reference.target {
            Target::Image(name) => !name.contains([':', '/', '@', '$']),
            Target::Unknown => !reference.text.contains('$'),
            _ => false,
        }
}

/// Names of stages that people build with `--target`.
const TARGETS: &[&str] = &[
    "artifact",
    "artifacts",
    "bench",
    "binaries",
    "binary",
    "check",
    "ci",
    "coverage",
    "debug",
    "dev",
    "develop",
    "development",
    "devcontainer",
    "docs",
    "e2e",
    "export",
    "format",
    "integration",
    "lint",
    "local",
    "prod",
    "production",
    "release",
    "staging",
    "test",
    "tests",
    "update",
    "validate",
    "vendor",
];

/// The stages that look like targets, and those that they need.
fn needed_by_targets(context: &Context<'_>) -> HashSet<usize> {
    let facts = context.facts;
    let built = context.uses.map(BuildUses::targets).unwrap_or_default();
    let is_target = |stage: &Stage| {
        let name = stage.key().unwrap_or_default();
        let starts = facts.config(stage.index).is_some_and(|config| {
            !config.get(Setting::Cmd).is_empty() || !config.get(Setting::Entrypoint).is_empty()
        });
        let is_built = built.keys().any(|target| target.eq_ignore_ascii_case(&name));
        is_built
            || name.split(['-', '_', '.']).any(|part| TARGETS.contains(&part))
            || starts && !name.is_empty()
    };
    let targets = facts.stages().iter().filter(|stage| is_target(stage));
    let mut pending: Vec<usize> = targets.map(|stage| stage.index).collect();
    let mut needed = HashSet::new();
    while let Some(stage) = pending.pop() {
        if needed.insert(stage) {
            let references = facts.graph().references_of(stage).iter();
            pending.extend(references.filter_map(|reference| reference.target.stage()));
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/no-unreachable-stages";

    #[test]
    fn the_name_is_underlined_or_the_whole_from() {
        check(
            RULE,
            "FROM a AS x\n          ^ stage 'x' does not contribute to the final image\n\
             FROM b \\\n  AS y\n     ^ stage 'y' does not contribute to the final image\n\
             from c\n^^^^^^ stage 2 does not contribute to the final image\nFROM d\n",
        );
    }

    #[test]
    fn every_way_to_use_a_stage_counts() {
        check(RULE, "FROM a AS x\nFROM x AS y\nFROM y\n");
        check(RULE, "FROM a AS x\nFROM b AS y\nCOPY --from=X /a /a\nFROM c\nCOPY --from=1 /a /a\n");
        check(RULE, "FROM a AS x\nFROM b\nRUN --mount=type=bind,from=x,target=/x true\n");
        check(RULE, "FROM a\n");
        check(RULE, "FROM a AS build\nFROM c\nCOPY --from=biuld /a /a\n");
        check(RULE, "FROM a AS x\nFROM x AS unit-test\nFROM c\n");
        check(RULE, "FROM a AS x\nFROM b AS y\nCOPY --from=x /a /a\nCMD a\nFROM c\n");
        check(RULE, "ARG B=x\nFROM a AS x\nFROM $B\n");
        check(RULE, "ARG V=dev\nFROM a AS b-dev\nFROM a AS b-prod\nFROM b-${V}\n");
    }
}
