//! Changes of mode or owner that only root may make.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, Instruction, Keyword, Os, Step, clean_path};
use probity_finding::Finding;
use probity_shell::{Call, Word};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `chmod`, `chown` or `chgrp` that a non-root user runs on a file owned by root.
    ///
    /// The rule checks files that an earlier `COPY` or `ADD` without `--chown` in the same stage
    /// created.
    ///
    /// # Why it is bad
    ///
    /// Files copied without `--chown` are owned by root, even after `USER`. Only the owner of a
    /// file and root can change its mode. The build fails with "Operation not permitted". Use
    /// `COPY --chmod` or `COPY --chown`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// USER app
    /// COPY start.sh /srv/start.sh
    /// RUN chmod +x /srv/start.sh
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// USER app
    /// COPY --chmod=755 start.sh /srv/start.sh
    /// ```
    ChmodAfterUser {
        name: "probity/chmod-after-user",
        severity: Error,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages().iter().filter(|stage| stage.os == Os::Linux) {
        let mut copied = HashSet::new();
        for index in stage.instructions.clone() {
            copied.extend(copied_by(context, index).unwrap_or_default());
            if let Some(user) = user_at(context, index)
                && !copied.is_empty()
            {
                report(context, index, user, &copied, findings);
            }
        }
    }
}

/// Reports the changes that a `RUN` of this user cannot make.
fn report(
    context: &Context<'_>,
    index: usize,
    user: &str,
    copied: &HashSet<String>,
    findings: &mut Vec<Finding>,
) {
    let is_run = |instruction: &Instruction| instruction.keyword == Keyword::Run;
    if !context.file.instructions.get(index).is_some_and(is_run) {
        return;
    }
    let workdir = context.facts.state(index).and_then(|state| state.workdir.path.clone());
    for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
        // `sudo chmod` is root's.
        let call = command.call();
        let changes = call.is_any(&["chgrp", "chmod", "chown"]);
        if changes && names_any(&call, copied, workdir.as_deref()) {
            let message = format!(
                "this fails: the file is owned by root and `USER` is {user}; use `COPY --chmod` or \
                 `COPY --chown`"
            );
            findings.push(context.finding(command.span, message));
        }
    }
}

/// The user of an instruction, where it is known not to be root.
fn user_at<'a>(context: &Context<'a>, index: usize) -> Option<&'a str> {
    let user = context.facts.state(index)?.user.as_deref()?;
    let name = user.value.as_deref()?.split(':').next().unwrap_or_default();
    (user.is_constant() && !matches!(name, "" | "root" | "0")).then_some(name)
}

/// The files that an instruction copies for root, as absolute paths.
fn copied_by(context: &Context<'_>, index: usize) -> Option<Vec<String>> {
    let instruction = context.file.instructions.get(index)?;
    let [Step::Transfer(transfer), ..] = context.facts.steps(index) else { return None };
    let Arguments::Transfer { sources, .. } = &instruction.arguments else { return None };
    if instruction.flags_named("chown").next().is_some() {
        return None;
    }
    let workdir = context.facts.state(index)?.workdir.path.clone();
    let written = transfer.destination.as_ref()?.value.as_deref()?;
    let destination = absolute(written, workdir.as_deref())?;
    let is_directory = sources.len() > 1 || written.ends_with('/') || written.ends_with('.');
    if !is_directory {
        return Some(vec![destination]);
    }
    let names = sources.iter().filter_map(|source| {
        let name = source.text.trim_end_matches('/').rsplit('/').next()?;
        let is_name = !name.contains(['$', '*', '?', '[', '<']) && name != ".";
        is_name.then(|| clean_path(&format!("{destination}/{name}")))
    });
    Some(names.collect())
}

fn names_any(call: &Call<'_>, copied: &HashSet<String>, workdir: Option<&str>) -> bool {
    let mut paths = call.args().iter().filter_map(Word::literal);
    paths.any(|path| absolute(&path, workdir).is_some_and(|path| copied.contains(&path)))
}

fn absolute(path: &str, workdir: Option<&str>) -> Option<String> {
    if path.starts_with('/') {
        return Some(clean_path(path));
    }
    workdir.map(|workdir| clean_path(&format!("{workdir}/{path}")))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/chmod-after-user";
    const SAYS: &str = "this fails: the file is owned by root and `USER` is app; use `COPY --chmod` or \
                        `COPY --chown`";

    #[test]
    fn the_command_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
WORKDIR /srv
USER app
COPY bin/start.sh b ./
COPY c /usr/bin/c
RUN make && chmod +x start.sh
            ^^^^^^^^^^^^^^^^^ {SAYS}
RUN chown app /usr/bin/c
    ^^^^^^^^^^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn files_of_others_and_of_root_are_silent() {
        for text in [
            "USER app\nCOPY --chown=app b /c\nRUN chmod +x /c",
            "COPY b /c\nRUN chmod +x /c\nUSER app",
            "USER app\nCOPY b /c\nUSER root\nRUN chmod +x /c",
            "USER app\nCOPY b /c\nRUN chmod +x /d && sudo chmod +x /c",
            "USER app\nCOPY b c /d/\nRUN chmod 755 /d",
            "USER $U\nCOPY b /c\nRUN chmod +x /c",
            "USER app\nCOPY b /c\nFROM d\nUSER app\nRUN chmod +x /c",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
