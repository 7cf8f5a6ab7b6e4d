//! Accounts that become root without a password.

use probity_dockerfile::{Arguments, Instruction, Keyword};
use probity_finding::{Finding, Span};
use probity_shell::Command;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `NOPASSWD: ALL` that a `RUN` or a heredoc of `COPY` or `ADD` writes into a sudoers
    /// file.
    ///
    /// # Why it is bad
    ///
    /// The account can become root at any time, so `USER` protects nothing. An attacker who breaks
    /// into the program can run `sudo`. Run the commands that need root before `USER`, or list the
    /// commands that the account may run.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN echo 'ci ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/ci
    /// USER ci
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN echo 'ci ALL=(root) NOPASSWD: /usr/bin/systemctl restart ci' > /etc/sudoers.d/ci
    /// USER ci
    /// ```
    PasswordlessSudo {
        name: "probity/passwordless-sudo",
        severity: Warning,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each_nested() {
        let spans = match instruction.keyword {
            Keyword::Run => granting_commands(context, index),
            Keyword::Copy | Keyword::Add => granting_heredocs(context, instruction),
            _ => Vec::new(),
        };
        findings.extend(spans.into_iter().map(|span| {
            let message = "this account becomes root without a password; run what needs root before \
                           `USER`, or list the commands it may run";
            context.finding(span, message)
        }));
    }
}

/// What grants everything in the commands of a `RUN` that writes a sudoers file.
fn granting_commands(context: &Context<'_>, index: usize) -> Vec<Span> {
    let commands = || context.scripts(index).iter().flat_map(|script| &script.commands);
    let writes = commands().any(|command| {
        let targets =
            command.redirections().iter().filter_map(|redirection| redirection.target.as_ref());
        command.words.iter().chain(targets).any(|word| is_sudoers(&word.prefix()))
    });
    if !writes {
        return Vec::new();
    }
    commands().filter_map(|command| granting_word(context, command)).collect()
}

/// Whether a path is that of a sudoers file.
fn is_sudoers(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with("sudoers"))
}

/// The word or the heredoc of a command that grants everything.
fn granting_word(context: &Context<'_>, command: &Command) -> Option<Span> {
    let heredocs =
        command.redirections().iter().filter_map(|redirection| redirection.here_document.as_ref());
    let mut bodies =
        heredocs.filter(|heredoc| heredoc.body.slice(context.file.text).is_some_and(grants_all));
    let mut words = command.words.iter().filter(|word| grants_all(word.text()));
    words
        .next()
        .map(|word| word.span())
        .or_else(|| bodies.next().map(|heredoc| heredoc.delimiter_span))
}

fn granting_heredocs(context: &Context<'_>, instruction: &Instruction) -> Vec<Span> {
    let Arguments::Transfer { destination: Some(destination), .. } = &instruction.arguments else {
        return Vec::new();
    };
    if !is_sudoers(&destination.text) {
        return Vec::new();
    }
    let grants = instruction.heredocs().iter().filter(|heredoc| {
        let text = heredoc.content(context.file.text);
        text.lines().any(|line| !line.trim_start().starts_with('#') && grants_all(line))
    });
    grants.map(|heredoc| heredoc.marker).collect()
}

fn grants_all(entry: &str) -> bool {
    entry.match_indices("NOPASSWD").any(|(at, tag)| {
        let rest = entry.get(at + tag.len()..).unwrap_or_default().trim_start();
        rest.strip_prefix(':').is_some_and(|rest| rest.trim_start().starts_with("ALL"))
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/passwordless-sudo";
    const SAYS: &str = "this account becomes root without a password; run what needs root before \
                        `USER`, or list the commands it may run";

    #[test]
    fn the_line_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN useradd b && echo 'b ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/b
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN echo \"%sudo ALL=(ALL) NOPASSWD: ALL\" | tee -a /etc/sudoers
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
COPY <<EOF /etc/sudoers.d/b
     ^^^^^ {SAYS}
b ALL=(ALL) NOPASSWD: ALL
EOF
"
            ),
        );
    }

    #[test]
    fn limited_and_mentioned_grants_are_silent() {
        for text in [
            "RUN echo 'b ALL=(root) NOPASSWD: /bin/a' > /etc/sudoers.d/b",
            "RUN echo 'b ALL=(ALL) ALL' > /etc/sudoers.d/b",
            "RUN echo 'use NOPASSWD: ALL' > /README",
            "COPY sudoers /etc/sudoers.d/b",
            "COPY <<EOF /etc/sudoers.d/b\n# b ALL=(ALL) NOPASSWD: ALL\nEOF",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
