//! What becomes of a script when one of its commands fails.

use crate::{Block, BlockKind, Command, CommandPlace, Invocation, Joiner, Script, dialect};

/// A `set`, and the options that it leaves in force in its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setter {
    block: usize,
    start: usize,
    /// The index of the command.
    pub(crate) command: usize,
    options: Invocation,
}

impl Script {
    /// Finds the commands that change options, once for the text: asking for the options at a command
    /// must not cost as much as there are of them.
    pub(crate) fn find_setters(&mut self) {
        let numbered = self.commands.iter().enumerate();
        let setters = numbered.filter(|(_, command)| command.call().is_any(&["set"]));
        let mut setters: Vec<Setter> = setters
            .map(|(index, command)| {
                let (block, start) = (command.place.block(), command.span.start);
                Setter { block, start, command: index, options: self.invocation }
            })
            .collect();
        setters.sort_by_key(|setter| (setter.block, setter.start));
        let mut by_start: Vec<usize> = (0..setters.len()).collect();
        by_start.sort_by_key(|&index| setters.get(index).map(|setter| setter.start));
        if setters.is_empty() {
            return;
        }
        self.extras.get_or_insert_default().setters = setters.into();
        for index in by_start {
            let setter = self.setters().get(index);
            let command = setter.and_then(|setter| self.commands.get(setter.command));
            let Some(command) = command else { continue };
            let mut options = self.options_at(command);
            apply_set(&mut options, command);
            let setters = self.extras.as_deref_mut().map(|extras| &mut extras.setters);
            if let Some(setter) = setters.and_then(|setters| setters.get_mut(index)) {
                setter.options = options;
            }
        }
    }

    /// The options in force at a command: those that the shell was started with, and what `set` has
    /// changed before it, in its own block or in one around it.
    #[must_use]
    pub fn options_at(&self, command: &Command) -> Invocation {
        self.options_in(command.place, command)
    }

    /// The options in force at a place that a command stands in.
    fn options_in(&self, place: CommandPlace, command: &Command) -> Invocation {
        let mut around = self.ancestors(place);
        let last = around.find_map(|place| {
            let here = (place.block(), command.span.start);
            let earlier =
                self.setters().partition_point(|setter| (setter.block, setter.start) < here);
            let setter = self.setters().get(earlier.checked_sub(1)?)?;
            (setter.block == place.block()).then_some(setter)
        });
        last.map_or(self.invocation, |setter| setter.options)
    }

    /// Whether the script goes on, and may succeed, when a command fails: it is negated, a condition,
    /// sent to the background, answered by `||`, followed by `;` or a line end without `errexit`, or
    /// followed by `|` without `pipefail`. What a function returns is up to its callers and counts as
    /// not ignored.
    #[must_use]
    pub fn ignores_failure(&self, command: &Command) -> bool {
        for place in self.ancestors(command.place) {
            // What `set` changes within a subshell does not hold around it.
            let options = self.options_in(place, command);
            let Some(block) = self.block(place.block()) else { return false };
            match self.fate(block, place, options) {
                Fate::Ignored => return true,
                Fate::Ends => return false,
                Fate::Result => {}
            }
            match block.kind {
                BlockKind::Condition | BlockKind::Substitution | BlockKind::ProcessSubstitution => {
                    return true;
                }
                BlockKind::LoopBody if !options.errexit => return true,
                BlockKind::Function => return false,
                _ => {}
            }
        }
        false
    }

    /// What becomes of a failure at a place, within its block.
    fn fate(&self, block: &Block, place: CommandPlace, options: Invocation) -> Fate {
        let Some(pipeline) = block.pipelines.get(place.pipeline()) else { return Fate::Result };
        let piped = place.stage() + 1 < pipeline.stages.len() && !options.pipefail;
        if piped || pipeline.negated || pipeline.background {
            return Fate::Ignored;
        }
        let Some(next) = block.pipelines.get(place.pipeline() + 1) else { return Fate::Result };
        match next.joiner {
            // The rest up to `||` is skipped; what comes there runs instead. A command that is not
            // the last of its `&&` does not end a script by `errexit`.
            Joiner::And if next.is_in_last_chain => Fate::Result,
            Joiner::And | Joiner::Or => Fate::Ignored,
            _ if options.errexit => Fate::Ends,
            _ => Fate::Ignored,
        }
    }

    /// The place of a command, that of the block it stands in, and so on outwards.
    fn ancestors(&self, place: CommandPlace) -> impl Iterator<Item = CommandPlace> {
        std::iter::successors(Some(place), |place| self.block(place.block())?.parent)
    }
}

enum Fate {
    /// The script goes on.
    Ignored,
    /// The script ends here.
    Ends,
    /// The block fails with it.
    Result,
}

fn apply_set(options: &mut Invocation, command: &Command) {
    let mut words = command.call().args().iter().map(crate::Word::prefix);
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let Some(on) = dialect::switch(&word) else { break };
        for letter in word.chars().skip(1) {
            match letter {
                'o' => options.set(&words.next().unwrap_or_default(), on),
                // The option that takes a text is for starting a shell.
                'c' => {}
                letter => options.set_letter(letter, on),
            }
        }
    }
}
