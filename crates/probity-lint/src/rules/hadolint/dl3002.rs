//! Images that start as root.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, Setting};
use probity_finding::Finding;

use crate::{context::Context, startup};

rule! {
    /// # What it does
    ///
    /// Flags the last `USER` of an image if it is `root` or `0`.
    ///
    /// hadolint looks at every stage. This rule looks at those that no other stage uses: the last one,
    /// and targets of their own. It leaves an image alone that may start as root on purpose: it starts
    /// or installs `gosu`, `su-exec`, `setpriv` or the like, it starts a server that changes its user
    /// itself, or it starts a script whose text is not in the Dockerfile.
    ///
    /// # Why it is bad
    ///
    /// A process that runs as root and gets out of its container, through a mounted directory or a
    /// hole in the kernel, is root outside as well.
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
    Dl3002 {
        name: "hadolint/DL3002",
        severity: Warning,
        category: Security,
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
            && is_root(&word.text)
            && !startup::may_drop_rights(context, stage)
        {
            findings.push(context.finding(word.span, "the last user should not be root"));
        }
    }
}

fn is_root(user: &str) -> bool {
    let name = user.trim_matches(['"', '\'']).split(':').next().unwrap_or_default();
    name == "root" || name == "0"
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
