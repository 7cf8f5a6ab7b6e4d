//! Stage names that mean something else.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a build stage named `scratch` or `context`.
    ///
    /// The rule ignores the case of stage names.
    ///
    /// # Why it is bad
    ///
    /// `scratch` is the empty image, and `context` is the set of files that the builder receives.
    /// In some instructions a stage with such a name hides them. In other instructions they hide
    /// the stage.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20 AS scratch
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM scratch AS minimal
    /// ```
    ReservedStageName {
        name: "buildkit/ReservedStageName",
        severity: Error,
        category: Correctness,
        equals: &["hadolint/DL3063"],
        url: "https://docs.docker.com/go/dockerfile/rule/reserved-stage-name/",
    }
}

const RESERVED: [&str; 2] = ["context", "scratch"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, from) in context.each(Keyword::From) {
        let Arguments::From { alias: Some(alias), .. } = &from.arguments else { continue };
        let name = alias.name.text.to_lowercase();
        if RESERVED.contains(&name.as_str()) {
            let message =
                format!("Stage name should not use the same name as reserved stage {name:?}");
            findings.push(context.finding(alias.name.span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "buildkit/ReservedStageName";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            r#"
FROM a AS scratch
          ^^^^^^^ Stage name should not use the same name as reserved stage "scratch"
from a \
  as Context
     ^^^^^^^ Stage name should not use the same name as reserved stage "context"
"#,
        );
    }

    #[test]
    fn images_and_longer_names_are_silent() {
        check(RULE, "FROM scratch\nFROM context AS scratch2\nFROM scratch AS build-context\n");
    }
}
