//! Programs that need a C library which the image does not have.

use std::collections::BTreeSet;

use probity_dockerfile::{Arguments, Base, ImageRef, Instruction, Os, Stage};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags a `COPY --from` that brings a program linked to glibc into a final image without
    /// glibc.
    ///
    /// The rule flags these combinations:
    ///
    /// - Rust: from a non-Alpine `rust` image into Alpine, `scratch` or a static distroless image.
    ///   The source stage runs `cargo build` and never mentions `musl` or `static`.
    /// - Go: from a non-Alpine `golang` image into `scratch` or a static distroless image. The
    ///   source stage runs `go build` and never mentions `CGO_ENABLED` or `static`.
    ///
    /// The rule ignores Alpine images that install `gcompat` or `libc6-compat`.
    ///
    /// # Why it is bad
    ///
    /// The program needs the glibc loader. The container exits immediately with "no such file or
    /// directory", even though the program exists.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM rust:1.83-bookworm AS build
    /// RUN cargo build --release
    /// FROM alpine:3.21
    /// COPY --from=build /src/target/release/app /usr/local/bin/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM rust:1.83-alpine AS build
    /// RUN cargo build --release
    /// FROM alpine:3.21
    /// COPY --from=build /src/target/release/app /usr/local/bin/
    /// ```
    MissingCLibrary {
        name: "probity/missing-c-library",
        severity: Warning,
        category: Correctness,
    }
}

/// What an image has instead of glibc.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Library {
    Musl,
    Nothing,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage().filter(|stage| stage.os == Os::Linux) else {
        return;
    };
    let Some(library) = library_of(context, stage) else { return };
    let mut seen = BTreeSet::new();
    for reference in context.facts.graph().references_of(stage.index) {
        let Some(copy) = context.file.instructions.get(reference.instruction) else { continue };
        let Some(source) = reference.target.stage() else { continue };
        if !brings_program(copy) || !seen.insert(source) {
            continue;
        }
        let source = context.facts.stages().get(source);
        let Some(advice) = source.and_then(|source| cure(context, source, library)) else {
            continue;
        };
        let message = format!("this program needs glibc, which this image lacks; {advice}");
        findings.push(context.finding(copy.span, message));
        return;
    }
}

fn library_of(context: &Context<'_>, stage: &Stage) -> Option<Library> {
    let root = context.facts.stages().get(stage.root)?;
    if root.base == Base::Scratch {
        return Some(Library::Nothing);
    }
    let image = base_image::root_image_by_default(context, stage.instruction)?;
    let is_static = image.domain == "gcr.io" && image.path.starts_with("distroless/static");
    if is_static {
        Some(Library::Nothing)
    } else if image.familiar_name() == "alpine" && !mentions(context, stage, "compat") {
        Some(Library::Musl)
    } else {
        None
    }
}

/// Whether a `COPY` brings something that is not configuration.
fn brings_program(copy: &Instruction) -> bool {
    let Arguments::Transfer { sources, .. } = &copy.arguments else { return false };
    let is_data = |path: &str| path.starts_with("/etc/") || path.starts_with("/usr/share/");
    sources.iter().any(|source| !is_data(source.text.trim_matches('"')))
}

/// How a stage makes programs that run there; none where it may do so already.
fn cure(context: &Context<'_>, source: &Stage, library: Library) -> Option<&'static str> {
    let image: ImageRef = base_image::root_image_by_default(context, source.instruction)?;
    let is_alpine = image.tag.as_deref().is_some_and(|tag| tag.contains("alpine"));
    let has = |word| mentions(context, source, word);
    let is_static = || ["static", "CGO_ENABLED", "musl"].into_iter().any(has);
    match image.familiar_name().as_str() {
        "rust" if !is_alpine && has("cargo build") && !is_static() => {
            Some("build for a musl target, or use an image with glibc")
        }
        "golang"
            if !is_alpine && library == Library::Nothing && has("go build") && !is_static() =>
        {
            Some("build with `CGO_ENABLED=0`, or use an image with glibc")
        }
        _ => None,
    }
}

/// Whether a word stands in a stage or in the stages below it.
fn mentions(context: &Context<'_>, stage: &Stage, word: &str) -> bool {
    let mut indices = context.with_bases(stage).flat_map(|stage| stage.instructions.clone());
    indices.any(|index| {
        let instruction = context.file.instructions.get(index);
        let text = instruction.and_then(|instruction| instruction.span.slice(context.file.text));
        text.is_some_and(|text| text.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::run;

    const RULE: &str = "probity/missing-c-library";

    #[test]
    fn programs_that_need_glibc_are_reported_where_it_is_missing() {
        for (build, command, base, is_reported) in [
            ("rust:1.83", "cargo build --release", "alpine:3", true),
            ("rust:1.83", "cargo build --release", "scratch", true),
            ("rust:1.83", "cargo build --target x86_64-unknown-linux-musl", "alpine:3", false),
            ("rust:1.83-alpine3.20", "cargo build --release", "alpine:3", false),
            ("rust:1.83", "cargo build --release", "debian:12", false),
            ("golang:1.23", "go build -o /app .", "scratch", true),
            ("golang:1.23", "go build -o /app .", "gcr.io/distroless/static-debian12", true),
            ("golang:1.23", "CGO_ENABLED=0 go build -o /app .", "scratch", false),
            ("golang:1.23", "go build -o /app .", "gcr.io/distroless/base-debian12", false),
            ("golang:1.23-alpine", "go build -o /app .", "scratch", false),
        ] {
            let text = format!(
                "FROM {build} AS build\nRUN {command}\nFROM {base}\nCOPY --from=build /etc/ssl /etc/ssl\n\
                 COPY --from=build /app /app\n"
            );
            let found = run(RULE, &text);
            assert_eq!(found.len(), usize::from(is_reported), "{text}");
        }
    }
}
