//! Services that run as root because nobody said otherwise.

use probity_dockerfile::{Keyword, Os, Setting, Stage};
use probity_finding::Finding;

use crate::{
    engine::{context::Context, rule::OptionSpec},
    facts::{
        base_image, identity,
        startup::{self, Startup},
    },
};

rule! {
    /// # What it does
    ///
    /// Flags the `ENTRYPOINT` or `CMD` of an image that runs a service as root.
    ///
    /// The image runs as root if no `USER` is set and the base image is known to run as root. These
    /// base images are known to run as root:
    ///
    /// - official images of operating systems and languages;
    /// - distroless images without `nonroot`;
    /// - .NET images without `chiseled`;
    /// - UBI images;
    /// - `scratch`.
    ///
    /// An image runs a service in one of these cases:
    ///
    /// - It has an `EXPOSE` or a `HEALTHCHECK`.
    /// - It starts a known server, such as `gunicorn`.
    /// - It starts a program called `serve`, `server`, `worker` or `daemon`, or one whose name ends
    ///   in `-server`, `-worker` or `-daemon`. File extensions do not count.
    ///
    /// The rule ignores an image that may start as root on purpose:
    ///
    /// - It starts or installs `gosu`, `su-exec`, `setpriv` or a similar program.
    /// - It starts a server that changes its user itself, such as nginx or sshd.
    /// - It starts a script that the Dockerfile does not contain. If the base image is one of a
    ///   language, this holds only for scripts that the Dockerfile does not copy either.
    ///
    /// The rule also ignores base images. A base image has `ONBUILD` triggers or starts only a
    /// shell or an interpreter. If the final stage creates a user,
    /// `tally/user-created-but-never-used` reports the missing `USER`.
    ///
    /// # Why it is bad
    ///
    /// An attacker who breaks into the service is root in the container. Through a mounted
    /// directory or a kernel vulnerability, the attacker can become root on the host.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22-slim
    /// COPY server.js /app/
    /// EXPOSE 3000
    /// CMD ["node", "/app/server.js"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22-slim
    /// COPY server.js /app/
    /// EXPOSE 3000
    /// USER node
    /// CMD ["node", "/app/server.js"]
    /// ```
    ///
    /// This entrypoint changes its user itself:
    ///
    /// ```dockerfile,good
    /// FROM debian:12-slim
    /// COPY docker-entrypoint.sh /usr/local/bin/
    /// EXPOSE 5432
    /// ENTRYPOINT ["docker-entrypoint.sh"]
    /// CMD ["postgres"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: an agent proposes the user, because the file does not show where the program must
    /// write.
    MissingUser {
        name: "probity/missing-user",
        severity: Warning,
        category: Security,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("60")],
    }
}

/// Programs that serve or work until somebody stops them.
const SERVICES: &[&str] = &[
    "celery",
    "daemon",
    "daphne",
    "gunicorn",
    "hypercorn",
    "puma",
    "runserver",
    "serve",
    "server",
    "sidekiq",
    "unicorn",
    "uvicorn",
    "uwsgi",
    "waitress-serve",
    "worker",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage().filter(|stage| stage.os == Os::Linux) else {
        return;
    };
    let startup = Startup::of(context, stage);
    let Some(entry) = startup.entry() else { return };
    let is_root = startup.runtime().get(Setting::User).is_empty()
        && base_image::starts_as_root(context, stage.instruction);
    if !is_root
        || !is_service(&startup)
        || startup.is_base_image()
        || creates_user(context, stage)
        || may_drop_rights(context, stage)
    {
        return;
    }
    let advice = match base_image::root_image_by_default(context, stage.instruction) {
        Some(image) if image.familiar_name() == "node" => "add `USER node`",
        _ => "create a user and add `USER`",
    };
    let message = format!("the service runs as root; {advice} before this instruction");
    let title = "AI AutoFix: run as a user that is not root";
    let fix = context.fix_by_agent("non-root-user", title, 156);
    findings.push(context.finding(entry.span, message).with_fix(fix));
}

/// Images of languages. Nothing in them switches users but what a file installs, and a script that
/// starts a program of such a language seldom does it by other means.
const LANGUAGES: &[&str] = &[
    "amazoncorretto",
    "eclipse-temurin",
    "elixir",
    "golang",
    "node",
    "openjdk",
    "perl",
    "php",
    "python",
    "ruby",
    "rust",
];

/// Whether the service may start as root on purpose.
fn may_drop_rights(context: &Context<'_>, stage: &Stage) -> bool {
    let image = base_image::root_image_by_default(context, stage.instruction);
    let is_language = image.is_some_and(|image| {
        let is_dotnet = image.domain == "mcr.microsoft.com" && image.path.starts_with("dotnet/");
        is_dotnet || LANGUAGES.contains(&image.familiar_name().as_ref())
    });
    if is_language {
        startup::drops_rights(context, stage) || startup::starts_foreign_script(context, stage)
    } else {
        startup::may_drop_rights(context, stage)
    }
}

fn is_service(startup: &Startup) -> bool {
    let runtime = startup.runtime();
    let is_open = !runtime.get(Setting::Expose).is_empty();
    let is_probed = !runtime.get(Setting::Healthcheck).is_empty();
    let serves = |word: &String| {
        // `python worker.py`, `node server.js`
        let name = word.split_once('.').map_or(word.as_str(), |(stem, _)| stem);
        SERVICES.contains(&name)
            || ["-server", "-daemon", "-worker"].iter().any(|ending| name.ends_with(ending))
    };
    is_open || is_probed || startup.words().iter().any(serves)
}

