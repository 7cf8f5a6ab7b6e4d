//! Variables that `ENV` sets, as rules ask about them.

use probity_dockerfile::{RuntimeEntry, Setting, Value, VariableKind};

use crate::engine::context::Context;

/// The value of a variable that `ENV` has set before an instruction, in its stage or below; empty
/// where the value is known to the build alone.
pub(crate) fn before<'a>(context: &Context<'a>, index: usize, name: &str) -> Option<&'a str> {
    let variable = context.facts.scope(index).get(name)?;
    let is_env = variable.kind == VariableKind::Env && variable.instruction.is_some();
    is_env.then(|| variable.value.as_deref().unwrap_or_default())
}

/// The variables that a stage itself sets, with their values; empty where a value is known to the
/// build alone.
pub(crate) fn of_stage<'a>(
    context: &Context<'a>,
    stage: usize,
) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let entries: &'a [RuntimeEntry] =
        context.facts.config(stage).map(|config| config.get(Setting::Env)).unwrap_or_default();
    entries.iter().map(|found| {
        let value = match &found.entry.value {
            Value::Text(text) => text.value.as_deref().unwrap_or_default(),
            _ => "",
        };
        (found.entry.key.as_str(), value)
    })
}
