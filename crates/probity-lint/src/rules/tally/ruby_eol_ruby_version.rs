//! Ruby that nobody repairs.

use probity_dockerfile::{Base, ImageRef};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::ruby};

rule! {
    /// # What it does
    ///
    /// Flags an official Ruby image of an unsupported version: Ruby 3.1 or earlier.
    ///
    /// # Why it is bad
    ///
    /// These versions no longer get security updates.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:2.7-slim
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.4-slim
    /// ```
    RubyEolRubyVersion {
        name: "tally/ruby/eol-ruby-version",
        severity: Warning,
        category: Security,
        url: "https://tally.wharflab.com/rules/tally/ruby/eol-ruby-version/",
    }
}

/// The last version that is no longer supported.
const LAST_RETIRED: (u32, u32) = (3, 1);

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let Base::Image(name) = &stage.base else { continue };
        let Ok(image) = ImageRef::parse(name) else { continue };
        let version = image.tag.as_deref().and_then(ruby::version);
        let Some((major, minor)) = version.filter(|version| *version <= LAST_RETIRED) else {
            continue;
        };
        if image.familiar_name() != "ruby" {
            continue;
        }
        let Some(span) = stage.image_span else { continue };
        let message = format!("Ruby {major}.{minor} is no longer supported");
        findings.push(context.finding(span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/ruby/eol-ruby-version";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
ARG V=2.7
FROM ruby:${V}-slim AS a
     ^^^^^^^^^^^^^^ Ruby 2.7 is no longer supported
FROM a
FROM ruby:3.2
FROM ruby:latest
FROM ruby:2
FROM ghcr.io/b/ruby:2.7
FROM jruby:9.4
",
        );
    }
}
