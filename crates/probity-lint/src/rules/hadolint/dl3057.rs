//! Images that cannot say how they are.

use probity_dockerfile::Setting;
use probity_finding::Finding;

use crate::{
    engine::{context::Context, rule::OptionSpec},
    facts::base_image,
};

rule! {
    /// # What it does
    ///
    /// Flags an image without a `HEALTHCHECK`.
    ///
    /// The `HEALTHCHECK` may be in the last stage or in a stage that it is based on.
    /// `HEALTHCHECK NONE` counts as one. With slow checks, probity asks the registry whether the
    /// base image has one.
    ///
    /// The rule is off by default. Many images are not services, and platforms with their own
    /// probes ignore the instruction.
    ///
    /// # Why it is bad
    ///
    /// Without a `HEALTHCHECK`, an orchestrator sees only whether the process runs, not whether it
    /// works.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nginx:1.27
    /// EXPOSE 80
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nginx:1.27
    /// EXPOSE 80
    /// HEALTHCHECK CMD ["curl", "-f", "http://localhost/"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: an agent proposes the check, because the file does not show how the service answers.
    /// For an image that is not a service, the agent should leave the file unchanged.
    Dl3057 {
        name: "hadolint/DL3057",
        severity: Off,
        category: BestPractice,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("20")],
        url: "https://github.com/hadolint/hadolint/wiki/DL3057",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage() else { return };
    let Some(from) = context.file.instructions.get(stage.instruction) else { return };
    let base = base_image::configuration(context, stage.instruction);
    let is_inherited = base.is_some_and(|base| !base.healthcheck.is_empty());
    if !is_inherited && context.facts.final_runtime().get(Setting::Healthcheck).is_empty() {
        let place = stage.image_span.unwrap_or(from.keyword_span());
        let fix = context.fix_by_agent("healthcheck", "AI AutoFix: add a HEALTHCHECK", 160);
        let finding = context.finding(place, "HEALTHCHECK instruction missing");
        findings.push(finding.with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3057";

    #[test]
    fn the_base_of_the_last_stage_is_underlined() {
        check(
            RULE,
            "FROM a AS x\nHEALTHCHECK CMD y\nFROM b\n     ^ HEALTHCHECK instruction missing\nUSER c\n",
        );
    }

    #[test]
    fn one_of_the_stage_below_or_none_is_enough() {
        check(RULE, "FROM a AS x\nHEALTHCHECK CMD y\nFROM x\n");
        check(RULE, "FROM registry.example/base:1\nUSER c\n");
        check(RULE, "FROM a\nHEALTHCHECK NONE\n");
        check(RULE, "FROM a\nhealthcheck --interval=5s \\\n  CMD [\"x\"]\n");
    }
}
