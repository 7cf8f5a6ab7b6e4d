//! Versions of packages that apk takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `apk add`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The rule ignores:
    ///
    /// - a range, such as `curl~8`;
    /// - a file;
    /// - a word that is only a variable;
    /// - the name after `--virtual`.
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apk add --no-cache curl
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apk add --no-cache curl=8.5.0-r0
    /// ```
    Dl3018 {
        name: "hadolint/DL3018",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3018",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(context, &[Manager::Apk], "NAME=<version>", findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3018";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && apk --no-cache add --virtual .build x=1 "y"
                                                 ^^^ package y has no version; write y=<version>
RUN (apk add -t .b z)
                   ^ package z has no version; write z=<version>
RUN <<EOF
apk add w
        ^ package w has no version; write w=<version>
EOF
"#,
        );
    }

    #[test]
    fn versions_files_and_mentions_are_silent() {
        for run in [
            r#"apk add x=1"#,
            r#"apk add x~1"#,
            r#"apk add "x>1""#,
            r#"apk add $X"#,
            r#"apk add "x=$V""#,
            r#"apk add ./x.apk"#,
            r#"apk del x"#,
            r#"echo apk add x"#,
            r#"apk add --virtual .b x=1"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
