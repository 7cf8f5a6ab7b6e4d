//! `RUN powershell -Command …` again and again.

use probity_dockerfile::{Arguments, Base, Command, Keyword, Stage};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Dialect, Invocation, Script};

use crate::{engine::context::Context, text::lines::line_end};

rule! {
    /// # What it does
    ///
    /// Flags two or more successive `RUN` instructions that each start PowerShell in the same way.
    ///
    /// The rule compares the program and its flags before the script. A `RUN` with another command
    /// ends the series. Arrays such as `RUN ["powershell", "-Command", "…"]` are not part of it.
    ///
    /// # Why it is bad
    ///
    /// Another shell reads each script first and has its own rules for quotes. One `SHELL`
    /// instruction passes the scripts to PowerShell directly, and is one place for preferences.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// RUN powershell -Command Install-WindowsFeature Web-Server
    /// RUN powershell -Command "Remove-Item -Recurse C:/inetpub/wwwroot/*"
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command"]
    /// RUN Install-WindowsFeature Web-Server
    /// RUN Remove-Item -Recurse C:/inetpub/wwwroot/*
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// SHELL ["powershell", "-Command"]
    /// RUN Install-WindowsFeature Web-Server
    /// RUN Remove-Item -Recurse C:/inetpub/wwwroot/*
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix inserts a `SHELL` and removes the wrappers. If later commands of the stage,
    /// or stages that start from it, need the earlier shell, the fix restores it. probity offers no
    /// fix if a script contains characters that cmd reads differently: `"`, `%`, `^` and `\`.
    PowershellPreferShellInstruction {
        name: "tally/powershell/prefer-shell-instruction",
        severity: Style,
        category: Style,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/powershell/prefer-shell-instruction/",
    }
}

/// A `RUN` that does nothing but start PowerShell.
struct Wrapper {
    index: usize,
    /// The program and its flags, without the one before the script.
    argv: Vec<String>,
    /// The command, and the script in it.
    command: Span,
    script: Span,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let mut series: Vec<Wrapper> = Vec::new();
        for index in stage.instructions.clone() {
            let Some(instruction) = context.file.instructions.get(index) else { continue };
            if !matches!(instruction.keyword, Keyword::Run | Keyword::Shell) {
                continue;
            }
            let wrapper = wrapper(context, index);
            let goes_on = match (series.first(), &wrapper) {
                (Some(first), Some(next)) => first.argv == next.argv,
                (None, Some(_)) => true,
                _ => false,
            };
            if !goes_on {
                report(context, stage, &std::mem::take(&mut series), findings);
            }
            series.extend(wrapper);
        }
        report(context, stage, &series, findings);
    }
}

fn report(context: &Context<'_>, stage: &Stage, series: &[Wrapper], findings: &mut Vec<Finding>) {
    let [first, _, ..] = series else { return };
    let program = first.argv.first().map(String::as_str).unwrap_or_default();
    let count = series.len();
    let message = format!("{count} RUN instructions start {program}; use one SHELL instead");
    let finding = context.finding(first.command, message);
    findings.push(fix(context, stage, series).into_iter().fold(finding, Finding::with_fix));
}

/// The wrapper that is all of a `RUN`, outside PowerShell itself.
fn wrapper(context: &Context<'_>, index: usize) -> Option<Wrapper> {
    let run = context
        .file
        .instructions
        .get(index)
        .filter(|instruction| instruction.keyword == Keyword::Run)?;
    let is_line = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
    let [outer, inner] = context.scripts(index) else { return None };
    let is_wrapper = inner.invocation.dialect == Dialect::PowerShell
        && outer.invocation.dialect != Dialect::PowerShell;
    if !is_line || !run.heredocs().is_empty() || !is_wrapper {
        return None;
    }
    let command = only_command(outer)?;
    let words = command.words.iter().filter(|word| word.span().end <= inner.span.start);
    let argv: Option<Vec<String>> = words.map(|word| Some(word.literal()?.into_owned())).collect();
    let mut argv = argv?;
    // Windows PowerShell runs its words with and without a flag for them.
    let is_flag = |word: &str| Invocation::of_argv(&["powershell", word]).takes_command;
    if argv.last().is_some_and(|word| is_flag(word)) {
        argv.pop();
    }
    if let Some(program) = argv.first_mut() {
        *program = program.strip_suffix(".exe").unwrap_or(program).to_owned();
    }
    Some(Wrapper { index, argv, command: command.span, script: inner.span })
}

fn only_command(script: &Script) -> Option<&probity_shell::Command> {
    match script.all_commands() {
        [only] if only.redirections().is_empty() && only.assignments().is_empty() => Some(only),
        _ => None,
    }
}

