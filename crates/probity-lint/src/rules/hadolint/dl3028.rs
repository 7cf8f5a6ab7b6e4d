//! Versions of packages that gem takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `gem install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The flag `--version` also sets the version. The rule does not count words after `--` or
    /// after an unknown flag as packages. The rule ignores files and words that are only a
    /// variable.
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3
    /// RUN gem install bundler
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3
    /// RUN gem install bundler:2.5.11
    /// ```
    Dl3028 {
        name: "hadolint/DL3028",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3028",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(context, &[Manager::Gem], "NAME:<version>", findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3028";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && gem install --no-document "x" y:1
                                   ^^^ package x has no version; write x:<version>
RUN (gem i z)
           ^ package z has no version; write z:<version>
"#,
        );
    }

    #[test]
    fn versions_files_and_mentions_are_silent() {
        for run in [
            r#"gem install x:1"#,
            r#"gem install x -v 1"#,
            r#"gem install x --version=1"#,
            r#"gem install x.gem"#,
            r#"gem install $X"#,
            r#"echo gem install x"#,
            r#"gem update"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
