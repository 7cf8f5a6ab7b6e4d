//! Another release in the middle of a build.

use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `zypper dist-upgrade` and `zypper dup` in a `RUN`.
    ///
    /// # Why it is bad
    ///
    /// The upgrade can install another release of the distribution. The tag of the base image then
    /// no longer tells which release the image contains.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM opensuse/leap:15.6
    /// RUN zypper dist-upgrade
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM opensuse/leap:15.6
    /// RUN zypper -n patch
    /// ```
    Dl3035 {
        name: "hadolint/DL3035",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3035",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let call = command.effective();
            let positional = call.positional(&["-R", "--root", "-D", "--reposd-dir"]);
            let upgrade =
                positional.first().filter(|word| word.is("dist-upgrade") || word.is("dup"));
            if let Some(upgrade) = upgrade
                && call.is_any(&["zypper"])
            {
                let message = "do not change the release in a build; choose another base";
                findings.push(context.finding(upgrade.span(), message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3035";
    const SAYS: &str = "do not change the release in a build; choose another base";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (zypper -n "dup") \
                    ^^^^^ {SAYS}
    && b
RUN <<EOF
zypper dist-upgrade
       ^^^^^^^^^^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn others_and_mentions_are_silent() {
        check(RULE, "FROM a\nRUN zypper patch; zypper in dup; echo zypper dup; zypper $X\n");
    }
}
