//! `FROM --platform` that the image does not have.

use probity_finding::Finding;

use crate::{engine::context::Context, facts::base_images::exists_for};

rule! {
    /// # What it does
    ///
    /// Flags `FROM --platform` if the image does not exist for that platform.
    ///
    /// probity asks the image's registry, so the rule reports nothing without slow checks
    /// (`--slow-checks=on`). It reads platforms that are written out or come from a global `ARG`. It
    /// ignores `$BUILDPLATFORM` and other values that only the build knows.
    ///
    /// `buildkit/InvalidBaseImagePlatform` reports the same mistake and also checks stages without a
    /// `--platform`. If both rules are on, only that rule reports the mistake.
    ///
    /// # Why it is bad
    ///
    /// The build fails, or it uses an image whose programs fail with `exec format error`.
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
    /// FROM --platform=linux/amd64 registry.example/tool:2
    /// ```
    PlatformMismatch {
        name: "tally/platform-mismatch",
        severity: Error,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/platform-mismatch/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(images) = context.base_images else { return };
    for stage in context.facts.stages() {
        let platform = stage.platform.as_ref().filter(|platform| platform.is_constant());
        let Some(wanted) = platform.and_then(|platform| platform.value.as_deref()) else {
            continue;
        };
        let (Some(image), Some(from)) =
            (images.found(stage), context.file.instructions.get(stage.instruction))
        else {
            continue;
        };
        let is_fit = image.configuration.as_ref().is_some_and(|it| it.fits_platform);
        if is_fit || image.platforms.is_empty() || exists_for(image, wanted) {
            continue;
        }
        let Some(flag) = from.flags_named("platform").next() else { continue };
        let platforms = image.platforms.join(", ");
        let message = format!("{} does not exist for {wanted}, only for {platforms}", stage.image);
        findings.push(context.finding(flag.span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/platform-mismatch";

    #[test]
    fn the_flag_is_underlined() {
        check(
            RULE,
            "\
FROM --platform=linux/arm64 registry.example/tool:2 AS a
     ^^^^^^^^^^^^^^^^^^^^^^ registry.example/tool:2 does not exist for linux/arm64, only for linux/amd64
FROM --platform=linux/s390x registry.example/base:1 AS b
     ^^^^^^^^^^^^^^^^^^^^^^ registry.example/base:1 does not exist for linux/s390x, only for linux/amd64, linux/arm64
",
        );
    }

    #[test]
    fn fitting_unknown_and_unasked_platforms_are_silent() {
        for text in [
            "FROM registry.example/tool:2",
            "FROM --platform=linux/amd64 registry.example/tool:2",
            "FROM --platform=linux/arm64 registry.example/base:1",
            "FROM --platform=linux/arm64/v8 registry.example/base:1",
            "FROM --platform=$BUILDPLATFORM registry.example/tool:2",
            "FROM --platform=linux/arm64 registry.example/unheard-of:1",
            "FROM --platform=linux/arm64 scratch",
            "FROM a AS b\nFROM --platform=linux/arm64 b",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
