//! Base images whose packages have moved away.

use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::{base_image, end_of_life},
};

rule! {
    /// # What it does
    ///
    /// Flags a stage that installs packages on an unsupported release whose packages have left the
    /// mirrors.
    ///
    /// These releases are CentOS 5 to 8 and Debian 7 to 10. The rule ignores a stage that names
    /// `vault.centos.org` or `archive.debian.org`.
    ///
    /// # Why it is bad
    ///
    /// The release no longer gets security updates. `apt-get update` or `yum install` fails,
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

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let Some(image) = base_image::own_image_by_default(stage) else { continue };
        let (Some((name, version)), Some(span)) = (end_of_life::gone(&image), stage.image_span)
        else {
            continue;
        };
        if !base_image::installs_from_mirrors(context, stage.instructions.clone()) {
            continue;
        }
        let message = format!(
            "{name} {version} is no longer supported and its packages have left the mirrors; use a \
             supported release"
        );
        findings.push(context.finding(span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

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
