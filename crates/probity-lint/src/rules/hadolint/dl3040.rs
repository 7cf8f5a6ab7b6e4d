//! Downloads of dnf that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `dnf` and leaves the downloads in the image.
    ///
    /// The rule also checks upgrades, and the programs `dnf5`, `tdnf` and `microdnf`. The cleanup
    /// must come after the last installation in the same `RUN`. You can run `dnf clean all`, or
    /// remove the cache directory (`/var/cache/dnf`, `/var/cache/yum` or `/var/cache/libdnf5`) with
    /// `rm`. A cache or tmpfs mount over that directory also works. hadolint does not always
    /// recognize removals and mounts. The rule ignores stages that only serve `COPY --from`.
    ///
    /// # Why it is bad
    ///
    /// After the installation the image does not need the downloads. Removing them in a later `RUN`
    /// does not make the image smaller.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM fedora:41
    /// RUN dnf install -y httpd-2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM fedora:41
    /// RUN dnf install -y httpd-2.4 && dnf clean all
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM fedora:41
    /// RUN dnf install -y httpd-2.4 && dnf clean all
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix appends `&& dnf clean all` to the `RUN`. The packages are the same, and
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
    let message = "run `dnf clean all` after installing, in the same `RUN`";
    let cleaning = Cleaning {
        managers: &[Manager::Dnf, Manager::Microdnf],
        directories: CACHES,
        subcommand: "clean all",
    };
    packages::flag_left_behind(context, &cleaning, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::{
        engine::harness::{check, fixes},
        facts::packages::cases::rpm_downloads,
    };

    const RULE: &str = "hadolint/DL3040";

    #[test]
    fn what_is_left_behind_is_flagged_and_removed() {
        rpm_downloads(RULE, "dnf");
    }

    #[test]
    fn the_smaller_one_cleans_up_by_itself() {
        check(RULE, "FROM a\nRUN microdnf install x && microdnf clean all\n");
        fixes(
            RULE,
            &[(
                "RUN microdnf install -y x && a",
                "RUN microdnf install -y x && a && microdnf clean all",
            )],
        );
    }
}
