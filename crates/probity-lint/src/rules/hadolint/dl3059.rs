//! One layer where there are two.

use probity_dockerfile::{Arguments, Command, Instruction, Keyword};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that directly follows another one with the same flags, where both are one command.
    ///
    /// # Why it is bad
    ///
    /// Each makes a layer. What one installs and the next removes stays in the image. Which of two
    /// steps the cache should keep apart is for the author to say, so that there is no fix.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN make
    /// RUN make install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN make && make install
    /// ```
    Dl3059 {
        name: "hadolint/DL3059",
        severity: Info,
        category: Performance,
        url: "https://github.com/hadolint/hadolint/wiki/DL3059",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, pair) in context.file.instructions.windows(2).enumerate() {
        let [first, second] = pair else { continue };
        let are_runs = first.keyword == Keyword::Run && second.keyword == Keyword::Run;
        let same_flags = flags(first) == flags(second);
        // Whoever has joined commands already has decided what belongs together.
        let is_single = |at: usize| commands(context, at) <= 1;
        if are_runs && same_flags && is_single(index) && is_single(index + 1) {
            let message = "consecutive RUN instructions; consider one";
            findings.push(
                context
                    .finding(second.keyword_span, message)
                    .with_related(first.keyword_span, "the one before"),
            );
        }
    }
}

fn flags(run: &Instruction) -> Vec<(&str, Option<&str>)> {
    let flags = run.flags.iter();
    flags.map(|it| (it.name.text.as_str(), it.value.as_ref().map(|it| it.text.as_str()))).collect()
}

fn commands(context: &Context<'_>, index: usize) -> usize {
    let is_exec = context
        .file
        .instructions
        .get(index)
        .is_some_and(|run| matches!(run.arguments, Arguments::Command(Command::Json { .. })));
    match is_exec {
        true => 1,
        false => context.scripts(index).iter().map(|script| script.commands.len()).sum(),
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "hadolint/DL3059";
    const SAYS: &str = "consecutive RUN instructions; consider one";

    #[test]
    fn the_second_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN a
# why

RUN b
^^^ {SAYS}
RUN [\"c\"]
^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn others_between_other_flags_and_joined_ones_are_silent() {
        for text in [
            "RUN a\nENV b=c\nRUN d",
            "RUN a\nRUN --mount=type=cache,target=/x b",
            "RUN a && b\nRUN f",
            "RUN a\nRUN a; b",
            "RUN a | b\nRUN c",
            "RUN a\nFROM b\nRUN c",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
