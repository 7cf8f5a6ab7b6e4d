//! Archives of gems that stay behind.

use probity_dockerfile::Stage;
use probity_finding::{Finding, Fix};
use probity_shell::Call;

use crate::{
    engine::context::Context,
    facts::{packages, ruby},
    text::shell_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags a `bundle install` that leaves Bundler's downloads in the image.
    ///
    /// The rule checks the final stage and the stages that it is based on. One of these cleanups is
    /// enough:
    ///
    /// - A command removes `~/.bundle` or the `cache` directory of the gems.
    /// - `bundle clean --force` runs after the install.
    /// - A cache mount covers the `cache` directory.
    ///
    /// # Why it is bad
    ///
    /// The image contains every gem twice: installed and as an archive.
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
    /// RUN bundle install && rm -rf ~/.bundle "${BUNDLE_PATH}"/ruby/*/cache
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// RUN bundle install && bundle clean --force
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix appends an `rm` command to the `RUN`. It uses `BUNDLE_PATH`, which may
    /// not be the directory of the gems.
    ///
    /// probity offers no fix if it cannot tell where the script of the `RUN` ends.
    RubyLeftoverBundlerCache {
        name: "tally/ruby/leftover-bundler-cache",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/leftover-bundler-cache/",
    }
}

const REMOVAL: &str = "rm -rf ~/.bundle \"${BUNDLE_PATH}\"/ruby/*/cache";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let kept = packages::stages_of_the_image(context.facts);
    for stage in ruby::production(context).filter(|stage| kept.contains(&stage.index)) {
        let Some(tool) = ruby::installs(context, stage).last() else { continue };
        if is_cleaned(context, stage, tool.index) {
            continue;
        }
        let Some(span) = tool.call.span() else { continue };
        let message = "the downloaded gems stay in the image; remove Bundler's caches";
        let finding = context.finding(span, message);
        let edit = shell_edits::append_command(context, tool.index, REMOVAL);
        let fix = edit.map(|edit| Fix::suggestion("remove the caches", vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Whether the `RUN` of the last install, or a later one, leaves nothing behind.
fn is_cleaned(context: &Context<'_>, stage: &Stage, install: usize) -> bool {
    let run = context.file.instructions.get(install);
    let mut mounts = run.into_iter().flat_map(|run| run.passing_mounts());
    mounts.any(ruby::is_bundler_cache)
        || ruby::commands(context, install..stage.instructions.end).any(|tool| cleans(&tool.call))
}

fn cleans(call: &Call<'_>) -> bool {
    let removes = |path: &str| {
        let path =
            path.trim_matches(['"', '\'']).trim_end_matches(['/', '*']).trim_end_matches('/');
        path.ends_with("/.bundle") || path.ends_with("/cache")
    };
    match call.name().as_deref() {
        Some("rm") => call.args().iter().any(|word| removes(word.text())),
        Some("bundle") => {
            call.args().first().is_some_and(|word| word.is("clean")) && call.has_flag(&["--force"])
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/leftover-bundler-cache";
    const SAYS: &str = "the downloaded gems stay in the image; remove Bundler's caches";

    #[test]
    fn the_last_install_is_underlined() {
        check(
            RULE,
            &format!(
                "FROM ruby:3.3 AS a\nRUN bundle install\nRUN bundle install -j 4\n    ^^^^^^^^^^^^^^^^^^^ {SAYS}\nFROM a\n"
            ),
        );
    }

    #[test]
    fn cleaned_and_other_stages_are_silent() {
        for text in [
            "FROM ruby:3.3\nRUN bundle install && rm -rf /usr/local/bundle/cache/*",
            "FROM ruby:3.3\nRUN bundle install\nRUN rm -rf ~/.bundle/",
            "FROM ruby:3.3\nRUN --mount=type=cache,target=/usr/local/bundle/cache bundle install",
            "FROM ruby:3.3 AS a\nRUN bundle install\nFROM ruby:3.3\nCOPY --from=a /b /c",
            "FROM ruby:3.3\nRUN bundle exec rake",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn an_uncertain_end_has_no_fix() {
        let exec = "FROM ruby:3.3\nRUN [\"bundle\", \"install\"]\n";
        fixed(RULE, exec, exec);
    }
}
