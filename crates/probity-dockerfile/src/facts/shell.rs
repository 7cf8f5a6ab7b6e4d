//! The shell texts of an instruction, parsed when a rule first asks for them.
//!
//! A text is put together as BuildKit hands it to the shell: continuations joined, comment lines
//! gone, heredocs behind it. The way back from each byte to the source comes along, so every span is
//! one of the Dockerfile.

mod heredoc;

use std::{ops::Range, sync::OnceLock};

use probity_finding::Span;
use probity_shell::{Dialect, Invocation, Script};

use crate::{Arguments, Command, Dockerfile, Facts, Instruction, Keyword, Logical, Shell, Word};

/// One cell for each instruction that may have commands. Most rules never look into a shell, and then
/// nothing is parsed.
#[derive(Clone, Debug)]
pub(super) struct Scripts(Vec<OnceLock<Box<[Script]>>>);

impl Scripts {
    pub(super) fn with_room_for(instructions: usize) -> Self {
        Self(vec![OnceLock::new(); instructions])
    }
}

impl Facts {
    /// What a RUN gives to a shell, also behind ONBUILD: the line with its heredocs, or the heredoc
    /// that stands for it. Nothing for a RUN without a shell.
    #[must_use]
    pub fn shell_text(&self, dockerfile: &Dockerfile<'_>, instruction: usize) -> Option<ShellText> {
        let written = dockerfile.instructions.get(instruction)?;
        let run = match &written.arguments {
            Arguments::Onbuild(Some(nested)) => nested,
            _ => written,
        };
        let Arguments::Command(Command::Shell(word)) = &run.arguments else { return None };
        if run.keyword != Keyword::Run {
            return None;
        }
        let invocation = Invocation::of_argv(&self.state(instruction)?.shell.argv);
        let line = run.line.part(word.range());
        let (line, invocation) = heredoc::text(dockerfile, run, line, invocation);
        Some(ShellText { invocation, line })
    }

    /// The shell texts of RUN, CMD, ENTRYPOINT and HEALTHCHECK, also behind ONBUILD: the line itself,
    /// and what it gives to a shell in a heredoc or as the argument of `sh -c`. The Dockerfile is the
    /// one that the facts are of.
    #[must_use]
    pub fn scripts(&self, dockerfile: &Dockerfile<'_>, instruction: usize) -> &[Script] {
        let Some(cell) = self.command_cell(instruction).and_then(|cell| self.scripts.0.get(cell))
        else {
            return &[];
        };
        cell.get_or_init(|| {
            let written = dockerfile.instructions.get(instruction);
            let state = self.state(instruction);
            let found = written.zip(state).map(|(it, state)| scripts(dockerfile, it, &state.shell));
            flatten(found.unwrap_or_default()).into_boxed_slice()
        })
    }
}

/// A text that a build gives to a shell, and the way back to the file.
#[derive(Clone, Debug)]
pub struct ShellText {
    pub invocation: Invocation,
    line: Logical,
}

impl ShellText {
    #[must_use]
    pub fn text(&self) -> &str {
        &self.line.text
    }

    /// Where a range of the text stands in the file.
    #[must_use]
    pub fn place(&self, range: Range<usize>) -> Span {
        place(&self.line, range)
    }
}

/// Texts within texts behind the one that they stand in, so that a rule meets each of them once.
fn flatten(scripts: Vec<Script>) -> Vec<Script> {
    let mut flat = Vec::with_capacity(scripts.len());
    for mut script in scripts {
        let inner = script.take_inner();
        flat.push(script);
        flat.extend(flatten(inner));
    }
    flat
}

impl Instruction {
    /// Whether there may be scripts in it.
    pub(super) fn may_run_commands(&self) -> bool {
        matches!(
            self.keyword,
            Keyword::Run
                | Keyword::Cmd
                | Keyword::Entrypoint
                | Keyword::Healthcheck
                | Keyword::Onbuild
        )
    }
}

fn scripts(dockerfile: &Dockerfile<'_>, instruction: &Instruction, shell: &Shell) -> Vec<Script> {
    let command = match (instruction.keyword, &instruction.arguments) {
        (Keyword::Run | Keyword::Cmd | Keyword::Entrypoint, Arguments::Command(command)) => command,
        (Keyword::Healthcheck, Arguments::Healthcheck { command, .. }) => command,
        (Keyword::Onbuild, Arguments::Onbuild(Some(nested)))
            if nested.keyword != Keyword::Onbuild =>
        {
            return scripts(dockerfile, nested, shell);
        }
        _ => return Vec::new(),
    };
    let invocation = Invocation::of_argv(&shell.argv);
    match command {
        Command::Missing => Vec::new(),
        Command::Shell(word) => {
            let line = instruction.line.part(word.range());
            if instruction.keyword == Keyword::Run && !instruction.heredocs().is_empty() {
                return heredoc::scripts(dockerfile, instruction, line, invocation);
            }
            vec![parse(&line, invocation)]
        }
        Command::Json { span, words } => {
            let inner = inner(instruction, words);
            inner.or_else(|| program(instruction, words, *span)).into_iter().collect()
        }
    }
}

/// The text of `["sh", "-c", "text"]`, where it is written without escapes.
fn inner(instruction: &Instruction, words: &[Word]) -> Option<Script> {
    let start = words.iter().position(|word| Dialect::of_program(&word.text) != Dialect::Other)?;
    let argv: Vec<&str> = words.get(start..)?.iter().map(|word| word.text.as_str()).collect();
    let invocation = Invocation::of_argv(&argv);
    let flag = argv.iter().skip(1).position(|word| takes_command(word, invocation.dialect))?;
    let word = words.get(start + 1 + flag + 1)?;
    let quoted = word.range().start + 1..word.range().end.checked_sub(1)?;
    if instruction.line.slice(quoted.clone()) != word.text {
        return None;
    }
    Some(parse(&instruction.line.part(quoted), invocation))
}

/// A program that is run without a shell.
fn program(instruction: &Instruction, words: &[Word], span: Span) -> Option<Script> {
    let placed: Vec<(Span, &str)> = words
        .iter()
        .map(|word| {
            // Without its quotes, where nothing in it is escaped.
            let within = word.range().start + 1..word.range().end.saturating_sub(1);
            let is_plain = instruction.line.slice(within.clone()) == word.text;
            let place = if is_plain { instruction.line.span(within) } else { word.span };
            (place, word.text.as_str())
        })
        .collect();
    (!placed.is_empty()).then(|| probity_shell::exec_form(&placed, span))
}

/// Whether the word behind this one is the text to run.
fn takes_command(word: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::PowerShell => return Invocation::of_argv(&["powershell", word]).takes_command,
        Dialect::Cmd => return Invocation::of_argv(&["cmd", word]).takes_command,
        _ => {}
    }
    let letters = word.strip_prefix('-').unwrap_or_default();
    letters.contains('c') && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn parse(line: &Logical, invocation: Invocation) -> Script {
    probity_shell::parse_shared(&line.text, invocation, &|range| place(line, range))
}

/// An empty range belongs to what stands before it, not to the line behind a continuation.
fn place(line: &Logical, range: Range<usize>) -> Span {
    match range.start.checked_sub(1) {
        Some(before) if range.is_empty() => Span::at(line.offset(before) + 1),
        _ => line.span(range),
    }
}
