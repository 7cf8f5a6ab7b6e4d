//! Platforms that are written into FROM.

use probity_dockerfile::Platform;
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `FROM` with a constant `--platform`.
    ///
    /// The rule accepts a constant if the stage name contains the operating system or the
    /// architecture.
    ///
    /// # Why it is bad
    ///
    /// BuildKit builds the stage for that platform, whatever `docker build --platform` requests. On
    /// other machines the stage runs slowly in emulation, or the resulting image does not start.
    ///
    /// If a stage is for one platform on purpose, say so in its name. For example,
    /// `FROM --platform=linux/arm64 alpine AS build-arm64` passes. If you mean the platform of the
    /// build machine, write `--platform=$BUILDPLATFORM`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM --platform=linux/amd64 golang:1.23 AS build
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM --platform=$BUILDPLATFORM golang:1.23 AS build
    /// ```
    FromPlatformFlagConstDisallowed {
        name: "buildkit/FromPlatformFlagConstDisallowed",
        severity: Warning,
        category: BestPractice,
        equals: &["hadolint/DL3029"],
        url: "https://docs.docker.com/go/dockerfile/rule/from-platform-flag-const-disallowed/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let Some(from) = context.file.instructions.get(stage.instruction) else { continue };
        let Some(flag) = from.flag_value("platform") else { continue };
        let mut references = context.facts.references(stage.instruction).iter();
        let is_constant = !references.any(|reference| flag.span.encloses(reference.span));
        let value = stage.platform.as_ref().and_then(|platform| platform.value.as_deref());
        if !is_constant {
            continue;
        }
        let Some(value) = value else { continue };
        let Ok(platform) = Platform::parse(value) else { continue };
        let name = stage.key().unwrap_or_default();
        // What the specifier leaves open is the builder's: practically always linux, and an
        // architecture that nobody can know.
        let os = platform.os.as_deref().unwrap_or("linux");
        let architecture = platform.architecture.as_deref();
        let told = name.contains(os) || architecture.is_some_and(|it| name.contains(it));
        if !told {
            let message = format!("FROM --platform flag should not use constant value {value:?}");
            findings.push(context.finding(flag.span, message).with_detail(
                "remove the flag, use $BUILDPLATFORM, or name the stage after its platform",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "buildkit/FromPlatformFlagConstDisallowed";

    #[test]
    fn the_value_of_the_flag_is_underlined() {
        check(
            RULE,
            "\
FROM --platform=linux/amd64 a AS build
                ^^^^^^^^^^^ FROM --platform flag should not use constant value \"linux/amd64\"
FROM --platform='windows/amd64' a AS arm64
                ^^^^^^^^^^^^^^^ FROM --platform flag should not use constant value \"windows/amd64\"
FROM \\
  --platform=arm64 a:$TAG
             ^^^^^ FROM --platform flag should not use constant value \"arm64\"
FROM --platform=linux/x86_64 a AS x86_64
                ^^^^^^^^^^^^ FROM --platform flag should not use constant value \"linux/x86_64\"
",
        );
    }

    #[test]
    fn variables_and_telling_names_pass() {
        check(
            RULE,
            "\
ARG NAMED=linux/amd64
FROM --platform=$NAMED a
FROM --platform=linux/$TARGETARCH a
FROM --platform=${NONE:-linux/amd64} a
FROM --platform=linux/amd64 a AS Build-AMD64
FROM --platform=linux/aarch64 a AS arm64-tools
FROM --platform=windows/amd64 a AS on-windows
FROM --platform=arm64 a AS linux
FROM --platform=not-a-platform a
FROM --platform= a
FROM a AS build
RUN --platform=linux/amd64 x
",
        );
    }
}
