//! Tools of the host in the image.

use probity_dockerfile::{Action, PackageKind};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs packages of the NVIDIA Container Toolkit.
    ///
    /// # Why it is bad
    ///
    /// The toolkit runs on the host and gives containers access to GPUs. Inside an image, it only
    /// takes space.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ubuntu:22.04
    /// RUN apt-get update && apt-get install -y nvidia-container-toolkit
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nvidia/cuda:12.2.0-runtime-ubuntu22.04
    /// RUN apt-get update && apt-get install -y python3
    /// ```
    GpuNoContainerRuntimeInImage {
        name: "tally/gpu/no-container-runtime-in-image",
        severity: Warning,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/gpu/no-container-runtime-in-image/",
    }
}

const PACKAGES: &[&str] = &["nvidia-container-toolkit", "nvidia-docker2"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        let calls = context.package_calls(index).iter();
        let installs = calls.filter(|call| call.action == Action::Install);
        let mut found = installs.flat_map(|call| &call.packages).filter(|package| {
            let PackageKind::Named { name, .. } = &package.kind else { return false };
            PACKAGES.contains(&name.as_str()) || name.starts_with("libnvidia-container")
        });
        let Some(first) = found.next() else { continue };
        let message = "the NVIDIA Container Toolkit belongs on the host, not in the image";
        let more = found.map(|package| package.span);
        findings.push(context.finding(first.span, message).with_more_places(more));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/gpu/no-container-runtime-in-image";

    #[test]
    fn every_package_is_underlined() {
        check(
            RULE,
            "\
FROM a
RUN apt-get install -y curl libnvidia-container1=1.2 && yum install nvidia-docker2
                            ^^^^^^^^^^^^^^^^^^^^^^^^ the NVIDIA Container Toolkit belongs on the host, not in the image
                                                                    ^^^^^^^^^^^^^^ likewise
RUN apt-get remove nvidia-docker2 && echo apt-get install nvidia-docker2
RUN apt-get install -y nvidia-smi
",
        );
    }
}
