//! A script as one line, made of nothing but the text under its spans; and what holds for all of
//! them.

use probity_finding::Span;
use probity_shell::{
    Assignment, Block, Command, Compound, Dialect, Invocation, Joiner, PartKind, Pipeline,
    Redirection, Script, StageKind, Word, parse,
};

/// What the text is moved by, so that a span without its offset shows.
pub(crate) const OFFSET: usize = 7;

/// The script of a text and the file that it stands in.
pub(crate) fn script(text: &str, dialect: Dialect) -> (Script, String) {
    let script = parse(text, OFFSET, Invocation::plain(dialect));
    (script, format!("{}{text}", "#".repeat(OFFSET)))
}

pub(crate) fn outline(text: &str, dialect: Dialect) -> String {
    let (script, file) = script(text, dialect);
    assert_sound(&script, &file);
    if let Some(opaque) = script.opaque {
        return format!("{opaque:?}");
    }
    let mut line = block(&script, &file, 0);
    for error in script.errors() {
        line.push_str(&format!(" #{}:{}", under(&file, error.span), error.message));
    }
    line
}

pub(crate) fn under(file: &str, span: Span) -> &str {
    let text = span.slice(file);
    assert!(text.is_some(), "{span:?} is not on borders of characters");
    text.unwrap_or_default()
}

fn block(script: &Script, file: &str, index: usize) -> String {
    let pipelines = script.blocks[index].pipelines.iter();
    pipelines.map(|it| pipeline(script, file, it)).collect::<Vec<_>>().join(" ")
}

fn pipeline(script: &Script, file: &str, pipeline: &Pipeline) -> String {
    let joiner = pipeline.joiner_span().map(|span| under(file, span).replace('\n', "NL"));
    let mut line = joiner.map(|joiner| format!("{joiner} ")).unwrap_or_default();
    line.push_str(if pipeline.negated { "! " } else { "" });
    line.push_str(if pipeline.timed { "time " } else { "" });
    for stage in &pipeline.stages {
        if let Some(pipe) = stage.pipe() {
            line.push_str(&format!(" {} ", under(file, pipe)));
        }
        match &stage.kind {
            StageKind::Command(index) => {
                line.push_str(&command(script, file, &script.commands[*index]));
            }
            StageKind::Compound(it) => line.push_str(&compound(script, file, it)),
        }
    }
    line.push_str(if pipeline.background { "&" } else { "" });
    line
}

fn command(script: &Script, file: &str, command: &Command) -> String {
    let assignments = command.assignments().iter().map(|it| assignment(script, file, it));
    let words = command.words.iter().map(|it| word(script, file, it));
    let redirections = command.redirections().iter().map(|it| redirection(script, file, it));
    let all: Vec<_> = assignments.chain(words).chain(redirections).collect();
    format!("[{}]", all.join(" "))
}

fn assignment(script: &Script, file: &str, assignment: &Assignment) -> String {
    let sign = if assignment.append { "+=" } else { "=" };
    let value = assignment.value.as_ref().map(|value| word(script, file, value));
    let elements = assignment.elements.iter().map(|element| word(script, file, element));
    let value = value.unwrap_or_else(|| format!("({})", elements.collect::<Vec<_>>().join(" ")));
    format!("{}{sign}{value}", under(file, assignment.name_span))
}

/// The word as it is written, and the commands in it.
pub(crate) fn word(script: &Script, file: &str, word: &Word) -> String {
    let mut line = under(file, word.span()).replace('\n', "NL");
    if line.is_empty() {
        line.push_str("EMPTY");
    }
    for index in blocks_of(word) {
        line.push_str(&format!("<{}>", block(script, file, index)));
    }
    line
}

fn redirection(script: &Script, file: &str, it: &Redirection) -> String {
    if let Some(here) = &it.here_document {
        let body = under(file, here.body).replace('\n', "NL").replace('\t', "TAB");
        let nested = here.word.iter().flat_map(blocks_of);
        let nested: String =
            nested.map(|index| format!("<{}>", block(script, file, index))).collect();
        return format!("{{{}:{}:{body}{nested}}}", here.delimiter, under(file, it.span));
    }
    let target = it.target.as_ref().map(|target| word(script, file, target)).unwrap_or_default();
    format!("{{{:?} {} {target}}}", it.kind, under(file, it.span))
}

