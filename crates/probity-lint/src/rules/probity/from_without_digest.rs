//! Base images that can change under their tag.

use probity_dockerfile::{Base, ImageRef};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `FROM` whose image has no digest. Stages, `scratch` and images whose name only the build
    /// knows are left alone; the default value of an `ARG` counts.
    ///
    /// The rule is off by default. Switch it on with `--select probity/from-without-digest`.
    ///
    /// # Why it is bad
    ///
    /// A tag can be moved to another image. A digest names one image: the build is the same tomorrow,
    /// and nobody can replace the base without a change to this file. Keep digests current with a bot
    /// that updates them.
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
    FromWithoutDigest {
        name: "probity/from-without-digest",
        severity: Off,
        category: Reproducibility,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let (Base::Image(name), Some(span)) = (&stage.base, stage.image_span) else { continue };
        let Ok(image) = ImageRef::parse(name) else { continue };
        if image.digest.is_none() {
            let message = format!("{name} has no digest; write {name}@sha256:<digest>");
            findings.push(context.finding(span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
        let found = crate::harness::lint_with("FROM debian:12\n", &crate::RuleSet::default());
        assert!(found.iter().all(|finding| finding.rule != RULE), "{found:?}");
    }
}
