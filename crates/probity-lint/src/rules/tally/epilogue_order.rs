//! What a container starts, in the middle of the build.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, Stage};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::context::Context,
    text::{
        lines::{line_end, whole_lines},
        shell_edits::has_comment,
    },
};

rule! {
    /// # What it does
    ///
    /// Flags `STOPSIGNAL`, `HEALTHCHECK`, `ENTRYPOINT` and `CMD` in the wrong place or order.
    ///
    /// They belong at the end of their stage, in this order. The rule ignores stages that another
    /// stage uses.
    ///
    /// # Why it is bad
    ///
    /// Readers expect the last lines of a stage to say how its container runs, and to contain
    /// nothing else.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// CMD ["serve"]
    /// COPY app /usr/bin/app
    /// ENTRYPOINT ["app"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// COPY app /usr/bin/app
    /// ENTRYPOINT ["app"]
    /// CMD ["serve"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY app /usr/bin/app
    /// ENTRYPOINT ["app"]
    /// CMD ["serve"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix moves the instructions to the end of the stage, and the image keeps the same
    /// settings.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - There are comments or empty lines among the moved instructions.
    /// - An instruction appears twice.
    /// - A `SHELL` comes after one of the moved instructions, and they are not all `ENTRYPOINT` and
    ///   `CMD` in JSON form.
    /// - The stop signal contains a variable.
    EpilogueOrder {
        name: "tally/epilogue-order",
        severity: Style,
        category: Style,
        fixes: Safe,
        url: "https://tally.wharflab.com/rules/tally/epilogue-order/",
    }
}

fn rank(keyword: Keyword) -> Option<usize> {
    const ORDER: [Keyword; 4] =
        [Keyword::Stopsignal, Keyword::Healthcheck, Keyword::Entrypoint, Keyword::Cmd];
    ORDER.iter().position(|own| *own == keyword)
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let references = context.facts.graph().references().iter();
    let used: HashSet<usize> =
        references.filter_map(|reference| reference.target.stage()).collect();
    for stage in context.facts.stages().iter().filter(|stage| !used.contains(&stage.index)) {
        let all = context.file.instructions.get(stage.instructions.clone()).unwrap_or_default();
        let Some((instruction, message)) = misplaced(all) else { continue };
        let finding = context.finding(instruction.keyword_span(), message);
        let fix = fix(context, stage, all);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// The first instruction that is in the wrong place, and why.
fn misplaced(all: &[Instruction]) -> Option<(&Instruction, &'static str)> {
    let is_build = |instruction: &Instruction| {
        rank(instruction.keyword).is_none() && instruction.keyword != Keyword::Onbuild
    };
    let last_build = all.iter().rposition(is_build)?;
    let before =
        all.iter().take(last_build).find(|instruction| rank(instruction.keyword).is_some());
    if let Some(instruction) = before {
        return Some((instruction, "this belongs at the end of the stage"));
    }
    let mut highest = 0;
    for instruction in all {
        let Some(own) = rank(instruction.keyword) else { continue };
        if own < highest {
            let message = "the order is STOPSIGNAL, HEALTHCHECK, ENTRYPOINT, CMD";
            return Some((instruction, message));
        }
        highest = own;
    }
    None
}

fn fix(context: &Context<'_>, stage: &Stage, all: &[Instruction]) -> Option<Fix> {
    let mut moved: Vec<(usize, &Instruction)> = all
        .iter()
        .filter_map(|instruction| Some((rank(instruction.keyword)?, instruction)))
        .collect();
    let ranks: HashSet<usize> = moved.iter().map(|(rank, _)| *rank).collect();
    let (_, first) = *moved.first()?;
    let is_open = |instruction: &Instruction| {
        instruction.keyword == Keyword::Stopsignal && instruction.body_text().contains('$')
    };
    let shells = all.iter().filter(|instruction| instruction.keyword == Keyword::Shell);
    let is_reread = shells.clone().any(|shell| shell.span.start > first.span.start)
        && moved.iter().any(|(_, instruction)| {
            !matches!(&instruction.arguments, Arguments::Command(Command::Json { .. }))
        });
    if ranks.len() != moved.len()
        || moved.iter().any(|(_, instruction)| is_open(instruction))
        || is_reread
    {
        return None;
    }
    let text = context.file.text;
    let newline = line_end(text);
    let last = context.file.instructions.get(stage.instructions.end.checked_sub(1)?)?;
    let blocks: Vec<Span> = moved.iter().map(|(_, instruction)| block(text, instruction)).collect();
    let region = Span::new(blocks.first()?.start, whole_lines(text, last.span).end);
    let has_paragraphs = region.slice(text)?.lines().any(|line| line.trim().is_empty());
    if has_comment(context, region) || has_paragraphs {
        return None;
    }
    let mut kept = String::new();
    let mut at = region.start;
    for block in &blocks {
        kept.push_str(Span::new(at, block.start).slice(text)?);
        at = block.end;
    }
    kept.push_str(Span::new(at, region.end).slice(text)?);
    moved.sort_by_key(|(rank, _)| *rank);
    for (_, instruction) in moved {
        if !kept.is_empty() && !kept.ends_with('\n') {
            kept.push_str(newline);
        }
        kept.push_str(block(text, instruction).slice(text)?);
    }
    // The file ends as it did.
    if !region.slice(text)?.ends_with('\n') {
        kept.truncate(kept.trim_end_matches(['\r', '\n']).len());
    }
    Some(Fix::safe("move it to the end", vec![Edit::replace(region, kept)]))
}

/// The lines of an instruction and of the comments above it.
fn block(text: &str, instruction: &Instruction) -> Span {
    let start =
        instruction.comments().first().map_or(instruction.span.start, |comment| comment.span.start);
    whole_lines(text, Span::new(start.min(instruction.span.start), instruction.span.end))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/epilogue-order";

    #[test]
    fn the_first_misplaced_instruction_is_underlined() {
        check(
            RULE,
            "\
FROM a AS b
CMD c
RUN d
FROM a AS e
STOPSIGNAL 9
^^^^^^^^^^ this belongs at the end of the stage
USER x
CMD y
FROM b
CMD y
ENTRYPOINT z
^^^^^^^^^^ the order is STOPSIGNAL, HEALTHCHECK, ENTRYPOINT, CMD
",
        );
    }

    #[test]
    fn triggers_and_right_orders_are_silent() {
        check(RULE, "FROM a\nENTRYPOINT b\nCMD c\nONBUILD RUN d\n");
        check(RULE, "FROM a\nRUN b\nSTOPSIGNAL 9\nHEALTHCHECK NONE\nENTRYPOINT c\nCMD d\n");
    }

    #[test]
    fn instructions_move_where_no_comment_is_near() {
        fixes(
            RULE,
            &[
                (
                    "CMD [\"a\", \\\n  \"b\"]\nRUN c\nENTRYPOINT [\"d\"]",
                    "RUN c\nENTRYPOINT [\"d\"]\nCMD [\"a\", \\\n  \"b\"]",
                ),
                ("CMD a\nCMD b\nRUN c", "CMD a\nCMD b\nRUN c"),
                ("# why\nCMD a\nRUN c", "# why\nCMD a\nRUN c"),
                ("CMD a\nSHELL [\"b\", \"-c\"]", "CMD a\nSHELL [\"b\", \"-c\"]"),
                ("STOPSIGNAL $A\nENV A=b", "STOPSIGNAL $A\nENV A=b"),
            ],
        );
    }
}
