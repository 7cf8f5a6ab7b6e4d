//! CMD and ENTRYPOINT without a shell in between.

mod plain;

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, Os, Setting, ShellSource};
use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `CMD` or `ENTRYPOINT` that is in shell form, not a JSON array.
    ///
    /// If an earlier `SHELL` is in effect, the rule assumes that you chose the shell on purpose.
    /// The `SHELL` may be in the stage or in a stage that it is built from. The rule ignores
    /// instructions after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// `/bin/sh -c` runs the command, so the shell is the container's first process. The shell does
    /// not forward signals to the program. `docker stop` therefore waits for its timeout and then
    /// kills the container, and the program cannot clean up. An `ENTRYPOINT` in shell form also
    /// ignores the arguments of `docker run`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nginx:1.27
    /// CMD nginx -g "daemon off;"
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM nginx:1.27
    /// CMD ["nginx", "-g", "daemon off;"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nginx:1.27
    /// CMD ["nginx", "-g", "daemon off;"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix writes the command as a JSON array. The shell is then no longer the
    /// container's first process, and an entrypoint of the base image receives different arguments.
    ///
    /// If the stage also has a `CMD`, the fix of an `ENTRYPOINT` is unsafe. The shell form ignores
    /// the `CMD`, but the JSON form receives it as arguments.
    ///
    /// probity offers no fix if:
    ///
    /// - the command contains a variable, a pattern, an operator or a shell builtin;
    /// - a comment is inside the instruction;
    /// - the stage is for Windows.
    JsonArgsRecommended {
        name: "buildkit/JSONArgsRecommended",
        severity: Info,
        category: BestPractice,
        fixes: Suggestion,
        equals: &["hadolint/DL3025"],
        url: "https://docs.docker.com/go/dockerfile/rule/json-args-recommended/",
    }
}

const NO_SIGNALS: &str = "The shell that runs the command does not pass signals on, so the container \
                          is killed instead of stopped.";
const NOT_JSON: &str = "This is not valid JSON, so a shell runs it as text. Use double quotes, and no \
                        comma after the last word.";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let is_start = matches!(instruction.keyword, Keyword::Cmd | Keyword::Entrypoint);
        let is_json = matches!(instruction.arguments, Arguments::Command(Command::Json { .. }));
        let source = context.facts.state(index).map(|state| state.shell.source);
        let has_shell = matches!(source, Some(ShellSource::Instruction(_)));
        if !is_start || is_json || has_shell {
            continue;
        }
        let message = format!(
            "JSON arguments recommended for {} to prevent unintended behavior related to OS signals",
            instruction.keyword_text()
        );
        let is_meant = instruction.rest_text().trim_start().starts_with('[');
        let detail = if is_meant { NOT_JSON } else { NO_SIGNALS };
        let finding = context.finding(instruction.keyword_span(), message).with_detail(detail);
        let fix = fix(context, index, instruction);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

fn fix(context: &Context<'_>, index: usize, instruction: &Instruction) -> Option<Fix> {
    let Arguments::Command(Command::Shell(command)) = &instruction.arguments else { return None };
    let stage = context.facts.stage_of(index)?;
    // The shell of Windows splits words in its own way.
    if stage.os != Os::Linux || !instruction.inner_comments().is_empty() {
        return None;
    }
    let words = plain::plain_words(&command.text)?;
    let quoted: Vec<String> = words
        .iter()
        .map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")))
        .collect();
    let edits = vec![Edit::replace(command.span, format!("[{}]", quoted.join(", ")))];
    let has_arguments = !context.facts.runtime(stage.index).get(Setting::Cmd).is_empty();
    let title = "Write a JSON array";
    Some(match instruction.keyword {
        Keyword::Entrypoint if has_arguments => Fix::risky(title, edits),
        _ => Fix::suggestion(title, edits),
    })
}

#[cfg(test)]
mod tests {
    use probity_finding::Applicability;

    use crate::engine::harness::{check, fix_with, fixed};

    const RULE: &str = "buildkit/JSONArgsRecommended";

    #[test]
    fn the_keyword_is_underlined() {
        check(
            RULE,
            r#"
FROM a
CMD b \
^^^ JSON arguments recommended for CMD to prevent unintended behavior related to OS signals
  c
entrypoint [b]
^^^^^^^^^^ JSON arguments recommended for entrypoint to prevent unintended behavior related to OS signals
CMD
^^^ JSON arguments recommended for CMD to prevent unintended behavior related to OS signals
"#,
        );
    }

    #[test]
    fn json_triggers_and_other_commands_are_silent() {
        check(RULE, "FROM a\nCMD [\"b\"]\nENTRYPOINT []\ncmd [ \"b\", \\\n  \"c\" ]\n");
        check(RULE, "FROM a\nONBUILD CMD b\nRUN CMD b\nHEALTHCHECK CMD b\n");
    }

    #[test]
    fn a_shell_counts_from_where_it_is_set() {
        check(
            RULE,
            r#"
FROM a AS base
CMD b
^^^ JSON arguments recommended for CMD to prevent unintended behavior related to OS signals
SHELL ["/bin/bash", "-c"]
CMD b
FROM base AS child
ENTRYPOINT b
FROM child
CMD b
FROM a
CMD b
^^^ JSON arguments recommended for CMD to prevent unintended behavior related to OS signals
"#,
        );
    }

    #[test]
    fn commands_that_need_no_shell_become_arrays() {
        for (before, after) in [
            ("CMD a \\\n  'b \"c\\' \\\n  d", r#"CMD ["a", "b \"c\\", "d"]"#),
            ("CMD a $B", "CMD a $B"),
            ("CMD a \\\n # b\n c", "CMD a \\\n # b\n c"),
            ("entrypoint a", "entrypoint [\"a\"]"),
            ("ENTRYPOINT a\nCMD [\"b\"]", "ENTRYPOINT [\"a\"]\nCMD [\"b\"]"),
        ] {
            fixed(RULE, &format!("FROM a\n{before}\n"), &format!("FROM a\n{after}\n"));
        }
        let kept = "FROM a\nENTRYPOINT a\nCMD [\"b\"]\n";
        assert_eq!(fix_with(RULE, kept, Applicability::Suggestion, |_| {}), kept);
    }
}
