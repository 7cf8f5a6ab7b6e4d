//! A parsed text: its commands in the order of the source, and how they are put together.
//!
//! Everything is in flat lists that name each other by index, so that no depth of nesting costs a
//! stack and a rule can walk from a command outwards as easily as inwards.

use std::ops::Range;

use probity_finding::Span;

use crate::{
    Command, CommandPlace, Invocation, Redirection, Word, failure::Setter,
    optional_span::OptionalSpan,
};

/// A shell text and what it consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub span: Span,
    pub invocation: Invocation,
    /// All simple commands, those within `$(…)` and functions included, in the order of the source.
    pub commands: Box<[Command]>,
    /// The lists of commands. The first one is the text itself; an outer block comes before the ones
    /// within it. Empty where the language is another one, and just one where there is too much.
    pub blocks: Box<[Block]>,
    /// Why the text was not looked into, or only command by command.
    pub opaque: Option<Opaque>,
    pub(crate) extras: Option<Box<Extras>>,
}

/// What most scripts have nothing of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    pub(crate) errors: Vec<ShellError>,
    pub(crate) inner: Vec<Script>,
    /// The commands of a PowerShell or cmd script.
    pub(crate) lexed: Box<[Command]>,
    /// By their block and then in the order of the source.
    pub(crate) setters: Box<[Setter]>,
}

/// A place where the text is no valid shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellError {
    pub span: Span,
    pub message: String,
}

/// Why a text was not parsed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// PowerShell, the Windows command interpreter, or no shell at all. The first two have
    /// [`Script::all_commands`].
    Dialect,
    TooDeep,
    /// More in one pipeline, or more substitutions in one command, than the parser takes.
    TooManyCommands,
}

/// A list of commands: the text itself, or what stands within parentheses, braces and keywords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub kind: BlockKind,
    pub span: Span,
    /// Where it stands; none for the text itself.
    pub parent: Option<CommandPlace>,
    pub(crate) command_range: Range<u32>,
    pub pipelines: Vec<Pipeline>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Script,
    /// `( … )`
    Subshell,
    /// `{ …; }`
    Group,
    /// Behind `if`, `elif`, `while`, `until`.
    Condition,
    /// Behind `then`, `else`.
    Branch,
    /// Behind `do`.
    LoopBody,
    CaseArm,
    Function,
    /// `$(…)`, backticks
    Substitution,
    /// `<(…)`, `>(…)`
    ProcessSubstitution,
}

/// Commands that are joined by `|`; most often just one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    pub span: Span,
    /// What joins it to the pipeline before.
    pub joiner: Joiner,
    pub(crate) joiner_span: OptionalSpan,
    /// `! …`
    pub negated: bool,
    /// `time …`
    pub timed: bool,
    /// `… &`
    pub background: bool,
    pub stages: Box<[Stage]>,
    /// Whether only `&&` joins what follows in its block.
    pub(crate) is_in_last_chain: bool,
}

