//! Platforms that do not exist.

use probity_dockerfile::{Keyword, Platform};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `FROM --platform` whose value is not a valid platform.
    ///
    /// A valid platform is `os/architecture` with an optional variant, or a known operating system
    /// or architecture alone. The rule ignores values that contain a variable.
    ///
    /// # Why it is bad
    ///
    /// BuildKit cannot parse the value or cannot find an image for it, so the build fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM --platform=linux-arm64 alpine:3.20
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM --platform=$TARGETPLATFORM alpine:3.20
    /// ```
    InvalidPlatform {
        name: "probity/invalid-platform",
        severity: Error,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, from) in context.each(Keyword::From) {
        let Some(value) = from.flag_value("platform") else { continue };
        let text = value.text.as_str();
        let is_known = Platform::parse(text).is_ok_and(|platform| platform.is_known());
        if text.is_empty() || text.contains('$') || is_known {
            continue;
        }
        let message =
            format!("{text} is not a platform; write os/architecture, such as linux/arm64");
        findings.push(context.finding(value.span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/invalid-platform";

    #[test]
    fn the_value_is_underlined() {
        check(
            RULE,
            "\
FROM --platform=linux-arm64 a
                ^^^^^^^^^^^ linux-arm64 is not a platform; write os/architecture, such as linux/arm64
FROM --platform=linux/x64 a
                ^^^^^^^^^ linux/x64 is not a platform; write os/architecture, such as linux/arm64
FROM --platform=linux/a/b/c a
                ^^^^^^^^^^^ linux/a/b/c is not a platform; write os/architecture, such as linux/arm64
",
        );
    }

    #[test]
    fn platforms_and_variables_are_silent() {
        for value in ["linux/arm64", "linux/arm/v7", "linux", "amd64", "$BUILDPLATFORM", "linux/$A"]
        {
            check(RULE, &format!("FROM --platform={value} a\n"));
        }
    }
}
