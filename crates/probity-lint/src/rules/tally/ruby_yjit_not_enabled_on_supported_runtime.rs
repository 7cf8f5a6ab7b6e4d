//! A compiler that is not switched on.

use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{environment, ruby},
    text::stage_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags a final stage on an official Ruby 3.3 or later image that starts a server without
    /// YJIT.
    ///
    /// The rule looks for `RUBY_YJIT_ENABLE`, and for `--yjit` in `RUBYOPT` and in the command.
    ///
    /// # Why it is bad
    ///
    /// YJIT makes most Rails applications 15 to 30 % faster, but Ruby does not enable it by
    /// default. Rails 7.2 and later enable it themselves.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// CMD ["bin/rails", "server"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ruby:3.3-slim
    /// ENV RUBY_YJIT_ENABLE="1"
    /// CMD ["bin/rails", "server"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// CMD ["ruby", "--yjit", "bin/rails", "server"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `RUBY_YJIT_ENABLE` after the `FROM`. The server then needs more
    /// memory.
    RubyYjitNotEnabledOnSupportedRuntime {
        name: "tally/ruby/yjit-not-enabled-on-supported-runtime",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/yjit-not-enabled-on-supported-runtime/",
    }
}

/// The first version in which YJIT is ready for production.
const FIRST: (u32, u32) = (3, 3);

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = ruby::final_stage(context) else { return };
    let image = ruby::official_image(context, last);
    let version = image.and_then(|image| ruby::version(image.tag.as_deref()?));
    if version.is_none_or(|version| version < FIRST) || !ruby::serves(context, last) {
        return;
    }
    let is_on = |(name, value): (&str, &str)| match name {
        "RUBY_YJIT_ENABLE" => ruby::is_on(value),
        "RUBYOPT" => value.contains("--yjit"),
        _ => false,
    };
    let mut stages = context.with_bases(last);
    if stages.any(|stage| environment::of_stage(context, stage.index).any(is_on))
        || ruby::starts_with_word(context, last, "--yjit")
    {
        return;
    }
    let Some(span) = last.image_span else { return };
    let finding = context.finding(span, "this server runs without YJIT; set RUBY_YJIT_ENABLE=1");
    let edit = stage_edits::insert_at_top(context, last, "ENV RUBY_YJIT_ENABLE=\"1\"");
    let fix = edit.map(|edit| Fix::suggestion("enable YJIT", vec![edit]));
    findings.push(fix.into_iter().fold(finding, Finding::with_fix));
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/ruby/yjit-not-enabled-on-supported-runtime";

    #[test]
    fn the_image_is_underlined() {
        check(
            RULE,
            "\
FROM ruby:3.4-slim AS a
FROM a
     ^ this server runs without YJIT; set RUBY_YJIT_ENABLE=1
CMD bundle exec sidekiq
",
        );
    }

    #[test]
    fn enabled_old_and_other_ones_are_silent() {
        for text in [
            "FROM ruby:3.3\nENV RUBY_YJIT_ENABLE=1\nCMD puma",
            "FROM ruby:3.3\nENV RUBYOPT=--yjit\nCMD puma",
            "FROM ruby:3.3\nCMD [\"puma\", \"--yjit\"]",
            "FROM ruby:3.2\nCMD puma",
            "FROM ruby:latest\nCMD puma",
            "FROM ruby:3.3\nCMD [\"irb\"]",
            "FROM ruby:3.3 AS debug\nCMD puma",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
