//! PowerShell downloads that draw a progress bar.

use probity_dockerfile::Keyword;
use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::powershell::{self, is_value},
};

rule! {
    /// # What it does
    ///
    /// Flags `Invoke-WebRequest` and its alias `iwr` if `$ProgressPreference` is not
    /// `'SilentlyContinue'`.
    ///
    /// `SHELL` or an earlier statement of the script can set the preference. The rule reports the
    /// first download of each script.
    ///
    /// # Why it is bad
    ///
    /// Windows PowerShell updates a progress bar for every piece that it receives. This makes large
    /// downloads many times slower, and a build log does not show the bar.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command", "$ErrorActionPreference = 'Stop';"]
    /// RUN Invoke-WebRequest https://example.com/a.zip -OutFile a.zip
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command", "$ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue';"]
    /// RUN Invoke-WebRequest https://example.com/a.zip -OutFile a.zip
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command"]
    /// RUN $ProgressPreference = 'SilentlyContinue'; Invoke-WebRequest https://example.com/a.zip -OutFile a.zip
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds the preference to `SHELL`, or to the script of `powershell -Command`
    /// in cmd. Other commands of these scripts then draw no progress bar either.
    PowershellProgressPreference {
        name: "tally/powershell/progress-preference",
        severity: Style,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/powershell/progress-preference/",
    }
}

const SILENT: &str = "$ProgressPreference = 'SilentlyContinue';";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in powershell::scripts(context, index) {
            let loud = script.script.all_commands().iter().find(|command| {
                let name = command.call().windows_name();
                let is_download = matches!(name.as_deref(), Some("invoke-webrequest" | "iwr"));
                let value = || script.preference("ProgressPreference", command.span.start);
                is_download && !value().is_some_and(|value| is_value(value, "SilentlyContinue"))
            });
            let Some(name) = loud.and_then(|command| command.words.first()) else { continue };
            let message = "the progress bar slows this download; set $ProgressPreference = \
                           'SilentlyContinue' first";
            let finding = context.finding(name.span(), message);
            let fix = script.insert_before(context, SILENT);
            let fix = fix.map(|edit| Fix::suggestion("draw no progress bar", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "tally/powershell/progress-preference";
    const SAYS: &str =
        "the progress bar slows this download; set $ProgressPreference = 'SilentlyContinue' first";

    #[test]
    fn the_first_download_of_a_script_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
SHELL ["powershell", "-Command"]
RUN Write-Host a; $x = Invoke-WebRequest b; iwr c
                       ^^^^^^^^^^^^^^^^^ {SAYS}
RUN if (a) {{ (IWR b).Content }}
              ^^^ {SAYS}
RUN $ProgressPreference = 'Continue'; iwr x
                                      ^^^ {SAYS}
RUN iwr x; $ProgressPreference = 'SilentlyContinue'
    ^^^ {SAYS}
RUN <<EOF
Microsoft.PowerShell.Utility\Invoke-WebRequest x
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
EOF
FROM b
RUN pwsh -c "iwr a"
             ^^^ {SAYS}
RUN ["powershell", "-Command", "iwr a"]
                                ^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn silent_scripts_and_other_programs_are_silent() {
        for text in [
            "RUN $ProgressPreference = 'SilentlyContinue'; iwr x",
            "RUN $global:ProgressPreference='silentlyContinue'; if (a) { iwr x }",
            "RUN Invoke-RestMethod x",
            "RUN curl.exe x",
            "RUN Write-Host 'Invoke-WebRequest x'",
            "RUN # iwr x",
            "CMD iwr x",
            "SHELL [\"powershell\", \"-Command\", \"$ProgressPreference = 'SilentlyContinue';\"]\nRUN iwr a",
            "SHELL [\"cmd\", \"/C\"]\nRUN iwr a",
        ] {
            let text = format!("FROM a\nSHELL [\"powershell\", \"-Command\"]\n{text}\n");
            assert_eq!(run(RULE, &text), [], "{text}");
        }
    }

    #[test]
    fn the_preference_goes_where_the_script_gets_it() {
        fixed(
            RULE,
            "FROM a\nSHELL [\"powershell\", \"-Command\"]\nRUN iwr a\n",
            "FROM a\nSHELL [\"powershell\", \"-Command\", \"$ProgressPreference = 'SilentlyContinue';\"]\nRUN iwr a\n",
        );
        let pwsh = "FROM a\nRUN pwsh -c 'iwr a'\n";
        fixed(RULE, pwsh, pwsh);
    }
}
