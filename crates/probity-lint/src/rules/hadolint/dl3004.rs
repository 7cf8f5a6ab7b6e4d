//! sudo in a build.

use probity_dockerfile::Keyword;
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `sudo` in a `RUN`.
    ///
    /// # Why it is bad
    ///
    /// Its handling of terminals and signals is made for people. A build is root unless `USER` says
    /// otherwise, and can be again with another `USER`; a container that needs to change its user at
    /// start has `gosu` or `su-exec` for that.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN sudo apt-get update
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update
    /// ```
    Dl3004 {
        name: "hadolint/DL3004",
        severity: Error,
        category: Security,
        url: "https://github.com/hadolint/hadolint/wiki/DL3004",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let call = command.effective();
            // Taken off as a wrapper, or with nothing behind it.
            let mut words = call.wrappers.iter().chain(call.name_word());
            let sudo = words.find(|word| {
                word.literal().is_some_and(|name| name.rsplit('/').next() == Some("sudo"))
            });
            if let Some(sudo) = sudo {
                let message = "do not use sudo; switch with USER, or at run time with gosu";
                findings.push(context.finding(sudo.span, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "hadolint/DL3004";
    const SAYS: &str = "do not use sudo; switch with USER, or at run time with gosu";

    #[test]
    fn the_word_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (A=b "sudo" -u x y) \
              ^^^^^^ {SAYS}
    && env Q=1 /usr/bin/sudo z
               ^^^^^^^^^^^^^ {SAYS}
RUN ["sudo", "x"]
      ^^^^ {SAYS}
RUN <<EOF
  sudo
  ^^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn mentions_are_silent() {
        check(
            RULE,
            "FROM a\nRUN apt-get install sudo && echo 'sudo x' && $SUDO y && rm /bin/sudo\n",
        );
    }
}
