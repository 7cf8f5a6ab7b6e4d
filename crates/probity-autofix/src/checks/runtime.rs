//! What a container starts with stays what it was, but for what the objectives allow.

use probity_dockerfile::{Runtime, Setting, Step};

use super::{Change, Check, Issue, View};

const LONGEST_LIST: usize = 150;

pub(crate) const RUNTIME: Check = Check::new("runtime-invariants", runtime).once_called("runtime");
pub(crate) const ONBUILD: Check = Check::new("onbuild", onbuild);

fn runtime(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = (change.before.facts.final_runtime(), change.after.facts.final_runtime());
    let changed = old.differences(&new);
    let forbidden = changed.into_iter().filter(|it| !change.limits.settings.contains(it));
    forbidden
        .map(|setting| {
            let (name, was, is) = (setting.name(), listed(&old, setting), listed(&new, setting));
            let message = format!(
                "{name} of the final stage must stay as it was: it was {was}, and now is {is}"
            );
            let issue = change.issue(check, &message);
            match new.get(setting).first() {
                Some(entry) => issue.at(change.after, entry.span),
                None => issue.quoting(&was),
            }
        })
        .collect()
}

/// Triggers are no setting of the container, and yet what the image does to those built on it.
fn onbuild(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let triggers = |view: &View<'_>| -> Vec<Step> {
        let last = view.facts.contract().stages.last();
        let steps = last.into_iter().flat_map(|stage| &stage.steps);
        steps.filter(|step| matches!(step, Step::Onbuild { .. })).cloned().collect()
    };
    if triggers(change.before) == triggers(change.after) {
        return Vec::new();
    }
    vec![change.issue(check, "the ONBUILD triggers of the final stage must stay as they were")]
}

fn listed(runtime: &Runtime, setting: Setting) -> String {
    let entries = runtime.get(setting).iter();
    let texts: Vec<String> = entries.map(|entry| format!("`{}`", entry.entry)).collect();
    if texts.is_empty() {
        return "not set".to_owned();
    }
    // Whole entries only, and the first in any case: an entry that ends in the middle says less.
    let mut length = 0;
    let fitting = texts.iter().take_while(|text| {
        length += text.len();
        length <= LONGEST_LIST
    });
    let shown = fitting.count().max(1);
    let first = texts.iter().take(shown).cloned().collect::<Vec<_>>().join(", ");
    match texts.len() - shown {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
