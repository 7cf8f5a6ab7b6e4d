//! Parallel work that emulators break.

use probity_finding::{Finding, Fix};
use probity_shell::Command;

use crate::{engine::context::Context, facts::ruby, text::shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags `bootsnap precompile` without `-j 1`.
    ///
    /// The rule ignores a call if the same `RUN` uses `BUILDPLATFORM` and `TARGETPLATFORM` before
    /// it, for example to compare them.
    ///
    /// # Why it is bad
    ///
    /// Bootsnap starts one process for each processor. Under QEMU, which builds images for other
    /// platforms, Bootsnap crashes.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// RUN bundle exec bootsnap precompile app/ lib/
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ruby:3.3-slim
    /// RUN bundle exec bootsnap precompile -j 1 app/ lib/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// RUN bundle exec bootsnap precompile -j 1 app/ lib/
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds `-j 1`. Bootsnap compiles the same files, one after another.
    ///
    /// probity offers no fix if the call sets another number.
    RubyBootsnapPrecompileWithoutJ1 {
        name: "tally/ruby/bootsnap-precompile-without-j1",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/bootsnap-precompile-without-j1/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in ruby::production(context) {
        let mut run = None;
        let (mut asks_build, mut asks_target) = (false, false);
        for tool in ruby::commands(context, stage.instructions.clone()) {
            if run.replace(tool.index) != Some(tool.index) {
                (asks_build, asks_target) = (false, false);
            }
            asks_build |= mentions(tool.command, "BUILDPLATFORM");
            asks_target |= mentions(tool.command, "TARGETPLATFORM");
            let Some(verb) = tool.call.args().first().filter(|word| word.is("precompile")) else {
                continue;
            };
            let value = tool.call.flag_value(&["-j", "--jobs"]).map(|(_, value)| value);
            let value = value.as_deref().map(|value| value.trim_start_matches('='));
            let is_native = asks_build && asks_target;
            if !tool.call.is_any(&["bootsnap"]) || value == Some("1") || is_native {
                continue;
            }
            let message = "without -j 1 this crashes in builds for other platforms";
            let finding = context.finding(verb.span(), message);
            let edit = shell_edits::insert_behind(context, tool.script, verb.span(), "-j 1");
            let fix = value.is_none().then(|| Fix::suggestion("add -j 1", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

fn mentions(command: &Command, name: &str) -> bool {
    command.words.iter().flat_map(|word| word.variables()).any(|(_, own)| own.name == name)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/bootsnap-precompile-without-j1";
    const SAYS: &str = "without -j 1 this crashes in builds for other platforms";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                "FROM ruby:3.3\nRUN a && bootsnap precompile -j 4 b\n                  ^^^^^^^^^^ {SAYS}\n"
            ),
        );
    }

    #[test]
    fn one_job_and_other_calls_are_silent() {
        for text in [
            "FROM ruby:3.3\nRUN bootsnap precompile -j1 a",
            "FROM ruby:3.3\nRUN bootsnap precompile --jobs=1 a",
            "FROM ruby:3.3\nRUN bootsnap doctor",
            "FROM ruby:3.3\nRUN [ $BUILDPLATFORM = $TARGETPLATFORM ] && bootsnap precompile a",
            "FROM debian:12\nRUN bootsnap precompile a",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_in_every_form() {
        fixed(
            RULE,
            "FROM ruby:3.3\nRUN [\"bootsnap\", \"precompile\", \"a\"]\n",
            "FROM ruby:3.3\nRUN [\"bootsnap\", \"precompile\", \"-j\", \"1\", \"a\"]\n",
        );
    }
}
