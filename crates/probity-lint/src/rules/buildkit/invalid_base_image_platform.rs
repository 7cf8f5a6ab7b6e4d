//! Base images of another platform than the build's.

use probity_finding::Finding;

use crate::{engine::context::Context, facts::base_images::exists_for};

rule! {
    /// # What it does
    ///
    /// Flags a base image that does not exist for the platform of its stage.
    ///
    /// probity asks the image's registry, so the rule reports nothing without slow checks
    /// (`--slow-checks=on`).
    ///
    /// If `FROM` has a `--platform`, that is the platform of the stage. Otherwise it is the
    /// platform of the build. probity takes the first of these that is set:
    ///
    /// - the platforms in a Compose or Bake file;
    /// - `DOCKER_DEFAULT_PLATFORM`;
    /// - the platform of the machine that runs probity.
    ///
    /// # Why it is bad
    ///
    /// The build fails, or it uses an image whose programs fail with `exec format error` or run in
    /// emulation.
    ///
    /// # Examples
    ///
    /// If `registry.example/tool:2` exists only for `linux/amd64`, this is wrong:
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
        let is_fit = image.configuration.as_ref().is_some_and(|it| it.fits_platform);
        let mut absent: Vec<&str> = Vec::new();
        if !is_fit {
            absent.push(platform.unwrap_or(&images.platform));
        }
        if let (None, Some(uses)) = (platform, context.uses) {
            let others = uses.platforms.iter().map(String::as_str);
            let others = others.filter(|other| *other != images.platform);
            absent.extend(others.filter(|other| !exists_for(image, other)));
        }
        if absent.is_empty() || image.platforms.is_empty() {
            continue;
        }
        let expected = absent.join(", ");
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
    use crate::{
        BuildUses,
        engine::harness::{check, run_with_uses},
    };

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

    #[test]
    fn every_platform_of_a_build_counts() {
        let platforms = |platforms: &[&str]| {
            let platforms = platforms.iter().map(|platform| (*platform).to_owned()).collect();
            let uses = BuildUses { platforms, ..BuildUses::default() };
            let text = "FROM registry.example/base:1\n";
            let found = run_with_uses(RULE, text, &uses);
            found.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert_eq!(platforms(&["linux/amd64", "linux/arm64/v8"]), [""; 0]);
        assert_eq!(
            platforms(&["linux/amd64", "linux/riscv64", "linux/s390x"]),
            [
                "Base image registry.example/base:1 does not exist for linux/riscv64, linux/s390x, only \
              for linux/amd64, linux/arm64"
            ]
        );
    }
}
