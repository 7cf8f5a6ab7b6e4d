//! Build arguments that a RUN does not see.

use std::collections::{BTreeSet, HashMap};

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{CompoundKind, Operation, Script, StageKind, Word};

use crate::{engine::context::Context, facts::base_image, text::lines};

rule! {
    /// # What it does
    ///
    /// Flags a variable in a `RUN` script that the stage does not declare with `ARG`.
    ///
    /// The rule checks variables that an `ARG` before the first `FROM` declares, and the platform
    /// arguments, such as `TARGETARCH`.
    ///
    /// The rule ignores the variable in these cases:
    ///
    /// - The script may set the variable.
    /// - The base image may set the variable, and it is not a platform argument.
    /// - The expansion has a default, as in `${NAME:-x}`.
    ///
    /// `buildkit/UndefinedVar` reports the same problem in words that the builder expands.
    ///
    /// # Why it is bad
    ///
    /// A stage cannot see an `ARG` before the first `FROM` unless it declares the name again. The
    /// same applies to the platform arguments. The shell therefore expands the variable to an empty
    /// string. The script then downloads the wrong version, or a cross build targets the builder's
    /// own platform.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// ARG TOOL_VERSION=1.2.3
    /// FROM alpine:3.20
    /// RUN wget https://example.com/tool-${TOOL_VERSION}.tar.gz
    /// ```
    ///
    /// ```dockerfile,fixed
    /// ARG TOOL_VERSION=1.2.3
    /// FROM alpine:3.20
    /// ARG TOOL_VERSION
    /// RUN wget https://example.com/tool-${TOOL_VERSION}.tar.gz
    /// ```
    ///
    /// ```dockerfile,good
    /// ARG TOOL_VERSION=1.2.3
    /// FROM alpine:3.20
    /// ARG TOOL_VERSION
    /// RUN wget https://example.com/tool-${TOOL_VERSION}.tar.gz
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix inserts `ARG NAME` before the `RUN`. The variable then has the value
    /// from the build, so the `RUN` does something different from before.
    ArgOutOfScope {
        name: "probity/arg-out-of-scope",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
    }
}

const PLATFORM: &[&str] = &[
    "BUILDARCH",
    "BUILDOS",
    "BUILDPLATFORM",
    "BUILDVARIANT",
    "TARGETARCH",
    "TARGETOS",
    "TARGETPLATFORM",
    "TARGETVARIANT",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let outside = global_arguments(context);
    for (index, run) in context.each(Keyword::Run) {
        let mut seen = BTreeSet::new();
        for script in context.scripts(index) {
            for (name, span) in references(script) {
                let declared = outside.get(name).copied();
                let is_platform = PLATFORM.contains(&name);
                if declared.is_none() && !is_platform
                    || context.facts.scope(index).get(name).is_some()
                    || !is_platform && base_image::may_define(context, index, name)
                    || sets(script, name)
                    || !seen.insert(name)
                {
                    continue;
                }
                let message = format!("{name} is empty here: the stage does not declare it");
                let line_end = lines::line_end(context.file.text);
                let edit = Edit::insert(run.span.start, format!("ARG {name}{line_end}"));
                let title = format!("declare it with `ARG {name}`");
                let finding = context.finding(span, message);
                let finding = finding.with_fix(Fix::suggestion(title, vec![edit]));
                findings.push(match declared {
                    Some(span) => finding.with_related(span, "declared here, outside the stage"),
                    None => finding,
                });
            }
        }
    }
}

/// The arguments before the first `FROM`, and where they are.
fn global_arguments<'a>(context: &Context<'a>) -> HashMap<&'a str, Span> {
    let first = context.facts.stages().first().map_or(0, |stage| stage.instruction);
    let global = context.file.instructions.get(..first).unwrap_or_default();
    let mut found = HashMap::new();
    for instruction in global {
        if let Arguments::Pairs { pairs, .. } = &instruction.arguments {
            found.extend(pairs.iter().map(|pair| (pair.key.text.as_str(), pair.key.span)));
        }
    }
    found
}

