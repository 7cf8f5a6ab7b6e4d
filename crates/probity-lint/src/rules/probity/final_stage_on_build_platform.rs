//! Images of the builder's platform instead of the target's.

use probity_dockerfile::Setting;
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a final stage with `--platform=$BUILDPLATFORM` that has a `CMD` or `ENTRYPOINT`.
    ///
    /// # Why it is bad
    ///
    /// `BUILDPLATFORM` is the platform of the machine that runs the build. It is right for a stage
    /// that cross-compiles. In the final stage, it gives the image the builder's architecture, even
    /// if the build requests another `--platform`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM --platform=$BUILDPLATFORM golang:1.23 AS build
    /// RUN go build -o /app .
    /// FROM --platform=$BUILDPLATFORM debian:12
    /// COPY --from=build /app /app
    /// CMD ["/app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM --platform=$BUILDPLATFORM golang:1.23 AS build
    /// RUN go build -o /app .
    /// FROM debian:12
    /// COPY --from=build /app /app
    /// CMD ["/app"]
    /// ```
    FinalStageOnBuildPlatform {
        name: "probity/final-stage-on-build-platform",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage() else { return };
    let from = context.file.instructions.get(stage.instruction);
    let Some(platform) = from.and_then(|from| from.flag_value("platform")) else { return };
    let is_builders = matches!(platform.text.as_str(), "$BUILDPLATFORM" | "${BUILDPLATFORM}");
    let runtime = context.facts.runtime(stage.index);
    let starts =
        [Setting::Cmd, Setting::Entrypoint].iter().any(|setting| !runtime.get(*setting).is_empty());
    if is_builders && starts {
        let message =
            "the image gets the builder's architecture, not the target's; remove `--platform`";
        findings.push(context.finding(platform.span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/final-stage-on-build-platform";

    #[test]
    fn the_platform_is_underlined() {
        check(
            RULE,
            "\
FROM --platform=$BUILDPLATFORM a AS b
CMD c
FROM --platform=${BUILDPLATFORM} d
                ^^^^^^^^^^^^^^^^ the image gets the builder's architecture, not the target's; remove `--platform`
CMD e
",
        );
    }

    #[test]
    fn other_platforms_and_results_without_a_program_are_silent() {
        check(RULE, "FROM --platform=$BUILDPLATFORM a AS b\nCMD c\nFROM d\nCMD e\n");
        check(RULE, "FROM --platform=$TARGETPLATFORM a\nCMD c\n");
        check(RULE, "FROM --platform=$BUILDPLATFORM a\nCOPY b /\n");
    }
}
