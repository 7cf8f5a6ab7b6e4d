//! A program and its arguments without a shell, in the shape that rules know from the shell.

use probity_finding::Span;

use crate::{
    Block, BlockKind, Command, CommandPlace, Dialect, Invocation, Joiner, Part, PartKind, Pipeline,
    Quote, Script, Stage, StageKind, Word, command::Extras, optional_span::OptionalSpan,
};

/// The script that runs one program: nothing in its words is expanded.
#[must_use]
pub fn exec_form(words: &[(Span, &str)], span: Span) -> Script {
    let words: Vec<Word> = words
        .iter()
        .map(|&(span, text)| {
            let kind = PartKind::Text(text.into());
            Word::new(span, text.into(), vec![Part { span, quote: Quote::Single, kind }])
        })
        .collect();
    let command = Command::new(span, CommandPlace::default(), words, Extras::default());
    let pipeline = Pipeline {
        span,
        joiner: Joiner::First,
        joiner_span: OptionalSpan::NONE,
        negated: false,
        timed: false,
        background: false,
        stages: Box::new([Stage { span, pipe: OptionalSpan::NONE, kind: StageKind::Command(0) }]),
        is_in_last_chain: true,
    };
    let block = Block {
        kind: BlockKind::Script,
        span,
        parent: None,
        command_range: 0..1,
        pipelines: vec![pipeline],
    };
    Script {
        span,
        invocation: Invocation { dialect: Dialect::Other, ..Invocation::of_argv::<&str>(&[]) },
        commands: Box::new([command]),
        blocks: Box::new([block]),
        opaque: None,
        extras: None,
    }
}
