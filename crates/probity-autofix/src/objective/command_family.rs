//! One tool for downloads where there are two.

use serde_json::{Map, Value, json};

use super::{ObjectiveKind, Retry};
use crate::checks::{View, contract, downloads, tools};

pub(crate) const COMMAND_FAMILY: ObjectiveKind = ObjectiveKind {
    name: "command-family",
    goal: "Use one tool for downloads in each stage: replace the calls of the tool that comes second \
           in the stage by calls of the one that comes first.",
    constraints: &[
        "Download the same addresses to the same files, follow redirects where the original did, \
         and fail where the original failed.",
        "Drop the replaced tool from package installs that name it, and add no package.",
        "Change nothing but RUN instructions.",
    ],
    hints,
    must: tools::MUST_USE_ONE_TOOL,
    patch_checks: &[],
    after_checks: &[tools::SECOND_TOOL_GONE],
    narrow_checks: &[contract::ONLY_RUNS, downloads::ONLY_TOOL_CALLS],
    explains: downloads::explained,
    forgets: &[contract::forget_runs],
    settings: &[],
    addresses: &[],
    retry: Retry::USUAL,
};

fn hints(view: &View<'_>) -> Map<String, Value> {
    let mut replace: Vec<&str> = tools::seconds(view).map(|call| call.tool).collect();
    replace.sort_unstable();
    replace.dedup();
    [("replace".to_owned(), json!(replace))].into_iter().collect()
}
