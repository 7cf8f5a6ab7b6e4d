//! ARG and ENV: how variables come to be.

use probity_finding::Span;

use crate::{
    Instruction, Pair,
    facts::{
        contract::Step,
        runtime::{Setting, Value},
        steps::put,
        text::Text,
        variables::{STEERING_ARGUMENTS, Variable, VariableKind},
        walk::{Current, Walk},
    },
};

impl Walk<'_> {
    /// `ARG name[=default]`, in a stage or before the first one.
    pub(super) fn argument(
        &mut self,
        current: &mut Current,
        instruction: &Instruction,
        pair: &Pair,
    ) {
        let name = pair.key.text.clone();
        let default = pair.value.as_ref().map(|word| self.word(current, instruction, word));
        let global = self.environments.get(self.globals, &name).filter(|global| global.set);
        let known = self.environments.get(current.environment, &name).filter(|known| known.set);
        let given = self.build.and_then(|build| build.arguments.get(name.as_str()));
        let (value, set, constant) = match (given, &default, global.or(known)) {
            (Some(given), _, _) => (given.clone(), true, given.is_some()),
            (None, Some(default), _) => (default.value.clone(), true, default.is_constant()),
            (None, None, Some(outer)) => (outer.value.clone(), true, outer.constant),
            // The build leaves it unset, unless the base image sets it.
            (None, None, None) => (None, false, current.closed),
        };
        let is_steering = STEERING_ARGUMENTS.contains(&name.as_str());
        let set = set && !is_steering;
        let variable = Variable {
            name: name.to_string(),
            value,
            kind: VariableKind::Arg,
            instruction: Some(current.index),
            set,
            // Another build may have another value.
            constant: constant && !is_steering && self.build.is_some(),
            version: 0,
        };
        current.environment = self.environments.define(current.environment, variable);
        current.steps.push(Step::Arg { name, default: default.map(Box::new) });
    }

    /// All words see the variables from before the instruction.
    pub(super) fn env(&mut self, current: &mut Current, instruction: &Instruction, pairs: &[Pair]) {
        let expanded: Vec<(Text, Text, Span)> =
            pairs.iter().map(|pair| self.pair(current, instruction, pair)).collect();
        for (key, value, span) in expanded {
            let variable = Variable {
                name: key.to_string(),
                value: value.value.clone(),
                kind: VariableKind::Env,
                instruction: Some(current.index),
                set: true,
                constant: key.is_constant() && value.is_constant(),
                version: 0,
            };
            current.environment = self.environments.define(current.environment, variable);
            put(current, Setting::Env, key.pattern(), Value::Text(value.clone()), span);
            current.steps.push(Step::Env { key: Box::new(key), value: Box::new(value) });
        }
    }
}

/// A variable of BuildKit's, whose value only the build knows.
pub(super) fn predefined(name: &str) -> Variable {
    Variable {
        name: name.to_owned(),
        value: None,
        kind: VariableKind::Predefined,
        instruction: None,
        set: true,
        constant: false,
        version: 0,
    }
}
