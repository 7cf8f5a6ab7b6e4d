//! Users that nobody becomes.

use probity_dockerfile::Keyword;
use probity_finding::{Edit, Finding, Fix};
use probity_shell::{Call, Word};

use crate::{context::Context, identity, lines};

rule! {
    /// # What it does
    ///
    /// Flags a `useradd` or `adduser` in the last stage, where the image still runs as root in the end.
    ///
    /// A stage that starts a program which changes its user itself (`gosu`, `su-exec`, `setpriv`) is
    /// left alone.
    ///
    /// # Why it is bad
    ///
    /// Somebody went to the trouble of making a user for the program, and the program runs as root all
    /// the same.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN useradd --system app
    /// USER root
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN useradd --system app
    /// USER root
    /// USER app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN useradd --system app
    /// USER app
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: the program may need root to open a low port or to write its files. `USER` is put at the
    /// end of the stage.
    UserCreatedButNeverUsed {
        name: "tally/user-created-but-never-used",
        severity: Warning,
        category: Security,
        fixes: Unsafe,
        url: "https://tally.wharflab.com/rules/tally/user-created-but-never-used/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage() else { return };
    let own = stage.instructions.clone();
    let Some(end) = context.file.instructions.get(own.end.saturating_sub(1)) else { return };
    let runs = context.each(Keyword::Run).filter(|(index, _)| own.contains(index));
    for (index, _) in runs {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let Some(user) = created(&command.effective()) else { continue };
            let Some(name) = user.literal().filter(|it| is_name(it)) else { continue };
            if !identity::image_runs_as_root(context, stage) {
                return;
            }
            let message = format!("{name} is made and never used: the image runs as root");
            let text = format!("{}USER {name}", lines::line_end(context.file.text));
            let fix = Fix::risky(format!("run as {name}"), vec![Edit::insert(end.span.end, text)]);
            findings.push(context.finding(user.span, message).with_fix(fix));
            return;
        }
    }
}

/// The name that a command makes a user with: its last argument that is no flag.
fn created<'w>(call: &Call<'w>) -> Option<&'w Word> {
    if !call.is_any(&["useradd", "adduser"]) {
        return None;
    }
    match call.positional(identity::VALUED).as_slice() {
        [name] => Some(name),
        // `adduser USER GROUP` puts a user into a group.
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.".contains(&it))
}

#[cfg(test)]
mod tests {
    use crate::harness::{check, fixes};

    const RULE: &str = "tally/user-created-but-never-used";
    const SAYS: &str = "app is made and never used: the image runs as root";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a AS x
RUN useradd other
FROM b
RUN a && (useradd -r -s /bin/false \
      "app") && adduser second
      ^^^^^ {SAYS}
"#
            ),
        );
        check(
            RULE,
            &format!("FROM a\nRUN <<EOF\nadduser -D app\n           ^^^ {SAYS}\nEOF\nUSER 0\n"),
        );
    }

    #[test]
    fn used_unknown_and_mentioned_ones_are_silent() {
        for text in [
            "RUN useradd app\nUSER app",
            "RUN useradd app\nUSER 1000",
            "RUN useradd app\nUSER $U",
            "RUN useradd $U",
            "RUN adduser app group",
            "RUN echo useradd app",
            "RUN useradd app\nENTRYPOINT [\"gosu\", \"app\", \"x\"]",
            "RUN useradd app\nCMD exec su-exec app x",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn the_stage_ends_with_the_user() {
        fixes(
            RULE,
            &[
                (
                    "RUN useradd app\nCMD [\"a\"] \n# end",
                    "RUN useradd app\nCMD [\"a\"]\nUSER app \n# end",
                ),
                (
                    "RUN useradd app\nRUN <<EOF\nx\nEOF",
                    "RUN useradd app\nRUN <<EOF\nx\nEOF\nUSER app",
                ),
            ],
        );
    }
}
