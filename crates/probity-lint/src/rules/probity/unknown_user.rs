//! Users that nothing creates.

use probity_dockerfile::{Arguments, Instruction, Keyword};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags a user name in `USER` that neither the base image nor the Dockerfile creates.
    ///
    /// The rule checks the last `USER` of each stage, in images made from `alpine`, `debian` or
    /// `ubuntu`. It assumes that the user exists in these cases:
    ///
    /// - The name is one of the usual system users, such as `nobody` or `www-data`.
    /// - An earlier `RUN` mentions the name, `adduser`, `useradd`, `passwd` or a `.sh` file.
    /// - An earlier `COPY` or `ADD` mentions `/etc` or `rootfs`.
    ///
    /// # Why it is bad
    ///
    /// The next `RUN` fails, or the container does not start. The error is "unable to find user".
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// COPY app /app
    /// USER app
    /// CMD ["/app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// COPY app /app
    /// RUN adduser -S app
    /// USER app
    /// CMD ["/app"]
    /// ```
    UnknownUser {
        name: "probity/unknown-user",
        severity: Error,
        category: Correctness,
    }
}

/// Users of the images, or of packages that create them under another name.
const KNOWN: &[&str] = &[
    "backup", "bin", "daemon", "games", "guest", "irc", "list", "lp", "mail", "man", "news",
    "nobody", "ntp", "operator", "proxy", "root", "sshd", "sync", "sys", "ubuntu", "uucp",
    "www-data", "_apt",
];

/// What a command that creates users mentions.
const MAKERS: &[&str] = &["adduser", "useradd", "passwd", ".sh"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in last_users(context) {
        let Arguments::Text(Some(word)) = &instruction.arguments else { continue };
        let name = word.text.split(':').next().unwrap_or_default();
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_open = name.contains(['$', '"', '\'']) || is_number || KNOWN.contains(&name);
        let image = base_image::root_image(context, index);
        let is_plain = image.is_some_and(|image| {
            ["alpine", "debian", "ubuntu"].contains(&image.familiar_name().as_str())
        });
        if is_open || !is_plain || may_exist(context, index, name) {
            continue;
        }
        let message =
            format!("nothing creates the user `{name}`; create it with `useradd` or `adduser`");
        findings.push(context.finding(word.span, message));
    }
}

/// The last `USER` of each stage.
fn last_users<'a>(context: &Context<'a>) -> impl Iterator<Item = (usize, &'a Instruction)> {
    context.facts.stages().iter().filter_map(|stage| {
        let own = context.file.instructions.get(stage.instructions.clone())?;
        let at = own.iter().rposition(|instruction| instruction.keyword == Keyword::User)?;
        Some((stage.instructions.start + at, own.get(at)?))
    })
}

/// Whether an instruction before this one may create a user: its text mentions the name or the file of
/// users, or runs something whose effect is not known here.
fn may_exist(context: &Context<'_>, index: usize, name: &str) -> bool {
    let Some(stage) = context.facts.stage_of(index) else { return true };
    let mut below = context.with_bases(stage);
    below.any(|stage| {
        let end = stage.instructions.end.min(index);
        let before = context.file.instructions.get(stage.instructions.start..end);
        before.unwrap_or_default().iter().any(|instruction| {
            let text = instruction.span.slice(context.file.text).unwrap_or_default();
            match instruction.keyword {
                Keyword::Run => {
                    text.contains(name) || MAKERS.iter().any(|maker| text.contains(maker))
                }
                Keyword::Copy | Keyword::Add => text.contains("/etc") || text.contains("rootfs"),
                _ => false,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unknown-user";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
FROM alpine:3
RUN apk add --no-cache ca-certificates
COPY app /app
USER app:app
     ^^^^^^^ nothing creates the user `app`; create it with `useradd` or `adduser`
",
        );
    }

    #[test]
    fn users_that_may_exist_are_silent() {
        for text in [
            "RUN adduser -S app\nUSER app",
            "RUN apk add --no-cache nginx\nUSER nginx",
            "COPY --from=b /etc/passwd /etc/passwd\nUSER app",
            "USER nobody",
            "USER 1000",
            "USER $APP",
            "COPY setup.sh /\nRUN /setup.sh\nUSER app",
        ] {
            check(RULE, &format!("FROM alpine:3\n{text}\n"));
        }
        check(RULE, "FROM corp/base:1\nUSER app\n");
        check(RULE, "FROM node:22\nUSER node\n");
    }
}
