//! Versions of packages that yum takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{context::Context, packages};

rule! {
    /// # What it does
    ///
    /// Flags a package that `yum install` takes without a version.
    ///
    /// A file, and a word that is nothing but a variable, are left alone; hadolint flags both.
    ///
    /// # Why it is bad
    ///
    /// The same file installs something else tomorrow, and nobody can say what was in the image that
    /// worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN yum install -y httpd
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN yum install -y httpd-2.4.57
    /// ```
    Dl3033 {
        name: "hadolint/DL3033",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3033",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(context, &[Manager::Yum], "NAME-<version>", findings);
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "hadolint/DL3033";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && yum install -y "x" y-1.2
                        ^^^ package x has no version; write x-<version>
RUN (yum -y install z)
                    ^ package z has no version; write z-<version>
RUN <<EOF
yum install -y w
               ^ package w has no version; write w-<version>
EOF
"#,
        );
    }

    #[test]
    fn versions_files_and_mentions_are_silent() {
        for run in [
            r#"yum install -y x-1.2"#,
            r#"yum install -y ./x.rpm"#,
            r#"yum install -y $X"#,
            r#"yum install -y "x-$V""#,
            r#"yum remove x"#,
            r#"echo yum install x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
