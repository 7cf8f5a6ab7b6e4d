//! Parts of the graphics driver that nobody needs.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, facts::labels::unquoted};

rule! {
    /// # What it does
    ///
    /// Flags `ENV NVIDIA_DRIVER_CAPABILITIES=all`.
    ///
    /// # Why it is bad
    ///
    /// The value mounts all libraries and programs of the host's driver into the container. Most
    /// programs need only `compute,utility`, which is NVIDIA's default.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ubuntu:22.04
    /// ENV NVIDIA_DRIVER_CAPABILITIES=all
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ubuntu:22.04
    /// ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ubuntu:22.04
    /// ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `compute,utility`. A program that renders graphics, decodes video
    /// or uses a display needs more capabilities.
    GpuPreferMinimalDriverCapabilities {
        name: "tally/gpu/prefer-minimal-driver-capabilities",
        severity: Info,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/gpu/prefer-minimal-driver-capabilities/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, env) in context.each(Keyword::Env) {
        let Arguments::Pairs { pairs, .. } = &env.arguments else { continue };
        for pair in pairs.iter().filter(|pair| pair.key.text == "NVIDIA_DRIVER_CAPABILITIES") {
            let Some(value) = &pair.value else { continue };
            if !unquoted(&value.text).eq_ignore_ascii_case("all") {
                continue;
            }
            let message = "this mounts the whole driver; most programs need compute,utility only";
            let edit = Edit::replace(value.span, "compute,utility");
            let fix = Fix::suggestion("use compute,utility", vec![edit]);
            findings.push(context.finding(value.span, message).with_fix(fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/gpu/prefer-minimal-driver-capabilities";

    #[test]
    fn the_value_is_underlined() {
        check(
            RULE,
            r#"
FROM a
ENV A=all NVIDIA_DRIVER_CAPABILITIES="ALL"
                                     ^^^^^ this mounts the whole driver; most programs need compute,utility only
ENV NVIDIA_DRIVER_CAPABILITIES=graphics
ENV NVIDIA_DRIVER_CAPABILITIES=$X
ARG NVIDIA_DRIVER_CAPABILITIES=all
"#,
        );
    }

    #[test]
    fn only_the_value_changes() {
        fixes(
            RULE,
            &[(
                "ENV NVIDIA_DRIVER_CAPABILITIES all",
                "ENV NVIDIA_DRIVER_CAPABILITIES compute,utility",
            )],
        );
    }
}
