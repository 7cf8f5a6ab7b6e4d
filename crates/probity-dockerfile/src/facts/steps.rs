//! What each instruction does: the words that BuildKit expands, in its order, and what comes of them.

mod words;

use std::sync::Arc;

use probity_finding::Span;

use crate::{
    Arguments, Command, Flag, Heredoc, Instruction, Keyword, Pair, Word,
    facts::{
        contract::{Step, StepFlag, StepHeredoc, Transfer},
        graph::{self, Target},
        ports,
        runtime::{CommandLine, Entry, Healthcheck, RuntimeEntry, Setting, Value},
        stages::Stage,
        state::{Shell, ShellSource},
        text::Text,
        walk::{Current, Walk},
    },
};

impl Walk<'_> {
    pub(super) fn dispatch(
        &mut self,
        current: &mut Current,
        stage: &Stage,
        instruction: &Instruction,
    ) {
        match (&instruction.arguments, instruction.keyword) {
            (Arguments::Pairs { pairs, .. }, Keyword::Arg) => {
                pairs.iter().for_each(|pair| self.argument(current, instruction, pair));
            }
            (Arguments::Pairs { pairs, .. }, Keyword::Env) => self.env(current, instruction, pairs),
            (Arguments::Pairs { pairs, .. }, _) => self.label(current, instruction, pairs),
            (Arguments::Transfer { sources, destination, .. }, _) => {
                let step = self.transfer(current, instruction, sources, destination.as_deref());
                current.steps.push(Step::Transfer(Box::new(step)));
            }
            (Arguments::Command(command), Keyword::Run) => {
                let step = self.run(current, instruction, command);
                current.steps.push(step);
            }
            (Arguments::Command(Command::Json { span, words }), Keyword::Shell) => {
                self.shell(current, words, *span);
            }
            (Arguments::Command(command), keyword) => {
                let setting = match keyword {
                    Keyword::Cmd => Setting::Cmd,
                    Keyword::Entrypoint => Setting::Entrypoint,
                    _ => return,
                };
                let line = command_line(command, &current.shell);
                put(current, setting, "", Value::Command(line), command_span(command, instruction));
            }
            (Arguments::Healthcheck { kind, command }, _) => {
                let check = healthcheck(instruction, kind.as_deref(), command);
                put(current, Setting::Healthcheck, "", Value::Healthcheck(check), instruction.span);
            }
            (Arguments::Words { words, .. }, keyword) => {
                words.iter().for_each(|word| self.listed(current, instruction, keyword, word));
            }
            (Arguments::Text(Some(word)), keyword) => {
                self.single(current, stage, instruction, keyword, word);
            }
            (Arguments::Onbuild(Some(nested)), _) => {
                let trigger = format!("{} {}", nested.keyword, nested.body_text());
                let heredocs = self.literal_heredocs(nested.heredocs());
                current.steps.push(Step::Onbuild { trigger, heredocs });
            }
            (Arguments::From { .. } | Arguments::Text(None) | Arguments::Onbuild(None), _) => {}
        }
    }

    fn label(&mut self, current: &mut Current, instruction: &Instruction, pairs: &[Pair]) {
        for pair in pairs {
            let (key, value, span) = self.pair(current, instruction, pair);
            put(current, Setting::Label, key.pattern(), Value::Text(value), span);
        }
    }

    pub(super) fn pair(
        &mut self,
        current: &Current,
        at: &Instruction,
        pair: &Pair,
    ) -> (Text, Text, Span) {
        let key = self.word(current, at, &pair.key);
        let value = pair.value.as_ref().map(|word| self.word(current, at, word));
        (key, value.unwrap_or_else(|| Text::constant("")), pair.span)
    }

    fn transfer(
        &mut self,
        current: &Current,
        instruction: &Instruction,
        sources: &[Word],
        destination: Option<&Word>,
    ) -> Transfer {
        let flags = instruction.flags.iter();
        let flags = flags.map(|flag| self.transfer_flag(current, instruction, flag)).collect();
        let markers = instruction.heredocs();
        let mut path = |word: &Word| {
            let marker = markers.iter().any(|heredoc| heredoc.marker.start == word.span.start);
            if marker { Text::constant(&*word.text) } else { self.word(current, instruction, word) }
        };
        let sources = sources.iter().map(&mut path).collect();
        let destination = destination.map(&mut path);
        let heredocs =
            markers.iter().map(|heredoc| self.heredoc(current, instruction, heredoc)).collect();
        Transfer { keyword: instruction.keyword, flags, sources, destination, heredocs }
    }

    fn transfer_flag(&mut self, current: &Current, at: &Instruction, flag: &Flag) -> StepFlag {
        let value = flag.value.as_ref().map(|word| match flag.name.text.as_str() {
            "chown" | "chmod" | "checksum" => self.word(current, at, word),
            "from" => stage_text(&graph::copy_target(&self.stages, &word.text), &word.text),
            _ => Text::constant(&*word.text),
        });
        StepFlag { name: flag.name.text.clone(), value }
    }

    fn run(&mut self, current: &Current, instruction: &Instruction, command: &Command) -> Step {
        let flags = instruction.flags.iter();
        let flags = flags.map(|flag| self.run_flag(current, instruction, flag)).collect();
        let command = command_line(command, &current.shell);
        let heredocs = self.literal_heredocs(instruction.heredocs()).into();
        Step::Run { flags, command, heredocs }
    }

    fn run_flag(&mut self, current: &Current, at: &Instruction, flag: &Flag) -> StepFlag {
        let name = flag.name.text.clone();
        if name != "mount" {
            let value = flag.value.as_ref().map(|word| Text::constant(&*word.text));
            return StepFlag { name, value };
        }
        let mut parts = Vec::new();
        for option in &flag.options {
            parts.push(Text::constant(format!(",{}", option.key.text)));
            let Some(word) = &option.value else { continue };
            parts.push(Text::constant("="));
            parts.push(match option.key.text.as_str() {
                "from" => stage_text(&graph::mount_target(&self.stages, &word.text), &word.text),
                _ => self.word(current, at, word),
            });
        }
        StepFlag { name, value: Some(Text::joined(parts)) }
    }

    fn shell(&mut self, current: &mut Current, words: &[Word], span: Span) {
        let argv: Vec<String> = words.iter().map(|word| word.text.to_string()).collect();
        current.shell = Arc::from(argv.clone());
        let value = Value::Command(CommandLine::Exec(argv.clone()));
        put(current, Setting::Shell, "", value, span);
        let shell = Arc::new(Shell { argv, source: ShellSource::Instruction(current.index) });
        self.change_state(current, |state| state.shell = shell);
    }

    /// EXPOSE and VOLUME. The words of EXPOSE can expand to several, and BuildKit does not complain
    /// of unknown variables in them.
    fn listed(&mut self, current: &mut Current, at: &Instruction, keyword: Keyword, word: &Word) {
        if keyword == Keyword::Volume {
            let text = self.word(current, at, word);
            put(current, Setting::Volume, text.pattern(), Value::Present, word.span);
            return;
        }
        for text in self.list(current, at, word) {
            match text.constant_value().and_then(ports::normalise) {
                Some(port) => put(current, Setting::Expose, &port, Value::Present, word.span),
                None => {
                    let key = text.pattern().to_owned();
                    put(current, Setting::Expose, &key, Value::Text(text), word.span);
                }
            }
        }
    }

    fn single(
        &mut self,
        current: &mut Current,
        stage: &Stage,
        instruction: &Instruction,
        keyword: Keyword,
        word: &Word,
    ) {
        let index = current.index;
        let (setting, text) = match keyword {
            Keyword::User => (Setting::User, self.word(current, instruction, word)),
            Keyword::Workdir => (Setting::Workdir, self.word(current, instruction, word)),
            Keyword::Stopsignal => (Setting::Stopsignal, self.word(current, instruction, word)),
            Keyword::Maintainer => (Setting::Author, Text::constant(&*word.text)),
            _ => {
                let name = instruction.keyword_span().slice(self.dockerfile.text);
                let text = format!("{} {}", name.unwrap_or_default(), word.text);
                return current.steps.push(Step::Unknown(text));
            }
        };
        match setting {
            Setting::User => {
                let user = Arc::new(text.clone());
                self.change_state(current, |state| state.user = Some(user));
                current.steps.push(Step::User(text.clone()));
            }
            Setting::Workdir => {
                self.change_state(current, |state| {
                    state.workdir = state.workdir.then(&text, stage.os, index);
                });
                current.steps.push(Step::Workdir(text.clone()));
            }
            _ => {}
        }
        put(current, setting, "", Value::Text(text), word.span);
    }

    fn literal_heredocs(&self, heredocs: &[Heredoc]) -> Vec<StepHeredoc> {
        let literal = |heredoc: &Heredoc| StepHeredoc {
            name: heredoc.name.clone(),
            content: Text::constant(heredoc.content(self.dockerfile.text)),
        };
        heredocs.iter().map(literal).collect()
    }
}

