//! Pinned images whose tag names another image by now.

use probity_dockerfile::ImageRef;
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, facts::base_images::TagNow};

rule! {
    /// # What it does
    ///
    /// Flags an image whose tag no longer points to the digest next to it.
    ///
    /// The tag points to another digest, or it no longer exists. probity asks the image's registry,
    /// so this rule needs slow checks (`--slow-checks=on`).
    ///
    /// # Why it is bad
    ///
    /// The digest keeps the build on the old image, without the updates that the tag has received.
    ///
    /// # Examples
    ///
    /// The tag `registry.example/base:1` has moved, so this digest is outdated:
    ///
    /// ```dockerfile,bad
    /// FROM registry.example/base:1@sha256:0000000000000000000000000000000000000000000000000000000000000000
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM registry.example/base:1@sha256:1111111111111111111111111111111111111111111111111111111111111111
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM registry.example/base:1@sha256:1111111111111111111111111111111111111111111111111111111111111111
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix replaces the digest with the current one, and the new image may behave
    /// differently. `probity check --update-pins` shows all such changes as a diff.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - The tag no longer exists.
    /// - The image name contains a variable or quotes.
    OutdatedDigest {
        name: "probity/outdated-digest",
        severity: Info,
        category: Security,
        fixes: Suggestion,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(images) = context.base_images else { return };
    for stage in context.facts.stages() {
        let (Some(image), Some(span)) = (images.found(stage), stage.image_span) else { continue };
        let name = stage.image.to_string();
        let Ok(ImageRef {
            tag: Some(tag), digest: Some(digest), digest_range: Some(range), ..
        }) = ImageRef::parse(&name)
        else {
            continue;
        };
        match &image.tag {
            Some(TagNow::Names(now)) if *now != digest => {
                let message = format!("the tag `{tag}` names another image by now: {now}");
                let finding = context.finding(span, message);
                let place = Span::new(span.start + range.start, span.start + range.end);
                // With variables or quotes in it the word is not the name.
                let is_written = place.slice(context.file.text) == Some(digest.as_str());
                let fix = is_written.then(|| {
                    Fix::suggestion("Renew the digest", vec![Edit::replace(place, now.as_str())])
                });
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
            Some(TagNow::Missing) => {
                let message = format!("the tag `{tag}` no longer exists; choose another one");
                findings.push(context.finding(span, message));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/outdated-digest";

    #[test]
    fn images_whose_tag_is_the_same_or_unknown_are_silent() {
        let digest = "1".repeat(64);
        check(RULE, &format!("FROM registry.example/base:1@sha256:{digest}\n"));
        check(RULE, &format!("FROM registry.example/other:1@sha256:{digest}\n"));
        check(RULE, "FROM registry.example/base:1\n");
    }
}
