//! A secret that a build does not need.

use probity_dockerfile::Instruction;
use probity_finding::{Edit, Finding, Fix};
use probity_shell::Assignment;

use crate::{
    engine::context::Context,
    facts::{
        environment,
        ruby::{self, Tool},
    },
    text::shell_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags `rails assets:precompile` and `rake assets:precompile` without
    /// `SECRET_KEY_BASE_DUMMY=1`.
    ///
    /// The rule ignores a `RUN` that mounts `RAILS_MASTER_KEY` or `SECRET_KEY_BASE` as a secret.
    ///
    /// # Why it is bad
    ///
    /// Rails needs a secret to compile assets. Some authors therefore put the real secret into the
    /// image, where everyone who has the image can read it.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// RUN bin/rails assets:precompile
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ruby:3.3-slim
    /// RUN SECRET_KEY_BASE_DUMMY=1 bin/rails assets:precompile
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// RUN SECRET_KEY_BASE_DUMMY=1 bin/rails assets:precompile
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets the variable for this command. Rails before 7.1 does not know the
    /// variable.
    ///
    /// probity offers no fix for commands in JSON form, which run without a shell.
    RubyAssetPrecompileWithoutDummyKey {
        name: "tally/ruby/asset-precompile-without-dummy-key",
        severity: Warning,
        category: Security,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/asset-precompile-without-dummy-key/",
    }
}

const VARIABLES: &[&str] = &["SECRET_KEY_BASE_DUMMY", "SECRET_KEY_BASE"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in ruby::production(context) {
        let mut run = None;
        let mut is_exported = false;
        for tool in ruby::commands(context, stage.instructions.clone()) {
            if run.replace(tool.index) != Some(tool.index) {
                is_exported = false;
            }
            is_exported |= tool.command.declarations().iter().any(is_placeholder);
            let is_compiled = tool.call.is_any(&["rails", "rake"])
                && tool.call.args().iter().any(|word| word.is("assets:precompile"));
            if !is_compiled || is_exported || has_placeholder(context, &tool) {
                continue;
            }
            let Some(span) = tool.call.span() else { continue };
            let message = "set SECRET_KEY_BASE_DUMMY=1, so this needs no secret";
            let finding = context.finding(span, message);
            let is_shell = !shell_edits::is_exec_form(tool.script);
            let edit = Edit::insert(tool.command.span.start, "SECRET_KEY_BASE_DUMMY=1 ");
            let fix = Fix::suggestion("set SECRET_KEY_BASE_DUMMY=1", vec![edit]);
            let fix = is_shell.then_some(fix);
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

fn has_placeholder(context: &Context<'_>, tool: &Tool<'_>) -> bool {
    let is_one = |name: &&str| environment::before(context, tool.index, name) == Some("1");
    VARIABLES.iter().any(is_one)
        || tool.command.assignments().iter().any(is_placeholder)
        || context.file.instructions.get(tool.index).is_some_and(mounts_key)
}

fn is_placeholder(assigned: &Assignment) -> bool {
    VARIABLES.contains(&assigned.name.as_str())
        && assigned.value.as_ref().is_some_and(|value| value.is("1"))
}

fn mounts_key(run: &Instruction) -> bool {
    run.flags_named("mount").any(|flag| {
        let is_secret = flag.option("type").is_some_and(|kind| kind.text == "secret");
        let names = ["RAILS_MASTER_KEY", "SECRET_KEY_BASE"];
        is_secret && flag.option("env").is_some_and(|env| names.contains(&env.text.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/asset-precompile-without-dummy-key";
    const SAYS: &str = "set SECRET_KEY_BASE_DUMMY=1, so this needs no secret";

    #[test]
    fn the_call_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM ruby:3.3
RUN a && bundle exec rake b assets:precompile && c
                     ^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn placeholders_secrets_and_other_images_are_silent() {
        for text in [
            "FROM ruby:3.3\nRUN SECRET_KEY_BASE=1 rails assets:precompile",
            "FROM ruby:3.3\nENV SECRET_KEY_BASE_DUMMY=1\nRUN rails assets:precompile",
            "FROM ruby:3.3\nRUN export SECRET_KEY_BASE_DUMMY=1 && rails assets:precompile",
            "FROM ruby:3.3\nRUN --mount=type=secret,id=a,env=RAILS_MASTER_KEY rails assets:precompile",
            "FROM ruby:3.3 AS dev\nRUN rails assets:precompile",
            "FROM debian:12\nRUN rails assets:precompile",
            "FROM ruby:3.3\nRUN echo rails assets:precompile",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn the_variable_goes_before_the_command() {
        for (before, after) in [
            (
                "a && bundle exec rails assets:precompile",
                "a && SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile",
            ),
            ("[\"rails\", \"assets:precompile\"]", "[\"rails\", \"assets:precompile\"]"),
        ] {
            fixed(
                RULE,
                &format!("FROM ruby:3.3\nRUN {before}\n"),
                &format!("FROM ruby:3.3\nRUN {after}\n"),
            );
        }
    }
}
