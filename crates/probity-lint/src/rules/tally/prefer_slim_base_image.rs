//! Base images that bring a whole workshop along.

use probity_dockerfile::{Base, ImageRef};
use probity_finding::{Finding, Fix, Objective, Signal};

use crate::engine::{context::Context, rule::OptionSpec};

rule! {
    /// # What it does
    ///
    /// Flags a final stage based on the full variant of an official image that also has a slim,
    /// Alpine or JRE variant.
    ///
    /// Examples are `python:3.12`, `node:22` and `debian:12`. The rule ignores images with a digest
    /// and tags that contain a build argument.
    ///
    /// The rule is off by default, because some programs need files that the slim variants do not
    /// contain.
    ///
    /// # Why it is bad
    ///
    /// The full variants contain compilers, headers and tools that a running program rarely needs.
    /// They add several hundred megabytes to each pull, and every vulnerability of their packages.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM python:3.12
    /// COPY app.py /app.py
    /// CMD ["python", "/app.py"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.12-slim
    /// COPY app.py /app.py
    /// CMD ["python", "/app.py"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22 AS build
    /// RUN npm run build
    /// FROM node:22-alpine
    /// COPY --from=build /dist /dist
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe. The Dockerfile does not show whether the program runs on the slim variant, so an
    /// agent must propose the image.
    PreferSlimBaseImage {
        name: "tally/prefer-slim-base-image",
        severity: Off,
        category: Performance,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("60")],
    }
}

/// Official images whose full variant has a small sister of the same version.
const HAVE_SLIM: &[&str] = &[
    "debian",
    "eclipse-temurin",
    "elixir",
    "erlang",
    "golang",
    "haskell",
    "httpd",
    "nginx",
    "node",
    "openjdk",
    "perl",
    "php",
    "python",
    "ruby",
    "rust",
    "swift",
];

/// Parts of a tag that say it is small already.
const SMALL: &[&str] =
    &["slim", "alpine", "distroless", "jre", "minimal", "windowsservercore", "nanoserver"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let facts = context.facts;
    let Some(root) = facts.final_stage().and_then(|stage| facts.stages().get(stage.root)) else {
        return;
    };
    let (Base::Image(name), Some(place)) = (&root.base, root.image_span) else { return };
    // A tag that a build argument chooses may be the small one.
    if !root.image.is_constant() || !is_full(name) {
        return;
    }
    let signal = Signal {
        kind: "full_base_image",
        tool: None,
        packages: Vec::new(),
        evidence: name.clone(),
        span: place,
    };
    let objective = Objective {
        kind: "smaller-base-image",
        score: 1,
        signals: vec![signal],
        max_churn: context.max_churn(),
    };
    let message = format!(
        "the image is based on the full variant {name}; a slim variant has less to pull and to patch"
    );
    let fix = Fix::by_agent("AI AutoFix: use a smaller base image", 152, objective);
    findings.push(context.finding(place, message).with_fix(fix));
}

fn is_full(name: &str) -> bool {
    let Ok(image) = ImageRef::parse(name) else { return false };
    let official = image.name();
    let known = official.strip_prefix("docker.io/library/").unwrap_or_default();
    let tag = image.tag.as_deref().unwrap_or_default();
    let is_small = SMALL.iter().any(|small| tag.split('-').any(|part| part.starts_with(small)));
    HAVE_SLIM.contains(&known) && image.digest.is_none() && !is_small
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/prefer-slim-base-image";

    #[test]
    fn the_image_at_the_bottom_of_the_last_stage_is_underlined() {
        check(
            RULE,
            "FROM python:3.12 AS base
     ^^^^^^^^^^^ the image is based on the full variant python:3.12; a slim variant has less to pull and to patch
FROM base
",
        );
    }

    #[test]
    fn small_pinned_unknown_and_chosen_images_are_silent() {
        for image in [
            "python:3.12-slim-bookworm",
            "node:22-alpine3.20",
            "ubuntu:24.04",
            "example.com/python:3.12",
            "scratch",
            "gcr.io/distroless/python3-debian12",
        ] {
            check(RULE, &format!("FROM {image}\n"));
        }
        check(RULE, "ARG TAG=3.12\nFROM python:${TAG}\n");
        check(RULE, "FROM node:22 AS build\nFROM node:22-slim\nCOPY --from=build /a /a\n");
    }
}
