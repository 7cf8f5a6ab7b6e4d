//! Changes to a system that ends with the build.

use probity_dockerfile::Keyword;
use probity_finding::{Finding, Span};
use probity_shell::{Command, Script};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `RUN` commands that change only the running build system.
    ///
    /// The rule flags these commands:
    ///
    /// - `sysctl -w`;
    /// - `ulimit` with a limit, as the last command;
    /// - writes to `/etc/hosts`, `/etc/resolv.conf`, `/etc/hostname` and files below `/proc/sys`;
    /// - `service NAME start`, `service NAME restart`, `systemctl start` and
    ///   `/etc/init.d/NAME start`, as the last command.
    ///
    /// # Why it is bad
    ///
    /// An image contains only files. Kernel settings, limits and running services are lost when the
    /// `RUN` ends. The container engine writes its own `/etc/hosts` and `/etc/resolv.conf` into
    /// each container. Start the service with `CMD`, and set the rest when you run the container.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN service postfix start
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// CMD ["postfix", "start-fg"]
    /// ```
    LostSystemState {
        name: "probity/lost-system-state",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            let lost = script.commands.iter().find_map(|command| lost(script, command));
            findings.extend(lost.map(|(span, advice)| {
                context.finding(span, format!("this is lost when the `RUN` ends; {advice}"))
            }));
        }
    }
}

const WHEN_RUN: &str = "set it when you run the container";

/// What of a command is lost, and what to do instead.
fn lost(script: &Script, command: &Command) -> Option<(Span, &'static str)> {
    let call = command.effective();
    let is_last = script.commands.last() == Some(command);
    let name = call.name();
    let path = call.name_word().map(|word| word.text()).unwrap_or_default();
    let has = |verb: &str| call.args().iter().any(|word| word.is(verb));
    let starts = match name.as_deref() {
        Some("service") => has("start") || has("restart"),
        Some("systemctl") => call.subcommand(&[]).is_some_and(|verb| verb == "start"),
        _ => path.starts_with("/etc/init.d/") && has("start"),
    };
    if starts && is_last {
        return Some((command.span, "start the service with `CMD` or `ENTRYPOINT`"));
    }
    let is_setting = match name.as_deref() {
        Some("sysctl") => call.has_flag(&["-w", "--write"]),
        Some("ulimit") => is_last && call.args().len() > 1,
        _ => false,
    };
    if is_setting {
        return Some((command.span, WHEN_RUN));
    }
    let targets =
        command.redirections().iter().filter_map(|redirection| redirection.target.as_ref());
    let arguments = if call.is_any(&["tee"]) { call.args() } else { &[] };
    let written = targets.chain(arguments).find(|word| {
        let path = word.literal().unwrap_or_default();
        matches!(path.as_ref(), "/etc/hosts" | "/etc/resolv.conf" | "/etc/hostname")
            || path.starts_with("/proc/sys/")
    });
    written.map(|word| (word.span(), WHEN_RUN))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/lost-system-state";

    #[test]
    fn the_change_is_underlined() {
        check(
            RULE,
            "\
FROM a
RUN sysctl -w vm.x=1 && ulimit -n 1
    ^^^^^^^^^^^^^^^^ this is lost when the `RUN` ends; set it when you run the container
RUN echo '1.2.3.4 b' >> /etc/hosts
                        ^^^^^^^^^^ this is lost when the `RUN` ends; set it when you run the container
RUN newaliases && service postfix start
                  ^^^^^^^^^^^^^^^^^^^^^ this is lost when the `RUN` ends; start the service with `CMD` or `ENTRYPOINT`
",
        );
    }

    #[test]
    fn services_that_the_build_uses_and_files_are_silent() {
        for run in [
            "service postgresql start && psql -f /init.sql",
            "service postgresql start && make test && service postgresql stop",
            "systemctl enable nginx",
            "ulimit -n 1 && make",
            "sysctl -a",
            "echo a >> /etc/sysctl.conf && cat /etc/hosts",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
