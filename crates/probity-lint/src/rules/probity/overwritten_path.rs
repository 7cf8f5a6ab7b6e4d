//! A search path without the directories of the system.

use probity_dockerfile::{Arguments, Base, Keyword, Os};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ENV PATH=…` that drops the system directories.
    ///
    /// The value contains no variable, such as `$PATH`, and neither `/bin` nor `/usr/bin`. The rule
    /// ignores Windows images and stages that start from `scratch`.
    ///
    /// # Why it is bad
    ///
    /// Later instructions and the container no longer find `sh`, `ls` and other system programs.
    /// Append `:$PATH`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// ENV PATH=/opt/app/bin
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ENV PATH=/opt/app/bin:$PATH
    /// ```
    OverwrittenPath {
        name: "probity/overwritten-path",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each(Keyword::Env) {
        let Arguments::Pairs { pairs, .. } = &instruction.arguments else { continue };
        let stages = context.facts.stages();
        let root = context.facts.stage_of(index).and_then(|stage| stages.get(stage.root));
        if !root.is_some_and(|root| root.os == Os::Linux && root.base != Base::Scratch) {
            continue;
        }
        let lost = pairs.iter().filter(|pair| {
            let value = pair.value.as_ref().map(|value| value.text.trim_matches(['"', '\'']));
            pair.key.text == "PATH" && value.is_some_and(|value| !finds_programs(value))
        });
        findings.extend(lost.map(|pair| {
            let message = "this removes the system's directories from `PATH`; append `:$PATH`";
            context.finding(pair.span, message)
        }));
    }
}

fn finds_programs(value: &str) -> bool {
    value.contains('$')
        || value.split(':').any(|part| matches!(part.trim_end_matches('/'), "/bin" | "/usr/bin"))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/overwritten-path";

    #[test]
    fn the_pair_is_underlined() {
        check(
            RULE,
            "\
FROM a
ENV A=1 PATH=/opt/b:/opt/c
        ^^^^^^^^^^^^^^^^^^ this removes the system's directories from `PATH`; append `:$PATH`
",
        );
    }

    #[test]
    fn paths_that_find_programs_are_silent() {
        for value in ["/b:$PATH", "\"${PATH}:/b\"", "/b:/usr/bin:/bin", "$BASE/bin"] {
            check(RULE, &format!("FROM a\nENV PATH={value}\n"));
        }
        check(RULE, "FROM scratch\nENV PATH=/app\n");
        check(RULE, "FROM mcr.microsoft.com/windows/nanoserver:1\nENV PATH=C:\\\\app\n");
    }
}
