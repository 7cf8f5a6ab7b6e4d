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
    /// The cleaning has to come after the last install. Removing the directory by hand is as good, and so is a cache or memory mount over it, which
    /// hadolint does not always see. The rule leaves stages alone that only serve `COPY --from`.
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
        harness::{check, fixes},
        packages::cases::rpm_downloads,
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
