//! Files that the user of the image cannot write.

use probity_dockerfile::{Arguments, Keyword, Os};
use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` or `ADD` without `--chown` after a `USER` that is not root.
    ///
    /// # Why it is bad
    ///
    /// `USER` does not change the owner of copied files: files copied without `--chown` are owned
    /// by root. The program that runs as the user can often read the files but not change them. An
    /// author who writes `USER` before `COPY` usually expects the user to own them.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// USER app
    /// COPY app /srv/app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// USER app
    /// COPY --chown=app app /srv/app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// USER app
    /// COPY --chown=app app /srv/app
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds `--chown` with the value of `USER`, so the files get another owner.
    /// If only root should be able to change the files, write `--chown=root` instead.
    ///
    /// probity offers no fix if the value of `USER` contains quotes, spaces or a backslash.
    CopyAfterUserWithoutChown {
        name: "tally/copy-after-user-without-chown",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/copy-after-user-without-chown/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let all = context.file.instructions.iter().enumerate();
    let transfers =
        all.filter(|(_, instruction)| matches!(instruction.keyword, Keyword::Copy | Keyword::Add));
    for (index, transfer) in transfers {
        let Arguments::Transfer { destination: Some(_), .. } = &transfer.arguments else {
            continue;
        };
        let has_owner = transfer.flags_named("chown").next().is_some();
        let is_linux = context.facts.stage_of(index).is_some_and(|stage| stage.os == Os::Linux);
        if !is_linux || has_owner {
            continue;
        }
        let Some(user) = written_user(context, index) else { continue };
        let keyword = transfer.keyword;
        let message = format!(
            "`USER` is {user}, but files of a {keyword} without `--chown` are owned by root"
        );
        let finding = context.finding(transfer.keyword_span(), message);
        let edit = Edit::insert(transfer.keyword_span().end, format!(" --chown={user}"));
        let is_plain = !user.contains(['"', '\'', ' ', '\\']);
        let fix = is_plain.then(|| Fix::suggestion(format!("add --chown={user}"), vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// The last `USER` of the stage as it is written, where it is not root.
fn written_user(context: &Context<'_>, index: usize) -> Option<String> {
    let state = context.facts.state(index)?;
    let value = state.user.as_deref()?.value.clone();
    let name = value.as_deref().map(|value| value.split(':').next().unwrap_or_default().to_owned());
    if matches!(name.as_deref(), Some("root" | "0" | "")) {
        return None;
    }
    let stage = context.facts.stage_of(index)?;
    let before = context.file.instructions.get(stage.instructions.start..index)?;
    let user = before.iter().rev().find(|instruction| instruction.keyword == Keyword::User)?;
    match &user.arguments {
        Arguments::Text(Some(word)) => Some(word.text.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/copy-after-user-without-chown";

    #[test]
    fn the_keyword_is_underlined() {
        check(
            RULE,
            "\
FROM a
USER b:c
COPY --from=x d /e
^^^^ `USER` is b:c, but files of a COPY without `--chown` are owned by root
add f /g
^^^ `USER` is b:c, but files of a ADD without `--chown` are owned by root
",
        );
    }

    #[test]
    fn root_owners_and_other_stages_are_silent() {
        for text in [
            "COPY a /b",
            "USER root\nCOPY a /b",
            "USER 0:0\nCOPY a /b",
            "USER b\nUSER root\nCOPY a /b",
            "USER b\nCOPY --chown=root a /b",
            "USER b\nFROM c\nCOPY a /b",
            "USER b\nONBUILD COPY a /b",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn the_user_becomes_the_owner() {
        fixes(
            RULE,
            &[
                (
                    "USER 1000\ncopy \\\n  # why\n  a /b",
                    "USER 1000\ncopy --chown=1000 \\\n  # why\n  a /b",
                ),
                (
                    "ARG U\nUSER $U\nCOPY <<EOF /b\nx\nEOF",
                    "ARG U\nUSER $U\nCOPY --chown=$U <<EOF /b\nx\nEOF",
                ),
                ("USER \"b\"\nCOPY a /b", "USER \"b\"\nCOPY a /b"),
            ],
        );
    }
}
