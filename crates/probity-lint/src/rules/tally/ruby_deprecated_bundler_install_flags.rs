//! Flags that Bundler gives up.

use probity_finding::Finding;

use crate::{engine::context::Context, facts::ruby};

rule! {
    /// # What it does
    ///
    /// Flags `--without`, `--deployment` and `--path` in `bundle install`.
    ///
    /// # Why it is bad
    ///
    /// Bundler 2 warns about these flags, and Bundler 4 no longer has them. The variables
    /// `BUNDLE_WITHOUT`, `BUNDLE_DEPLOYMENT` and `BUNDLE_PATH` have the same effect for every call.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// RUN bundle install --without development
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// ENV BUNDLE_WITHOUT="development"
    /// RUN bundle install
    /// ```
    RubyDeprecatedBundlerInstallFlags {
        name: "tally/ruby/deprecated-bundler-install-flags",
        severity: Warning,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/ruby/deprecated-bundler-install-flags/",
    }
}

const FLAGS: &[(&str, &str)] = &[
    ("--without", "BUNDLE_WITHOUT"),
    ("--deployment", "BUNDLE_DEPLOYMENT"),
    ("--path", "BUNDLE_PATH"),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in ruby::production(context) {
        for tool in ruby::installs(context, stage) {
            for (flag, variable) in FLAGS {
                let Some(word) = tool.call.flag(&[flag]) else { continue };
                let message = format!("Bundler gives up {flag}; set {variable} instead");
                findings.push(context.finding(word.span(), message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/ruby/deprecated-bundler-install-flags";

    #[test]
    fn each_flag_is_underlined() {
        check(
            RULE,
            "\
FROM ruby:3.3
RUN a && bundle install --jobs 4 --path=b --deployment
                                 ^^^^^^^^ Bundler gives up --path; set BUNDLE_PATH instead
                                          ^^^^^^^^^^^^ Bundler gives up --deployment; set BUNDLE_DEPLOYMENT instead
RUN bundle exec rake --path a && bundle install --frozen
FROM ruby:3.3 AS test
RUN bundle install --without development
",
        );
    }
}
