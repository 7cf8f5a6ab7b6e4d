//! Packages that nobody asked for.

use probity_dockerfile::{Action, Manager, PackageCall};
use probity_finding::Finding;
use probity_shell::Script;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags an `apt-get install` without `--no-install-recommends`.
    ///
    /// The option `APT::Install-Recommends` with the value `false` or `0` counts as that flag.
    ///
    /// # Why it is bad
    ///
    /// `apt-get` also installs every package that a requested package recommends. Few images need
    /// them. They take space, and each of them can have vulnerabilities.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apt-get install -y curl=7.88.1
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN apt-get install --no-install-recommends -y curl=7.88.1
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get install -y --no-install-recommends curl=7.88.1
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `--no-install-recommends`. The image then lacks the recommended
    /// packages, and a program in it may rely on them.
    Dl3015 {
        name: "hadolint/DL3015",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3015",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        let scripts = context.scripts(index);
        for call in context.package_calls(index) {
            let is_install = call.manager == Manager::AptGet && call.action == Action::Install;
            if !is_install || says_no(call, scripts) {
                continue;
            }
            let message = "avoid additional packages by specifying --no-install-recommends";
            let finding = context.finding(call.subcommand, message);
            let flag = "--no-install-recommends";
            findings.push(packages::with_flag(context, index, call, flag, finding));
        }
    }
}

/// By the flag, or by the option that it stands for.
fn says_no(call: &PackageCall, scripts: &[Script]) -> bool {
    if call.has_flag(&["--no-install-recommends"]) {
        return true;
    }
    let command = scripts.get(call.script).and_then(|script| script.commands.get(call.command));
    command.is_some_and(|command| {
        command.words.iter().filter_map(|word| word.literal()).any(|word| {
            let option = word.trim_start_matches("-o").trim_start_matches("--option=");
            matches!(
                option.to_ascii_lowercase().as_str(),
                "apt::install-recommends=false" | "apt::install-recommends=0"
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3015";
    const SAYS: &str = "avoid additional packages by specifying --no-install-recommends";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN apt-get update && apt-get -y 'install' \
                                 ^^^^^^^^^ {SAYS}
      x
RUN x=$(apt-get install y)
                ^^^^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn the_flag_and_the_option_are_enough() {
        check(RULE, "FROM a\nRUN apt-get install -y --no-install-recommends x\n");
        check(RULE, "FROM a\nRUN apt-get -o APT::Install-Recommends=false install x\n");
        check(RULE, "FROM a\nRUN apt-get install -oAPT::Install-Recommends=0 x\n");
        check(RULE, "FROM a\nRUN apt-get remove x && echo apt-get install y\n");
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN apt-get 'install' x", "RUN apt-get 'install' --no-install-recommends x"),
                (
                    "RUN (apt-get install x; a)",
                    "RUN (apt-get install --no-install-recommends x; a)",
                ),
                (
                    "RUN bash -c \"apt-get install $X\"",
                    "RUN bash -c \"apt-get install --no-install-recommends $X\"",
                ),
                (
                    "RUN apt-get install \\\n  # why\n  x",
                    "RUN apt-get install --no-install-recommends \\\n  # why\n  x",
                ),
                (
                    "RUN <<EOF\napt-get install x\nEOF",
                    "RUN <<EOF\napt-get install --no-install-recommends x\nEOF",
                ),
                (
                    r#"RUN ["apt-get", "install", "x"]"#,
                    r#"RUN ["apt-get", "install", "--no-install-recommends", "x"]"#,
                ),
                (
                    r#"RUN ["sh", "-c", "apt-get install x"]"#,
                    r#"RUN ["sh", "-c", "apt-get install --no-install-recommends x"]"#,
                ),
                ("RUN apt-get $VERB x", "RUN apt-get $VERB x"),
                ("RUN echo 'apt-get install x'", "RUN echo 'apt-get install x'"),
            ],
        );
    }
}
