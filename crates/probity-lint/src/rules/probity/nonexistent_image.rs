//! Base images that their registry does not have.

use probity_finding::Finding;

use crate::{ImageAnswer, engine::context::Context};

rule! {
    /// # What it does
    ///
    /// Flags a base image whose tag or repository does not exist.
    ///
    /// probity asks the image's registry, so this rule needs slow checks (`--slow-checks=on`). The
    /// rule reports nothing in these cases:
    ///
    /// - probity cannot reach the registry.
    /// - The registry denies access.
    /// - The image name contains a build argument, because the build may set another value.
    ///
    /// # Why it is bad
    ///
    /// The build fails, or it works only on machines that still have the image.
    ///
    /// # Examples
    ///
    /// The registry has only the tag `registry.example/tool:2`, so this image does not exist:
    ///
    /// ```dockerfile,bad
    /// FROM registry.example/tool:2.1
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM registry.example/tool:2
    /// ```
    NonexistentImage {
        name: "probity/nonexistent-image",
        severity: Error,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(images) = context.base_images else { return };
    for stage in context.facts.stages() {
        // The value of a build argument may name another image than its default.
        let is_certain = stage.image.is_constant();
        let (Some(ImageAnswer::Missing), Some(span), true) =
            (images.answer(stage), stage.image_span, is_certain)
        else {
            continue;
        };
        let message = format!("{} does not exist; check its name and tag", stage.image);
        findings.push(context.finding(span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/nonexistent-image";

    #[test]
    fn the_image_is_underlined_and_unknown_ones_are_silent() {
        check(
            RULE,
            "\
ARG V=2.1
FROM registry.example/tool:2.1 AS a
     ^^^^^^^^^^^^^^^^^^^^^^^^^ registry.example/tool:2.1 does not exist; check its name and tag
FROM registry.example/tool:$V AS b
FROM registry.example/never-asked:1 AS c
FROM a
FROM scratch
",
        );
    }
}
