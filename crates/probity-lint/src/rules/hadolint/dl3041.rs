//! Versions of packages that dnf takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `dnf install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The rule also checks `dnf5`, `tdnf` and `microdnf`. It ignores:
    ///
    /// - a file, which hadolint flags;
    /// - a word that is only a variable, which hadolint flags;
    /// - a group, because it has no version.
    ///
    /// For a module (`dnf module install`), the rule requires a stream instead of a version:
    /// `NAME:STREAM`.
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM fedora:41
    /// RUN dnf install -y httpd
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM fedora:41
    /// RUN dnf install -y httpd-2.4.57
    /// ```
    Dl3041 {
        name: "hadolint/DL3041",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3041",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(
        context,
        &[Manager::Dnf, Manager::Microdnf],
        "NAME-<version>",
        findings,
    );
}

#[cfg(test)]
mod tests {
    use crate::facts::packages::cases::rpm_versions;

    #[test]
    fn packages_without_a_version_are_underlined() {
        rpm_versions("hadolint/DL3041", "dnf");
    }
}
