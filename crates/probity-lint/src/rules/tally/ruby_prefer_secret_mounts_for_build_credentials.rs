//! Passwords of package registries in the image.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::{ruby, stage_purpose},
};

rule! {
    /// # What it does
    ///
    /// Flags an `ARG` or `ENV` that names a credential for Bundler, RubyGems, npm or Yarn.
    ///
    /// The rule knows `GEM_HOST_API_KEY`, `NPM_TOKEN`, `YARN_AUTH_TOKEN`, and the Bundler variables
    /// for hosts, such as `BUNDLE_GITHUB__COM`. It checks only stages with Ruby.
    ///
    /// # Why it is bad
    ///
    /// The image history contains the value. `RUN --mount=type=secret` gives the value to one
    /// command only.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// ARG BUNDLE_GITHUB__COM
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// RUN --mount=type=secret,id=github,env=BUNDLE_GITHUB__COM bundle install
    /// ```
    RubyPreferSecretMountsForBuildCredentials {
        name: "tally/ruby/prefer-secret-mounts-for-build-credentials",
        severity: Info,
        category: Security,
        url: "https://tally.wharflab.com/rules/tally/ruby/prefer-secret-mounts-for-build-credentials/",
    }
}

const NAMES: &[&str] = &["GEM_HOST_API_KEY", "NPM_TOKEN", "YARN_AUTH_TOKEN"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let has_ruby = ruby::stages(context);
    let is_about_ruby = has_ruby.contains(&true);
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let Arguments::Pairs { pairs, .. } = &instruction.arguments else { continue };
        let is_meant = match context.facts.stage_of(index) {
            Some(stage) => {
                has_ruby.get(stage.index).copied().unwrap_or_default()
                    && !stage_purpose::is_development(stage)
            }
            None => is_about_ruby,
        };
        if !is_meant || instruction.keyword == Keyword::Label {
            continue;
        }
        let is_empty =
            |word: Option<&probity_dockerfile::Word>| word.is_some_and(|word| word.text.is_empty());
        let found = pairs.iter().filter(|pair| is_credential(&pair.key.text));
        let mut found = found.filter(|pair| !is_empty(pair.value.as_ref()));
        let Some(first) = found.next() else { continue };
        let name = &first.key.text;
        let message = format!("{name} stays in the history of the image; mount it as a secret");
        let more = found.map(|pair| pair.key.span);
        findings.push(context.finding(first.key.span, message).with_more_places(more));
    }
}

/// `BUNDLE_GEMS__EXAMPLE__COM` holds the password for `gems.example.com`.
fn is_credential(name: &str) -> bool {
    let host = name.strip_prefix("BUNDLE_").unwrap_or_default();
    NAMES.contains(&name) || host.contains("__") && !host.starts_with('_') && !host.ends_with('_')
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/ruby/prefer-secret-mounts-for-build-credentials";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
ARG YARN_AUTH_TOKEN
    ^^^^^^^^^^^^^^^ YARN_AUTH_TOKEN stays in the history of the image; mount it as a secret
FROM ruby:3.3
ENV A=b BUNDLE_GEMS__EXAMPLE__COM=c NPM_TOKEN=d
        ^^^^^^^^^^^^^^^^^^^^^^^^^ BUNDLE_GEMS__EXAMPLE__COM stays in the history of the image; mount it as a secret
                                    ^^^^^^^^^ likewise
ENV BUNDLE_WITHOUT=a BUNDLE_A__B=
FROM node:22
ARG NPM_TOKEN
FROM ruby:3.3 AS test
ARG NPM_TOKEN
",
        );
        check(RULE, "ARG NPM_TOKEN\nFROM node:22\n");
    }
}
