//! Versions of programs that go installs.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `go install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The rule also checks `go get`. It ignores a path of the module itself and a word that is
    /// only a variable. It accepts a branch or `latest` after the `@` as a version that somebody
    /// chose. hadolint flags `latest`.
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.23
    /// RUN go install golang.org/x/tools/cmd/goimports
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.23
    /// RUN go install golang.org/x/tools/cmd/goimports@v0.21.0
    /// ```
    Dl3062 {
        name: "hadolint/DL3062",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3062",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(context, &[Manager::Go], "NAME@<version>", findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3062";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && go install -v "x.org/y" z.org/w@v1
                       ^^^^^^^^^ package x.org/y has no version; write x.org/y@<version>
RUN (go get z.org/y)
            ^^^^^^^ package z.org/y has no version; write z.org/y@<version>
"#,
        );
    }

    #[test]
    fn versions_files_and_mentions_are_silent() {
        for run in [
            r#"go install x.org/y@v1"#,
            r#"go install ./..."#,
            r#"go install ."#,
            r#"go install"#,
            r#"go install $X"#,
            r#"go build x.org/y"#,
            r#"echo go install x.org/y"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
