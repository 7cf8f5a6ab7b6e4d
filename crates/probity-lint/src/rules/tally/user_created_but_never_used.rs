//! Users that nobody becomes.

use probity_dockerfile::{Keyword, Setting, Stage};
use probity_finding::{Edit, Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{identity, startup::Startup},
    text::lines,
};

rule! {
    /// # What it does
    ///
    /// Flags a `useradd` or `adduser` in the final stage of an image that still runs as root.
    ///
    /// The rule ignores an image that may start as root on purpose:
    ///
    /// - It starts or installs `gosu`, `su-exec`, `setpriv`, `runuser` or a similar program.
    /// - It starts a server that changes its user itself, such as nginx, httpd or sshd.
    /// - It starts a script. If a heredoc in the Dockerfile contains the script, the rule reads it.
    /// - It starts nothing or has `ONBUILD` triggers, so it is a base image. If its last `USER` is
    ///   root, the rule still flags it.
    ///
    /// # Why it is bad
    ///
    /// The author created a user for the program, but the program still runs as root.
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
    /// Unsafe. The fix adds `USER` at the end of the stage. The program may need root to open a
    /// port below 1024 or to write its files.
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
            let Some(user) = identity::created(&command.effective()) else { continue };
            let Some(name) = user.literal().filter(|name| is_name(name)) else { continue };
            if is_for_others(context, stage) || !identity::image_runs_as_root(context, stage) {
                return;
            }
            let message = format!(
                "`{name}` is created but never used: the image runs as root; add `USER {name}`"
            );
            let text = format!("{}USER {name}", lines::line_end(context.file.text));
            let fix = Fix::risky(format!("run as {name}"), vec![Edit::insert(end.span.end, text)]);
            findings.push(context.finding(user.span(), message).with_fix(fix));
            return;
        }
    }
}

/// Whether the user may be there for the images that are built on this one.
fn is_for_others(context: &Context<'_>, stage: &Stage) -> bool {
    let startup = Startup::of(context, stage);
    let starts_nothing = startup.entry().is_none() || startup.has_triggers();
    starts_nothing && startup.runtime().get(Setting::User).is_empty()
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/user-created-but-never-used";
    const SAYS: &str = "`app` is created but never used: the image runs as root; add `USER app`";

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
CMD ["x"]
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
            "RUN useradd app\nCMD exec /sbin/su-exec app x",
            "RUN useradd app",
            "RUN useradd app\nONBUILD USER app\nCMD [\"x\"]",
            "RUN useradd app\nCMD su - app -c 'serve x'",
            "RUN useradd app\nENTRYPOINT [\"tini\", \"--\", \"runuser\", \"-u\", \"app\", \"x\"]",
            "RUN useradd app\nCOPY start.sh /\nCMD [\"/start.sh\"]",
            "RUN useradd app\nCOPY run /docker-entrypoint\nENTRYPOINT [\"/docker-entrypoint\"]\nCMD [\"x\"]",
            "RUN useradd app\nCOPY <<EOF /start.sh\nexec gosu app x\nEOF\nCMD [\"/start.sh\"]",
            "RUN useradd app && apk add --no-cache su-exec\nCOPY start /\nCMD [\"/start\"]",
            "RUN useradd app && curl -o /usr/local/bin/gosu https://x\nCMD [\"/start\"]",
            "RUN useradd app\nCOPY --from=b /usr/bin/gosu /usr/bin/\nCMD [\"/start\"]",
            "RUN useradd app\nCMD [\"nginx\", \"-g\", \"daemon off;\"]",
            "RUN useradd app\nCMD php-fpm8.3 -F",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    /// The rule still reports an image whose readable script does not change the user.
    #[test]
    fn a_script_of_the_dockerfile_is_read() {
        check(
            RULE,
            &format!(
                "FROM a\nRUN useradd app\n            ^^^ {SAYS}\nCOPY <<EOF /start.sh\nexec x --user app\nEOF\nCMD [\"/start.sh\"]\n"
            ),
        );
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
                    "CMD [\"a\"]\nRUN useradd app\nRUN <<EOF\nx\nEOF",
                    "CMD [\"a\"]\nRUN useradd app\nRUN <<EOF\nx\nEOF\nUSER app",
                ),
                // An image that starts as root on purpose never gets a `USER`.
                (
                    "RUN useradd app\nCOPY entrypoint.sh /\nENTRYPOINT [\"/entrypoint.sh\"]",
                    "RUN useradd app\nCOPY entrypoint.sh /\nENTRYPOINT [\"/entrypoint.sh\"]",
                ),
            ],
        );
    }
}
