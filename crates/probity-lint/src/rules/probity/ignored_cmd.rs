//! Arguments that a shell throws away.

use probity_dockerfile::{CommandLine, Setting, Value};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `CMD` in an image whose `ENTRYPOINT` is in shell form.
    ///
    /// # Why it is bad
    ///
    /// A shell runs the `ENTRYPOINT`, and it ignores the `CMD` and all arguments of `docker run`. Write
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
    let [entrypoint] = runtime.get(Setting::Entrypoint) else { return };
    let [cmd] = runtime.get(Setting::Cmd) else { return };
    let Value::Command(CommandLine::Shell { text, .. }) = &entrypoint.entry.value else { return };
    // A shell whose text mentions its arguments gets them.
    let is_read = text.contains("$@") || text.contains("$*") || text.contains("$0");
    if is_read || text.trim().is_empty() {
        return;
    }
    let message =
        "the shell form of `ENTRYPOINT` ignores this `CMD`; write `ENTRYPOINT` as a JSON array";
    let finding = context.finding(cmd.span, message);
    findings.push(finding.with_related(entrypoint.span, "a shell runs this"));
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
    fn arrays_and_other_stages_are_silent() {
        check(RULE, "FROM a\nENTRYPOINT [\"b\"]\nCMD [\"c\"]\n");
        check(RULE, "FROM a\nENTRYPOINT b\n");
        check(RULE, "FROM a\nENTRYPOINT b\nCMD c\nFROM d\nCMD c\n");
        check(RULE, "FROM a\nENTRYPOINT b \"$@\"\nCMD [\"c\"]\n");
    }
}
