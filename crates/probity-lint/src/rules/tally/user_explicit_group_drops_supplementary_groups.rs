//! Groups that a user was put into and does not get.

use std::collections::BTreeMap;

use probity_dockerfile::{Arguments, Base, Keyword, Stage, Step};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, facts::identity};

rule! {
    /// # What it does
    ///
    /// Flags `USER name:group` if the Dockerfile adds this user to other groups.
    ///
    /// The rule looks for `useradd -G`, `usermod -aG`, `adduser USER GROUP`, `addgroup USER GROUP`
    /// and `gpasswd -a`. It checks this stage and the stages that it is based on.
    ///
    /// If the user was added only to the group after the colon, nothing is lost, and the rule
    /// reports nothing. Unlike probity, tally reports this case.
    ///
    /// # Why it is bad
    ///
    /// If `USER` names a group, the process gets only this group. `/etc/group` lists the user in
    /// the other groups, but the program cannot open their files.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN useradd --groups video,audio app
    /// USER app:app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN useradd --groups video,audio app
    /// USER app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN useradd --groups video,audio app
    /// USER app
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the group. The process then gets all groups of the user and the
    /// user's primary group, which may differ from the group after the colon.
    ///
    /// probity offers no fix if the value is quoted or split over lines, or if it contains a
    /// variable.
    UserExplicitGroupDropsSupplementaryGroups {
        name: "tally/user-explicit-group-drops-supplementary-groups",
        severity: Warning,
        category: Security,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/user-explicit-group-drops-supplementary-groups/",
    }
}

/// The groups of each user that a stage names, in the order of the source.
type Groups = BTreeMap<String, Vec<String>>;

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    // Most files have no such line, and then no command has to be looked at.
    let pairs: Vec<_> = context
        .each(Keyword::User)
        .filter_map(|(index, user)| {
            let Arguments::Text(Some(word)) = &user.arguments else { return None };
            let steps = context.facts.steps(index);
            let meant = steps.iter().find_map(|step| match step {
                Step::User(text) => text.value.as_deref().filter(|_| text.is_constant()),
                _ => None,
            });
            let (name, group) = meant?.split_once(':').filter(|(_, group)| is_name(group))?;
            Some((index, word, name, group))
        })
        .collect();
    if pairs.is_empty() {
        return;
    }
    let stages = context.facts.stages();
    let groups: Vec<Groups> = stages.iter().map(|stage| memberships(context, stage)).collect();
    for (index, word, name, group) in pairs {
        let chain =
            std::iter::successors(context.facts.stage_of(index), |stage| match stage.base {
                Base::Stage(base) => stages.get(base),
                _ => None,
            });
        let own = chain.filter_map(|stage| groups.get(stage.index)?.get(name));
        let lost: Vec<&str> =
            own.flatten().map(String::as_str).filter(|other| *other != group).collect();
        if lost.is_empty() {
            continue;
        }
        let message = format!("with :{group} {name} is not in {}", lost.join(", "));
        let finding = context.finding(word.span, message);
        // Quotes and continuations would be cut in two.
        let written = word.span.slice(context.file.text).and_then(|source| source.split_once(':'));
        let is_plain = written == Some((name, group));
        let suffix = Span::new(word.span.start + name.len(), word.span.end);
        let fix =
            is_plain.then(|| Fix::suggestion(format!("drop :{group}"), vec![Edit::delete(suffix)]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Whatever else stands behind the colon is no group that anybody is in.
fn is_name(group: &str) -> bool {
    !group.is_empty() && !group.contains(char::is_whitespace)
}

fn memberships(context: &Context<'_>, stage: &Stage) -> Groups {
    let mut found = Groups::new();
    let is_run = |index: &usize| {
        context
            .file
            .instructions
            .get(*index)
            .is_some_and(|instruction| instruction.keyword == Keyword::Run)
    };
    for index in stage.instructions.clone().filter(is_run) {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let Some((user, groups)) = identity::memberships(&command.effective()) else {
                continue;
            };
            found.entry(user).or_default().extend(groups);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/user-explicit-group-drops-supplementary-groups";

    #[test]
    fn whoever_loses_a_group_is_underlined() {
        for run in [
            "RUN useradd -G one app",
            "RUN a && (usermod -aG \"one\" app)",
            "RUN usermod --append --groups one 'app'",
            "RUN usermod -a -G one \\\n  # why\n  app",
            "RUN adduser app one",
            "RUN addgroup app one",
            "RUN gpasswd -a app one",
            "RUN bash -c 'gpasswd --add app one'",
            "RUN <<EOF\nuseradd --groups=app,one app\nEOF",
            "RUN [\"usermod\", \"-G\", \"one\", \"app\"]",
        ] {
            let user = "USER app:app\n     ^^^^^^^ with :app app is not in one";
            check(RULE, &format!("FROM a\n{run}\n{user}\n"));
            check(RULE, &format!("FROM a AS b\n{run}\nFROM b\n{user}\n"));
        }
        check(
            RULE,
            "FROM a\nRUN useradd -G one,two app\nUSER app:one\n     ^^^^^^^ with :one app is not in two\n",
        );
    }

    #[test]
    fn others_and_mentions_are_silent() {
        for text in [
            "RUN useradd -G one app\nUSER app",
            "RUN useradd -G one app\nUSER app:one",
            "RUN useradd -G one app\nUSER other:app",
            "RUN useradd -G one app\nUSER 1000:1000",
            "RUN useradd -G one app\nUSER app:",
            "RUN useradd -G one app\nUSER app:$G",
            "RUN useradd -G $G app\nUSER app:app",
            "RUN useradd -G one $U\nUSER app:app",
            "RUN adduser -D -G one app\nUSER app:app",
            "RUN adduser app\nUSER app:app",
            "RUN echo usermod -aG one app\nUSER app:app",
            "FROM c\nRUN usermod -aG one app\nFROM d\nUSER app:app",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn the_group_goes() {
        fixes(
            RULE,
            &[
                ("RUN adduser app one\nUSER app:x # y", "RUN adduser app one\nUSER app:x # y"),
                ("RUN adduser app one\nUSER app:x", "RUN adduser app one\nUSER app"),
                ("RUN adduser app one\nUSER \"app:x\"", "RUN adduser app one\nUSER \"app:x\""),
            ],
        );
    }
}
