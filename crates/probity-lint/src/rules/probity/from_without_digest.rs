//! Base images that can change under their tag.

use probity_dockerfile::{Base, ImageRef};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, facts::base_images::pinned};

rule! {
    /// # What it does
    ///
    /// Flags a `FROM` whose image has no digest.
    ///
    /// The rule ignores other stages, `scratch`, and names that only the build knows. If a name
    /// contains an `ARG` with a default, the rule checks the default.
    ///
    /// The rule is off by default. Enable it with `--select probity/from-without-digest`.
    ///
    /// # Why it is bad
    ///
    /// A tag can move to another image, but a digest always names the same image. With a digest,
    /// the build is the same tomorrow, and the base image changes only if this file changes. Keep
    /// digests current with a bot that updates them.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12-slim
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12-slim@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    /// ```
    ///
    /// With slow checks, probity asks the registry for the digest:
    ///
    /// ```dockerfile,bad
    /// FROM registry.example/base:1
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM registry.example/base:1@sha256:1111111111111111111111111111111111111111111111111111111111111111
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix appends the digest that the tag has now. It uses the digest of the image
    /// index, so the image still works on every platform. Later builds no longer follow the tag.
    ///
    /// `probity check --pin` applies only this fix. probity offers no fix in these cases:
    ///
    /// - The registry did not return a digest, for example because slow checks are off.
    /// - The image name contains a variable.
    FromWithoutDigest {
        name: "probity/from-without-digest",
        severity: Off,
        category: Reproducibility,
        fixes: Suggestion,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let (Base::Image(name), Some(span)) = (&stage.base, stage.image_span) else { continue };
        let Ok(image) = ImageRef::parse(name) else { continue };
        if image.digest.is_none() {
            let message = format!("{name} has no digest; write {name}@sha256:<digest>");
            let digest = context.base_images.and_then(|images| images.found(stage));
            let name = digest.and_then(|image| pinned(name, &image.digest));
            let fix = name.and_then(|name| pin(context.file.text, span, &name));
            findings.push(fix.into_iter().fold(context.finding(span, message), Finding::with_fix));
        }
    }
}

/// None where the word is not the name itself: a variable may have another value tomorrow.
fn pin(text: &str, span: Span, name: &str) -> Option<Fix> {
    let rest = name.strip_prefix(span.slice(text)?)?;
    Some(Fix::suggestion("Pin the digest", vec![Edit::insert(span.end, rest)]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "probity/from-without-digest";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
ARG V=12
FROM --platform=$BUILDPLATFORM debian:$V AS a
                               ^^^^^^^^^ debian:12 has no digest; write debian:12@sha256:<digest>
FROM example.com:5000/a/b
     ^^^^^^^^^^^^^^^^^^^^ example.com:5000/a/b has no digest; write example.com:5000/a/b@sha256:<digest>
",
        );
    }

    #[test]
    fn the_digest_of_the_index_is_added_and_a_missing_tag_before_it() {
        let digest = "1".repeat(64);
        fixed(
            RULE,
            "FROM registry.example/base AS a\nFROM a\n",
            &format!("FROM registry.example/base:latest@sha256:{digest} AS a\nFROM a\n"),
        );
        let open = "ARG V=1\nFROM registry.example/base:$V\n";
        fixed(RULE, open, open);
    }

    #[test]
    fn digests_stages_and_unknown_images_are_silent() {
        let digest = "0".repeat(64);
        check(
            RULE,
            &format!("ARG B\nFROM a:1@sha256:{digest} AS x\nFROM X\nFROM scratch\nFROM $B\n"),
        );
        check(RULE, &format!("ARG D=@sha256:{digest}\nFROM a:1$D\n"));
    }

    /// Nobody gets the rule without asking.
    #[test]
    fn it_is_off_by_default() {
        let found =
            crate::engine::harness::lint_with("FROM debian:12\n", &crate::RuleSet::default());
        assert!(found.iter().all(|finding| finding.rule != RULE), "{found:?}");
    }
}
