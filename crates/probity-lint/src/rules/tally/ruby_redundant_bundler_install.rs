//! Bundler a second time.

use probity_finding::{Finding, Fix};

use crate::{engine::context::Context, facts::ruby, text::stage_edits};

rule! {
    /// # What it does
    ///
    /// Flags a `gem install bundler` in an official Ruby image.
    ///
    /// # Why it is bad
    ///
    /// The official images already contain Bundler. Another version may differ from the version
    /// that developers use.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// RUN gem install bundler
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ruby:3.3-slim
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// RUN bundle install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the `RUN`, so the build uses the image's own Bundler.
    ///
    /// probity offers no fix if the `RUN` does anything else or contains a comment.
    RubyRedundantBundlerInstall {
        name: "tally/ruby/redundant-bundler-install",
        severity: Warning,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/redundant-bundler-install/",
    }
}

/// Flags of `gem install` whose value is the next word.
const VALUED: &[&str] = &["-v", "--version", "-i", "--install-dir", "-s", "--source"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in ruby::production(context) {
        if ruby::official_image(context, stage).is_none() {
            continue;
        }
        for tool in ruby::commands(context, stage.instructions.clone()) {
            let words = tool.call.positional(VALUED);
            let Some((verb, gems)) = words.split_first() else { continue };
            let bundler = gems.iter().find(|word| word.is("bundler"));
            if !tool.call.is_any(&["gem"]) {
                continue;
            }
            let Some(bundler) = bundler else { continue };
            if !verb.is("install") {
                continue;
            }
            let message = "the official Ruby images contain Bundler already";
            let finding = context.finding(bundler.span(), message);
            let is_alone = gems.len() == 1 && tool.script.only_command().is_some();
            let run = context.file.instructions.get(tool.index);
            let run = if is_alone { run } else { None };
            let fix = run.and_then(|run| stage_edits::remove(context, run));
            let fix = fix.map(|edit| Fix::suggestion("remove it", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/redundant-bundler-install";

    #[test]
    fn the_gem_is_underlined() {
        check(
            RULE,
            "\
FROM ruby:3.3 AS a
FROM a
RUN gem install -v 2 rake bundler && b
                          ^^^^^^^ the official Ruby images contain Bundler already
",
        );
    }

    #[test]
    fn other_images_and_gems_are_silent() {
        for text in [
            "FROM jruby:9\nRUN gem install bundler",
            "FROM debian:12\nRUN gem install bundler",
            "FROM ruby:3.3\nRUN gem install rake",
            "FROM ruby:3.3\nRUN gem update bundler",
            "FROM ruby:3.3 AS ci\nRUN gem install bundler",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn only_a_run_of_its_own_goes() {
        let text = "FROM ruby:3.3\nRUN gem install bundler && a\n";
        fixed(RULE, text, text);
    }
}
