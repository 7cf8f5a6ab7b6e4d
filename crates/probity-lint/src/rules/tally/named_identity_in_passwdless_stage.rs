//! Names of users in a stage that knows none.

use probity_dockerfile::{Arguments, Instruction, Keyword, Step, Text, Word};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, facts::bare_stage};

rule! {
    /// # What it does
    ///
    /// Flags a user or group name in `USER` or `--chown` in a `scratch` stage without `/etc/passwd`
    /// or `/etc/group`.
    ///
    /// The rule ignores `root`, numbers and variables. It also ignores a stage if a directory, an
    /// archive or a program may have brought one of the files. Unlike probity, tally treats such
    /// stages as empty.
    ///
    /// # Why it is bad
    ///
    /// The builder and the container engine look up names in these files. Without the files, the
    /// build fails at `--chown`, or the container does not start because of `USER`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM scratch
    /// COPY --chown=app:app server /server
    /// USER app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM scratch
    /// COPY --chown=65532:65532 server /server
    /// USER 65532
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12 AS build
    /// RUN useradd app
    /// FROM scratch
    /// COPY --from=build /etc/passwd /etc/passwd
    /// USER app
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix replaces the name with the number 65532, which images without a shell
    /// commonly use for their user. The instruction does not work without the fix, but you may need
    /// another number.
    ///
    /// probity offers no fix if the name is quoted or split over lines, or if it comes from a
    /// variable.
    NamedIdentityInPasswdlessStage {
        name: "tally/named-identity-in-passwdless-stage",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/named-identity-in-passwdless-stage/",
    }
}

const NUMBER: &str = "65532";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let Some(word) = written(instruction) else { continue };
        if !bare_stage::is_bare(context, index) {
            continue;
        }
        let steps = context.facts.steps(index);
        let Some(identity) = steps.iter().find_map(|step| meant(step, instruction.keyword)) else {
            continue;
        };
        let (user, group) = match identity.split_once(':') {
            Some((user, group)) => (user, Some(group)),
            None => (identity, None),
        };
        let lacks =
            |name: &str, file: &str| is_name(name) && !bare_stage::may_hold(context, index, file);
        let user = Some(user).filter(|user| lacks(user, "/etc/passwd"));
        let group = group.filter(|group| lacks(group, "/etc/group"));
        let Some((name, file)) =
            user.map(|user| (user, "/etc/passwd")).or(group.map(|group| (group, "/etc/group")))
        else {
            continue;
        };
        let message =
            format!("the stage has no {file}, so the name {name} is unknown; use a numeric ID");
        let finding = context.finding(word.span, message);
        let edits = edits(context, word, identity, [user, group]);
        let fix = edits.map(|edits| Fix::suggestion(format!("use {NUMBER}"), edits));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// The word that says who.
fn written(instruction: &Instruction) -> Option<&Word> {
    match (&instruction.arguments, instruction.keyword) {
        (Arguments::Text(word), Keyword::User) => word.as_ref(),
        (Arguments::Transfer { .. }, _) => instruction.flag_value("chown"),
        _ => None,
    }
}

/// Who that is, where it is the same in every build.
fn meant(step: &Step, keyword: Keyword) -> Option<&str> {
    let text: &Text = match step {
        Step::User(user) if keyword == Keyword::User => user,
        Step::Transfer(transfer) => {
            transfer.flags.iter().find(|flag| flag.name == "chown")?.value.as_ref()?
        }
        _ => return None,
    };
    text.value.as_deref().filter(|_| text.is_constant())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text != "root" && !text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Puts a number in the place of each name, where they are written as they are meant.
fn edits(
    context: &Context<'_>,
    word: &Word,
    identity: &str,
    names: [Option<&str>; 2],
) -> Option<Vec<Edit>> {
    if word.span.slice(context.file.text) != Some(identity) {
        return None;
    }
    let behind = identity.find(':').map_or(0, |at| at + 1);
    let starts = [word.span.start, word.span.start + behind];
    let edit = |(start, name): (usize, Option<&str>)| {
        let length = name?.len();
        Some(Edit::replace(Span::new(start, start + length), NUMBER))
    };
    Some(starts.into_iter().zip(names).filter_map(edit).collect())
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/named-identity-in-passwdless-stage";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
FROM scratch AS a
USER app
     ^^^ the stage has no /etc/passwd, so the name app is unknown; use a numeric ID
COPY --chown=1:app \\
             ^^^^^ the stage has no /etc/group, so the name app is unknown; use a numeric ID
  # why
  b /c
COPY passwd /etc/
USER \"app:$X\"
USER app:app
     ^^^^^^^ the stage has no /etc/group, so the name app is unknown; use a numeric ID
FROM a
USER other:app
     ^^^^^^^^^ the stage has no /etc/group, so the name app is unknown; use a numeric ID
FROM scratch
ADD --chown=\"app\" b /c
            ^^^^^ the stage has no /etc/passwd, so the name app is unknown; use a numeric ID
",
        );
    }

    #[test]
    fn numbers_and_names_that_may_be_known_are_silent() {
        for text in [
            "USER 1000:1000",
            "USER root",
            "COPY --chown=root:root a /b",
            "ARG U=app\nUSER $U",
            "COPY --from=b /etc/passwd /etc/group /etc/\nUSER app:app",
            "COPY --from=b /etc /etc\nUSER app",
            "COPY --from=b / /\nUSER app",
            "COPY rootfs/ /\nUSER app",
            "ADD rootfs.tar.xz /\nUSER app",
            "COPY <<EOF /etc/passwd\napp:x:1:1::/:/x\nEOF\nUSER app",
            "RUN [\"adduser\", \"app\"]\nUSER app",
            "ONBUILD USER app",
        ] {
            check(RULE, &format!("FROM debian:12 AS b\nUSER app\nFROM scratch\n{text}\n"));
        }
    }

    #[test]
    fn only_the_names_become_numbers() {
        for (before, after) in [
            ("USER app:1000", "USER 65532:1000"),
            ("USER app:app", "USER 65532:65532"),
            ("COPY --chown=1:app a /b", "COPY --chown=1:65532 a /b"),
            ("COPY passwd /etc/passwd\nUSER app:app", "COPY passwd /etc/passwd\nUSER app:65532"),
            ("USER \"app\"", "USER \"app\""),
            ("USER a\\\npp", "USER a\\\npp"),
        ] {
            fixed(RULE, &format!("FROM scratch\n{before}\n"), &format!("FROM scratch\n{after}\n"));
        }
    }
}
