//! Mounts where there are none.

use probity_dockerfile::Os;
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `RUN --mount` in a Windows stage.
    ///
    /// # Why it is bad
    ///
    /// BuildKit accepts the flag, but Windows containers do not support any type of `RUN` mount.
    /// The build downloads the large base image and fails when the command starts.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// RUN --mount=type=cache,target=C:/cache dotnet restore
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM mcr.microsoft.com/windows/servercore:ltsc2022
    /// RUN dotnet restore
    /// ```
    WindowsNoRunMounts {
        name: "tally/windows/no-run-mounts",
        severity: Error,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/windows/no-run-mounts/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, run) in context.runs() {
        if context.facts.stage_of(index).is_none_or(|stage| stage.os != Os::Windows) {
            continue;
        }
        let mut mounts = run.flags_named("mount").map(|flag| flag.span);
        let Some(first) = mounts.next() else { continue };
        let message = "Windows containers do not support RUN --mount, so the build fails here";
        findings.push(context.finding(first, message).with_more_places(mounts));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/windows/no-run-mounts";

    #[test]
    fn every_mount_is_underlined_on_windows_alone() {
        check(
            RULE,
            "\
FROM a
RUN --mount=type=ssh b
FROM --platform=windows/amd64 c
RUN --mount=type=ssh --mount=target=x b
    ^^^^^^^^^^^^^^^^ Windows containers do not support RUN --mount, so the build fails here
                     ^^^^^^^^^^^^^^^^ likewise
RUN b --mount=type=ssh
RUN --network=none b
",
        );
    }
}
