//! Owners where there are none.

use probity_dockerfile::{Keyword, Os};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, text::shell_edits::has_comment};

rule! {
    /// # What it does
    ///
    /// Flags `--chown` in a `COPY` or `ADD` in a Windows stage.
    ///
    /// tally 0.45 ignores `ADD`.
    ///
    /// # Why it is bad
    ///
    /// Windows files have no numeric owner. BuildKit accepts the flag and ignores it, so the named
    /// user does not own the files.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// COPY --chown=ContainerUser app/ C:/app/
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// COPY app/ C:/app/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// COPY app/ C:/app/
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the flag, which has no effect unless you build the stage for
    /// another platform.
    ///
    /// probity offers no fix if a comment follows the flag inside the instruction.
    WindowsNoChownFlag {
        name: "tally/windows/no-chown-flag",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/windows/no-chown-flag/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let is_transfer = |keyword: Keyword| matches!(keyword, Keyword::Copy | Keyword::Add);
    for (index, instruction) in context.each_nested() {
        let stage = context.facts.stage_of(index).filter(|stage| stage.os == Os::Windows);
        if stage.is_none() || !is_transfer(instruction.keyword) {
            continue;
        }
        for flag in instruction.flags_named("chown") {
            let message = "Windows ignores --chown; remove the flag";
            let finding = context.finding(flag.span, message);
            let behind = instruction.line.offset(instruction.rest().start);
            let next = instruction.flags.iter().map(|other| other.span.start);
            let next = next.filter(|start| *start >= flag.span.end).chain([behind]).min();
            let span = Span::new(flag.span.start, next.unwrap_or(flag.span.end));
            let fix = Fix::suggestion("remove --chown", vec![Edit::delete(span)]);
            let fix = (!has_comment(context, span)).then_some(fix);
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/windows/no-chown-flag";

    #[test]
    fn the_flag_is_underlined_on_windows_alone() {
        check(
            RULE,
            "\
FROM a
COPY --chown=b c d
FROM --platform=windows/amd64 e
ADD --link --chown=b c d
           ^^^^^^^^^ Windows ignores --chown; remove the flag
COPY c --chown=b
RUN chown b c
",
        );
    }

    #[test]
    fn other_flags_and_comments_stay() {
        let from = "FROM --platform=windows a";
        for (before, after) in [
            ("COPY --chown=b --link c d", "COPY --link c d"),
            ("COPY --link \\\n  --chown=b \\\n  c d", "COPY --link \\\n  c d"),
            ("COPY --chown=b \\\n  # why\n  c d", "COPY --chown=b \\\n  # why\n  c d"),
        ] {
            fixed(RULE, &format!("{from}\n{before}\n"), &format!("{from}\n{after}\n"));
        }
    }
}
