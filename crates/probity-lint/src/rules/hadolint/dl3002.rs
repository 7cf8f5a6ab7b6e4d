//! Images that start as root.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags the last `USER` of a stage where it is `root` or `0`.
    ///
    /// A stage that another one goes on from, and that sets another user there, is flagged too, as
    /// hadolint does.
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
    for stage in context.facts.stages() {
        let own = context.file.instructions.get(stage.instructions.clone()).unwrap_or_default();
        let Some(user) = own.iter().rfind(|it| it.keyword == Keyword::User) else { continue };
        if let Arguments::Text(Some(word)) = &user.arguments
            && is_root(&word.text)
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
FROM e
USER 0:0
     ^^^ the last user should not be root
",
        );
    }

    #[test]
    fn others_and_none_are_silent() {
        check(RULE, "FROM a\nFROM b\nUSER $root\nFROM c\nUSER rooty\nFROM d\nUSER root\nUSER x\n");
    }
}
