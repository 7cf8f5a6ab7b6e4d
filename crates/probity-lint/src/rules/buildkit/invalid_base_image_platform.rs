//! Base images of another platform than the build's.

use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a base image that exists only for another platform than the one that the stage is built
    /// for. This can be told only by asking the image's registry, which this version does not do: the
    /// rule has its name, so that configurations and directives can mention it, and finds nothing.
    ///
    /// # Why it is bad
    ///
    /// The build uses the image all the same, and its programs fail with `exec format error` or run in
    /// emulation.
    ///
    /// # Examples
    ///
    /// If `example.com/tool:1` was pushed for `linux/amd64` alone, this is wrong in a build for
    /// `linux/arm64`:
    ///
    /// ```dockerfile,needs-registry
    /// FROM example.com/tool:1
    /// ```
    ///
    /// and this says that the other platform is meant:
    ///
    /// ```dockerfile,needs-registry
    /// FROM --platform=linux/amd64 example.com/tool:1 AS tool-amd64
    /// ```
    InvalidBaseImagePlatform {
        name: "buildkit/InvalidBaseImagePlatform",
        severity: Off,
        category: Correctness,
        url: "https://docs.docker.com/go/dockerfile/rule/invalid-base-image-platform/",
    }
}

fn check(_: &Context<'_>, _: &mut Vec<Finding>) {}
