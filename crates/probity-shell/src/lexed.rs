//! PowerShell and cmd scripts, read command by command with a lexer instead of a parser.
//!
//! The result has commands, words, assignments and redirections, but no tree: a [`CommandPlace`] says in
//! which block and statement a command is, and which of the commands that `|`, `&&` and `||` join there.
//! There are no [`crate::Block`]s. That is enough for rules about programs and their arguments. Unclosed quotes and brackets end
//! with the text. All nesting is in a list, so no depth costs stack, and each byte is read once.

mod builder;
mod cmd;
mod inner;
mod powershell;

use std::ops::Range;

use probity_finding::{Span, TextSlice};

use crate::{Command, Dialect, Script, lexed::builder::Builder};

/// What the lexer found in a script.
pub(crate) struct Lexed {
    /// In the order of the source.
    pub(crate) commands: Vec<Command>,
    /// The scripts that commands pass to another shell: `powershell -Command …`, `cmd /c …`.
    pub(crate) inner: Vec<Script>,
}

/// Reads a script of one of these two shells; nothing for another language.
pub(crate) fn lex(
    text: &TextSlice,
    dialect: Dialect,
    place: &dyn Fn(Range<usize>) -> Span,
    depth: usize,
) -> Option<Lexed> {
    let mut builder = Builder::new(text);
    match dialect {
        Dialect::PowerShell => powershell::read(&mut builder),
        Dialect::Cmd => cmd::read(&mut builder),
        _ => return None,
    }
    let mut found = Lexed { commands: Vec::new(), inner: Vec::new() };
    for draft in builder.finish() {
        let draft = match dialect {
            Dialect::PowerShell => powershell::understood(draft),
            _ => cmd::understood(draft),
        };
        let Some(draft) = draft else { continue };
        found.inner.extend(inner::parse(text, &draft, place, depth));
        found.commands.push(draft.into_command(text, place));
    }
    Some(found)
}
