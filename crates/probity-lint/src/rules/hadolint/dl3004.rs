//! sudo in a build.

use probity_dockerfile::{Arguments, Command, Instruction};
use probity_finding::{Finding, Fix};
use probity_shell::{Call, Part, Script, Word};

use crate::{engine::context::Context, facts::base_image, text::shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags `sudo` in a `RUN`.
    ///
    /// # Why it is bad
    ///
    /// `sudo` handles terminals and signals for interactive use. A build runs as root unless `USER`
    /// sets another user, and another `USER` can switch back to root. If a container must change
    /// its user at start, use `gosu` or `su-exec`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN sudo apt-get update
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN apt-get update
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix removes `sudo`. The command runs as the same user. But it runs in the
    /// environment of the build, which `sudo` would have cleared.
    ///
    /// probity offers a fix only if the command runs as root without `sudo`. That is so in two
    /// cases:
    ///
    /// - `USER` sets root;
    /// - there is no `USER`, and the base image is known to run as root. probity knows many
    ///   official images; with slow checks, it asks the registry.
    ///
    /// probity offers no fix if:
    ///
    /// - `sudo` runs the command as another user or in another directory;
    /// - a program around `sudo` changes the user, as in `su app -c 'sudo make'`;
    /// - the word after `sudo` and its flags is not a program name;
    /// - the `RUN` is after `ONBUILD`.
    Dl3004 {
        name: "hadolint/DL3004",
        severity: Error,
        category: Security,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3004",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, run) in context.runs() {
        let scripts = context.scripts(index).iter();
        let commands =
            scripts.flat_map(|script| script.commands.iter().map(move |command| (script, command)));
        for (script, command) in commands {
            let call = command.effective();
            // Taken off as a wrapper, or with nothing behind it.
            let mut words = call.wrappers.iter().chain(call.name_word());
            let Some(at) = words.position(is_sudo) else { continue };
            let Some(sudo) = command.words.get(at) else { continue };
            let message = "do not use sudo; switch with USER, or at run time with gosu";
            let finding = context.finding(sudo.span(), message);
            // Who runs a trigger is up to the image that is built with it.
            let is_root = !context.is_trigger(index)
                && base_image::is_root(context, index)
                && !is_within_another_user(context, run, index, script)
                && !command.words.iter().take(at).any(changes_user);
            let fix = is_root.then(|| fix(context, script, &call, at)).flatten();
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

fn is_sudo(word: &Word) -> bool {
    word.literal().is_some_and(|name| name.rsplit('/').next() == Some("sudo"))
}

/// Whether the program is one that runs others as another user.
fn changes_user(word: &Word) -> bool {
    const CHANGING: &[&str] = &[
        "chroot", "doas", "gosu", "nsenter", "runuser", "setpriv", "ssh", "su", "su-exec", "sudo",
        "unshare",
    ];
    let name = word.literal();
    name.is_some_and(|name| name.rsplit('/').next().is_some_and(|part| CHANGING.contains(&part)))
}

/// Whether a text may be one that another user runs: it stands within another text that changes the
/// user somewhere.
fn is_within_another_user(
    context: &Context<'_>,
    run: &Instruction,
    index: usize,
    script: &Script,
) -> bool {
    if let Arguments::Command(Command::Json { words, .. }) = &run.arguments {
        let words = words.iter().map(|word| word.text.as_str());
        let users = ["doas", "gosu", "runuser", "setpriv", "su", "su-exec", "sudo"];
        let mut names = words.filter_map(|word| word.rsplit('/').next());
        return !shell_edits::is_exec_form(script) && names.any(|name| users.contains(&name));
    }
    let scripts = context.scripts(index);
    if scripts.first() == Some(script) {
        return false;
    }
    let others = scripts.iter().filter(|other| *other != script);
    let calls = others.flat_map(|other| &other.commands).map(|command| command.effective());
    let mut names = calls.flat_map(|call| call.wrappers.iter().chain(call.name_word()));
    names.any(changes_user)
}

/// Flags that say nothing about who runs what, or where.
const HARMLESS: &[&str] = &["-E", "-H", "-n", "-S", "--non-interactive", "--preserve-env", "--"];

/// Takes away `sudo` and its flags.
fn fix(context: &Context<'_>, script: &Script, call: &Call<'_>, at: usize) -> Option<Fix> {
    let behind = call.wrappers.get(at + 1..)?;
    let flags = behind.iter().take_while(|word| HARMLESS.iter().any(|flag| word.is(flag))).count();
    let end = at + 1 + flags;
    let next = call.wrappers.get(end).or_else(|| call.name_word())?;
    // `exec A=b program` is not what `exec sudo A=b program` is, and `sudo -u` is another user. To a
    // shell `"A=b"` is a program, and what a variable holds may be anything.
    let has_sign = |part: &Part| part.text().is_some_and(|value| value.contains('='));
    let is_odd = |word: &Word| word.parts().iter().any(has_sign) && word.assigned_name().is_none();
    let mut behind = call.wrappers.iter().skip(end).chain(call.name_word());
    let is_plain = !next.prefix().starts_with('-')
        && !next.prefix().is_empty()
        && !behind.any(is_odd)
        && (next.assigned_name().is_none() || at == 0 && !shell_edits::is_exec_form(script));
    let edit = shell_edits::remove_before(context, script, call.wrappers.get(at..end)?, next)?;
    is_plain.then(|| Fix::suggestion("run it without sudo", vec![edit]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, fixes};

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

    #[test]
    fn root_needs_no_sudo() {
        fixes(
            RULE,
            &[
                ("RUN a && (\"sudo\" -E b)", "RUN a && (b)"),
                ("RUN sudo A=$B c", "RUN A=$B c"),
                ("RUN env A=b sudo c", "RUN env A=b c"),
                ("RUN sudo \\\n  a \\\n  # why\n  b", "RUN a \\\n  # why\n  b"),
                ("RUN <<EOF\nif sudo a; then sudo b; fi\nEOF", "RUN <<EOF\nif a; then b; fi\nEOF"),
                ("RUN bash -c 'sudo a'", "RUN bash -c 'a'"),
                ("RUN sudo sh -c 'sudo a'", "RUN sh -c 'a'"),
                (r#"RUN ["sudo", "-n", "a", "b"]"#, r#"RUN ["a", "b"]"#),
                ("USER app\nUSER root:root\nRUN sudo a", "USER app\nUSER root:root\nRUN a"),
            ],
        );
    }

    #[test]
    fn what_sudo_changes_stays() {
        for text in [
            "RUN sudo",
            "RUN sudo -u x a",
            "RUN exec sudo A=b c",
            "RUN sudo \\\n  # why\n  a",
            "RUN sudo -i",
            "RUN su app -c \"sudo make install\"",
            "RUN su - app -c 'sudo make'",
            "RUN gosu app sudo make",
            "RUN su-exec app sudo make",
            "RUN runuser -u app -- sudo make",
            "RUN sudo -u app sh -c \"sudo make\"",
            r#"RUN ["gosu", "app", "sh", "-c", "sudo make"]"#,
            "RUN sudo \"PATH=$PATH\" make install",
            "RUN sudo A=b \"PATH=$PATH\" make install",
            "RUN sudo $X make",
            "USER app\nRUN sudo a",
            "ONBUILD RUN sudo a",
            "ARG U=root\nUSER $U\nRUN sudo a",
        ] {
            fixes(RULE, &[(text, text)]);
        }
        fixed(RULE, "FROM mine/tool:1\nRUN sudo a\n", "FROM mine/tool:1\nRUN sudo a\n");
    }
}
