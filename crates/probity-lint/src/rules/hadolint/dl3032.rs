//! Downloads of yum that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `yum` and leaves the downloads in the image.
    ///
    /// The rule also checks upgrades. The cleanup must come after the last installation in the same
    /// `RUN`. You can run `yum clean all`, or remove `/var/cache/yum` with `rm`. A cache or tmpfs
    /// mount over that directory also works. hadolint does not always recognize removals and
    /// mounts. The rule ignores stages that only serve `COPY --from`.
    ///
    /// # Why it is bad
    ///
    /// After the installation the image does not need the downloads. Removing them in a later `RUN`
    /// does not make the image smaller.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM rockylinux:9
    /// RUN yum install -y httpd-2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM rockylinux:9
    /// RUN yum install -y httpd-2.4 && yum clean all
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM rockylinux:9
    /// RUN yum install -y httpd-2.4 && yum clean all
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix appends `&& yum clean all` to the `RUN`. The packages are the same, and
    /// a later step downloads again what it needs. The cleanup runs only if the command before it
    /// succeeds, so it does not hide or cause a failure.
    ///
    /// probity offers no fix if:
    ///
    /// - the user is not root, or the `RUN` uses `sudo` or a similar program;
    /// - the script ends with `exec`, `exit`, `return` or a background command (`&`);
    /// - a command in the script reads a here-document;
    /// - the script has a syntax error;
    /// - the `RUN` is in exec form and does not start a shell.
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
    let message = "run `yum clean all` after installing, in the same `RUN`";
    let cleaning =
        Cleaning { managers: &[Manager::Yum], directories: CACHES, subcommand: "clean all" };
    packages::flag_left_behind(context, &cleaning, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::facts::packages::cases::rpm_downloads;

    #[test]
    fn what_is_left_behind_is_flagged_and_removed() {
        rpm_downloads("hadolint/DL3032", "yum");
    }
}
