//! curl and wget: which of them a stage calls, and where.

use probity_dockerfile::Keyword;
use probity_finding::Span;

use super::{Change, Check, Issue, View};

pub(crate) const MUST_USE_ONE_TOOL: Check =
    Check::new("patch/must-use-one-tool", must_use_one_tool);
pub(crate) const SECOND_TOOL_GONE: Check = Check::new("second-tool-gone", second_tool_gone);

/// One call of one of the two.
#[derive(Debug)]
pub(crate) struct ToolCall {
    stage: Option<usize>,
    pub(crate) tool: &'static str,
    pub(crate) span: Span,
}

/// At least one line that calls the tool to give up is changed.
fn must_use_one_tool(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let given_up: Vec<&str> = seconds(change.before).map(|call| call.tool).collect();
    let is_call = |line: &str| given_up.iter().any(|tool| line.contains(tool));
    if change.patch.removed().any(is_call) {
        return Vec::new();
    }
    vec![change.issue(check, "the patch does not replace a call of the second tool")]
}

fn second_tool_gone(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let left = seconds(change.after);
    left.map(|call| {
        let message = format!("{} is still called beside the other tool", call.tool);
        change.issue(check, &message).at(change.after, call.span)
    })
    .collect()
}

/// The calls of the tool that was not the first in its stage.
pub(crate) fn seconds(view: &View<'_>) -> impl Iterator<Item = ToolCall> {
    let mut first: Option<(Option<usize>, &'static str)> = None;
    calls(view).into_iter().filter(move |call| match first {
        Some((stage, tool)) if stage == call.stage => tool != call.tool,
        _ => {
            first = Some((call.stage, call.tool));
            false
        }
    })
}

/// Every call of either, in the order of the text.
pub(crate) fn calls(view: &View<'_>) -> Vec<ToolCall> {
    let mut found = Vec::new();
    for (index, instruction) in view.file.instructions.iter().enumerate() {
        if instruction.keyword != Keyword::Run {
            continue;
        }
        let stage = view.facts.stage_of(index).map(|stage| stage.index);
        for script in view.facts.scripts(&view.file, index) {
            for command in &script.commands {
                let call = command.effective();
                let name = call.name();
                let tool = ["curl", "wget"].into_iter().find(|tool| name.as_deref() == Some(*tool));
                found.extend(tool.map(|tool| ToolCall { stage, tool, span: command.span }));
            }
        }
    }
    found
}
