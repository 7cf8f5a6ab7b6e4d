//! PowerShell scripts that go on after an error.

use probity_dockerfile::Keyword;
use probity_finding::{Finding, Fix, Span};

use crate::{
    engine::context::Context,
    facts::powershell::{self, PowerShell, is_true, is_value},
};

rule! {
    /// # What it does
    ///
    /// Flags a PowerShell script of several statements that does not stop at the first error.
    ///
    /// The preference `$ErrorActionPreference = 'Stop'` makes a script stop. PowerShell 7 (`pwsh`)
    /// also needs `$PSNativeCommandUseErrorActionPreference = $true`, which stops the script when a
    /// program such as `git` fails. Windows PowerShell does not have the second preference, so the
    /// rule asks for it only in `pwsh`.
    ///
    /// The rule reads scripts that a PowerShell `SHELL` runs, `powershell -Command` and
    /// `pwsh -Command`. `SHELL` or the script can set the preferences, but only before the first
    /// command.
    ///
    /// # Why it is bad
    ///
    /// If `Expand-Archive` fails in `Expand-Archive a.zip; Remove-Item a.zip`, the build continues
    /// without the files.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command"]
    /// RUN Expand-Archive a.zip; Remove-Item a.zip
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command", "$ErrorActionPreference = 'Stop';"]
    /// RUN Expand-Archive a.zip; Remove-Item a.zip
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command", "$ErrorActionPreference = 'Stop';"]
    /// RUN Expand-Archive a.zip; Remove-Item a.zip
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds the preferences to `SHELL`, or to the script of `powershell -Command`
    /// in cmd. A build that ignored an error now fails. probity offers no fix for `pwsh -Command` in
    /// a POSIX shell, which would expand the variables first.
    PowershellErrorActionPreference {
        name: "tally/powershell/error-action-preference",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/powershell/error-action-preference/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in powershell::scripts(context, index) {
            let Some(first) = first_of_several(&script) else { continue };
            let stop = script.preference("ErrorActionPreference", first.start);
            let native = script.preference("PSNativeCommandUseErrorActionPreference", first.start);
            let mut missing = Vec::new();
            if !stop.is_some_and(|value| is_value(value, "Stop")) {
                missing.push("$ErrorActionPreference = 'Stop';");
            }
            if script.is_core && !native.is_some_and(is_true) {
                missing.push("$PSNativeCommandUseErrorActionPreference = $true;");
            }
            if missing.is_empty() {
                continue;
            }
            let missing = missing.join(" ");
            let message = format!("the script continues if this fails; set {missing}");
            let finding = context.finding(first, message.trim_end_matches(';'));
            let fix = script.insert_before(context, &missing);
            let fix = fix.map(|edit| Fix::suggestion("stop at the first error", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

/// The first command of a script with at least two statements.
fn first_of_several(script: &PowerShell<'_>) -> Option<Span> {
    let commands = script.script.all_commands();
    let first = commands.iter().find(|command| !command.words.is_empty())?;
    let last = commands.iter().rfind(|command| command.place.block() == 0)?;
    let is_several = last.place.pipeline() > 0
        || commands.iter().any(|command| command.span.start > last.span.end);
    is_several.then_some(first.span)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "tally/powershell/error-action-preference";

    #[test]
    fn the_first_command_is_underlined() {
        check(
            RULE,
            r#"
FROM a
SHELL ["powershell", "-Command"]
RUN $x = 'y'; Write-Host a; Write-Host b
              ^^^^^^^^^^^^ the script continues if this fails; set $ErrorActionPreference = 'Stop'
RUN a; $ErrorActionPreference = 'Stop'; b
    ^ the script continues if this fails; set $ErrorActionPreference = 'Stop'
RUN $ErrorActionPreference = 'Continue'; a; b
                                         ^ the script continues if this fails; set $ErrorActionPreference = 'Stop'
RUN <<EOF
a
^ the script continues if this fails; set $ErrorActionPreference = 'Stop'
b
EOF
SHELL ["pwsh", "-c", "$ErrorActionPreference = 'stop'"]
RUN a; if (b) { c }
    ^ the script continues if this fails; set $PSNativeCommandUseErrorActionPreference = $true
SHELL ["cmd", "/S", "/C"]
RUN powershell -NoProfile -Command "a; b"
                                    ^ the script continues if this fails; set $ErrorActionPreference = 'Stop'
RUN ["pwsh.exe", "-Command", "a; b"]
                              ^ the script continues if this fails; set $ErrorActionPreference = 'Stop'
FROM b
RUN pwsh -Command 'a; b'
                   ^ the script continues if this fails; set $ErrorActionPreference = 'Stop'; $PSNativeCommandUseErrorActionPreference = $true
"#,
        );
    }

    #[test]
    fn single_statements_and_careful_scripts_are_silent() {
        for text in [
            "RUN a b",
            "RUN a | b",
            "RUN a && b",
            "RUN if (a) { b; c }",
            "RUN try { a } catch { b }",
            "RUN $ErrorActionPreference = \"Stop\"; a; b",
            "RUN $global:errorActionPreference='stop'; a; b",
            "RUN Write-Host 'a; b'",
            "RUN a # b; c",
            "CMD a; b",
            "SHELL [\"powershell\", \"-Command\", \"$ErrorActionPreference = 'Stop';\"]\nRUN a; b",
            "SHELL [\"cmd\", \"/C\"]\nRUN a & b",
            "SHELL [\"cmd\", \"/C\"]\nRUN echo powershell -Command \"a; b\"",
            "SHELL [\"sh\", \"-c\"]\nRUN a; b",
        ] {
            assert_eq!(
                run(RULE, &format!("FROM a\nSHELL [\"powershell\", \"-Command\"]\n{text}\n")),
                [],
                "{text}"
            );
        }
    }

    #[test]
    fn preferences_go_where_the_script_gets_them() {
        let stop = "$ErrorActionPreference = 'Stop';";
        for (before, after) in [
            (
                "SHELL [\"powershell\", \"-c\", \"$x = 1\"]\nRUN a; b\nRUN c; d",
                "SHELL [\"powershell\", \"-c\", \"$x = 1; STOP\"]\nRUN a; b\nRUN c; d",
            ),
            (
                "SHELL [\"cmd\", \"/C\"]\nRUN powershell -Command \"a; b\"",
                "SHELL [\"cmd\", \"/C\"]\nRUN powershell -Command \"STOP a; b\"",
            ),
            (
                "SHELL [\"cmd\", \"/C\"]\nRUN powershell a; b",
                "SHELL [\"cmd\", \"/C\"]\nRUN powershell STOP a; b",
            ),
            (
                "RUN [\"powershell\", \"-Command\", \"a; b\"]",
                "RUN [\"powershell\", \"-Command\", \"STOP a; b\"]",
            ),
            ("RUN pwsh -Command 'a; b'", "RUN pwsh -Command 'a; b'"),
        ] {
            let after = after.replace("STOP", stop);
            fixed(RULE, &format!("FROM a\n{before}\n"), &format!("FROM a\n{after}\n"));
        }
    }
}
