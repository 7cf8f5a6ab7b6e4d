//! Images from registries that nobody vouched for.

use probity_dockerfile::{Base, ImageRef, StageReferenceKind, Target};
use probity_finding::Finding;

use crate::engine::{
    context::Context,
    rule::{OptionKind, OptionSpec},
};

rule! {
    /// # What it does
    ///
    /// Flags an image whose registry is not in the list of trusted registries.
    ///
    /// The rule checks `FROM`, `COPY --from` and mounts. If `trusted-registries` is empty, it
    /// reports nothing. An image without a registry comes from `docker.io`. A trusted name may
    /// begin or end with `*`.
    ///
    /// # Why it is bad
    ///
    /// The operator of a registry controls the content of every build that uses its images.
    ///
    /// # Examples
    ///
    /// With `trusted-registries = ["registry.example.com"]`:
    ///
    /// ```dockerfile,bad
    /// FROM quay.io/prometheus/busybox:1
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM registry.example.com/busybox:1
    /// ```
    Dl3026 {
        name: "hadolint/DL3026",
        severity: Error,
        category: Security,
        options: &[OptionSpec {
            name: "trusted-registries",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Trusted registries; `*` at the beginning or end matches anything.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3026",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let trusted = context.list("trusted-registries");
    if trusted.is_empty() {
        return;
    }
    let bases = context.facts.stages().iter().filter_map(|stage| match &stage.base {
        Base::Image(image) => Some((image.as_str(), stage.image_span?)),
        _ => None,
    });
    // What is copied or mounted from an image ends in the build as well.
    let others = context.facts.graph().references().iter().filter_map(|reference| {
        let is_base = reference.kind == StageReferenceKind::From;
        match &reference.target {
            Target::Image(image) if !is_base => Some((image.as_str(), reference.span)),
            _ => None,
        }
    });
    for (image, span) in bases.chain(others) {
        let Ok(reference) = ImageRef::parse(image) else { continue };
        if !trusted.iter().any(|pattern| is_meant(pattern, &reference)) {
            let message = format!("registry {} is not trusted", reference.domain);
            findings.push(context.finding(span, message));
        }
    }
}

/// Docker Hub has several names.
fn is_meant(pattern: &str, image: &ImageRef) -> bool {
    let is_hub = matches!(pattern, "docker.io" | "hub.docker.com" | "index.docker.io");
    (is_hub && image.domain == "docker.io")
        || match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(end), _) => image.domain.ends_with(end),
            (_, Some(start)) => image.domain.starts_with(start),
            _ => pattern == image.domain,
        }
}

#[cfg(test)]
mod tests {
    use crate::{OptionValue, RuleSet, engine::harness::run_with};

    const RULE: &str = "hadolint/DL3026";

    fn trust(names: &[&str]) -> impl Fn(&mut RuleSet) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let value = OptionValue::TextList(names);
        move |rules| rules.set_option(RULE, "trusted-registries", &value)
    }

    fn flagged<'t>(text: &'t str, trusted: &[&str]) -> Vec<&'t str> {
        let found = run_with(RULE, text, trust(trusted));
        found.iter().map(|finding| finding.span.unwrap().slice(text).unwrap()).collect()
    }

    const TEXT: &str = "ARG V\nFROM a:1 AS x\nFROM my.io/b:1\nFROM c.x.io/d\nFROM quay.io/e:1\n\
                        FROM x\nFROM scratch\nFROM $V\n";

    #[test]
    fn what_is_not_listed_is_flagged() {
        assert_eq!(flagged(TEXT, &["my.io"]), ["a:1", "c.x.io/d", "quay.io/e:1"]);
        assert_eq!(flagged(TEXT, &["docker.io", "*.x.io"]), ["my.io/b:1", "quay.io/e:1"]);
        assert_eq!(flagged(TEXT, &["hub.docker.com", "my*"]), ["c.x.io/d", "quay.io/e:1"]);
        assert_eq!(flagged(TEXT, &[]), [""; 0]);
        assert_eq!(flagged(TEXT, &["*"]), [""; 0]);
    }

    #[test]
    fn images_that_are_copied_or_mounted_from_are_flagged() {
        let text = "FROM my.io/a AS x\nCOPY --from=x a b\nCOPY --from=quay.io/c a b\n\
                    COPY --from=nginx a b\nRUN --mount=type=bind,from=quay.io/d,target=/d true\n";
        assert_eq!(flagged(text, &["my.io"]), ["quay.io/c", "nginx", "quay.io/d"]);
        assert_eq!(flagged(text, &["my.io", "docker.io", "quay.io"]), [""; 0]);
    }
}
