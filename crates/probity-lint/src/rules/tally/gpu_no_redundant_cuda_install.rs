//! CUDA a second time.

use probity_dockerfile::{Action, Manager, PackageKind};
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::cuda::{CudaImage, Flavor},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs CUDA packages that the stage's `nvidia/cuda` image already
    /// contains.
    ///
    /// The rule reads the contents of the image from its tag: `base`, `runtime`, `devel` and
    /// `cudnn`.
    ///
    /// # Why it is bad
    ///
    /// The packages take space a second time. Their version may also differ from the version in the
    /// base image.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nvidia/cuda:12.2.0-devel-ubuntu22.04
    /// RUN apt-get update && apt-get install -y cuda-toolkit
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nvidia/cuda:12.2.0-runtime-ubuntu22.04
    /// RUN apt-get update && apt-get install -y cuda-toolkit
    /// ```
    GpuNoRedundantCudaInstall {
        name: "tally/gpu/no-redundant-cuda-install",
        severity: Warning,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/gpu/no-redundant-cuda-install/",
    }
}

const MANAGERS: &[Manager] =
    &[Manager::Apk, Manager::Apt, Manager::AptGet, Manager::Dnf, Manager::Microdnf, Manager::Yum];

/// The smallest images that contain packages of these names, and of names that go on with a dash.
const CONTENTS: &[(&str, Flavor)] = &[
    ("cuda-compat", Flavor::Base),
    ("cuda-runtime", Flavor::Base),
    ("cuda-libraries", Flavor::Runtime),
    ("cuda-nvcc", Flavor::Devel),
    ("cuda-toolkit", Flavor::Devel),
    ("nvidia-cuda-toolkit", Flavor::Devel),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let Some(image) = CudaImage::of(stage) else { continue };
        for index in stage.instructions.clone() {
            let calls = context
                .package_calls(index)
                .iter()
                .filter(|call| call.action == Action::Install && MANAGERS.contains(&call.manager));
            let mut found = calls.flat_map(|call| &call.packages).filter(|package| {
                matches!(&package.kind, PackageKind::Named { name, .. } if contains(&image, name))
            });
            let Some(first) = found.next() else { continue };
            let message = "the base image contains this CUDA package already";
            let more = found.map(|package| package.span);
            findings.push(context.finding(first.span, message).with_more_places(more));
        }
    }
}

fn contains(image: &CudaImage, package: &str) -> bool {
    if package.starts_with("libcudnn") {
        return image.has_cudnn;
    }
    let is_named = |name: &str| {
        package.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let known = CONTENTS.iter().find(|(name, _)| is_named(name));
    package == "cuda" || known.is_some_and(|(_, smallest)| *smallest <= image.flavor)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/gpu/no-redundant-cuda-install";

    #[test]
    fn every_package_is_underlined() {
        check(
            RULE,
            "\
FROM nvidia/cuda:12.1.0-cudnn8-runtime-ubuntu20.04
RUN apt-get install -y cuda-toolkit cuda libcudnn8=8
                                    ^^^^ the base image contains this CUDA package already
                                         ^^^^^^^^^^^ likewise
FROM nvidia/cuda
RUN apt-get install -y cuda-nvcc-12-1
                       ^^^^^^^^^^^^^^ the base image contains this CUDA package already
",
        );
    }

    #[test]
    fn other_images_and_packages_are_silent() {
        for text in [
            "FROM debian:12\nRUN apt-get install -y cuda",
            "FROM nvidia/cuda:12.1.0-base-ubuntu20.04\nRUN apt-get install -y cuda-libraries-12-1",
            "FROM nvidia/cuda:12.1.0-devel-ubuntu20.04\nRUN apt-get install -y libcudnn8 cudatoolkit",
            "FROM nvidia/cuda:12.1.0-devel-ubuntu20.04\nRUN pip install cuda",
            "FROM nvidia/cudagl:11\nRUN apt-get install -y cuda",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