/// Whether the stage creates a user, which another rule misses `USER` for.
fn creates_user(context: &Context<'_>, stage: &Stage) -> bool {
    let mut runs =
        context.each(Keyword::Run).filter(|(index, _)| stage.instructions.contains(index));
    runs.any(|(index, _)| {
        let mut commands = context.scripts(index).iter().flat_map(|script| &script.commands);
        commands.any(|command| {
            identity::created(&command.effective()).is_some_and(|user| user.literal().is_some())
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/missing-user";
    const SAYS: &str =
        "the service runs as root; create a user and add `USER` before this instruction";

    #[test]
    fn what_is_started_is_underlined() {
        for (text, marked) in [
            ("FROM debian:12\nEXPOSE 80\n", r#"CMD ["app"]"#),
            ("FROM golang:1.23 AS a\nUSER x\nFROM scratch\nEXPOSE 80\n", r#"ENTRYPOINT ["/app"]"#),
            ("ARG V=12\nFROM debian:${V}-slim\nHEALTHCHECK CMD x\n", "CMD app --port 80"),
            ("FROM gcr.io/distroless/static-debian12\n", r#"ENTRYPOINT ["/bin/app-server"]"#),
            ("FROM mcr.microsoft.com/dotnet/aspnet:8.0\nEXPOSE 80\n", r#"CMD ["dotnet", "a.dll"]"#),
            ("FROM registry.access.redhat.com/ubi9/ubi-minimal:9.4\nEXPOSE 80\n", r#"CMD ["app"]"#),
            ("FROM debian:12\nEXPOSE 80\nENTRYPOINT [\"tini\", \"--\"]\n", r#"CMD ["app"]"#),
            ("FROM python:3.12\n", r#"CMD ["gunicorn", "app:app"]"#),
            ("FROM debian:12 AS a\nEXPOSE 80\nFROM a\n", r#"CMD ["tini", "--", "app"]"#),
            ("FROM debian:12\nCOPY <<EOF /a.sh\nexec app\nEOF\nEXPOSE 80\n", r#"CMD ["/a.sh"]"#),
            ("FROM python:3.12\nCOPY run.sh /\nEXPOSE 80\n", r#"ENTRYPOINT ["/run.sh"]"#),
            ("FROM python:3.12-slim\n", r#"CMD ["python", "worker.py"]"#),
        ] {
            let (keyword, rest) = marked.split_once(' ').unwrap();
            let marks = format!("{}{}", " ".repeat(keyword.len() + 1), "^".repeat(rest.len()));
            check(RULE, &format!("{text}{marked}\n{marks} {SAYS}\n"));
        }
    }

    #[test]
    fn a_user_that_the_base_has_is_named() {
        check(
            RULE,
            "FROM node:22\nEXPOSE 80\nCMD [\"node\", \"a.js\"]\n    \
             ^^^^^^^^^^^^^^^^ the service runs as root; add `USER node` before this instruction\n",
        );
    }

    #[test]
    fn other_users_bases_and_purposes_are_silent() {
        for text in [
            "FROM debian:12\nEXPOSE 80\nUSER 1000\nCMD [\"app\"]",
            "FROM debian:12\nEXPOSE 80\nUSER root\nCMD [\"app\"]",
            "FROM debian:12 AS a\nUSER x\nFROM a\nEXPOSE 80\nCMD [\"app\"]",
            "FROM gcr.io/distroless/static:nonroot\nEXPOSE 80\nCMD [\"app\"]",
            "FROM mcr.microsoft.com/dotnet/aspnet:8.0-jammy-chiseled\nEXPOSE 80\nCMD [\"a\"]",
            "FROM registry.access.redhat.com/ubi9/nodejs-20\nEXPOSE 80\nCMD [\"app\"]",
            "FROM example.com/team/base:1\nEXPOSE 80\nCMD [\"app\"]",
            "FROM bitnami/node:20\nEXPOSE 80\nCMD [\"app\"]",
            "FROM postgres:16\nCMD [\"postgres\", \"-c\", \"a=b\"]\nEXPOSE 80",
            "FROM $BASE\nEXPOSE 80\nCMD [\"app\"]",
            "FROM debian:12\nEXPOSE 80",
            "FROM debian:12\nEXPOSE 80\nCMD [\"bash\"]",
            "FROM debian:12\nONBUILD USER a\nEXPOSE 80\nCMD [\"app\"]",
            "FROM debian:12\nCMD [\"app\"]",
            "FROM debian:12\nEXPOSE 80\nCMD [\"gosu\", \"a\", \"app\"]",
            "FROM debian:12\nEXPOSE 80\nCMD [\"nginx\"]",
            "FROM debian:12\nCOPY run.sh /\nEXPOSE 80\nCMD [\"/run.sh\"]",
            "FROM eclipse-temurin:21\nRUN tar xf server.tar\nEXPOSE 80\nCMD [\"catalina.sh\", \"run\"]",
            "FROM ruby:3.3\nRUN apt-get install -y gosu\nEXPOSE 80\nCMD [\"/run.sh\"]",
            "FROM ruby:3.3\nCOPY <<EOF /a.sh\nexec gosu a b\nEOF\nEXPOSE 80\nCMD [\"/a.sh\"]",
            "FROM debian:12\nRUN useradd a\nEXPOSE 80\nCMD [\"app\"]",
            "FROM debian:12\nEXPOSE 80\nCMD [\"app\"]\nFROM debian:12\nUSER a",
            "FROM mcr.microsoft.com/windows/nanoserver:ltsc2022\nEXPOSE 80\nCMD [\"app\"]",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
