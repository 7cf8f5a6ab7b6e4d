//! Gems that every build downloads again.

use probity_dockerfile::{Arguments, Command};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, facts::ruby};

rule! {
    /// # What it does
    ///
    /// Flags a `bundle install` without a cache mount over Bundler's download directory.
    ///
    /// The rule checks only files that name a Dockerfile syntax.
    ///
    /// # Why it is bad
    ///
    /// If one gem changes, Bundler downloads all gems again.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// # syntax=docker/dockerfile:1
    /// FROM ruby:3.3-slim
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,fixed
    /// # syntax=docker/dockerfile:1
    /// FROM ruby:3.3-slim
    /// RUN --mount=type=cache,id=bundler,target=/usr/local/bundle/cache,sharing=locked bundle install
    /// ```
    ///
    /// ```dockerfile,good
    /// # syntax=docker/dockerfile:1
    /// FROM ruby:3.3-slim
    /// RUN --mount=type=cache,target=/usr/local/bundle/cache bundle install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds the mount. A later `RUN` does not find the downloads.
    ///
    /// probity offers a fix only if all of these are true:
    ///
    /// - The stage uses an official Ruby image.
    /// - `BUNDLE_PATH` is not set.
    /// - The `RUN` is in shell form.
    RubyPreferBundlerCacheMount {
        name: "tally/ruby/prefer-bundler-cache-mount",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/prefer-bundler-cache-mount/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !ruby::names_frontend(context) {
        return;
    }
    for stage in ruby::production(context) {
        let mut last = None;
        for tool in ruby::installs(context, stage) {
            let Some(run) = context.file.instructions.get(tool.index) else { continue };
            let is_mounted = run.passing_mounts().any(ruby::is_bundler_cache);
            if is_mounted || last.replace(tool.index) == Some(tool.index) {
                continue;
            }
            let Some(span) = tool.call.span() else { continue };
            let message = "mount a cache, so the next build does not download all gems again";
            let finding = context.finding(span, message);
            let is_known = ruby::official_image(context, stage).is_some()
                && context.facts.scope(tool.index).get("BUNDLE_PATH").is_none()
                && matches!(run.arguments, Arguments::Command(Command::Shell(_)));
            let flag =
                "--mount=type=cache,id=bundler,target=/usr/local/bundle/cache,sharing=locked ";
            let edit = Edit::insert(run.line.offset(run.rest().start), flag);
            let fix = is_known.then(|| Fix::suggestion("mount a cache", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/prefer-bundler-cache-mount";

    #[test]
    fn each_run_is_underlined_once() {
        check(
            RULE,
            "\
# syntax=docker/dockerfile:1
FROM ruby:3.3
RUN bundle install && bundle install
    ^^^^^^^^^^^^^^ mount a cache, so the next build does not download all gems again
RUN --mount=type=cache,target=${BUNDLE_PATH}/cache bundle install
",
        );
        check(RULE, "FROM ruby:3.3\nRUN bundle install\n");
        check(RULE, "# syntax=docker/dockerfile:1\nFROM debian:12\nRUN bundle install\n");
    }

    #[test]
    fn other_images_have_no_fix() {
        for from in ["a/ruby:3", "ruby:3.3\nENV BUNDLE_PATH=/b"] {
            let text = format!("# syntax=docker/dockerfile:1\nFROM {from}\nRUN bundle install\n");
            fixed(RULE, &text, &text);
        }
    }
}