/// The variables that a script expands without a word for their absence.
fn references(script: &Script) -> Vec<(&str, Span)> {
    let commands = script.commands.iter();
    let words = commands.flat_map(|command| {
        let assigned = command.assignments().iter().chain(command.declarations());
        let values = assigned.filter_map(|assignment| assignment.value.as_ref());
        let targets =
            command.redirections().iter().filter_map(|redirection| redirection.target.as_ref());
        command.words.iter().chain(values).chain(targets)
    });
    let compounds = stages(script).filter_map(|stage| match stage {
        StageKind::Compound(compound) => Some(&compound.words),
        StageKind::Command(_) => None,
    });
    let words = words.chain(compounds.flatten());
    let expands = |operation: Operation| {
        matches!(operation, Operation::Value | Operation::Other | Operation::Length)
    };
    let variables = words.flat_map(Word::variables);
    let plain = variables.filter(|(_, variable)| expands(variable.operation));
    plain.map(|(part, variable)| (variable.name.as_str(), part.span)).collect()
}

fn stages(script: &Script) -> impl Iterator<Item = &StageKind> {
    let pipelines = script.blocks.iter().flat_map(|block| &block.pipelines);
    pipelines.flat_map(|pipeline| &pipeline.stages).map(|stage| &stage.kind)
}

/// Whether a script sets a variable somewhere: an assignment of its own, a loop, `read`, or `.` and
/// `eval`, which may set anything. An assignment before a command is for that command alone.
fn sets(script: &Script, name: &str) -> bool {
    let by_command = script.commands.iter().any(|command| {
        let call = command.call();
        let own = if command.words.is_empty() { command.assignments() } else { &[] };
        let mut assigned = own.iter().chain(command.declarations());
        call.is_any(&[".", "source", "eval"])
            || call.is_any(&["read", "export", "getopts"])
                && call.words.iter().any(|word| word.is(name))
            || assigned.any(|assignment| assignment.name == name)
    });
    let by_loop = stages(script).any(|stage| match stage {
        StageKind::Compound(compound) => {
            matches!(compound.kind, CompoundKind::For)
                && compound.words.iter().any(|word| word.is(name))
        }
        StageKind::Command(_) => false,
    });
    by_command || by_loop
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "probity/arg-out-of-scope";
    const SAYS: &str = "is empty here: the stage does not declare it";

    #[test]
    fn the_first_reference_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
ARG V=1 W
FROM a
RUN b "$V" && c ${{V}} > $W
       ^^ V {SAYS}
                       ^^ W {SAYS}
FROM a
ARG V
RUN GOARCH=${{TARGETARCH}} go build -ldflags "-X v=$V"
           ^^^^^^^^^^^^^ TARGETARCH {SAYS}
"#
            ),
        );
    }

    #[test]
    fn what_is_set_or_has_a_default_is_silent() {
        for text in [
            "RUN echo ${V:-1} ${V-1} ${V:?}",
            "RUN V=2; echo $V",
            "RUN export V=2 && echo $V",
            "RUN for V in 1 2; do echo $V; done",
            "RUN . /env && echo $V",
            "RUN read V && echo $V",
            "RUN echo '$V' \\$V",
            "ENV V=3\nRUN echo $V",
            "ARG TARGETARCH\nRUN echo $TARGETARCH",
            "CMD echo $V",
        ] {
            check(RULE, &format!("ARG V=1\nFROM a\n{text}\n"));
        }
        check(RULE, "ARG NODE_VERSION=22\nFROM node:$NODE_VERSION\nRUN echo $NODE_VERSION\n");
        check(RULE, "ARG V=22\nFROM example.com/base:$V\nRUN echo $V\n");
    }

    #[test]
    fn the_argument_is_declared_before_the_run() {
        fixed(
            RULE,
            "FROM a\nRUN b $TARGETOS/$TARGETARCH\n",
            "FROM a\nARG TARGETARCH\nARG TARGETOS\nRUN b $TARGETOS/$TARGETARCH\n",
        );
    }
}
