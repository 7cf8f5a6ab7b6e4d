//! Base images of another platform than the build's.

use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a base image that does not exist for the platform that the stage is built for: the one of
    /// `--platform`, or that of the build. probity asks the image's registry, so the rule finds nothing
    /// without slow checks (`--slow-checks=on`). The platform of the build is that of this machine, or
    /// `DOCKER_DEFAULT_PLATFORM`.
    ///
    /// # Why it is bad
    ///
    /// The build fails, or it uses an image whose programs fail with `exec format error` or run in
    /// emulation.
    ///
    /// # Examples
    ///
    /// If `registry.example/tool:2` was pushed for `linux/amd64` alone, this is wrong:
    ///
    /// ```dockerfile,bad
    /// FROM --platform=linux/arm64 registry.example/tool:2
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM --platform=linux/amd64 registry.example/tool:2 AS tool-amd64
    /// ```
    InvalidBaseImagePlatform {
        name: "buildkit/InvalidBaseImagePlatform",
        severity: Warning,
        category: Correctness,
        url: "https://docs.docker.com/go/dockerfile/rule/invalid-base-image-platform/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(images) = context.base_images else { return };
    for stage in context.facts.stages() {
        let (Some(image), Some(span)) = (images.found(stage), stage.image_span) else { continue };
        // The platform of another stage's build argument is not known, nor is its image.
        if stage.platform.as_ref().is_some_and(|platform| !platform.is_constant()) {
            continue;
        }
        let platform = stage.platform.as_ref().and_then(|platform| platform.value.as_deref());
        let expected = platform.unwrap_or(&images.platform);
        let is_fit = image.configuration.as_ref().is_some_and(|it| it.fits_platform);
        if is_fit || image.platforms.is_empty() {
            continue;
        }
        let name = &stage.image;
        let message = match image.platforms.as_slice() {
            [actual] if !image.is_index => format!(
                "Base image {name} was pulled with platform \"{actual}\", expected \"{expected}\" \
                 for current build"
            ),
            platforms => {
                let platforms = platforms.join(", ");
                format!("Base image {name} does not exist for {expected}, only for {platforms}")
            }
        };
        findings.push(context.finding(span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "buildkit/InvalidBaseImagePlatform";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
FROM --platform=linux/arm64 registry.example/tool:2 AS a
                            ^^^^^^^^^^^^^^^^^^^^^^^ Base image registry.example/tool:2 was pulled with platform \"linux/amd64\", expected \"linux/arm64\" for current build
FROM --platform=linux/s390x registry.example/base:1 AS b
                            ^^^^^^^^^^^^^^^^^^^^^^^ Base image registry.example/base:1 does not exist for linux/s390x, only for linux/amd64, linux/arm64
FROM registry.example/tool:2 AS c
FROM --platform=$BUILDPLATFORM registry.example/tool:2
",
        );
    }
}
