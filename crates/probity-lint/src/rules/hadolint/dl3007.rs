//! Images of the day.

use probity_dockerfile::{Base, ImageRef};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `FROM` with the tag `latest` and no digest.
    ///
    /// The rule replaces a variable with the value that the Compose or Bake build passes, or with
    /// the default of its `ARG`. If you run probity as `hadolint` or `tally`, the rule does not use
    /// defaults.
    ///
    /// # Why it is bad
    ///
    /// `latest` may be another image tomorrow. The build then stops working, or behaves
    /// differently, although the file did not change.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:latest
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12.5
    /// ```
    Dl3007 {
        name: "hadolint/DL3007",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3007",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let (Base::Image(image), Some(span)) = (&stage.base, stage.image_span) else { continue };
        let Ok(reference) = ImageRef::parse(image) else { continue };
        let is_latest = reference.tag.as_deref() == Some("latest") && reference.digest.is_none();
        if context.value(&stage.image).is_some() && is_latest {
            let message = "latest changes without notice; pin the version to a release tag";
            findings.push(context.finding(span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3007";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
FROM debian:latest AS a
     ^^^^^^^^^^^^^ latest changes without notice; pin the version to a release tag
",
        );
    }

    #[test]
    fn other_tags_and_digests_are_silent() {
        let digest = "0".repeat(64);
        check(
            RULE,
            &format!("FROM a\nFROM a:latest-1\nFROM a:latest@sha256:{digest}\nFROM latest\n"),
        );
    }
}