impl Pipeline {
    /// Where the joiner is written; none at the beginning.
    #[must_use]
    pub fn joiner_span(&self) -> Option<Span> {
        self.joiner_span.get()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiner {
    /// Nothing: it is the first of its block.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`
    Semicolon,
    /// `&`
    Background,
    Newline,
}

/// One member of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub span: Span,
    pub(crate) pipe: OptionalSpan,
    pub kind: StageKind,
}

impl Stage {
    /// The `|` or `|&` before it.
    #[must_use]
    pub fn pipe(&self) -> Option<Span> {
        self.pipe.get()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageKind {
    /// The index in [`Script::commands`].
    Command(usize),
    Compound(Box<Compound>),
}

/// A command that is made of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    pub kind: CompoundKind,
    /// The indexes of its blocks in [`Script::blocks`], in the order of the source.
    pub blocks: Vec<usize>,
    /// The name of a function; the variable and the words of a `for`; the word of a `case` and its
    /// patterns; the words within `[[ … ]]`.
    pub words: Vec<Word>,
    pub redirections: Vec<Redirection>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompoundKind {
    Subshell,
    Group,
    If,
    For,
    Select,
    While,
    Until,
    Case,
    Function,
    /// `[[ … ]]`
    Test,
    /// `(( … ))`
    Arithmetic,
    /// What only one shell has: `coproc`, `repeat`, `always`.
    Other,
}

impl Block {
    /// The indexes of the commands in it, those of blocks within it included.
    #[must_use]
    pub fn commands(&self) -> Range<usize> {
        self.command_range.start as usize..self.command_range.end as usize
    }
}

impl Script {
    /// In the order of the source. What could be understood is there all the same.
    #[must_use]
    pub fn errors(&self) -> &[ShellError] {
        self.extras.as_deref().map(|extras| &*extras.errors).unwrap_or_default()
    }

    /// The texts that commands of this one give to another shell: `bash -c '…'`.
    #[must_use]
    pub fn inner(&self) -> &[Self] {
        self.extras.as_deref().map(|extras| &*extras.inner).unwrap_or_default()
    }

    /// The commands in any shell. Those of PowerShell and cmd have no blocks, and their names, flags
    /// and quotes follow other rules; a rule that understands these asks here instead of
    /// [`Script::commands`].
    #[must_use]
    pub fn all_commands(&self) -> &[Command] {
        match self.extras.as_deref() {
            Some(extras) if self.commands.is_empty() => &extras.lexed,
            _ => &self.commands,
        }
    }

    /// Takes the inner texts out of this one.
    pub fn take_inner(&mut self) -> Vec<Self> {
        self.extras
            .as_deref_mut()
            .map(|extras| std::mem::take(&mut extras.inner))
            .unwrap_or_default()
    }

    /// The commands that change options, by their block and then in the order of the source.
    pub(crate) fn setters(&self) -> &[Setter] {
        self.extras.as_deref().map(|extras| &*extras.setters).unwrap_or_default()
    }

    #[must_use]
    pub fn block(&self, index: usize) -> Option<&Block> {
        self.blocks.get(index)
    }

    /// The commands within a block, at any depth.
    #[must_use]
    pub fn commands_in(&self, block: usize) -> &[Command] {
        let commands = self.block(block).and_then(|block| self.commands.get(block.commands()));
        commands.unwrap_or_default()
    }

    /// The block that a command stands in, the one around that, and so on to the text itself.
    pub fn enclosing(&self, command: &Command) -> impl Iterator<Item = &Block> {
        let first = self.block(command.place.block());
        std::iter::successors(first, |block| self.block(block.parent?.block()))
    }

    /// Whether a command runs in a block of this kind, at any depth.
    #[must_use]
    pub fn is_within(&self, command: &Command, kind: BlockKind) -> bool {
        self.enclosing(command).any(|block| block.kind == kind)
    }

    #[must_use]
    pub fn pipeline(&self, place: CommandPlace) -> Option<&Pipeline> {
        self.block(place.block())?.pipelines.get(place.pipeline())
    }

    /// The pipeline behind the one at a place, in the same block.
    #[must_use]
    pub fn next_pipeline(&self, place: CommandPlace) -> Option<&Pipeline> {
        self.block(place.block())?.pipelines.get(place.pipeline() + 1)
    }

    /// The pipeline before the one at a place, in the same block.
    #[must_use]
    pub fn previous_pipeline(&self, place: CommandPlace) -> Option<&Pipeline> {
        self.block(place.block())?.pipelines.get(place.pipeline().checked_sub(1)?)
    }

    /// Whether a command shares its pipeline with others.
    #[must_use]
    pub fn is_piped(&self, command: &Command) -> bool {
        self.pipeline(command.place).is_some_and(|pipeline| pipeline.stages.len() > 1)
    }

    /// The only command of the text, where it is one simple command and nothing else.
    #[must_use]
    pub fn only_command(&self) -> Option<&Command> {
        let [pipeline] = self.blocks.first()?.pipelines.as_slice() else { return None };
        let [Stage { kind: StageKind::Command(command), .. }] = &*pipeline.stages else {
            return None;
        };
        self.commands.get(*command)
    }
}

/// An index as it is kept: no script has four thousand million of anything.
pub(crate) fn compact(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
