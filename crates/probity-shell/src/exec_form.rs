//! A program and its arguments without a shell, in the shape that rules know from the shell.

use probity_finding::Span;

use crate::{
    Block, BlockKind, Command, Dialect, Invocation, Joiner, Part, PartKind, Parts, Pipeline, Place,
    Quote, Script, Stage, StageKind, Word,
};

/// The script that runs one program: nothing in its words is expanded.
#[must_use]
pub fn exec_form(words: &[(Span, &str)], span: Span) -> Script {
    let words: Vec<Word> = words
        .iter()
        .map(|&(span, text)| Word {
            span,
            text: text.into(),
            parts: Parts::One(Part {
                span,
                quote: Quote::Single,
                kind: PartKind::Text(text.into()),
            }),
        })
        .collect();
    let command = Command {
        span,
        words,
        assignments: Vec::new(),
        declarations: Vec::new(),
        redirections: Vec::new(),
        place: Place::default(),
    };
    let pipeline = Pipeline {
        span,
        joiner: Joiner::First,
        joiner_span: None,
        negated: false,
        timed: false,
        background: false,
        stages: vec![Stage { span, pipe: None, kind: StageKind::Command(0) }],
        is_in_last_chain: true,
    };
    let block = Block {
        kind: BlockKind::Script,
        span,
        parent: None,
        commands: 0..1,
        pipelines: vec![pipeline],
    };
    Script {
        span,
        invocation: Invocation { dialect: Dialect::Other, ..Invocation::of_argv::<&str>(&[]) },
        commands: vec![command],
        blocks: vec![block],
        errors: Vec::new(),
        opaque: None,
        inner: Vec::new(),
        setters: Box::default(),
    }
}
