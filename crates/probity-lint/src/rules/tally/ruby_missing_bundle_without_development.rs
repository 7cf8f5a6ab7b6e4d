//! Gems of developers in the image.

use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{environment, ruby},
    text::stage_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags a `bundle install` in a production stage that installs the `development` group.
    ///
    /// The rule looks for `BUNDLE_WITHOUT`, `BUNDLE_ONLY` and `bundle config set without`. A stage
    /// is for production unless its name, `RAILS_ENV` or `RACK_ENV` says that it is for development
    /// or tests.
    ///
    /// # Why it is bad
    ///
    /// The image contains consoles and debuggers that let an attacker run code.
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
    /// ENV BUNDLE_WITHOUT="development"
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// ENV BUNDLE_WITHOUT="development:test"
    /// RUN bundle install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `BUNDLE_WITHOUT` after the `FROM`, so Bundler installs fewer gems.
    RubyMissingBundleWithoutDevelopment {
        name: "tally/ruby/missing-bundle-without-development",
        severity: Warning,
        category: Security,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/missing-bundle-without-development/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in ruby::production(context) {
        let mut is_set = false;
        for tool in ruby::commands(context, stage.instructions.clone()) {
            is_set |= ruby::configures(&tool.call, "without", names_development);
            if !ruby::is_install(&tool.call) {
                continue;
            }
            let own = tool
                .command
                .assignments()
                .iter()
                .any(|assignment| assignment.name == "BUNDLE_WITHOUT");
            let without = environment::before(context, tool.index, "BUNDLE_WITHOUT");
            let only = environment::before(context, tool.index, "BUNDLE_ONLY");
            let flag = tool.call.flag(&["--without"]).is_some()
                && tool.call.args().iter().any(|word| names_development(word.text()));
            if is_set
                || own
                || flag
                || without.is_some_and(names_development)
                || only.is_some_and(|only| only.contains("production"))
                || !ruby::may_be_production(context, tool.index)
            {
                continue;
            }
            let Some(span) = tool.call.span() else { continue };
            let message = "this installs the gems of developers; set BUNDLE_WITHOUT";
            let finding = context.finding(span, message);
            let written = "ENV BUNDLE_WITHOUT=\"development\"";
            let edit = stage_edits::insert_at_top(context, stage, written);
            let fix = edit.map(|edit| Fix::suggestion("set BUNDLE_WITHOUT", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            break;
        }
    }
}

fn names_development(groups: &str) -> bool {
    groups.contains("development")
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/missing-bundle-without-development";
    const SAYS: &str = "this installs the gems of developers; set BUNDLE_WITHOUT";

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
            "FROM ruby:3.3\nENV BUNDLE_WITHOUT=test:development\nRUN bundle install",
            "FROM ruby:3.3\nENV BUNDLE_ONLY=default:production\nRUN bundle install",
            "FROM ruby:3.3\nRUN bundle install --without development test",
            "FROM ruby:3.3\nRUN bundle config set without 'development test' && bundle install",
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
            "FROM a AS b\nFROM ruby:3.3\nENV BUNDLE_WITHOUT=\"development\"\nRUN bundle install\n",
        );
    }
}
