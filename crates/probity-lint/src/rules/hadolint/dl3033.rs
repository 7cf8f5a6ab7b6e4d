//! Versions of packages that yum takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `yum install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The rule ignores:
    ///
    /// - a file, which hadolint flags;
    /// - a word that is only a variable, which hadolint flags;
    /// - a group, because it has no version.
    ///
    /// For a module (`yum module install`), the rule requires a stream instead of a version:
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
    /// FROM rockylinux:9
    /// RUN yum install -y httpd
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM rockylinux:9
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
    use crate::facts::packages::cases::rpm_versions;

    #[test]
    fn packages_without_a_version_are_underlined() {
        rpm_versions("hadolint/DL3033", "yum");
    }
}
