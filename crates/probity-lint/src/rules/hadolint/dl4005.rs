//! Another shell by a link.

use probity_dockerfile::Keyword;
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ln` in a `RUN` that puts another program in the place of `/bin/sh`.
    ///
    /// # Why it is bad
    ///
    /// Scripts of the image's own packages rely on the `sh` that they were written for. `SHELL`
    /// changes what the build uses and nothing else.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN ln -sfv /bin/bash /bin/sh
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// SHELL ["/bin/bash", "-c"]
    /// ```
    Dl4005 {
        name: "hadolint/DL4005",
        severity: Warning,
        category: BestPractice,
        url: "https://github.com/hadolint/hadolint/wiki/DL4005",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let call = command.effective();
            let target = call.positional(&["-t", "-S", "--suffix"]).last().copied();
            let is_shell = target
                .is_some_and(|word| ["/bin/sh", "/usr/bin/sh"].iter().any(|path| word.is(path)));
            if call.is_any(&["ln"]) && is_shell {
                let message = "use SHELL to change the default shell";
                findings.push(context.finding(call.span().unwrap_or(command.span), message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "hadolint/DL4005";
    const SAYS: &str = "use SHELL to change the default shell";

    #[test]
    fn the_command_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (ln -sfv /bin/bash "/bin/sh") \
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
    && b
RUN <<EOF
ln -s bash /bin/sh
^^^^^^^^^^^^^^^^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn other_links_and_mentions_are_silent() {
        check(RULE, "FROM a\nRUN ln -s /bin/sh /bin/x && echo ln -s bash /bin/sh && ln -s $A $B\n");
    }
}
