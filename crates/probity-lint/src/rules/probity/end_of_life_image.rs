//! Base images whose packages have moved away.

use probity_dockerfile::{Base, Manager};
use probity_finding::Finding;

use crate::{base_image, context::Context};

rule! {
    /// # What it does
    ///
    /// Flags a base image of a system that is no longer supported and whose packages have left the
    /// mirrors, if the stage installs packages: CentOS 5 to 8, and Debian 7 to 10. A stage that names
    /// `vault.centos.org` or `archive.debian.org` is left alone.
    ///
    /// # Why it is bad
    ///
    /// Nobody repairs holes in its programs any more, and `apt-get update` or `yum install` fails,
    /// because the mirrors no longer have the packages.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:stretch-slim
    /// RUN apt-get update && apt-get install -y curl
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:bookworm-slim
    /// RUN apt-get update && apt-get install -y curl
    /// ```
    EndOfLifeImage {
        name: "probity/end-of-life-image",
        severity: Warning,
        category: Security,
    }
}

/// The beginnings of the tags, by the image.
const GONE: &[(&str, &[&str])] = &[
    ("centos", &["5", "6", "7", "8", "centos5", "centos6", "centos7", "centos8"]),
    ("debian", &["7", "8", "9", "10", "wheezy", "jessie", "stretch", "buster"]),
];

const MANAGERS: &[Manager] = &[Manager::AptGet, Manager::Apt, Manager::Yum, Manager::Dnf];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let Base::Image(_) = stage.base else { continue };
        let Some(image) = base_image::root_image_by_default(context, stage.instruction) else {
            continue;
        };
        let name = image.familiar_name();
        let tag = image.tag.as_deref().unwrap_or_default();
        let version = tag.split(['-', '.']).next().unwrap_or_default();
        let is_gone = GONE.iter().any(|(known, tags)| *known == name && tags.contains(&version));
        if !is_gone || !installs(context, stage.instructions.clone()) {
            continue;
        }
        let Some(span) = stage.image_span else { continue };
        let message = format!(
            "{name} {version} is no longer supported and its packages have left the mirrors; use a \
             supported release"
        );
        findings.push(context.finding(span, message));
    }
}

/// Whether instructions install packages from where they were.
fn installs(context: &Context<'_>, instructions: std::ops::Range<usize>) -> bool {
    let scripts = instructions.clone().flat_map(|index| context.scripts(index));
    let mut words = scripts.flat_map(|script| &script.commands).flat_map(|command| &command.words);
    let is_moved = words.any(|word| {
        let value = word.prefix();
        value.contains("vault.centos.org") || value.contains("archive.debian.org")
    });
    let mut calls = instructions.flat_map(|index| context.package_calls(index));
    !is_moved && calls.any(|call| MANAGERS.contains(&call.manager))
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "probity/end-of-life-image";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
FROM debian:stretch-slim
     ^^^^^^^^^^^^^^^^^^^ debian stretch is no longer supported and its packages have left the mirrors; use a supported release
RUN apt-get update
",
        );
    }

    #[test]
    fn supported_moved_and_unused_systems_are_silent() {
        check(RULE, "FROM debian:bookworm\nRUN apt-get update\n");
        check(RULE, "FROM centos:7\nRUN sed -i s/x/vault.centos.org/ y && yum install -y a\n");
        check(RULE, "FROM centos:7\nCOPY a /b\n");
        check(RULE, "FROM quay.io/centos/centos:stream9\nRUN dnf install -y a\n");
    }
}