fn fix(context: &Context<'_>, stage: &Stage, series: &[Wrapper]) -> Option<Fix> {
    let text = context.file.text;
    let (first, last) = (series.first()?, series.last()?);
    let mut argv = first.argv.clone();
    argv.push("-Command".to_owned());
    if argv.iter().any(|word| word.contains(['"', '\\'])) {
        return None;
    }
    let newline = line_end(text);
    let before = context.file.instructions.get(first.index)?.span.start;
    let mut edits = vec![Edit::insert(before, format!("{}{newline}", shell(&argv)))];
    for wrapper in series {
        let script = wrapper.script.slice(text)?;
        if script.contains(['"', '%', '^', '\\', '\n']) {
            return None;
        }
        edits.push(Edit::replace(wrapper.command, script));
    }
    if needs_shell_behind(context, stage, last.index) {
        let earlier = &context.facts.state(first.index)?.shell.argv;
        let behind = context.file.instructions.get(last.index)?;
        edits.push(crate::text::stage_edits::insert_after(context, behind, &shell(earlier)));
    }
    Some(Fix::suggestion("start PowerShell by SHELL", edits))
}

fn shell(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| format!("\"{word}\"")).collect();
    format!("SHELL [{}]", words.join(", "))
}

/// Whether something behind an instruction runs in the shell of the stage.
fn needs_shell_behind(context: &Context<'_>, stage: &Stage, index: usize) -> bool {
    let rest = index + 1..stage.instructions.end;
    let own = context.file.instructions.get(rest).unwrap_or_default();
    let mut same_shell = own.iter().take_while(|instruction| instruction.keyword != Keyword::Shell);
    let uses_shell = same_shell.any(|instruction| match &instruction.arguments {
        Arguments::Command(command) | Arguments::Healthcheck { command, .. } => {
            matches!(command, Command::Shell(_))
        }
        Arguments::Onbuild(_) => true,
        _ => false,
    });
    let is_base = |other: &Stage| other.base == Base::Stage(stage.index);
    uses_shell || context.facts.stages().iter().any(is_base)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "tally/powershell/prefer-shell-instruction";

    #[test]
    fn the_first_of_a_series_is_underlined() {
        check(
            RULE,
            r#"
FROM --platform=windows/amd64 a
RUN powershell -NoProfile -Command "b"
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 3 RUN instructions start powershell; use one SHELL instead
ENV A=b
RUN powershell.exe -NoProfile -Command c
RUN powershell -NoProfile -Command d
FROM b
RUN pwsh -c 'a'
    ^^^^^^^^^^^ 2 RUN instructions start pwsh; use one SHELL instead
RUN pwsh -Command 'b'
"#,
        );
    }

    #[test]
    fn single_mixed_and_other_runs_are_silent() {
        for text in [
            "RUN powershell -Command a",
            "RUN powershell -Command a\nRUN pwsh -Command b",
            "RUN powershell -NoProfile -Command a\nRUN powershell -Command b",
            "RUN powershell -Command a\nRUN echo b\nRUN powershell -Command c",
            "RUN powershell -File a\nRUN powershell -File b",
            "RUN powershell -Command a & echo b\nRUN powershell -Command c",
            "RUN echo powershell -Command a\nRUN echo powershell -Command b",
            "RUN [\"powershell\", \"-Command\", \"a\"]\nRUN [\"powershell\", \"-Command\", \"b\"]",
            "SHELL [\"powershell\", \"-Command\"]\nRUN powershell -Command a\nRUN powershell -Command b",
            "RUN powershell -Command a\nFROM c\nRUN powershell -Command b",
        ] {
            let text = format!("FROM --platform=windows/amd64 a\n{text}\n");
            assert_eq!(run(RULE, &text), [], "{text}");
        }
    }

    #[test]
    fn the_earlier_shell_is_restored_for_what_needs_it() {
        let from = "FROM --platform=windows/amd64 a\n";
        for (before, after) in [
            (
                "RUN powershell -Command a\nRUN powershell -Command \"b; c\"\nRUN dir",
                "SHELL [\"powershell\", \"-Command\"]\nRUN a\nRUN b; c\nSHELL [\"cmd\", \"/S\", \"/C\"]\nRUN dir",
            ),
            (
                "RUN powershell a\nRUN powershell -c b\nCMD [\"c\"]",
                "SHELL [\"powershell\", \"-Command\"]\nRUN a\nRUN b\nCMD [\"c\"]",
            ),
            (
                "RUN powershell -Command \"a 'b'\"\nRUN powershell -Command \"echo %c%\"",
                "RUN powershell -Command \"a 'b'\"\nRUN powershell -Command \"echo %c%\"",
            ),
        ] {
            fixed(RULE, &format!("{from}{before}\n"), &format!("{from}{after}\n"));
        }
    }
}
