//! Commands that need a shell in images without one.

use probity_dockerfile::{Arguments, Command, Keyword, ShellSource};
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::{bare_stage, base_image},
};

rule! {
    /// # What it does
    ///
    /// Flags a `CMD`, `ENTRYPOINT` or `HEALTHCHECK` that needs a shell, curl or wget in an image
    /// without them.
    ///
    /// The instruction is in shell form, or its JSON array starts `sh`, `bash`, `curl` or `wget`.
    /// The rule checks these images:
    ///
    /// - distroless images without `debug` in the tag;
    /// - chiseled .NET images;
    /// - `scratch`.
    ///
    /// The rule ignores stages that set a `SHELL` or copy the program or BusyBox into the image.
    ///
    /// # Why it is bad
    ///
    /// These images contain neither a shell nor these programs. The container does not start, or
    /// its health check always fails. Write a JSON array that names a program in the image.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM gcr.io/distroless/static-debian12:nonroot
    /// COPY app /app
    /// CMD /app --port 80
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM gcr.io/distroless/static-debian12:nonroot
    /// COPY app /app
    /// CMD ["/app", "--port", "80"]
    /// ```
    ShellInBareImage {
        name: "probity/shell-in-bare-image",
        severity: Error,
        category: Correctness,
    }
}

const MISSING: &[&str] = &["sh", "bash", "curl", "wget"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let command = match (&instruction.arguments, instruction.keyword) {
            (Arguments::Command(command), Keyword::Cmd | Keyword::Entrypoint) => command,
            (Arguments::Healthcheck { command, .. }, _) => command,
            _ => continue,
        };
        let (program, span) = match command {
            Command::Missing => continue,
            Command::Shell(word) => ("sh", word.span),
            Command::Json { words, .. } => match words.first() {
                Some(word) => (last_part(&word.text), word.span),
                None => continue,
            },
        };
        let source = context.facts.state(index).map(|state| state.shell.source);
        let is_chosen = matches!(source, Some(ShellSource::Instruction(_)));
        if is_chosen || !MISSING.contains(&program) || !is_missing(context, index, program) {
            continue;
        }
        let message =
            format!("this image has no `{program}`; name a program of the image in a JSON array");
        findings.push(context.finding(span, message));
    }
}

/// Whether an image has no shell and no tools, and no instruction may bring this one.
fn is_missing(context: &Context<'_>, index: usize, program: &str) -> bool {
    if bare_stage::is_bare(context, index) {
        let path = format!("/bin/{program}");
        return !bare_stage::may_hold(context, index, &path) && !brings(context, index, program);
    }
    let Some(image) = base_image::root_image_by_default(context, index) else { return false };
    let tag = image.tag.as_deref().unwrap_or_default();
    let is_distroless = image.domain == "gcr.io" && image.path.starts_with("distroless/");
    let is_chiseled = image.domain == "mcr.microsoft.com" && tag.contains("chiseled");
    (is_distroless && !tag.contains("debug") || is_chiseled) && !brings(context, index, program)
}

/// Whether an instruction of the stage copies something of this name.
fn brings(context: &Context<'_>, index: usize, program: &str) -> bool {
    let Some(stage) = context.facts.stage_of(index) else { return true };
    let mut instructions = context.with_bases(stage).flat_map(|stage| stage.instructions.clone());
    instructions.any(|index| {
        let arguments =
            context.file.instructions.get(index).map(|instruction| &instruction.arguments);
        let Some(Arguments::Transfer { sources, destination, .. }) = arguments else {
            return false;
        };
        let mut words = sources.iter().chain(destination.as_deref());
        words.any(
            |word| matches!(last_part(&word.text), name if name == program || name == "busybox"),
        )
    })
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/shell-in-bare-image";

    #[test]
    fn the_command_is_underlined() {
        check(
            RULE,
            "\
FROM mcr.microsoft.com/dotnet/aspnet:9.0-noble-chiseled
HEALTHCHECK CMD curl -f http://a || exit 1
                ^^^^^^^^^^^^^^^^^^^^^^^^^^ this image has no `sh`; name a program of the image in a JSON array
FROM gcr.io/distroless/base-debian12
HEALTHCHECK CMD [\"wget\", \"-q\", \"http://a\"]
                 ^^^^^^ this image has no `wget`; name a program of the image in a JSON array
FROM scratch
COPY app /app
CMD /app -v
    ^^^^^^^ this image has no `sh`; name a program of the image in a JSON array
",
        );
    }

    #[test]
    fn programs_of_the_image_are_silent() {
        for text in [
            "FROM scratch\nCOPY app /app\nCMD [\"/app\"]",
            "FROM gcr.io/distroless/base:debug\nCMD a",
            "FROM gcr.io/distroless/base\nCOPY --from=busybox /bin/busybox /bin/sh\nCMD a",
            "FROM debian:12\nHEALTHCHECK CMD curl a\nCMD b",
            "FROM scratch\nADD rootfs.tar.xz /\nCMD bash",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
