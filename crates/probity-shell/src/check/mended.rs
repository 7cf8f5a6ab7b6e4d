//! Findings of the linter crate that ShellCheck does not make, or makes otherwise.

use probity_finding::Span;

use super::{ShellFinding, ShellLevel};
use crate::{
    Command, Dialect, Joiner, Pipeline, Redirection, RedirectionKind, Script, Stage, StageKind,
};

/// Takes out what ShellCheck would not say, and gives the rest ShellCheck's number. Beside each
/// finding stands what it is about.
pub(super) fn mend(
    findings: &mut Vec<(ShellFinding, &str)>,
    own: &[ShellFinding],
    script: &Script,
) {
    let starts = |codes: &[u32]| -> Vec<usize> {
        let all = findings
            .iter()
            .map(|(finding, _)| finding)
            .chain(own)
            .filter(|finding| codes.contains(&finding.code));
        all.map(|finding| finding.span.start).collect()
    };
    let assigned = starts(&[2281]);
    let literal = starts(&[1012]);
    let misnamed = starts(&[2270, 2277, 2282]);
    let is_dash = matches!(script.invocation.dialect, Dialect::Dash | Dialect::Ash);
    findings.retain_mut(|(finding, text)| match finding.code {
        // The values of declarations are not split in dash, in ShellCheck's eyes, and numbers never.
        2086 => {
            let is_spared = is_dash && is_declared(script, finding.span);
            !(is_spared || assigned.contains(&finding.span.start) || text.starts_with("$(("))
        }
        // The backslash is gone before `echo` could see it.
        2028 => {
            let around = at(script, finding.span).map_or(finding.span, |command| command.span);
            !literal.iter().any(|&start| around.start <= start && start < around.end)
        }
        // Where one goes to where another goes, the order may be meant.
        2261 => at(script, finding.span)
            .is_none_or(|command| !command.redirections().iter().any(copies)),
        // Of two redirections, and no more.
        2069 => at(script, finding.span).is_none_or(|command| command.redirections().len() == 2),
        2093 | 2156 | 2259 => false,
        // Flags say more than names, so that no pattern says the same.
        2045 => {
            let list = first_within(script, finding.span);
            let has_flag =
                |command: &Command| command.words.iter().any(|word| word.text().starts_with('-'));
            if list.is_some_and(has_flag) {
                finding.level = ShellLevel::Warning;
            }
            true
        }
        // `echo` itself, where it has something to say.
        2116 => first_within(script, finding.span)
            .is_none_or(|command| command.words.len() > 1 && command.call().is_any(&["echo"])),
        2164 => at(script, finding.span).is_none_or(|command| !command.call().is_any(&["sudo"])),
        2078 => {
            finding.code = match *text {
                it if it.contains(" 1 ") => 2161,
                it if it.contains(" true ") => 2160,
                _ => 2078,
            };
            if finding.code != 2078 {
                finding.level = ShellLevel::Style;
            }
            true
        }
        // Only `[` is looked into.
        2144 => at(script, finding.span).is_none_or(|command| !command.call().is_any(&["test"])),
        2194 => !text.starts_with(['$', '{']),
        2276 => !misnamed.contains(&finding.span.start),
        2317 => at(script, finding.span).is_none_or(|command| !follows_list(script, command)),
        3037 if is_dash => {
            finding.code = 3036;
            let first = at(script, finding.span).and_then(|command| command.words.get(1));
            first.is_none_or(|word| !word.is("-n"))
        }
        3045 if is_dash => at(script, finding.span).is_none_or(|command| {
            let is_prompt = command.call().is_any(&["read"]) && text.starts_with("-p");
            !is_prompt && !command.call().is_any(&["ulimit"])
        }),
        _ => true,
    });
}

/// The innermost command that a span begins in. Commands are in the order of the source.
fn at(script: &Script, span: Span) -> Option<&Command> {
    let next = script.commands.partition_point(|command| command.span.start <= span.start);
    let before = script.commands.get(..next)?;
    // The ones around it are not far: what is nested is limited.
    before.iter().rev().take(64).find(|command| span.start < command.span.end)
}

/// The first command that begins within a span.
fn first_within(script: &Script, span: Span) -> Option<&Command> {
    let next = script.commands.partition_point(|command| command.span.start < span.start);
    script.commands.get(next).filter(|command| command.span.end <= span.end)
}

/// `2>&1`
fn copies(redirection: &Redirection) -> bool {
    let target = redirection.target.as_ref().and_then(|target| target.literal());
    redirection.kind == RedirectionKind::DuplicateOutput
        && target.is_some_and(|target| target.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a command stands in a list whose first member may come to an end. Which of the others
/// ends everything depends on what they return, and ShellCheck does not guess.
fn follows_list(script: &Script, command: &Command) -> bool {
    let Some(block) = script.block(command.place.block()) else { return false };
    let before = block.pipelines.get(..=command.place.pipeline()).unwrap_or_default();
    let is_joined = |pipeline: &&Pipeline| matches!(pipeline.joiner, Joiner::And | Joiner::Or);
    let joined = before.iter().rev().take_while(is_joined).count();
    if joined < 2 {
        return false;
    }
    let first = before.len().checked_sub(joined + 1).and_then(|index| before.get(index));
    let stages = first.map(|pipeline| &*pipeline.stages).unwrap_or_default();
    let [Stage { kind: StageKind::Command(index), .. }] = stages else { return true };
    let ends = |other: &Command| other.call().is_any(&["exit", "return"]);
    !script.commands.get(*index).is_some_and(ends)
}

fn is_declared(script: &Script, span: Span) -> bool {
    let command = at(script, span);
    command.is_some_and(|command| {
        command.declarations().iter().any(|declaration| declaration.span.encloses(span))
    })
}
