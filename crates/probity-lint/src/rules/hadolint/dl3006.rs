//! Images without a version.

use probity_dockerfile::{Base, ImageRef};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `FROM` whose image has neither a tag nor a digest.
    ///
    /// The rule ignores earlier stages, `scratch`, named build contexts and names that contain a
    /// variable.
    ///
    /// # Why it is bad
    ///
    /// An image without a tag is `latest`, which may be another image tomorrow. The build then
    /// stops working, or behaves differently, although the file did not change.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12.5
    /// ```
    Dl3006 {
        name: "hadolint/DL3006",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3006",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let (Base::Image(image), Some(span)) = (&stage.base, stage.image_span) else { continue };
        let reference = ImageRef::parse(image).ok();
        let is_open =
            reference.is_none_or(|reference| reference.tag.is_some() || reference.digest.is_some());
        if stage.image.is_constant() && !is_open {
            let message = format!("image {image} has no version; write {image}:<tag>");
            findings.push(context.finding(span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3006";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
FROM debian AS a
     ^^^^^^ image debian has no version; write debian:<tag>
FROM --platform=linux/amd64 \\
  host:5000/x/y
  ^^^^^^^^^^^^^ image host:5000/x/y has no version; write host:5000/x/y:<tag>
",
        );
    }

    #[test]
    fn tags_digests_stages_and_variables_are_silent() {
        let digest = "0".repeat(64);
        check(
            RULE,
            &format!(
                "ARG V\nFROM a:1 AS b\nFROM b\nFROM B\nFROM scratch\nFROM $V\nFROM a:${{V}}\n\
                 FROM a@sha256:{digest}\n"
            ),
        );
    }
}
