//! Versions of packages that zypper takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `zypper install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The rule ignores a range, a file and a word that is only a variable.
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM opensuse/leap:15.6
    /// RUN zypper install -y httpd
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM opensuse/leap:15.6
    /// RUN zypper install -y httpd=2.4.57
    /// ```
    Dl3037 {
        name: "hadolint/DL3037",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3037",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(context, &[Manager::Zypper], "NAME=<version>", findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3037";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && zypper install -y "x" y=1
                           ^^^ package x has no version; write x=<version>
RUN (zypper -n in z)
                  ^ package z has no version; write z=<version>
"#,
        );
    }

    #[test]
    fn versions_files_and_mentions_are_silent() {
        for run in [
            r#"zypper in -y x=1"#,
            r#"zypper in -y "x>=1""#,
            r#"zypper in -y ./x.rpm"#,
            r#"zypper in -y $X"#,
            r#"zypper rm x"#,
            r#"echo zypper in x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
