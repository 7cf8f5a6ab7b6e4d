//! Devices that belong to one machine.

use probity_dockerfile::{Arguments, Instruction, Keyword, Pair};
use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{cuda::CudaImage, labels::unquoted},
    text::stage_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags an `ENV` that selects GPUs.
    ///
    /// The rule checks these variables:
    ///
    /// - `CUDA_VISIBLE_DEVICES`;
    /// - `NVIDIA_VISIBLE_DEVICES` with numbers or identifiers;
    /// - `NVIDIA_VISIBLE_DEVICES=all`, but only on `nvidia/cuda`, which already sets this value.
    ///
    /// The rule ignores values that turn GPUs off and values from a variable.
    ///
    /// # Why it is bad
    ///
    /// The image runs only on machines with the same GPUs. The value also conflicts with the one
    /// that Docker or an orchestrator sets.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ubuntu:22.04
    /// ENV CUDA_VISIBLE_DEVICES=0 LANG=C
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ubuntu:22.04
    /// ENV LANG=C
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ubuntu:22.04
    /// ENV NVIDIA_VISIBLE_DEVICES=all
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the variable, so the user who starts the container must select
    /// the GPUs.
    ///
    /// probity offers no fix if the removed text contains a comment.
    GpuNoHardcodedVisibleDevices {
        name: "tally/gpu/no-hardcoded-visible-devices",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/gpu/no-hardcoded-visible-devices/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each(Keyword::Env) {
        let Arguments::Pairs { pairs, .. } = &instruction.arguments else { continue };
        let stage = context.facts.stage_of(index);
        let is_cuda = || stage.is_some_and(|stage| CudaImage::of(stage).is_some());
        for pair in pairs {
            let value = pair.value.as_ref().map(|word| unquoted(&word.text)).unwrap_or_default();
            let chosen = match pair.key.text.as_str() {
                "NVIDIA_VISIBLE_DEVICES" => nvidia(&value, is_cuda),
                "CUDA_VISIBLE_DEVICES" => cuda(&value),
                _ => None,
            };
            if let Some(chosen) = chosen {
                findings.push(finding(context, instruction, pair, chosen));
            }
        }
    }
}

/// What is wrong with a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Redundant,
    Devices,
}

fn nvidia(value: &str, is_cuda: impl Fn() -> bool) -> Option<Chosen> {
    match value {
        "all" => is_cuda().then_some(Chosen::Redundant),
        "" | "none" | "void" => None,
        _ => (!value.contains('$')).then_some(Chosen::Devices),
    }
}

fn cuda(value: &str) -> Option<Chosen> {
    let is_off = matches!(value, "" | "none" | "NoDevFiles" | "-1");
    (!is_off && !value.contains('$')).then_some(Chosen::Devices)
}

fn finding(
    context: &Context<'_>,
    instruction: &Instruction,
    pair: &Pair,
    chosen: Chosen,
) -> Finding {
    let name = &pair.key.text;
    let message = match chosen {
        Chosen::Redundant => format!("the base image sets {name}=all already"),
        Chosen::Devices => {
            format!("{name} ties the image to one machine; set it when the container starts")
        }
    };
    let finding = context.finding(pair.span, message);
    let edits = stage_edits::remove_pair(context, instruction, pair).map(|edit| vec![edit]);
    let fix = edits.map(|edits| Fix::suggestion("remove it", edits));
    fix.into_iter().fold(finding, Finding::with_fix)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/gpu/no-hardcoded-visible-devices";

    #[test]
    fn the_pair_is_underlined() {
        check(
            RULE,
            r#"
FROM nvidia/cuda:12.2.0-base-ubuntu22.04
ENV A=b "NVIDIA_VISIBLE_DEVICES"=x NVIDIA_VISIBLE_DEVICES=all
                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^ the base image sets NVIDIA_VISIBLE_DEVICES=all already
FROM a
ENV CUDA_VISIBLE_DEVICES 0,1
    ^^^^^^^^^^^^^^^^^^^^^^^^ CUDA_VISIBLE_DEVICES ties the image to one machine; set it when the container starts
"#,
        );
    }

    #[test]
    fn values_that_choose_nothing_are_silent() {
        for env in [
            "NVIDIA_VISIBLE_DEVICES=all",
            "NVIDIA_VISIBLE_DEVICES=none",
            "NVIDIA_VISIBLE_DEVICES=void",
            "NVIDIA_VISIBLE_DEVICES=${X}",
            "CUDA_VISIBLE_DEVICES=\"\"",
            "CUDA_VISIBLE_DEVICES=-1",
            "CUDA_VISIBLE_DEVICES=NoDevFiles",
            "VISIBLE_DEVICES=0",
        ] {
            check(RULE, &format!("FROM a\nENV {env}\n"));
        }
    }

    #[test]
    fn the_pair_goes_and_comments_stay() {
        fixes(
            RULE,
            &[
                ("ENV CUDA_VISIBLE_DEVICES=0\nENV A=b", "ENV A=b"),
                ("ENV A=b \\\n    CUDA_VISIBLE_DEVICES=0 \\\n    C=d", "ENV A=b \\\n    C=d"),
                ("ENV A=b CUDA_VISIBLE_DEVICES=0", "ENV A=b"),
                (
                    "ENV A=b \\\n  # why\n  CUDA_VISIBLE_DEVICES=0",
                    "ENV A=b \\\n  # why\n  CUDA_VISIBLE_DEVICES=0",
                ),
            ],
        );
    }
}
