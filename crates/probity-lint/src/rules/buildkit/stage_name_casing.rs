//! Stage names in lower case.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags the name of a build stage that is not written in lower case.
    ///
    /// # Why it is bad
    ///
    /// Stage names are compared without regard to case, so `FROM x AS Build` and `--from=build` mean
    /// one stage. One spelling for one thing spares the reader the question.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.22 AS Build
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS build
    /// ```
    StageNameCasing {
        name: "buildkit/StageNameCasing",
        severity: Warning,
        category: Style,
        url: "https://docs.docker.com/go/dockerfile/rule/stage-name-casing/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, from) in context.each(Keyword::From) {
        let Arguments::From { alias: Some(alias), .. } = &from.arguments else { continue };
        if alias.name.text != alias.name.text.to_lowercase() {
            let message = format!("Stage name '{}' should be lowercase", alias.name.text);
            findings.push(context.finding(alias.name.span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    #[test]
    fn the_name_is_underlined() {
        check(
            "buildkit/StageNameCasing",
            "FROM a AS Build\n          ^^^^^ Stage name 'Build' should be lowercase\nFROM Build AS run\n",
        );
    }
}
