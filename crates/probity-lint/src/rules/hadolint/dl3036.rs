//! Downloads of zypper that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `zypper` and leaves the downloads in the image.
    ///
    /// The rule also checks upgrades. The cleanup must come after the last installation in the same
    /// `RUN`. You can run `zypper clean`, or remove `/var/cache/zypp` with `rm`. A cache or tmpfs
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
    /// FROM opensuse/leap:15.6
    /// RUN zypper install -y httpd=2.4
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM opensuse/leap:15.6
    /// RUN zypper install -y httpd=2.4 && zypper clean
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM opensuse/leap:15.6
    /// RUN zypper install -y httpd=2.4 && zypper clean
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix appends `&& zypper clean` to the `RUN`. The packages are the same, and a
    /// later step downloads again what it needs. The cleanup runs only if the command before it
    /// succeeds, so it does not hide or cause a failure.
    ///
    /// probity offers no fix if:
    ///
    /// - the user is not root, or the `RUN` uses `sudo` or a similar program;
    /// - the script ends with `exec`, `exit`, `return` or a background command (`&`);
    /// - a command in the script reads a here-document;
    /// - the script has a syntax error;
    /// - the `RUN` is in exec form and does not start a shell.
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
    use crate::engine::harness::{check, fixes};

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
