//! What holds of every text whatsoever. The fuzz target runs the same file.

use probity_dockerfile::{
    Arguments, Command, Dockerfile, Facts, Flag, Instruction, TokenKind, Word, parse,
};
use probity_finding::Span;

/// Nothing is lost, every span lies where it says, and the facts can be told.
pub(crate) fn check(text: &str) {
    let file = parse(text);
    check_tree(text, &file);
    let facts = Facts::of(&file);
    for index in 0..=file.instructions.len() {
        for reference in facts.references(index) {
            assert!(reference.span.slice(text).is_some(), "{reference:?} in {text:?}");
        }
    }
    let contract = facts.contract();
    assert_eq!(contract.differences(contract), Vec::<String>::new(), "in {text:?}");
    let again = Facts::of(&parse(text));
    assert_eq!(contract, again.contract(), "two readings of {text:?}");
}

fn check_tree(text: &str, file: &Dockerfile<'_>) {
    let mut at = 0;
    for token in file.tokens.iter() {
        assert_eq!(token.span.start, at, "a gap or an overlap in {text:?}");
        assert!(!token.span.is_empty(), "an empty {:?} in {text:?}", token.kind);
        assert!(token.span.slice(text).is_some(), "a token cuts a character in {text:?}");
        at = token.span.end;
    }
    assert_eq!(at, text.len(), "the end is missing in {text:?}");
    assert_eq!(bytes_of(file), text);
    let whole = Span::new(0, text.len());
    let mut end = 0;
    for instruction in &file.instructions {
        assert!(end <= instruction.span.start, "instructions overlap in {text:?}");
        end = instruction.span.end;
        check_instruction(text, whole, instruction);
    }
    for error in &file.errors {
        inside(text, whole, error.span);
        assert!(error.line >= 1 && !error.message.is_empty());
    }
    for directive in &file.directives {
        inside(text, whole, directive.span);
        inside(text, directive.span, directive.name_span);
        inside(text, directive.span, directive.value_span);
        assert_eq!(directive.value_span.slice(text).unwrap(), directive.value);
    }
}

/// The text put together again from what the tokens are for.
fn bytes_of(file: &Dockerfile<'_>) -> String {
    file.tokens
        .iter()
        .map(|token| {
            let bytes = token.span.slice(file.text).unwrap();
            match token.kind {
                TokenKind::Bom => assert_eq!(bytes, "\u{feff}"),
                TokenKind::Whitespace => assert!(bytes.trim().is_empty()),
                TokenKind::LineEnd => assert!(bytes.trim_matches(['\r', '\n']).is_empty()),
                TokenKind::Comment | TokenKind::Directive => assert!(bytes.starts_with('#')),
                TokenKind::Continuation => assert!(bytes.starts_with(file.escape)),
                TokenKind::Text => assert_eq!(bytes.trim(), bytes),
                _ => {}
            }
            bytes
        })
        .collect()
}

fn check_instruction(text: &str, outer: Span, instruction: &Instruction) {
    let span = instruction.span;
    inside(text, outer, span);
    inside(text, span, instruction.keyword_span());
    assert!(instruction.lines().0 <= instruction.lines().1);
    // The logical line is the source without what it leaves out.
    for (at, c) in instruction.line.text.char_indices() {
        let source = instruction.line.span(at..at + c.len_utf8()).slice(text);
        assert_eq!(source, Some(c.to_string().as_str()), "the map is wrong in {text:?}");
    }
    instruction.flags.iter().for_each(|flag| check_flag(text, instruction, flag));
    words(&instruction.arguments).iter().for_each(|word| check_word(text, instruction, word));
    for heredoc in instruction.heredocs() {
        inside(text, span, heredoc.marker);
        inside(text, span, heredoc.body);
        if let Some(terminator) = heredoc.terminator {
            inside(text, span, terminator);
            assert_eq!(terminator.slice(text).unwrap(), heredoc.name);
            assert!(heredoc.body.end <= terminator.start);
        }
    }
    for comment in instruction.comments().iter().chain(instruction.inner_comments()) {
        assert!(comment.span.slice(text).unwrap().starts_with('#'));
        assert!(comment.text.slice(text).is_some());
    }
    if let Arguments::Onbuild(Some(nested)) = &instruction.arguments {
        check_instruction(text, span, nested);
    }
}

fn check_flag(text: &str, instruction: &Instruction, flag: &Flag) {
    inside(text, instruction.span, flag.span);
    check_word(text, instruction, &flag.name);
    flag.value.iter().for_each(|word| check_word(text, instruction, word));
    for option in &flag.options {
        inside(text, flag.span, option.span);
        check_word(text, instruction, &option.key);
        option.value.iter().for_each(|word| check_word(text, instruction, word));
    }
}

fn check_word(text: &str, instruction: &Instruction, word: &Word) {
    inside(text, instruction.span, word.span);
    assert_eq!(instruction.line.span(word.range()), word.span);
}

fn words(arguments: &Arguments) -> Vec<&Word> {
    match arguments {
        Arguments::From { image, alias, surplus } => {
            let alias = alias.iter().flat_map(|alias| [&alias.keyword, &alias.name]);
            image.as_deref().into_iter().chain(alias).chain(surplus).collect()
        }
        Arguments::Pairs { pairs, .. } => {
            pairs.iter().flat_map(|pair| std::iter::once(&pair.key).chain(&pair.value)).collect()
        }
        Arguments::Transfer { sources, destination, .. } => {
            sources.iter().chain(destination.as_deref()).collect()
        }
        Arguments::Command(line) | Arguments::Healthcheck { command: line, .. } => match line {
            Command::Missing => Vec::new(),
            Command::Shell(word) => vec![word],
            Command::Json { words, .. } => words.iter().collect(),
        },
        Arguments::Words { words, .. } => words.iter().collect(),
        Arguments::Text(word) => word.iter().collect(),
        Arguments::Onbuild(_) => Vec::new(),
    }
}

fn inside(text: &str, outer: Span, inner: Span) {
    assert!(outer.encloses(inner), "{inner:?} is not in {outer:?} of {text:?}");
    assert!(inner.slice(text).is_some(), "{inner:?} cuts a character of {text:?}");
}
