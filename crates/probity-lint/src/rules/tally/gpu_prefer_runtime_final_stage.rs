//! A compiler that is shipped.

use probity_dockerfile::{Action, PackageKind, Stage};
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::cuda::{CudaImage, Flavor},
};

rule! {
    /// # What it does
    ///
    /// Flags a final stage that starts from a `devel` image of `nvidia/cuda` but compiles nothing.
    ///
    /// # Why it is bad
    ///
    /// The `devel` images contain the CUDA compiler, headers and static libraries. They are 2 to 4
    /// GB larger than the `runtime` images.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nvidia/cuda:12.2.0-devel-ubuntu22.04
    /// RUN pip install torch
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nvidia/cuda:12.2.0-devel-ubuntu22.04 AS build
    /// RUN nvcc -o /app main.cu
    ///
    /// FROM nvidia/cuda:12.2.0-runtime-ubuntu22.04
    /// COPY --from=build /app /app
    /// ```
    GpuPreferRuntimeFinalStage {
        name: "tally/gpu/prefer-runtime-final-stage",
        severity: Warning,
        category: BestPractice,
        url: "https://tally.wharflab.com/rules/tally/gpu/prefer-runtime-final-stage/",
    }
}

const COMPILERS: &[&str] = &["cmake", "g++", "gcc", "make", "ninja", "nvcc"];
const PACKAGES: &[&str] = &["build-essential", "cmake", "g++", "gcc", "make", "ninja-build"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = context.facts.final_stage() else { return };
    let is_devel = CudaImage::of(last).is_some_and(|image| image.flavor == Flavor::Devel);
    let Some(span) = last.image_span else { return };
    if !is_devel || compiles(context, last) {
        return;
    }
    let message = "nothing is compiled here; use a runtime or base image of nvidia/cuda";
    findings.push(context.finding(span, message));
}

fn compiles(context: &Context<'_>, stage: &Stage) -> bool {
    stage.instructions.clone().any(|index| {
        let mut commands = context.scripts(index).iter().flat_map(|script| &script.commands);
        let installs = context.package_calls(index).iter();
        let mut packages =
            installs.filter(|call| call.action == Action::Install).flat_map(|call| &call.packages);
        commands.any(|command| command.effective().is_any(COMPILERS))
            || packages.any(|package| match &package.kind {
                PackageKind::Named { name, .. } => PACKAGES.contains(&name.as_str()),
                _ => false,
            })
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/gpu/prefer-runtime-final-stage";

    #[test]
    fn the_image_of_the_last_stage_is_underlined() {
        check(
            RULE,
            "\
FROM nvidia/cuda:12.1.0-devel-ubuntu20.04 AS a
FROM nvidia/cuda:12.1.0-cudnn8-devel-ubuntu20.04
     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ nothing is compiled here; use a runtime or base image of nvidia/cuda
RUN echo make
",
        );
    }

    #[test]
    fn compilers_and_smaller_images_are_silent() {
        for text in [
            "FROM nvidia/cuda:12.1.0-devel-ubuntu20.04\nRUN a && make",
            "FROM nvidia/cuda:12.1.0-devel-ubuntu20.04\nRUN apt-get install -y build-essential",
            "FROM nvidia/cuda:12.1.0-runtime-ubuntu20.04\nRUN a",
            "FROM nvidia/cuda:12.1.0-devel-ubuntu20.04 AS a\nFROM a\nRUN b",
            "FROM debian:12\nRUN a",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
