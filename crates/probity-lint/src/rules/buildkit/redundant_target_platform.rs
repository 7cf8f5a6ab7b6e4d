//! `--platform=$TARGETPLATFORM`, which says what holds anyway.

use probity_dockerfile::{Arguments, Keyword, VariableReference};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `FROM --platform=$TARGETPLATFORM`.
    ///
    /// The rule also flags the variable in braces, in quotes or with a default. It ignores a file
    /// that gives `TARGETPLATFORM` its own default, because the flag then has an effect.
    ///
    /// # Why it is bad
    ///
    /// BuildKit builds a stage for the target platform by default, so the flag changes nothing.
    /// Readers may think that it has an effect. It also makes the stages that need
    /// `--platform=$BUILDPLATFORM` hard to see.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM --platform=$TARGETPLATFORM alpine:3.20
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix removes the flag, which changes nothing with BuildKit. A frontend
    /// without a target platform rejects the flag. Without the flag, that frontend uses its own
    /// default.
    RedundantTargetPlatform {
        name: "buildkit/RedundantTargetPlatform",
        severity: Warning,
        category: BestPractice,
        fixes: Suggestion,
        equals: &["hadolint/DL3065"],
        url: "https://docs.docker.com/go/dockerfile/rule/redundant-target-platform/",
    }
}

const TARGET_PLATFORM: &str = "TARGETPLATFORM";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if has_own_default(context) {
        return;
    }
    for (index, from) in context.each(Keyword::From) {
        let Some(platform) = from.flag_value("platform") else { continue };
        let references = context.facts.references(index).iter();
        let inside: Vec<&VariableReference> =
            references.filter(|reference| platform.span.encloses(reference.span)).collect();
        let alone = matches!(inside.as_slice(), [only] if only.name == TARGET_PLATFORM);
        if alone && is_target_platform(&platform.text) {
            let message = format!(
                "Setting platform to predefined {} in FROM is redundant as this is the default behavior",
                platform.text
            );
            let finding = context.finding(platform.span, message).with_detail("remove the flag");
            let flag = from.flags_named("platform").next().map(|flag| flag.span);
            let fix = flag.map(|flag| {
                let edit = Edit::delete(with_blanks(flag, context.file.text));
                Fix::suggestion("Remove the flag", vec![edit])
            });
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

/// The flag and the blanks behind it, up to the end of the line.
fn with_blanks(flag: Span, text: &str) -> Span {
    let behind = text.get(flag.end..).unwrap_or_default();
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    Span::new(flag.start, flag.end + blanks)
}

/// Whether the expression always yields the value of the variable, which is set in every build.
fn is_target_platform(expression: &str) -> bool {
    let Some(rest) = expression.strip_prefix('$') else { return false };
    if rest == TARGET_PLATFORM {
        return true;
    }
    let inner = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let Some(operator) = inner.and_then(|inner| inner.strip_prefix(TARGET_PLATFORM)) else {
        return false;
    };
    let fallback = operator.strip_prefix(':').unwrap_or(operator);
    !operator.contains('}') && (operator.is_empty() || fallback.starts_with(['-', '?']))
}

/// Whether the file gives the variable a default of its own, which the build then uses.
fn has_own_default(context: &Context<'_>) -> bool {
    let mut global =
        context.each(Keyword::Arg).filter(|&(at, _)| context.facts.stage_of(at).is_none());
    global.any(|(_, arg)| match &arg.arguments {
        Arguments::Pairs { pairs, .. } => {
            pairs.iter().any(|pair| pair.key.text == TARGET_PLATFORM && pair.value.is_some())
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "buildkit/RedundantTargetPlatform";

    #[test]
    fn the_value_of_the_flag_is_underlined() {
        check(
            RULE,
            "\
ARG TARGETPLATFORM
FROM --platform=$TARGETPLATFORM a AS one
                ^^^^^^^^^^^^^^^ Setting platform to predefined $TARGETPLATFORM in FROM is redundant as this is the default behavior
FROM --platform=\"${TARGETPLATFORM}\" a
                ^^^^^^^^^^^^^^^^^^^ Setting platform to predefined ${TARGETPLATFORM} in FROM is redundant as this is the default behavior
FROM \\
  --platform=${TARGETPLATFORM:-linux/amd64} \\
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ Setting platform to predefined ${TARGETPLATFORM:-linux/amd64} in FROM is redundant as this is the default behavior
  one
",
        );
    }

    #[test]
    fn other_platforms_pass() {
        check(
            RULE,
            "\
ARG NONE
FROM --platform=$BUILDPLATFORM a AS one
FROM --platform=linux/amd64 a-$TARGETPLATFORM
FROM --platform=$TARGETOS/$TARGETARCH a
FROM --platform=$TARGETPLATFORM$NONE a
FROM --platform=${TARGETPLATFORM%/*}/arm64 a
FROM --platform=${TARGETPLATFORM:+linux/amd64} a
FROM --platform=${TARGETPLATFORM:-$NONE} a
FROM --platform=x$TARGETPLATFORM a
FROM --platform a
COPY --from=one $TARGETPLATFORM /
",
        );
    }

    #[test]
    fn a_default_of_the_file_gives_the_flag_an_effect() {
        check(RULE, "ARG TARGETPLATFORM=linux/arm64\nFROM --platform=$TARGETPLATFORM a\n");
        check(RULE, "ARG TARGETPLATFORM=$BUILDPLATFORM\nFROM --platform=$TARGETPLATFORM a\n");
    }
}
