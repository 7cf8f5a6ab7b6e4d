//! Gems that the lock file does not name.

use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{environment, ruby},
    text::stage_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags a `bundle install` without deployment mode in a production stage.
    ///
    /// `BUNDLE_DEPLOYMENT` or `bundle config set deployment true` before the install turns the mode
    /// on. A stage is for production unless its name, `RAILS_ENV` or `RACK_ENV` says that it is for
    /// development or tests.
    ///
    /// # Why it is bad
    ///
    /// Without deployment mode, Bundler may change `Gemfile.lock` and install versions that nobody
    /// tested.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ruby:3.3-slim
    /// ENV BUNDLE_DEPLOYMENT="1"
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// ENV BUNDLE_DEPLOYMENT="1"
    /// RUN bundle install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `BUNDLE_DEPLOYMENT` after the `FROM`. The build then fails if
    /// `Gemfile.lock` is missing or outdated. If `BUNDLE_PATH` is not set, Bundler installs the
    /// gems into `vendor/bundle`.
    RubyMissingBundleDeployment {
        name: "tally/ruby/missing-bundle-deployment",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/missing-bundle-deployment/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in ruby::production(context) {
        let mut is_set = false;
        for tool in ruby::commands(context, stage.instructions.clone()) {
            is_set |= ruby::configures(&tool.call, "deployment", ruby::is_on);
            if !ruby::is_install(&tool.call) {
                continue;
            }
            let own = tool
                .command
                .assignments()
                .iter()
                .any(|assignment| assignment.name == "BUNDLE_DEPLOYMENT");
            let before = environment::before(context, tool.index, "BUNDLE_DEPLOYMENT");
            if is_set
                || own
                || before.is_some_and(ruby::is_on)
                || tool.call.has_flag(&["--deployment"])
                || !ruby::may_be_production(context, tool.index)
            {
                continue;
            }
            let Some(span) = tool.call.span() else { continue };
            let message = "nothing makes Bundler keep to Gemfile.lock; set BUNDLE_DEPLOYMENT";
            let finding = context.finding(span, message);
            let edit = stage_edits::insert_at_top(context, stage, "ENV BUNDLE_DEPLOYMENT=\"1\"");
            let fix = edit.map(|edit| Fix::suggestion("set BUNDLE_DEPLOYMENT", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/missing-bundle-deployment";
    const SAYS: &str = "nothing makes Bundler keep to Gemfile.lock; set BUNDLE_DEPLOYMENT";

    #[test]
    fn the_first_install_of_a_stage_is_underlined() {
        check(
            RULE,
            &format!(
                "FROM ruby:3.3\nRUN a && bundle install\n         ^^^^^^^^^^^^^^ {SAYS}\nRUN bundle install\n"
            ),
        );
    }

    #[test]
    fn configured_and_other_stages_are_silent() {
        for text in [
            "FROM ruby:3.3\nENV BUNDLE_DEPLOYMENT=true\nRUN bundle install",
            "FROM ruby:3.3\nRUN bundle install --deployment",
            "FROM ruby:3.3\nRUN BUNDLE_DEPLOYMENT=1 bundle install",
            "FROM ruby:3.3\nRUN bundle config set --local deployment 'true' && bundle install",
            "FROM ruby:3.3\nENV RAILS_ENV=development\nRUN bundle install",
            "FROM ruby:3.3 AS test\nRUN bundle install",
            "FROM debian:12\nRUN bundle install",
            "FROM ruby:3.3\nRUN bundle exec a && echo bundle install",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn the_variable_goes_below_the_stage() {
        fixed(
            RULE,
            "FROM a AS b\nFROM ruby:3.3\nRUN bundle install\n",
            "FROM a AS b\nFROM ruby:3.3\nENV BUNDLE_DEPLOYMENT=\"1\"\nRUN bundle install\n",
        );
    }
}
