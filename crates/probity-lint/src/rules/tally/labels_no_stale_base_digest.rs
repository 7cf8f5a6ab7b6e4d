//! The digest of another base image.

use probity_dockerfile::{Arguments, Base, ImageRef, Setting, Value};
use probity_finding::{Finding, Fix};

use crate::{engine::context::Context, text::stage_edits};

rule! {
    /// # What it does
    ///
    /// Flags an `org.opencontainers.image.base.digest` label that does not match the base image.
    ///
    /// The base image has no digest, or it has a different one.
    ///
    /// # Why it is bad
    ///
    /// A tag can move to another image, but the label stays the same. Scanners then look at the
    /// wrong base image.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.base.digest="sha256:1111111111111111111111111111111111111111111111111111111111111111"
    /// CMD ["app"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// CMD ["app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12@sha256:1111111111111111111111111111111111111111111111111111111111111111
    /// LABEL org.opencontainers.image.base.digest="sha256:1111111111111111111111111111111111111111111111111111111111111111"
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the label. You may want to pin the base image instead.
    ///
    /// probity offers no fix if the removed text contains a comment.
    LabelsNoStaleBaseDigest {
        name: "tally/labels/no-stale-base-digest",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/labels/no-stale-base-digest/",
    }
}

const LABEL: &str = "org.opencontainers.image.base.digest";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = context.facts.final_stage() else { return };
    let runtime = context.facts.final_runtime();
    let Some(label) = runtime.get(Setting::Label).iter().find(|label| label.entry.key == LABEL)
    else {
        return;
    };
    let root = context.facts.stages().get(last.root);
    let digest = root.and_then(|root| match &root.base {
        Base::Image(name) => ImageRef::parse(name).ok()?.digest,
        _ => None,
    });
    let message = match (&label.entry.value, digest) {
        (Value::Text(text), Some(digest)) => match &text.value {
            Some(value) if text.is_constant() && *value != digest => {
                format!("the digest of the base image is {digest}")
            }
            _ => return,
        },
        _ => "the base image has no digest, so this one goes out of date".to_owned(),
    };
    let Some(instruction) = context.innermost(label.instruction) else { return };
    let Arguments::Pairs { pairs, .. } = &instruction.arguments else { return };
    let Some(pair) = pairs.iter().find(|pair| pair.span.encloses(label.span)) else { return };
    let finding = context.finding(pair.span, message);
    let edit = stage_edits::remove_pair(context, instruction, pair);
    let fix = edit.map(|edit| Fix::suggestion("remove the label", vec![edit]));
    findings.push(fix.into_iter().fold(finding, Finding::with_fix));
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "tally/labels/no-stale-base-digest";
    const ONE: &str = "sha256:1111111111111111111111111111111111111111111111111111111111111111";
    const TWO: &str = "sha256:2222222222222222222222222222222222222222222222222222222222222222";

    #[test]
    fn the_digest_is_that_of_the_image_at_the_bottom() {
        for (text, count) in [
            (format!("FROM a@{ONE} AS b\nFROM b\nLABEL {0}={TWO}", super::LABEL), 1),
            (format!("FROM a@{ONE} AS b\nFROM b\nLABEL {0}={ONE}", super::LABEL), 0),
            (format!("FROM a@{ONE}\nARG D\nLABEL {0}=$D", super::LABEL), 0),
            (format!("FROM scratch\nLABEL {0}={ONE}", super::LABEL), 1),
            (format!("FROM a AS b\nLABEL {0}={ONE}\nFROM c", super::LABEL), 0),
        ] {
            assert_eq!(run(RULE, &format!("{text}\n")).len(), count, "{text}");
        }
    }

    #[test]
    fn the_pair_is_underlined() {
        check(
            RULE,
            "\
FROM a
LABEL org.opencontainers.image.base.digest=x
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the base image has no digest, so this one goes out of date
",
        );
    }
}
