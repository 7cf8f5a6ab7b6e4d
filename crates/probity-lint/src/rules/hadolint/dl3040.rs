//! Downloads of dnf that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    context::Context,
    packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `dnf` and leaves in the image what was downloaded for it.
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
    /// RUN dnf install -y httpd-2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN dnf install -y httpd-2.4 && dnf clean all
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN dnf install -y httpd-2.4 && dnf clean all
    /// ```
    ///
    /// # Fix safety
    ///
    /// A suggestion: the packages are the same, and a later step downloads again what it wants. The
    /// cleaning comes last in the `RUN`, joined by `&&`, so that it neither hides a failure nor makes
    /// one. There is no fix where the end of the text is not the end of what runs: behind `exec` and
    /// `&`, with a here-document within the text, and in exec form.
    Dl3040 {
        name: "hadolint/DL3040",
        severity: Warning,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3040",
    }
}

const CACHES: &[&str] = &["/var/cache/dnf", "/var/cache/yum", "/var/cache/libdnf5"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let message = "`dnf clean all` is missing behind it";
    let cleaning = Cleaning {
        managers: &[Manager::Dnf, Manager::Microdnf],
        directories: CACHES,
        subcommand: "clean all",
    };
    packages::flag_left_behind(context, &cleaning, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3040";

    #[test]
    fn the_last_call_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN dnf install -y x && (dnf -y "install" y) \
                         ^^^^^^^^^^^^^^^^^^ `dnf clean all` is missing behind it
    && b
RUN <<EOF
microdnf install -y z
^^^^^^^^^^^^^^^^^^^^^ `dnf clean all` is missing behind it
EOF
"#,
        );
    }

    #[test]
    fn cleaned_and_mounted_ones_and_mentions_are_silent() {
        for run in [
            r#"dnf install -y x && dnf clean all"#,
            r#"microdnf install x && microdnf clean all"#,
            r#"dnf install -y x && rm -rf /var/cache/dnf"#,
            r#"--mount=type=cache,target=/var/cache/dnf dnf install -y x"#,
            r#"echo dnf install x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_cleaning_comes_last() {
        fixes(
            RULE,
            &[
                (
                    "RUN microdnf install -y x && a",
                    "RUN microdnf install -y x && a && microdnf clean all",
                ),
                (
                    "RUN (microdnf install -y x) > '&' # a",
                    "RUN (microdnf install -y x) > '&' && microdnf clean all # a",
                ),
                (
                    "RUN a \\\n  # why\n  && microdnf install -y x \\\n  && b $X",
                    "RUN a \\\n  # why\n  && microdnf install -y x \\\n  && b $X \\\n  && microdnf clean all",
                ),
                (
                    "RUN <<EOF\nmicrodnf install -y x\na\nEOF",
                    "RUN <<EOF\nmicrodnf install -y x\na && microdnf clean all\nEOF",
                ),
                (
                    r#"RUN ["sh", "-c", "microdnf install -y x"]"#,
                    r#"RUN ["sh", "-c", "microdnf install -y x && microdnf clean all"]"#,
                ),
                ("RUN microdnf install -y x && exec a", "RUN microdnf install -y x && exec a"),
                ("RUN microdnf install -y x && a &", "RUN microdnf install -y x && a &"),
                (
                    "RUN microdnf install -y x && cat <<EOF\na\nEOF",
                    "RUN microdnf install -y x && cat <<EOF\na\nEOF",
                ),
            ],
        );
    }
}