fn compound(script: &Script, file: &str, compound: &Compound) -> String {
    let mut line = format!("{:?}(", compound.kind);
    let words = compound.words.iter().map(|it| word(script, file, it));
    line.push_str(&words.collect::<Vec<_>>().join(","));
    for &index in &compound.blocks {
        let kind = script.blocks[index].kind;
        line.push_str(&format!(" {kind:?}:{}", block(script, file, index)));
    }
    line.push(')');
    for it in &compound.redirections {
        line.push_str(&redirection(script, file, it));
    }
    line
}

fn blocks_of(word: &Word) -> Vec<usize> {
    let mut found = Vec::new();
    let mut left: Vec<_> = word.parts().iter().rev().collect();
    while let Some(part) = left.pop() {
        match &part.kind {
            PartKind::Substitution { block, .. } | PartKind::ProcessSubstitution { block } => {
                found.push(*block);
            }
            PartKind::Arithmetic(parts) => left.extend(parts.iter().rev()),
            PartKind::Variable(it) => {
                left.extend(it.operand.iter().flat_map(|operand| operand.parts().iter().rev()));
            }
            _ => {}
        }
    }
    found
}

/// Every span is on borders of characters and within what it belongs to; indexes fit.
pub(crate) fn assert_sound(script: &Script, file: &str) {
    for (index, block) in script.blocks.iter().enumerate() {
        assert_inside(file, script.span, block.span);
        assert!(block.commands().end <= script.commands.len());
        assert_eq!(block.parent.is_none(), index == 0);
        if let Some(parent) = block.parent {
            assert!(parent.block() < index);
            assert!(script.pipeline(parent).is_some());
            let around = script.blocks[parent.block()].commands();
            assert!(around.start <= block.commands().start && block.commands().end <= around.end);
        }
        assert_pipelines(script, file, block);
    }
    for (index, command) in script.commands.iter().enumerate() {
        assert!(script.blocks[command.place.block()].commands().contains(&index));
        let pipeline = &script.blocks[command.place.block()].pipelines[command.place.pipeline()];
        assert_eq!(pipeline.stages[command.place.stage()].kind, StageKind::Command(index));
        assert_inside(file, script.span, command.span);
        for it in command.assignments().iter().chain(command.declarations()) {
            assert_inside(file, command.span, it.span);
            assert_inside(file, it.span, it.name_span);
            it.value.iter().chain(&it.elements).for_each(|word| assert_word(file, it.span, word));
        }
        command.words.iter().for_each(|word| assert_word(file, command.span, word));
        for it in command.redirections() {
            assert_inside(file, command.span, it.span);
            it.target.iter().for_each(|word| assert_word(file, it.span, word));
            if let Some(here) = &it.here_document {
                assert_inside(file, it.span, here.delimiter_span);
                assert_inside(file, script.span, here.body);
                here.word.iter().for_each(|word| assert_word(file, here.body, word));
            }
        }
    }
    script.errors().iter().for_each(|error| assert_inside(file, script.span, error.span));
}

fn assert_pipelines(script: &Script, file: &str, block: &Block) {
    for (index, pipeline) in block.pipelines.iter().enumerate() {
        assert_inside(file, block.span, pipeline.span);
        assert_eq!(pipeline.joiner == Joiner::First, index == 0);
        pipeline.joiner_span().iter().for_each(|span| assert_inside(file, script.span, *span));
        for stage in &pipeline.stages {
            assert_inside(file, pipeline.span, stage.span);
            match &stage.kind {
                StageKind::Command(index) => {
                    assert_eq!(stage.span, script.commands[*index].span);
                }
                StageKind::Compound(it) => {
                    it.words.iter().for_each(|word| assert_word(file, stage.span, word));
                    for &nested in &it.blocks {
                        assert_inside(file, stage.span, script.blocks[nested].span);
                    }
                }
            }
        }
    }
}

fn assert_word(file: &str, around: Span, word: &Word) {
    assert_inside(file, around, word.span());
    assert_eq!(under(file, word.span()), word.text());
    for part in word.parts() {
        assert_inside(file, word.span(), part.span);
        if let PartKind::Variable(it) = &part.kind {
            it.operand.iter().for_each(|operand| assert_word(file, part.span, operand));
        }
    }
}

fn assert_inside(file: &str, outer: Span, inner: Span) {
    assert!(inner.slice(file).is_some(), "{inner:?} in {file:?}");
    assert!(outer.encloses(inner), "{inner:?} out of {outer:?} in {file:?}");
}
