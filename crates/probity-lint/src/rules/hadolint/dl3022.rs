//! Copies from a stage that does not exist.

use probity_dockerfile::{Keyword, StageReferenceKind, Target};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY --from` that names neither an earlier stage nor an image.
    ///
    /// The rule accepts the number of an earlier stage and a named build context. It treats a name
    /// as an image if the name contains a tag, a digest or a path. It ignores names with a
    /// variable. `probity/circular-stages` reports stages that copy from each other.
    ///
    /// # Why it is bad
    ///
    /// BuildKit treats a name that is not a stage as an image. It therefore looks for a misspelled
    /// stage in a registry.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY --from=build /app /app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS build
    /// FROM debian:12
    /// COPY --from=build /app /app
    /// ```
    Dl3022 {
        name: "hadolint/DL3022",
        severity: Warning,
        category: Correctness,
        url: "https://github.com/hadolint/hadolint/wiki/DL3022",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let graph = context.facts.graph();
    for reference in graph.references() {
        let is_copy = reference.kind == StageReferenceKind::Copy
            && context.file.instructions.get(reference.instruction).is_some_and(|instruction| {
                matches!(instruction.keyword, Keyword::Copy | Keyword::Onbuild)
            });
        let is_missing = match &reference.target {
            Target::Image(name) => {
                !name.contains([':', '/', '@', '$']) && !context.is_build_context(name)
            }
            // Stages that need each other are what is wrong there, not a name.
            Target::StageIndex(stage) | Target::Stage(stage) => {
                *stage > reference.stage && graph.cycle_of(reference).is_none()
            }
            Target::Unknown => !reference.text.contains('$'),
            Target::Scratch => false,
        };
        if is_copy && is_missing {
            let message = format!("no earlier stage is called {}", reference.text);
            findings.push(context.finding(reference.span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3022";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
FROM a AS x
COPY --from=y b c
            ^ no earlier stage is called y
COPY --from=7 b c
            ^ no earlier stage is called 7
FROM d AS y
COPY --from=img:1 b c
",
        );
    }

    #[test]
    fn stages_images_and_variables_are_silent() {
        check(RULE, "FROM a AS x\nCOPY --from=y b c\nFROM x AS y\n");
        for from in ["x", "X", "0", "img:1", "host/img", "$V", "a@sha256:00"] {
            check(RULE, &format!("FROM a AS x\nFROM b\nCOPY --from={from} c d\n"));
        }
    }
}
