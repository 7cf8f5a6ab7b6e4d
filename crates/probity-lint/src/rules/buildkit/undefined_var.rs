//! Variables in a stage that nothing defines.

use std::collections::HashMap;

use probity_dockerfile::{Arguments, Instruction, Keyword};
use probity_finding::{Finding, Span};

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags a variable in a stage that no earlier `ARG` or `ENV` defines.
    ///
    /// The rule checks only words that the build itself expands. The shell expands the variables in
    /// `RUN`, `CMD` and `ENTRYPOINT`, so the rule ignores those. It also ignores `EXPOSE`. The rule
    /// checks an `ONBUILD` instruction in the later stage of the file that runs it.
    ///
    /// The base image may also set variables. The rule knows the variables of many official images,
    /// such as `PHP_INI_DIR` and `JAVA_HOME`. With slow checks, probity asks the registry which
    /// variables the image sets. For any other image, the rule flags only:
    ///
    /// - variables that the file itself defines in the wrong place;
    /// - platform arguments that the stage does not declare;
    /// - names that look like a misspelling of a defined variable.
    ///
    /// # Why it is bad
    ///
    /// The build silently replaces the variable with an empty string: `COPY app $HOEM/bin` copies
    /// to `/bin`.
    ///
    /// An `ARG` before the first `FROM` does not apply inside a stage, so declare it again there.
    /// The same is true for the platform arguments. A variable that an `ENV` instruction defines is
    /// not yet defined within that instruction.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// ARG VERSION=1.2
    /// FROM alpine:3.20
    /// LABEL version=$VERSION
    /// ```
    ///
    /// ```dockerfile,good
    /// ARG VERSION=1.2
    /// FROM alpine:3.20
    /// ARG VERSION
    /// LABEL version=$VERSION
    /// ```
    UndefinedVar {
        name: "buildkit/UndefinedVar",
        severity: Warning,
        category: Correctness,
        equals: &["hadolint/DL3044"],
        url: "https://docs.docker.com/go/dockerfile/rule/undefined-var/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let first_from = context.facts.stages().first().map_or(0, |stage| stage.instruction);
    let (global, _) = context.file.instructions.split_at(first_from);
    let outside = definitions(global);
    for (index, instruction) in context.file.instructions.iter().enumerate().skip(first_from) {
        let references = context.facts.references(index).iter();
        let mut undefined =
            references.filter(|reference| !reference.matched && reference.first).peekable();
        if instruction.keyword == Keyword::From || undefined.peek().is_none() {
            continue;
        }
        for reference in undefined {
            let name = &reference.name;
            let own = defined_beside(instruction, name, reference.span);
            let mut message = format!("Usage of undefined variable '${name}'");
            if let Some(suggestion) = &reference.suggestion {
                message.push_str(&format!(" (did you mean ${suggestion}?)"));
            }
            let mut finding = context.finding(reference.span, message);
            // hadolint knows this one case of it.
            let is_own = instruction.keyword == Keyword::Env && own.is_some();
            if !is_own {
                finding.alias = None;
            }
            let is_known = own.is_some()
                || outside.contains_key(name.as_str())
                || reference.suggestion.is_some()
                || context.facts.scope(first_from).get(name).is_some();
            if !is_known && base_image::may_define(context, index, name) {
                continue;
            }
            let redeclare = || format!("declare it in the stage too: `ARG {name}`");
            findings.push(if let Some(span) = own {
                finding
                    .with_detail(
                        "split the instruction: its words see only what was defined before it",
                    )
                    .with_related(span, "defined here, by the same instruction")
            } else if let Some(&span) = outside.get(name.as_str()) {
                finding
                    .with_detail(redeclare())
                    .with_related(span, "declared here, outside the stage")
            } else if context.facts.scope(first_from).get(name).is_some() {
                finding.with_detail(redeclare())
            } else {
                finding
            });
        }
    }
}

/// Where an instruction defines the variable that it refers to, in another of its pairs: the pair of
/// `ENV A=$A` is about what the base image says.
fn defined_beside(instruction: &Instruction, name: &str, reference: Span) -> Option<Span> {
    let Arguments::Pairs { pairs, .. } = &instruction.arguments else { return None };
    let is_within = |pair: &Span| pair.start <= reference.start && reference.end <= pair.end;
    let mut others = pairs.iter().filter(|pair| !is_within(&pair.span));
    let defines = matches!(instruction.keyword, Keyword::Arg | Keyword::Env);
    others.find(|pair| defines && pair.key.text == name).map(|pair| pair.key.span)
}

/// Where instructions define variables.
fn definitions(instructions: &[Instruction]) -> HashMap<&str, Span> {
    let mut found = HashMap::new();
    for instruction in instructions {
        let defines = matches!(instruction.keyword, Keyword::Arg | Keyword::Env);
        if let (Arguments::Pairs { pairs, .. }, true) = (&instruction.arguments, defines) {
            found.extend(pairs.iter().map(|pair| (pair.key.text.as_str(), pair.key.span)));
        }
    }
    found
}

#[cfg(test)]
mod tests;
