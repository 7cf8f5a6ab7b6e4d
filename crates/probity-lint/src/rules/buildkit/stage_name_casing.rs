//! Stage names in lower case.

use std::collections::HashMap;

use probity_dockerfile::{Arguments, Keyword, Target};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a build stage name that is not lowercase.
    ///
    /// # Why it is bad
    ///
    /// BuildKit ignores the case of stage names, so `FROM x AS Build` and `--from=build` mean the
    /// same stage. With a single spelling, readers do not have to know that.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.22 AS Build
    /// FROM scratch
    /// COPY --from=Build /bin/app /app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM golang:1.22 AS build
    /// FROM scratch
    /// COPY --from=build /bin/app /app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS build
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix rewrites the name and all references to it in lowercase. BuildKit ignores the
    /// case of stage names, also in `--target`. The fix does not change a reference after
    /// `ONBUILD`, because that reference is for another build.
    StageNameCasing {
        name: "buildkit/StageNameCasing",
        severity: Warning,
        category: Style,
        fixes: Safe,
        url: "https://docs.docker.com/go/dockerfile/rule/stage-name-casing/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let references = references_by_stage(context);
    for (index, from) in context.each(Keyword::From) {
        let Arguments::From { alias: Some(alias), .. } = &from.arguments else { continue };
        if alias.name.text != alias.name.text.to_lowercase() {
            let message = format!("Stage name '{}' should be lowercase", alias.name.text);
            let stage = context.facts.stage_of(index).map(|stage| stage.index);
            let places = stage.and_then(|stage| references.get(&stage));
            let fix = Fix::safe(
                format!("Rename the stage to `{}`", alias.name.text.to_lowercase()),
                rename(context, alias.name.span, places.map(Vec::as_slice).unwrap_or_default()),
            );
            findings.push(context.finding(alias.name.span, message).with_fix(fix));
        }
    }
}

/// Where each stage is meant by its name. They are gathered once: a file may have very many stages.
fn references_by_stage(context: &Context<'_>) -> HashMap<usize, Vec<Span>> {
    let mut places: HashMap<usize, Vec<Span>> = HashMap::new();
    for reference in context.facts.graph().references() {
        let instruction = context.file.instructions.get(reference.instruction);
        let is_trigger = instruction.is_some_and(|it| it.keyword == Keyword::Onbuild);
        if let (Target::Stage(stage), false) = (&reference.target, is_trigger) {
            places.entry(*stage).or_default().push(reference.span);
        }
    }
    places
}

/// The name of a stage and every place that means it, in lower case.
fn rename(context: &Context<'_>, name: Span, references: &[Span]) -> Vec<Edit> {
    let written = name.slice(context.file.text).unwrap_or_default().to_lowercase();
    let places = std::iter::once(name).chain(references.iter().copied());
    let mut edits: Vec<Edit> = places
        .filter_map(|span| {
            let text = span.slice(context.file.text)?;
            let lower = text.to_lowercase();
            // A name that comes out of a variable is not written here.
            (lower == written && lower != text).then(|| Edit::replace(span, lower))
        })
        .collect();
    edits.sort();
    edits.dedup();
    edits
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    #[test]
    fn the_name_is_underlined() {
        check(
            "buildkit/StageNameCasing",
            "FROM a AS Build\n          ^^^^^ Stage name 'Build' should be lowercase\nFROM Build AS run\n",
        );
    }

    #[test]
    fn every_reference_follows_and_nothing_else() {
        fixed(
            "buildkit/StageNameCasing",
            r#"
ARG BASE=Build
FROM a AS Build
ONBUILD COPY --from=Build /a /b
FROM Build AS build2
FROM build AS c
FROM ${BASE} AS d
COPY --from=BUILD Build /Build
COPY --from="Build" /a /b
COPY --from=0 /a /b
RUN --mount=type=bind,from=Build,target=/Build echo Build
"#,
            r#"
ARG BASE=Build
FROM a AS build
ONBUILD COPY --from=Build /a /b
FROM build AS build2
FROM build AS c
FROM ${BASE} AS d
COPY --from=build Build /Build
COPY --from="Build" /a /b
COPY --from=0 /a /b
RUN --mount=type=bind,from=build,target=/Build echo Build
"#,
        );
    }
}
