//! Downloads of zypper that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    context::Context,
    packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `zypper` and leaves in the image what was downloaded for it.
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
    /// RUN zypper install -y httpd=2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN zypper install -y httpd=2.4 && zypper clean
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN zypper install -y httpd=2.4 && zypper clean
    /// ```
    ///
    /// # Fix safety
    ///
    /// A suggestion: the packages are the same, and a later step downloads again what it wants. The
    /// cleaning comes last in the `RUN`, joined by `&&`, so that it neither hides a failure nor makes
    /// one. There is no fix where the end of the text is not the end of what runs: behind `exec` and
    /// `&`, with a here-document within the text, and in exec form.
    Dl3036 {
        name: "hadolint/DL3036",
        severity: Warning,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3036",
    }
}

const CACHES: &[&str] = &["/var/cache/zypp"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let message = "run `zypper clean` after installing, in the same `RUN`";
    let cleaning =
        Cleaning { managers: &[Manager::Zypper], directories: CACHES, subcommand: "clean" };
    packages::flag_left_behind(context, &cleaning, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3036";

    #[test]
    fn the_last_call_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (zypper -n "in" y) \
          ^^^^^^^^^^^^^^^^ run `zypper clean` after installing, in the same `RUN`
    && b
"#,
        );
    }

    #[test]
    fn cleaned_and_mounted_ones_and_mentions_are_silent() {
        for run in [
            r#"zypper in -y x && zypper clean"#,
            r#"zypper in -y x && zypper cc -a"#,
            r#"zypper in -y x && rm -rf /var/cache/zypp/*"#,
            r#"--mount=type=tmpfs,target=/var/cache zypper in -y x"#,
            r#"echo zypper in x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_cleaning_comes_last() {
        fixes(
            RULE,
            &[
                ("RUN zypper in -y x && a", "RUN zypper in -y x && a && zypper clean"),
                (
                    "RUN (zypper in -y x) > '&' # a",
                    "RUN (zypper in -y x) > '&' && zypper clean # a",
                ),
                (
                    "RUN a \\\n  # why\n  && zypper in -y x \\\n  && b $X",
                    "RUN a \\\n  # why\n  && zypper in -y x \\\n  && b $X \\\n  && zypper clean",
                ),
                (
                    "RUN <<EOF\nzypper in -y x\na\nEOF",
                    "RUN <<EOF\nzypper in -y x\na && zypper clean\nEOF",
                ),
                (
                    r#"RUN ["sh", "-c", "zypper in -y x"]"#,
                    r#"RUN ["sh", "-c", "zypper in -y x && zypper clean"]"#,
                ),
                ("RUN zypper in -y x && exec a", "RUN zypper in -y x && exec a"),
                ("RUN zypper in -y x && a &", "RUN zypper in -y x && a &"),
                (
                    "RUN zypper in -y x && cat <<EOF\na\nEOF",
                    "RUN zypper in -y x && cat <<EOF\na\nEOF",
                ),
            ],
        );
    }
}
