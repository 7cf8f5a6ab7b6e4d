//! One link of a chain per line.

mod seam;

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, Word};
use probity_finding::{Finding, Fix, Span};
use probity_shell::{Joiner, Pipeline, Script};

use self::seam::{Seam, breaks};
use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    text::lines,
};

rule! {
    /// # What it does
    ///
    /// Flags commands, flags and labels that share a line with others.
    ///
    /// The rule checks these parts:
    ///
    /// - commands of a `RUN` or `HEALTHCHECK` that `&&` joins;
    /// - flags of a `HEALTHCHECK`;
    /// - several `--mount` flags of a `RUN`;
    /// - pairs of a `LABEL`.
    ///
    /// The rule ignores commands in parentheses, loops, quotes or heredocs, and commands that `||`
    /// or `|` joins. It also ignores scripts that use `;`, and instructions after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// A new command or label changes a line that also contains others. The diff then does not show
    /// which of them is new.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title=app \
    ///     org.opencontainers.image.vendor=us org.opencontainers.image.version=1.0.0
    /// RUN --mount=type=cache,target=/a \
    ///     --mount=type=cache,target=/b --mount=type=cache,target=/c ./build
    /// HEALTHCHECK --interval=5s \
    ///     --timeout=2s CMD ./check
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title=app \
    ///     org.opencontainers.image.vendor=us \
    ///     org.opencontainers.image.version=1.0.0
    /// RUN --mount=type=cache,target=/a \
    ///     --mount=type=cache,target=/b \
    ///     --mount=type=cache,target=/c \
    ///     ./build
    /// HEALTHCHECK --interval=5s \
    ///     --timeout=2s \
    ///     CMD ./check
    /// ```
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN make && make install
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN make \
    ///     && make install
    /// RUN make && \
    ///     make install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe between flags and pairs, because BuildKit skips whitespace there. Suggestion between
    /// commands: the shell runs the same commands, but the indentation is part of the command.
    /// BuildKit therefore builds the layer again.
    ///
    /// If a chain already spans several lines, the fix keeps its indentation and its position of
    /// `&&`. Otherwise, the fix uses the indentation of the file, or four spaces if nothing is
    /// indented. Comments between the lines stay in place.
    NewlinePerChainedCall {
        name: "tally/newline-per-chained-call",
        severity: Style,
        category: Style,
        fixes: Safe,
        options: &[OptionSpec {
            name: "min-commands",
            kind: OptionKind::Integer,
            default: "2",
            about: "Minimum number of joined commands that the rule flags.",
        }],
        url: "https://tally.wharflab.com/rules/tally/newline-per-chained-call/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let least = usize::try_from(context.integer("min-commands")).unwrap_or(usize::MAX).max(2);
    let step = lines::indentation(context.file);
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        check_parts(context, instruction, &step, findings);
        if let Some(script) = chained(instruction).then(|| context.scripts(index).first()).flatten()
        {
            check_chain(context, script, least, &step, findings);
        }
    }
}

/// Whether an instruction is a text that a shell runs, and nothing beside it.
fn chained(instruction: &Instruction) -> bool {
    let command = match (&instruction.arguments, instruction.keyword) {
        (Arguments::Command(command), Keyword::Run) => command,
        (Arguments::Healthcheck { command, .. }, _) => command,
        _ => return false,
    };
    matches!(command, Command::Shell(_)) && instruction.heredocs().is_empty()
}

fn check_chain(
    context: &Context<'_>,
    script: &Script,
    least: usize,
    step: &str,
    findings: &mut Vec<Finding>,
) {
    let Some(block) = script.blocks.first() else { return };
    let is_list =
        block.pipelines.iter().any(|pipeline| !is_chained(pipeline) || pipeline.background);
    if is_list || !script.errors().is_empty() {
        return;
    }
    let is_link = |it: &Pipeline| matches!(it.joiner, Joiner::And | Joiner::Or);
    if block.pipelines.iter().filter(|pipeline| is_link(pipeline)).count() + 1 < least {
        return;
    }
    let seams: Vec<Seam> = block
        .pipelines
        .windows(2)
        .filter_map(|pair| {
            let [left, right] = pair else { return None };
            // What answers a failure, `|| exit 1`, belongs to the command.
            if right.joiner != Joiner::And {
                return None;
            }
            let joiner = right.joiner_span()?;
            Some(Seam { left: left.span.end, joiner: Some(joiner), right: right.span.start })
        })
        .collect();
    let text = context.file.text;
    let Some(first) = seams.iter().find(|seam| seam.is_within_line(text)) else { return };
    let place = first.joiner.unwrap_or(Span::at(first.right));
    let finding = context.finding(place, "each command of a chain goes on its own line");
    let fix =
        breaks(context.file, &seams, step).map(|edits| Fix::suggestion("Break the chain", edits));
    findings.push(fix.into_iter().fold(finding, Finding::with_fix));
}

/// Whether a pipeline is part of a chain, and not of a script that goes on after a failure.
fn is_chained(pipeline: &Pipeline) -> bool {
    matches!(pipeline.joiner, Joiner::First | Joiner::And | Joiner::Or)
}

fn check_parts(
    context: &Context<'_>,
    instruction: &Instruction,
    step: &str,
    findings: &mut Vec<Finding>,
) {
    let Some(Parts { spans, counted, message }) = parts(instruction) else { return };
    let between = |pair: &[Span]| match pair {
        [left, right] => Some(Seam { left: left.end, joiner: None, right: right.start }),
        _ => None,
    };
    let seams: Vec<Seam> = spans.windows(2).filter_map(between).collect();
    let text = context.file.text;
    let Some(first) = seams.iter().take(counted).position(|seam| seam.is_within_line(text)) else {
        return;
    };
    let Some(&place) = spans.get(first + 1) else { return };
    let finding = context.finding(place, message);
    let fix = breaks(context.file, &seams, step).map(|edits| Fix::safe("Break the line", edits));
    findings.push(fix.into_iter().fold(finding, Finding::with_fix));
}

/// What an instruction consists of, other than commands.
struct Parts {
    spans: Vec<Span>,
    /// How many of the seams between them are worth a finding; the rest is broken along with them.
    counted: usize,
    message: &'static str,
}

fn parts(instruction: &Instruction) -> Option<Parts> {
    let flags = instruction.flags.iter().map(|flag| flag.span);
    match (&instruction.arguments, instruction.keyword) {
        (Arguments::Pairs { pairs, .. }, Keyword::Label) if pairs.len() > 1 => Some(Parts {
            spans: pairs.iter().map(|pair| pair.span).collect(),
            counted: pairs.len() - 1,
            message: "each label goes on its own line",
        }),
        (Arguments::Healthcheck { kind: Some(kind), .. }, _)
            if !instruction.flags.is_empty() && kind.text.eq_ignore_ascii_case("cmd") =>
        {
            Some(Parts {
                spans: flags.chain([kind.span]).collect(),
                counted: instruction.flags.len(),
                message: "each flag of a health check goes on its own line",
            })
        }
        (Arguments::Command(command), Keyword::Run)
            if instruction.flags_named("mount").nth(1).is_some() =>
        {
            let command = match command {
                // `<<EOF` stays behind the last flag: what follows it is the script.
                _ if !instruction.heredocs().is_empty() => None,
                Command::Missing => None,
                Command::Shell(Word { span, .. }) | Command::Json { span, .. } => Some(*span),
            };
            Some(Parts {
                spans: flags.chain(command).collect(),
                counted: instruction.flags.len() - 1,
                message: "each mount goes on its own line",
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
