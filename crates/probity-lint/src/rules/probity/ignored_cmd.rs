//! Arguments that a shell throws away.

use probity_dockerfile::{CommandLine, Setting, Value};
use probity_finding::{Finding, Span};

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags a `CMD` in an image whose `ENTRYPOINT` is in shell form.
    ///
    /// The rule checks the final stage. With slow checks, the rule also knows the `ENTRYPOINT` of
    /// the base image. It ignores an `ENTRYPOINT` that reads its arguments with `$@`, `$*` or `$0`.
    ///
    /// # Why it is bad
    ///
    /// A shell runs the `ENTRYPOINT`. It ignores the `CMD` and all arguments to `docker run`. Write
    /// the `ENTRYPOINT` as a JSON array.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// ENTRYPOINT java -jar /app.jar
    /// CMD ["--port", "8080"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ENTRYPOINT ["java", "-jar", "/app.jar"]
    /// CMD ["--port", "8080"]
    /// ```
    IgnoredCmd {
        name: "probity/ignored-cmd",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage() else { return };
    let runtime = context.facts.runtime(stage.index);
    let [cmd] = runtime.get(Setting::Cmd) else { return };
    let entrypoint = match runtime.get(Setting::Entrypoint) {
        [entrypoint] => entrypoint,
        [] => return findings.extend(inherited(context, stage.instruction, cmd.span)),
        _ => return,
    };
    let Value::Command(CommandLine::Shell { text, .. }) = &entrypoint.entry.value else { return };
    if !ignores_arguments(text) {
        return;
    }
    let message =
        "the shell form of `ENTRYPOINT` ignores this `CMD`; write `ENTRYPOINT` as a JSON array";
    let finding = context.finding(cmd.span, message);
    findings.push(finding.with_related(entrypoint.span, "a shell runs this"));
}

/// The same with the `ENTRYPOINT` of the base image.
fn inherited(context: &Context<'_>, instruction: usize, cmd: Span) -> Option<Finding> {
    let base = base_image::configuration(context, instruction)?;
    let [shell, flag, text] = base.entrypoint.as_slice() else { return None };
    if !shell.ends_with("sh") || flag != "-c" || !ignores_arguments(text) {
        return None;
    }
    let message = "the base image starts a shell by its `ENTRYPOINT`, which ignores this `CMD`; set \
                   an `ENTRYPOINT` as a JSON array";
    Some(context.finding(cmd, message))
}

/// A shell whose text mentions its arguments gets them.
fn ignores_arguments(text: &str) -> bool {
    let is_read = text.contains("$@") || text.contains("$*") || text.contains("$0");
    !is_read && !text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/ignored-cmd";

    #[test]
    fn the_arguments_are_underlined() {
        check(
            RULE,
            "\
FROM a
ENTRYPOINT b
CMD [\"c\"]
    ^^^^^ the shell form of `ENTRYPOINT` ignores this `CMD`; write `ENTRYPOINT` as a JSON array
",
        );
    }

    #[test]
    fn the_entrypoint_of_the_base_image_counts() {
        check(
            RULE,
            "\
FROM registry.example/base:1 AS a
FROM a
CMD [\"c\"]
    ^^^^^ the base image starts a shell by its `ENTRYPOINT`, which ignores this `CMD`; set an `ENTRYPOINT` as a JSON array
",
        );
        check(RULE, "FROM registry.example/base:1\nENTRYPOINT [\"b\"]\nCMD [\"c\"]\n");
        check(RULE, "FROM registry.example/base:1\nENTRYPOINT []\nCMD [\"c\"]\n");
        check(RULE, "FROM registry.example/tool:2\nCMD [\"c\"]\n");
    }

    #[test]
    fn arrays_and_other_stages_are_silent() {
        check(RULE, "FROM a\nENTRYPOINT [\"b\"]\nCMD [\"c\"]\n");
        check(RULE, "FROM a\nENTRYPOINT b\n");
        check(RULE, "FROM a\nENTRYPOINT b\nCMD c\nFROM d\nCMD c\n");
        check(RULE, "FROM a\nENTRYPOINT b \"$@\"\nCMD [\"c\"]\n");
    }
}
