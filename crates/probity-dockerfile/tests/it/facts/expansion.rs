//! Words that no build can expand, and words that some build can.

use probity_dockerfile::{Facts, parse};

/// The errors of a text as `[text under it] message`.
fn errors(text: &str) -> Vec<String> {
    let dockerfile = parse(text);
    assert_eq!(dockerfile.errors, [], "{text}");
    let facts = Facts::of(&dockerfile);
    let describe = |error: &probity_dockerfile::ExpansionError| {
        format!("[{}] {}", error.span.slice(text).unwrap().escape_debug(), error.message)
    };
    facts.expansion_errors().iter().map(describe).collect()
}

#[test]
fn broken_words_are_errors_at_the_part_that_breaks_them() {
    let lines = [
        "ENV a=${X",
        "ENV a=\"b",
        "ENV a it's",
        "ENV a=${X!y}",
        "ENV ${=b",
        "ENV a=x\\\nb${}",
        "LABEL a=${X/}",
        "LABEL a='b'c=${}",
        "USER ${U:?needed}",
        "USER x${U?}",
        "WORKDIR \"a",
        "COPY \"a b\" c",
        "COPY [\"a\", \"${b\"]",
        "COPY --chown=${U a b",
        "COPY <<EOF /a\nsay ${b\nEOF",
        "EXPOSE 80 ${P",
        "VOLUME ${V",
        "STOPSIGNAL ${S",
        "ARG a=${X",
        "RUN --mount=type=cache,target=${T true",
    ];
    let all: Vec<String> = lines
        .iter()
        .map(|line| format!("{line} => {}", errors(&format!("FROM alpine:3\n{line}\n")).join("; ")))
        .collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
    ENV a=${X => [${X] failed to process "${X": syntax error: missing '}'
    ENV a="b => [\"b] failed to process "\"b": unexpected end of statement while looking for matching double-quote
    ENV a it's => [\'s] failed to process "it's": unexpected end of statement while looking for matching single-quote
    ENV a=${X!y} => [${X!] failed to process "${X!y}": unsupported modifier (!) in substitution
    ENV ${=b => [${] failed to process "${": syntax error: missing '}'
    ENV a=x\
    b${} => [${] failed to process "xb${}": syntax error: bad substitution
    LABEL a=${X/} => [${X/}] failed to process "${X/}": syntax error: missing '/' in ${}
    LABEL a='b'c=${} => [${] failed to process "'b'c=${}": syntax error: bad substitution
    USER ${U:?needed} => [${U:?needed}] failed to process "${U:?needed}": U: needed
    USER x${U?} => [${U?}] failed to process "x${U?}": U: is not allowed to be unset
    WORKDIR "a => [\"a] failed to process "\"a": unexpected end of statement while looking for matching double-quote
    COPY "a b" c => [\"a] failed to process "\"a": unexpected end of statement while looking for matching double-quote
    COPY ["a", "${b"] => [${b] failed to process "${b": syntax error: missing '}'
    COPY --chown=${U a b => [${U] failed to process "${U": syntax error: missing '}'
    COPY <<EOF /a
    say ${b
    EOF => [${b\n] failed to process "say ${b\n": unsupported modifier ( ) in substitution
    EXPOSE 80 ${P => [${P] failed to process "${P": syntax error: missing '}'
    VOLUME ${V => [${V] failed to process "${V": syntax error: missing '}'
    STOPSIGNAL ${S => [${S] failed to process "${S": syntax error: missing '}'
    ARG a=${X => [${X] failed to process "${X": syntax error: missing '}'
    RUN --mount=type=cache,target=${T true => [${T] failed to process "${T": syntax error: missing '}'
    "#);
}

#[test]
fn the_words_of_from_see_the_arguments_alone() {
    let texts = ["FROM ${X", "FROM ${X:?none}", "ARG X\nFROM ${X:?none}", "FROM --platform=${P a"];
    let all = texts.map(|text| format!("{text:?} => [{}]", errors(text).join("; ")));
    insta::assert_snapshot!(all.join("\n"), @r#"
    "FROM ${X" => [[${X] failed to process "${X": syntax error: missing '}']
    "FROM ${X:?none}" => [[${X:?none}] failed to process "${X:?none}": X: none]
    "ARG X\nFROM ${X:?none}" => []
    "FROM --platform=${P a" => [[${P] failed to process "${P": syntax error: missing '}']
    "#);
}

#[test]
fn what_a_build_or_an_image_can_set_is_no_error() {
    let texts = [
        "FROM alpine\nARG U\nUSER ${U:?needed}\n",
        "FROM alpine\nARG U=\nUSER ${U:?needed}\n",
        "FROM node:22\nENV V=${NODE_VERSION:?needed}\n",
        "ARG I=alpine\nFROM $I\nENV V=${NODE_VERSION:?needed}\n",
        "FROM alpine\nARG U=${U:?needed}\n",
        "FROM alpine\nENV U=1\nUSER ${U:?needed}\n",
        "FROM alpine\nENV P=${PATH:?needed}\n",
        "FROM alpine\nRUN echo ${X\nCMD echo \"\nHEALTHCHECK CMD echo ${X\nMAINTAINER it's me\n",
        "FROM alpine\nCOPY <<'EOF' /a\n${x\nEOF\n",
        "FROM alpine\nONBUILD ENV a=${X\n",
    ];
    for text in texts {
        assert_eq!(errors(text), <[String; 0]>::default(), "{text}");
    }
}

#[test]
fn a_value_that_is_empty_in_every_build_is_not_allowed() {
    let text = "FROM scratch\nENV U=\nUSER ${U:?}\n";
    assert_eq!(
        errors(text),
        ["[${U:?}] failed to process \"${U:?}\": U: is not allowed to be empty"]
    );
}

#[test]
fn a_trigger_that_runs_twice_fails_once() {
    let text = "FROM alpine AS a\nONBUILD ENV a=${X\nFROM a\nFROM a\n";
    assert_eq!(errors(text).len(), 1);
}

#[test]
fn a_long_word_is_quoted_in_part() {
    let text = format!("FROM alpine\nENV a=\"{}\n", "b".repeat(10_000));
    assert!(errors(&text).iter().all(|error| error.len() < 11_000), "{:?}", errors(&text));
    assert_eq!(errors(&text).len(), 1);
}
