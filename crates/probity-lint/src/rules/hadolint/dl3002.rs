//! Images that start as root.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, RuntimeEntry, Setting, Value};
use probity_finding::{Finding, Fix};

use crate::{
    engine::{context::Context, rule::OptionSpec},
    facts::startup,
};

rule! {
    /// # What it does
    ///
    /// Flags the last `USER` of an image if it is `root` or `0`.
    ///
    /// The rule replaces a variable with the value that the Compose or Bake build passes, or with
    /// the default of its `ARG`. If you run probity as `hadolint` or `tally`, the rule does not use
    /// defaults.
    ///
    /// hadolint checks every stage. This rule checks only stages that no other stage uses: the last
    /// stage and separate build targets. It ignores an image that may start as root on purpose,
    /// because the image:
    ///
    /// - starts or installs a program that changes the user, such as `gosu`, `su-exec` or
    ///   `setpriv`;
    /// - starts a server that changes its user itself;
    /// - starts a script that uses such a program, or whose text is not in the Dockerfile.
    ///
    /// # Why it is bad
    ///
    /// A root process may escape its container through a mounted directory or a kernel
    /// vulnerability. It is then root outside the container too.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// USER root
    /// RUN rm -rf /tmp/build
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// USER root
    /// RUN rm -rf /tmp/build
    /// USER app
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: an agent proposes the user, because the file does not show where the program must
    /// write. probity offers a fix only for the last stage.
    Dl3002 {
        name: "hadolint/DL3002",
        severity: Warning,
        category: Security,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("60")],
        url: "https://github.com/hadolint/hadolint/wiki/DL3002",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let references = context.facts.graph().references().iter();
    let used: HashSet<usize> = references
        .filter_map(|reference| reference.target.stage().filter(|used| *used != reference.stage))
        .collect();
    for stage in context.facts.stages().iter().filter(|stage| !used.contains(&stage.index)) {
        let runtime = context.facts.runtime(stage.index);
        let Some(entry) = runtime.get(Setting::User).first() else { continue };
        let Some(user) = context.file.instructions.get(entry.instruction) else { continue };
        if let Arguments::Text(Some(word)) = &user.arguments
            && is_root(value(context, entry).unwrap_or(&word.text))
            && !startup::may_drop_rights(context, stage)
        {
            let finding = context.finding(word.span, "the last user should not be root");
            let is_final =
                context.facts.final_stage().is_some_and(|last| last.index == stage.index);
            findings.push(if is_final { finding.with_fix(by_agent(context)) } else { finding });
        }
    }
}

/// The user that variables make of the word, where they are read.
fn value<'r>(context: &Context<'_>, entry: &'r RuntimeEntry) -> Option<&'r str> {
    match &entry.entry.value {
        Value::Text(text) if context.reads_variables() => context.value(text),
        _ => None,
    }
}

fn by_agent(context: &Context<'_>) -> Fix {
    context.fix_by_agent("non-root-user", "AI AutoFix: run as a user that is not root", 156)
}

fn is_root(user: &str) -> bool {
    let name = user.trim_matches(['"', '\'']).split(':').next().unwrap_or_default();
    name == "root" || name == "0"
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3002";

    #[test]
    fn the_last_user_of_a_stage_counts() {
        check(
            RULE,
            "\
FROM a AS b
USER root
     ^^^^ the last user should not be root
FROM c
USER 0
USER 1000
FROM d
USER \"root:wheel\"
     ^^^^^^^^^^^^ the last user should not be root
FROM e AS f
USER 0:0
     ^^^ the last user should not be root
FROM f
CMD [\"x\"]
",
        );
    }

    #[test]
    fn others_and_none_are_silent() {
        check(RULE, "FROM a AS b\nUSER root\nFROM b\nUSER x\nFROM c\nCOPY --from=b x y\n");
        check(RULE, "FROM a\nUSER root\nCOPY run.sh /\nENTRYPOINT [\"/run.sh\"]\n");
        check(RULE, "FROM a\nUSER root\nENTRYPOINT [\"gosu\", \"x\", \"y\"]\n");
        check(RULE, "FROM a\nFROM b\nUSER $root\nFROM c\nUSER rooty\nFROM d\nUSER root\nUSER x\n");
    }
}
