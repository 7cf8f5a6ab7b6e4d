//! Signals where there are none.

use probity_dockerfile::{Keyword, Os};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, text::lines::whole_lines};

rule! {
    /// # What it does
    ///
    /// Flags a `STOPSIGNAL` in a Windows stage.
    ///
    /// # Why it is bad
    ///
    /// Windows does not have these signals. BuildKit accepts the instruction, but it has no effect.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// STOPSIGNAL SIGTERM
    /// CMD ["app.exe"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// CMD ["app.exe"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// CMD ["app.exe"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the instruction. The container stops as before, but the image
    /// configuration no longer contains the signal.
    ///
    /// probity offers no fix if there is a comment inside the instruction.
    WindowsNoStopsignal {
        name: "tally/windows/no-stopsignal",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/windows/no-stopsignal/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, stop) in context.each(Keyword::Stopsignal) {
        if context.facts.stage_of(index).is_none_or(|stage| stage.os != Os::Windows) {
            continue;
        }
        let message = "Windows has no signals, so this does nothing";
        let finding = context.finding(stop.keyword_span(), message);
        let lines = whole_lines(context.file.text, stop.span);
        let fix = Fix::suggestion("remove it", vec![Edit::delete(lines)]);
        let fix = stop.inner_comments().is_empty().then_some(fix);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/windows/no-stopsignal";

    #[test]
    fn the_instruction_is_underlined_on_windows_alone() {
        check(
            RULE,
            "\
FROM a
STOPSIGNAL SIGTERM
FROM --platform=windows/amd64 b
STOPSIGNAL SIGTERM
^^^^^^^^^^ Windows has no signals, so this does nothing
",
        );
    }

    #[test]
    fn whole_lines_go_and_comments_stay() {
        let from = "FROM --platform=windows a";
        fixed(
            RULE,
            &format!("{from}\n# why\nSTOPSIGNAL \\\n  1\nCMD b\n"),
            &format!("{from}\n# why\nCMD b\n"),
        );
        let kept = format!("{from}\nSTOPSIGNAL \\\n  # why\n  1\n");
        fixed(RULE, &kept, &kept);
    }
}
