//! Variables: what each instruction can see, shared between instructions instead of copied.
//!
//! An environment is a persistent trie over numbered names. Defining a variable copies the path to
//! its leaf and nothing else, so that every instruction can keep the environment it was given, and a
//! stage can start from the last one of the stage it is based on, at logarithmic cost.

use std::collections::HashMap;

use probity_finding::Span;

/// A variable as an instruction sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// The value in the build that the facts are of; absent where none was given, or where it
    /// depends on the base image or on the platform.
    pub value: Option<String>,
    pub kind: VariableKind,
    /// The instruction that defined it; none for what BuildKit defines.
    pub instruction: Option<usize>,
    /// Whether BuildKit finds a value for it. An `ARG` without one declares a name that is not set.
    pub set: bool,
    /// Whether the value is the same in every build that the facts are for: it depends on no base
    /// image and on no argument that only a build knows.
    pub(super) constant: bool,
    /// How often the name has been defined so far, this time included.
    pub(super) version: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableKind {
    Arg,
    Env,
    /// Defined by BuildKit: the platform arguments in FROM, `PATH` in a stage.
    Predefined,
}

/// One appearance of a variable in an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableReference {
    pub name: String,
    /// From `$` to the end of the reference.
    pub span: Span,
    /// Whether the name is set or at least declared. BuildKit complains of the others, except in the
    /// `ARG`s before the first FROM.
    pub matched: bool,
    /// Whether this is the name's first appearance in its word; BuildKit reports a name once a word.
    pub first: bool,
    /// Where BuildKit would complain: the variable that was probably meant.
    pub suggestion: Option<String>,
}

/// The variables in force for one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'f> {
    pub(super) environments: &'f Environments,
    pub(super) environment: Environment,
}

impl<'f> Scope<'f> {
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'f Variable> {
        self.environments.get(self.environment, name)
    }

    /// All variables, in the order in which the file first names them.
    #[must_use]
    pub fn variables(&self) -> Vec<&'f Variable> {
        self.environments.all(self.environment)
    }

    /// The names that have a value: what BuildKit chooses from when it asks "did you mean".
    pub fn names(&self) -> impl Iterator<Item = &'f str> + use<'f> {
        self.variables()
            .into_iter()
            .filter(|variable| variable.set)
            .map(|variable| variable.name.as_str())
    }
}

/// The platform arguments that FROM sees and that a stage can declare; their values depend on the
/// build.
pub(super) const PLATFORM_ARGUMENTS: [&str; 11] = [
    "BUILDPLATFORM",
    "BUILDOS",
    "BUILDOSVERSION",
    "BUILDARCH",
    "BUILDVARIANT",
    "TARGETPLATFORM",
    "TARGETOS",
    "TARGETOSVERSION",
    "TARGETARCH",
    "TARGETVARIANT",
    "TARGETSTAGE",
];

/// Arguments that steer the build and never become variables, so that using them is no mistake
/// either.
pub(super) const STEERING_ARGUMENTS: [&str; 2] =
    ["BUILDKIT_SBOM_SCAN_CONTEXT", "BUILDKIT_SBOM_SCAN_STAGE"];

/// How many children a node of the trie has, and the bits of a name's number that choose one.
const FAN_OUT: usize = 4;
const FAN_BITS: u32 = 2;

type Node = [u32; FAN_OUT];

/// One state of all variables; a handle into [`Environments`]. The default is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Environment(u32);

/// Every environment of a file.
#[derive(Clone, Debug)]
pub(super) struct Environments {
    numbers: HashMap<String, u32>,
    /// What the leaves point to, one more than the index.
    variables: Vec<Variable>,
    /// The first node is the empty trie: all its children are itself.
    nodes: Vec<Node>,
    levels: u32,
}

impl Environments {
    /// With room for `definitions` names besides those that BuildKit defines.
    pub(super) fn with_room_for(definitions: usize) -> Self {
        let names = definitions + PLATFORM_ARGUMENTS.len() + 1;
        let bits = usize::BITS - names.leading_zeros();
        Self {
            numbers: HashMap::new(),
            variables: Vec::new(),
            nodes: vec![[0; FAN_OUT]],
            levels: bits.div_ceil(FAN_BITS),
        }
    }

    pub(super) fn get(&self, environment: Environment, name: &str) -> Option<&Variable> {
        let number = *self.numbers.get(name)?;
        let mut pointer = environment.0;
        for level in (0..self.levels).rev() {
            pointer = child(self.node(pointer), number, level);
        }
        self.variable(pointer)
    }

    /// The environment in which `variable` is defined; its version is counted here. A name for which
    /// there is no room stays undefined.
    pub(super) fn define(
        &mut self,
        environment: Environment,
        mut variable: Variable,
    ) -> Environment {
        let known = self.get(environment, &variable.name);
        variable.version = known.map_or(1, |known| known.version.saturating_add(1));
        let number = match self.numbers.get(&variable.name) {
            Some(&number) => number,
            None => {
                let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                if next >> (self.levels * FAN_BITS).min(u32::BITS - 1) != 0 {
                    return environment;
                }
                self.numbers.insert(variable.name.clone(), next);
                next
            }
        };
        self.variables.push(variable);
        let leaf = u32::try_from(self.variables.len()).unwrap_or_default();
        Environment(self.replace(environment.0, number, self.levels, leaf))
    }

    /// The definitions behind the first so many, whatever they are visible to.
    pub(super) fn defined_after(&self, count: usize) -> &[Variable] {
        self.variables.get(count..).unwrap_or_default()
    }

    pub(super) fn all(&self, environment: Environment) -> Vec<&Variable> {
        let mut found = Vec::new();
        let mut pending = vec![(environment.0, self.levels)];
        while let Some((pointer, levels)) = pending.pop() {
            if pointer == 0 {
                continue;
            }
            if levels == 0 {
                found.extend(self.variable(pointer));
                continue;
            }
            let children = self.node(pointer);
            pending.extend(children.iter().rev().map(|&child| (child, levels - 1)));
        }
        found
    }

    fn replace(&mut self, pointer: u32, number: u32, levels: u32, leaf: u32) -> u32 {
        let Some(level) = levels.checked_sub(1) else { return leaf };
        let mut node = self.node(pointer);
        let old = child(node, number, level);
        let new = self.replace(old, number, level, leaf);
        if let Some(slot) = node.get_mut(slot(number, level)) {
            *slot = new;
        }
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).unwrap_or_default()
    }

    fn node(&self, pointer: u32) -> Node {
        self.nodes.get(pointer as usize).copied().unwrap_or_default()
    }

    fn variable(&self, pointer: u32) -> Option<&Variable> {
        self.variables.get((pointer as usize).checked_sub(1)?)
    }
}

fn slot(number: u32, level: u32) -> usize {
    (number >> (level * FAN_BITS)) as usize % FAN_OUT
}

fn child(node: Node, number: u32, level: u32) -> u32 {
    node.get(slot(number, level)).copied().unwrap_or_default()
}
