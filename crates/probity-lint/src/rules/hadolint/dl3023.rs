//! Copies from the stage itself.

use probity_dockerfile::StageReferenceKind;
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY --from` that names its own stage, by name or number.
    ///
    /// # Why it is bad
    ///
    /// The build fails, because a stage cannot be built before itself.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12 AS build
    /// COPY --from=build /app /app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS build
    /// FROM debian:12
    /// COPY --from=build /app /app
    /// ```
    Dl3023 {
        name: "hadolint/DL3023",
        severity: Error,
        category: Correctness,
        url: "https://github.com/hadolint/hadolint/wiki/DL3023",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for reference in context.facts.graph().references() {
        if reference.kind == StageReferenceKind::Copy
            && reference.target.stage() == Some(reference.stage)
        {
            let message = "a stage cannot copy from itself";
            findings.push(context.finding(reference.span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3023";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
FROM a AS x
COPY --from=X b c
            ^ a stage cannot copy from itself
FROM d
COPY --from=1 b c
            ^ a stage cannot copy from itself
COPY --from=x b c
",
        );
    }

    #[test]
    fn other_stages_are_silent() {
        check(RULE, "FROM a AS x\nFROM b\nCOPY --from=x c d\nCOPY --from=0 c d\nCOPY x y\n");
    }
}
