//! apt where apt-get does.

use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `apt` in a `RUN`.
    ///
    /// # Why it is bad
    ///
    /// `apt` is made for interactive use and warns that its behavior may change. Scripts should use
    /// `apt-get` and `apt-cache`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apt install -y curl=7.88.1
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN apt-get install -y curl=7.88.1
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get install -y curl=7.88.1
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix replaces `apt` with `apt-get`, so the build runs another program.
    /// probity offers a fix only for subcommands that both programs have.
    Dl3027 {
        name: "hadolint/DL3027",
        severity: Warning,
        category: BestPractice,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3027",
    }
}

const SHARED: &[&str] = &[
    "install",
    "update",
    "upgrade",
    "full-upgrade",
    "remove",
    "purge",
    "autoremove",
    "clean",
    "autoclean",
    "source",
    "build-dep",
    "download",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let call = command.effective();
            if !call.is_any(&["apt"]) {
                continue;
            }
            let Some(name) = call.name_word() else { continue };
            let message = "`apt` has no stable interface for scripts; use `apt-get` or `apt-cache`";
            let mut finding = context.finding(name.span(), message);
            let subcommand = call.subcommand(&["-o", "-c", "-t"]);
            if name.text() == "apt"
                && subcommand.is_some_and(|word| SHARED.contains(&word.as_ref()))
            {
                let edit = Edit::replace(name.span(), "apt-get");
                finding = finding.with_fix(Fix::suggestion("use apt-get", vec![edit]));
            }
            findings.push(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3027";
    const SAYS: &str = "`apt` has no stable interface for scripts; use `apt-get` or `apt-cache`";

    #[test]
    fn the_program_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (sudo "apt" update) \
               ^^^^^ {SAYS}
    && b
RUN <<EOF
x=$(apt list)
    ^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn others_and_mentions_are_silent() {
        check(RULE, "FROM a\nRUN apt-get update; apt-cache x; echo apt; rm /usr/bin/apt; $apt x\n");
    }

    #[test]
    fn only_what_both_have_is_replaced() {
        fixes(
            RULE,
            &[
                ("RUN (apt update; a)", "RUN (apt-get update; a)"),
                ("RUN sh -c 'apt update'", "RUN sh -c 'apt-get update'"),
                ("RUN apt \\\n  # why\n  update", "RUN apt-get \\\n  # why\n  update"),
                ("RUN <<EOF\napt install $X\nEOF", "RUN <<EOF\napt-get install $X\nEOF"),
                (r#"RUN ["apt", "update"]"#, r#"RUN ["apt-get", "update"]"#),
                ("RUN apt list", "RUN apt list"),
                ("RUN apt $X", "RUN apt $X"),
                ("RUN \"apt\" update", "RUN \"apt\" update"),
            ],
        );
    }
}
