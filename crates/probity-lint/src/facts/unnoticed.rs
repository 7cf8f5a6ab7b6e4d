//! Commands whose failure a script does not notice.

use probity_shell::{Block, Command, Joiner, Script, StageKind};

/// The first command that matters and whose failure is followed by the next one as if nothing had
/// happened; `ends` are the joiners that may come after it.
pub(crate) fn first_failure<'s>(
    script: &'s Script,
    ends: &[Joiner],
    matters: impl Fn(&Command) -> bool,
) -> Option<&'s Command> {
    let block = script.blocks.first()?;
    let followed = block.pipelines.iter().enumerate().filter(|(at, _)| {
        let next = block.pipelines.get(at + 1);
        next.is_some_and(|next| ends.contains(&next.joiner))
    });
    followed.filter(|(at, _)| !is_answered(block, *at)).find_map(|(_, pipeline)| {
        let StageKind::Command(index) = pipeline.stages.last()?.kind else { return None };
        let command = script.commands.get(index)?;
        let stops = script.options_at(command).errexit || pipeline.negated || pipeline.background;
        (!stops && matters(command)).then_some(command)
    })
}

/// Whether the list that ends here has an `||` in it.
fn is_answered(block: &Block, at: usize) -> bool {
    let before = block.pipelines.get(..=at).unwrap_or_default();
    let is_joined = |joiner: Joiner| matches!(joiner, Joiner::And | Joiner::Or);
    let list = before.iter().rev().take_while(|pipeline| is_joined(pipeline.joiner));
    list.into_iter().any(|pipeline| pipeline.joiner == Joiner::Or)
}
