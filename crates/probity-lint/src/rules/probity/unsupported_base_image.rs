//! Base images of releases that get no security updates.

use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::{
        base_image,
        end_of_life::{self, TABLE_DATE},
    },
};

rule! {
    /// # What it does
    ///
    /// Flags a base image of a release that no longer gets security updates.
    ///
    /// probity contains a table of releases, and each finding names the date of this table. The
    /// table covers the official images of Alpine, Amazon Linux, CentOS, Debian, Go, MySQL,
    /// Node.js, PHP, PostgreSQL, Python, Ruby and Ubuntu. If the tag names an operating system, the
    /// rule checks that system, too. For example, `node:22-bullseye` is based on Debian 11.
    ///
    /// The rule is off by default. It ignores a stage that `probity/end-of-life-image` reports,
    /// because that stage installs packages that have left the mirrors.
    ///
    /// # Why it is bad
    ///
    /// The image keeps every vulnerability found after the end of support.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM python:3.8-slim
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.13-slim
    /// ```
    UnsupportedBaseImage {
        name: "probity/unsupported-base-image",
        severity: Off,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let Some(image) = base_image::own_image_by_default(stage) else { continue };
        let (Some(ended), Some(span)) = (end_of_life::ended(&image), stage.image_span) else {
            continue;
        };
        if end_of_life::gone(&image).is_some()
            && base_image::installs_from_mirrors(context, stage.instructions.clone())
        {
            continue;
        }
        let message = format!(
            "{} {} has had no security updates since {}; use a supported release",
            ended.name, ended.release, ended.date
        );
        let detail = format!("probity's table of releases is of {TABLE_DATE}");
        findings.push(context.finding(span, message).with_detail(detail));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unsupported-base-image";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
ARG V=18
FROM node:$V-slim AS build
     ^^^^^^^^^^^^ node 18 has had no security updates since 2025-04-30; use a supported release
FROM build
",
        );
    }

    #[test]
    fn supported_images_and_those_of_the_other_rule_are_silent() {
        check(RULE, "FROM node:22\nFROM a/node:18\nFROM debian\nFROM scratch\n");
        check(RULE, "FROM debian:buster\nRUN apt-get update\n");
    }
}
