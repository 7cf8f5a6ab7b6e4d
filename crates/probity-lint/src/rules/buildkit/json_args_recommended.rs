//! CMD and ENTRYPOINT without a shell in between.

use probity_dockerfile::{Arguments, Command, Keyword, ShellSource};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `CMD` or `ENTRYPOINT` that is written as a shell command and not as a JSON array.
    ///
    /// Where a `SHELL` is set before it, in the stage or in a stage that it is built from, the shell
    /// is taken for a choice. What stands behind `ONBUILD` is not looked at.
    ///
    /// # Why it is bad
    ///
    /// The command is run by `/bin/sh -c`, so that the shell is the container's first process. It does
    /// not pass signals on: `docker stop` waits for its timeout and then kills, and the program never
    /// gets to clean up. Arguments given to `docker run` are lost behind an `ENTRYPOINT` of this form.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nginx:1.27
    /// CMD nginx -g "daemon off;"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nginx:1.27
    /// CMD ["nginx", "-g", "daemon off;"]
    /// ```
    JsonArgsRecommended {
        name: "buildkit/JSONArgsRecommended",
        severity: Info,
        category: BestPractice,
        equals: &["hadolint/DL3025"],
        url: "https://docs.docker.com/go/dockerfile/rule/json-args-recommended/",
    }
}

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
        findings.push(context.finding(instruction.keyword_span, message).with_detail(
            "The shell that runs the command does not pass signals on, so the container is killed \
             where it should be stopped.",
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
}
