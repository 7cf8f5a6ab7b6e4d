//! Downloads of yum that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{context::Context, packages};

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
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN yum install -y httpd-2.4 && yum clean all
    /// ```
    Dl3032 {
        name: "hadolint/DL3032",
        severity: Warning,
        category: Performance,
        url: "https://github.com/hadolint/hadolint/wiki/DL3032",
    }
}

const CACHES: &[&str] = &["/var/cache/yum"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let message = "`yum clean all` is missing behind it";
    packages::flag_left_behind(context, &[Manager::Yum], CACHES, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
}
