//! Changes to a shell that ends at once.

use probity_dockerfile::Keyword;
use probity_finding::Finding;
use probity_shell::{Command, Script};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that only changes the state of its own shell.
    ///
    /// Such a `RUN` contains only assignments and these commands: `cd`, `pushd`, `export`, `unset`,
    /// `source`, `.`, `alias`, `set`, `shopt`, `umask` and `ulimit`.
    ///
    /// # Why it is bad
    ///
    /// Each `RUN` has its own shell, so the change is lost before the next instruction. Use
    /// `WORKDIR` for a directory and `ENV` for a variable. Put other commands into the `RUN` that
    /// needs them.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN cd /opt/app
    /// RUN export MODE=production
    /// RUN make install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// WORKDIR /opt/app
    /// ENV MODE=production
    /// RUN make install
    /// ```
    LostShellState {
        name: "probity/lost-shell-state",
        severity: Warning,
        category: Correctness,
    }
}

const CHANGES: &[&str] =
    &[".", "alias", "cd", "export", "pushd", "set", "shopt", "source", "ulimit", "umask", "unset"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        let [script] = context.scripts(index) else { continue };
        if !only_changes(script) {
            continue;
        }
        let Some(first) = script.commands.first() else { continue };
        let advice = match first.call().name().as_deref() {
            Some("cd" | "pushd") => "use WORKDIR",
            Some("export") | None => "use ENV",
            _ => "move it into the RUN that needs it",
        };
        let message = format!("this is lost when the RUN ends; {advice}");
        let last = script.commands.last().unwrap_or(first);
        findings.push(context.finding(first.span.to(last.span), message));
    }
}

fn only_changes(script: &Script) -> bool {
    let is_change = |command: &Command| {
        let writes = !command.redirections().is_empty();
        let is_assignment = command.words.is_empty() && !command.assignments().is_empty();
        !writes && (is_assignment || command.call().is_any(CHANGES))
    };
    // A substitution or a test runs something, which may be the point.
    script.errors().is_empty() && script.blocks.len() == 1 && script.commands.iter().all(is_change)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/lost-shell-state";

    #[test]
    fn the_commands_are_underlined() {
        check(
            RULE,
            "\
FROM a
RUN cd /opt
    ^^^^^^^ this is lost when the RUN ends; use WORKDIR
RUN export A=b && cd /c
    ^^^^^^^^^^^^^^^^^^^ this is lost when the RUN ends; use ENV
RUN A=b
    ^^^ this is lost when the RUN ends; use ENV
RUN . /venv/bin/activate
    ^^^^^^^^^^^^^^^^^^^^ this is lost when the RUN ends; move it into the RUN that needs it
",
        );
    }

    #[test]
    fn runs_that_do_something_are_silent() {
        for run in [
            "cd /opt && make",
            "make && cd /opt",
            "export A=$(make)",
            "cd /a || make",
            "export -p > /env",
            "[\"cd\", \"/a\"] x",
            "",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
