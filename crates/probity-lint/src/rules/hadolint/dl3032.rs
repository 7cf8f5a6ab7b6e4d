//! Downloads of yum that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    context::Context,
    packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `yum` and leaves in the image what was downloaded for it.
    ///
    /// Removing the directory by hand is as good, and so is a cache or memory mount over it, which
    /// hadolint does not always see.
    ///
    /// # Why it is bad
    ///
    /// The downloads are of no use any more, and removing them in a later `RUN` gives nothing back.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN yum install -y httpd-2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN yum install -y httpd-2.4 && yum clean all
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN yum install -y httpd-2.4 && yum clean all
    /// ```
    ///
    /// # Fix safety
    ///
    /// A suggestion: the packages are the same, and a later step downloads again what it wants. The
    /// cleaning comes last in the `RUN`, joined by `&&`, so that it neither hides a failure nor makes
    /// one. There is no fix where the end of the text is not the end of what runs: behind `exec` and
    /// `&`, with a here-document within the text, and in exec form.
    Dl3032 {
        name: "hadolint/DL3032",
        severity: Warning,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3032",
    }
}

const CACHES: &[&str] = &["/var/cache/yum"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let message = "`yum clean all` is missing behind it";
    let cleaning =
        Cleaning { managers: &[Manager::Yum], directories: CACHES, subcommand: "clean all" };
    packages::flag_left_behind(context, &cleaning, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3032";

    #[test]
    fn the_last_call_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN yum install -y x && (yum -y "install" y) \
                         ^^^^^^^^^^^^^^^^^^ `yum clean all` is missing behind it
    && b
RUN <<EOF
yum install -y z
^^^^^^^^^^^^^^^^ `yum clean all` is missing behind it
EOF
"#,
        );
    }

    #[test]
    fn cleaned_and_mounted_ones_and_mentions_are_silent() {
        for run in [
            r#"yum install -y x && yum clean all"#,
            r#"yum install -y x && rm -rf /var/cache/yum/*"#,
            r#"--mount=type=cache,target=/var/cache/yum yum install -y x"#,
            r#"yum makecache"#,
            r#"echo yum install x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_cleaning_comes_last() {
        fixes(
            RULE,
            &[
                ("RUN yum install -y x && a", "RUN yum install -y x && a && yum clean all"),
                (
                    "RUN (yum install -y x) > '&' # a",
                    "RUN (yum install -y x) > '&' && yum clean all # a",
                ),
                (
                    "RUN a \\\n  # why\n  && yum install -y x \\\n  && b $X",
                    "RUN a \\\n  # why\n  && yum install -y x \\\n  && b $X \\\n  && yum clean all",
                ),
                (
                    "RUN <<EOF\nyum install -y x\na\nEOF",
                    "RUN <<EOF\nyum install -y x\na && yum clean all\nEOF",
                ),
                (
                    r#"RUN ["sh", "-c", "yum install -y x"]"#,
                    r#"RUN ["sh", "-c", "yum install -y x && yum clean all"]"#,
                ),
                ("RUN yum install -y x && exec a", "RUN yum install -y x && exec a"),
                ("RUN yum install -y x && a &", "RUN yum install -y x && a &"),
                (
                    "RUN yum install -y x && cat <<EOF\na\nEOF",
                    "RUN yum install -y x && cat <<EOF\na\nEOF",
                ),
            ],
        );
    }
}