pub(super) fn put(current: &mut Current, setting: Setting, key: &str, value: Value, span: Span) {
    let entry = Arc::new(Entry { setting, key: key.to_owned(), value });
    current.settings.put(RuntimeEntry { entry, instruction: current.index, span });
}

fn command_line(command: &Command, shell: &Arc<[String]>) -> CommandLine {
    match command {
        Command::Missing => CommandLine::Exec(Vec::new()),
        Command::Shell(word) => {
            CommandLine::Shell { shell: Arc::clone(shell), text: word.text.clone() }
        }
        Command::Json { words, .. } => {
            CommandLine::Exec(words.iter().map(|word| word.text.to_string()).collect())
        }
    }
}

fn command_span(command: &Command, instruction: &Instruction) -> Span {
    match command {
        Command::Missing => instruction.span,
        Command::Shell(word) => word.span,
        Command::Json { span, .. } => *span,
    }
}

fn healthcheck(instruction: &Instruction, kind: Option<&Word>, command: &Command) -> Healthcheck {
    let none = kind.is_some_and(|kind| kind.text.eq_ignore_ascii_case("none"));
    let flags = instruction.flags.iter();
    let mut options: Vec<(String, String)> = flags
        .map(|flag| {
            let value = flag.value.as_ref().map(|word| word.text.to_string());
            (flag.name.text.to_string(), value.unwrap_or_default())
        })
        .collect();
    options.sort_unstable();
    let command = (!none).then(|| command_line(command, &Arc::from([])));
    Healthcheck { command, options }
}

/// A stage is the same however it is called.
fn stage_text(target: &Target, written: &str) -> Text {
    Text::constant(match target.stage() {
        Some(stage) => format!("stage:{stage}"),
        None => written.to_owned(),
    })
}
