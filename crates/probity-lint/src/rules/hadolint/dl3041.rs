//! Versions of packages that dnf takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{context::Context, packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `dnf install`.
    ///
    /// All packages of one instruction are one finding, with a place for each package.
    ///
    /// A file, and a word that is nothing but a variable, are left alone; hadolint flags both. A group
    /// has no version that could be asked for. Of a module (`dnf module install`) the stream counts:
    /// `NAME:STREAM`.
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
    /// RUN dnf install -y httpd
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
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
    use crate::packages::cases::rpm_versions;

    #[test]
    fn packages_without_a_version_are_underlined() {
        rpm_versions("hadolint/DL3041", "dnf");
    }
}
