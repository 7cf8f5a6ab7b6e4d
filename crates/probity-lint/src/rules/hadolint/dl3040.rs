//! Downloads of dnf that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{context::Context, packages};

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
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN dnf install -y httpd-2.4 && dnf clean all
    /// ```
    Dl3040 {
        name: "hadolint/DL3040",
        severity: Warning,
        category: Performance,
        url: "https://github.com/hadolint/hadolint/wiki/DL3040",
    }
}

const CACHES: &[&str] = &["/var/cache/dnf", "/var/cache/yum", "/var/cache/libdnf5"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let message = "`dnf clean all` is missing behind it";
    packages::flag_left_behind(
        context,
        &[Manager::Dnf, Manager::Microdnf],
        CACHES,
        message,
        findings,
    );
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
}
